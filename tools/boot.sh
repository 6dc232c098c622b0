#!/bin/bash
# SPDX-License-Identifier: MIT
#
# Boots an EFI system partition under QEMU and OVMF, without root and without mounts; or a program
# by its PVH entry, or a disk by a BIOS.
#
#   boot.sh [--timeout S] [--gui] [--gdb PORT] [--kvm] [--icount] [--image]
#	[--until TEXT] [--read-only | --cd | --net | --http PORT | --usb] [--watchdog] [--secure]
#	[--reboot] [--acpi TABLE] [--exit] [--keep-variables] [--smp N | --x2apic] [--cpu MODEL]
#	[--key-after TEXT] [--screen DEVICE] [--device DEVICE] [--whole] [--memory MIB] [--direct]
#	[--trace] [--interactive] [--disk FILE] [--network] [--bios] FOLDER
#
# FOLDER/esp has the files of the partition.
# --image: FOLDER/esp.img is the disk instead.
# --direct: QEMU starts FOLDER/kernel with the command line in FOLDER/append and, if it exists, the
#   module FOLDER/module; there is no disk.
# --trace: output to port E9H goes to FOLDER/trace.
# --bios: SeaBIOS, which comes with QEMU, starts what is in the disk's first sector; with --screen,
#   the keyboard is that of the 8042.
# --cd: the disk is a CD. --usb: the disk is a stick, at an xHCI controller.
# --net: FOLDER/tftp/pmutest86.efi is booted by PXE. --http: pmutest86.efi is booted by HTTP from
#   this port of this machine.
# --until: ends the machine when TEXT has appeared on the serial line.
# --secure: Secure Boot, with the keys of OVMF's test variables.
# --keep-variables: uses the firmware's variables of the last boot in FOLDER.
# --read-only: the disk can't be written to.
# --watchdog: the chipset's TCO timer resets the machine.
# --reboot: a reset boots the machine again.
# --acpi: the firmware finds this ACPI table too (tools/wdat_table.py).
# --exit: with the device isa-debug-exit, which sets QEMU's exit status.
# --gdb: stops before the first instruction and waits for a debugger at this port.
# --cpu: QEMU's -cpu. --x2apic: two processors, the second with APIC ID 256, which firmware and
#   system can use only in x2APIC mode. QEMU's TCG has this from version 9 on.
# --icount: one instruction takes one nanosecond of the machine's time.
# --key-after: presses a key when TEXT has appeared on the serial line.
# --screen: a graphics adapter, one of QEMU's devices with its properties (VGA), and a USB keyboard.
# --device: one of QEMU's devices with its properties; may be given several times.
# --disk: a further disk, a raw or QCOW2 image, to which the guest may write; may be given several
#   times. --network: a network card on QEMU's user network.
# --interactive: standard input and output are the serial line. After Ctrl-A QEMU's own keys follow:
#   x ends the machine, c opens the monitor, Ctrl-A sends Ctrl-A.
# --memory: default 192 MiB, and 96 MiB for each processor.
# --whole: the firmware boots from reset. Otherwise, if no option prevents it, the machine begins in
#   the state in which its firmware first read a disk (tools/boot_state.py).
# Text that is written to FOLDER/monitor goes to QEMU's monitor. FOLDER/serial.log receives the
# serial line. FOLDER/end receives the reason why QEMU ended, in QMP's words (ShutdownCause:
# guest-reset, guest-shutdown, ...), if there is one; or "overwritten": the reference PMU's
# hypervisor was overwritten, and the machine was stopped; or "hung": QEMU hadn't answered for a
# minute, and was killed. Ends when the machine switches itself off or resets. Exit status: 0 it
# did; 124 S seconds passed; other: QEMU failed. QEMU=program replaces qemu-system-x86_64.
set -euo pipefail

# What AMD has and Intel hasn't, and no hypervisor can intercept: FEMMS and 3DNow!, EXTRQ and
# INSERTQ.
tcg_cpu=max,3dnow=off,3dnowext=off,sse4a=off
timeout=120 smp=1 memory='' display=(-display none)
accel=tcg cpu=$tcg_cpu count=() image='' key_after=''
x2apic='' gdb=() read_only=off watchdog=() extra=() whole=${QEMU-} arguments=("$@")
reboot=(-no-reboot)
device=virtio-blk-pci direct='' trace='' controller=() net='' until_text='' keep='' secure=''
smm=off bios='' boot_from=() interactive='' disks=() network=(-nic none) keyboard=()
while [ $# -gt 1 ]; do
	case $1 in
	--timeout)
		timeout=$2
		shift
		;;
	--gdb)
		gdb=(-S -gdb "tcp:127.0.0.1:$2") whole=yes
		shift
		;;
	--gui) display=(-device VGA -display gtk) ;;
	--kvm) accel=kvm cpu=host,pmu=on whole=yes ;;
	--icount) count=(-icount "shift=0,sleep=off") whole=yes ;;
	--image) image=given ;;
	--read-only) read_only=on ;;
	--cd) device=ide-cd read_only=on whole=yes ;;
	--net) net=tftp whole=yes ;;
	--http)
		net="bootfile=http://10.0.2.2:$2/pmutest86.efi"
		whole=yes
		# PXE would be tried first.
		extra+=(-fw_cfg "name=opt/org.tianocore/IPv4PXESupport,string=n"
			-fw_cfg "name=opt/org.tianocore/IPv6PXESupport,string=n")
		shift
		;;
	--until)
		until_text=$2
		shift
		;;
	--keep-variables) keep=yes whole=yes ;;
	--secure) secure=yes smm=on whole=yes ;;
	--whole) whole=yes ;;
	--direct) direct=yes whole=yes ;;
	--bios) bios=yes whole=yes ;;
	--trace) trace=yes whole=yes ;;
	--watchdog) watchdog=(-global ICH9-LPC.noreboot=off -watchdog-action reset) ;;
	--reboot) reboot=() ;;
	--acpi)
		extra+=(-acpitable "file=$2")
		whole=yes
		shift
		;;
	--exit)
		extra+=(-device isa-debug-exit)
		whole=yes
		;;
	--smp)
		smp=$2
		shift
		;;
	--memory)
		memory=$2
		shift
		;;
	--x2apic) x2apic=yes whole=yes ;;
	--cpu)
		cpu=$2
		shift
		;;
	--usb) device=usb-storage controller=(-device qemu-xhci) whole=yes ;;
	--screen)
		display=(-display none -device "$2") keyboard=(-device qemu-xhci -device usb-kbd)
		shift
		;;
	--device)
		extra+=(-device "$2")
		whole=yes
		shift
		;;
	--key-after)
		key_after=$2
		shift
		;;
	--disk)
		disks+=("$2")
		shift
		;;
	--network)
		network=(-netdev 'user,id=user' -device 'virtio-net-pci,netdev=user,romfile=')
		whole=yes
		;;
	--interactive) interactive=yes ;;
	*)
		echo "boot.sh: unknown option '$1'" >&2
		exit 2
		;;
	esac
	shift
done
folder=${1-}
[ -d "$folder" ] || {
	echo "boot.sh: no folder '$folder'" >&2
	exit 2
}
qemu=${QEMU:-qemu-system-x86_64}

# From the first file on: a signal that comes while QEMU is being started mustn't leave it alone.
trap 'kill "${!-}" 2>/dev/null || true; wait; exit 130' INT TERM HUP

# Code and variables must be of the same size; variables are a private copy.
find_firmware()
{
	local size

	for size in _4M ''; do
		firmware=/usr/share/OVMF/OVMF_CODE$size${secure:+.secboot}.fd
		variables=/usr/share/OVMF/OVMF_VARS$size${secure:+.snakeoil}.fd
		if [ -e "$firmware" ] && [ -e "$variables" ]; then
			if [ -z "$keep" ] || [ ! -e "$folder/vars.fd" ]; then
				cp "$variables" "$folder/vars.fd"
			fi
			return
		fi
	done
	echo "boot.sh: no OVMF_CODE and OVMF_VARS in /usr/share/OVMF" >&2
	exit 2
}
[ -n "$direct$bios" ] || find_firmware

[ "$net" != tftp ] || net=tftp=$folder/tftp,bootfile=pmutest86.efi
# shellcheck disable=SC2054 # the commas are QEMU's
if [ -n "$direct" ]; then
	boot_from=("${network[@]}" -kernel "$folder/kernel" -append "$(< "$folder/append")")
	[ ! -e "$folder/module" ] || boot_from+=(-initrd "$folder/module")
elif [ -n "$net" ]; then
	boot_from=(-netdev "user,id=net,$net"
		-device virtio-net-pci,netdev=net,bootindex=0)
	truncate -s 1M "$folder/esp.img"
else
	boot_from=("${network[@]}" "${controller[@]}" -device "$device,drive=esp,bootindex=0")
fi
for disk in "${disks[@]}"; do
	format=raw
	[ "$(head -c 3 "$disk")" != QFI ] || format=qcow2
	# A comma in a value is written twice.
	extra+=(-drive "if=none,id=disk${#extra[@]},format=$format,file=${disk//,/,,}"
		-device "virtio-blk-pci,drive=disk${#extra[@]}")
	whole=yes
done
# Flash that only system management mode may write to: else a program could change the keys.
# shellcheck disable=SC2054
[ -z "$secure" ] || boot_from+=(-global driver=cfi.pflash01,property=secure,value=on)
if [ -z "$image$net$direct" ]; then
	export MTOOLS_SKIP_CHECK=1
	rm -f "$folder/esp.img"
	# An eighth more than there is in it, for tables and what files don't fill.
	content=$(($(du -sm "$folder/esp" | cut -f1) * 9 / 8))
	truncate -s "$((content > 28 ? content + 4 : 32))M" "$folder/esp.img"
	mkfs.fat -F 16 -n PMUTEST86 "$folder/esp.img" > /dev/null
	mcopy -s -i "$folder/esp.img" "$folder/esp/"* ::/
fi

[ -n "$bios" ] || display+=("${keyboard[@]}")
processors=(-smp "$smp")
if [ -n "$x2apic" ]; then
	processors=(-smp "1,maxcpus=258,sockets=2,cores=129,threads=1"
		-device "${cpu%%,*}-x86_64-cpu,socket-id=1,core-id=0,thread-id=0")
fi

# Few devices make a quick boot (4 s instead of 5.5 s from the reset on). System management
# mode would be one more thing that takes time away from tests.
# shellcheck disable=SC2054 # the commas are QEMU's
machine=(
	"$qemu" -name PMUTest86 -no-user-config -nodefaults
	-machine "q35,smm=$smm,accel=$accel" -cpu "$cpu" "${processors[@]}"
	-m "${memory:-$((192 + 96 * smp))}M"
	"${boot_from[@]}" "${reboot[@]}" "${display[@]}" "${count[@]}" "${watchdog[@]}"
	"${extra[@]}"
)
[ -z "$trace" ] || machine+=(-debugcon "file:$folder/trace")
volumes=()
# shellcheck disable=SC2054
[ -n "$direct" ] || {
	[ -n "$bios" ] || {
		machine+=(-drive "if=pflash,format=raw,unit=0,readonly=on,file=$firmware")
		volumes=(-drive "if=pflash,format=raw,unit=1,file=$folder/vars.fd")
	}
	volumes+=(-drive "if=none,id=esp,format=raw,readonly=$read_only,file=$folder/esp.img")
}
# In the background, because a shell that waits hears signals at once.
state=
if [ -z "$whole" ]; then
	"${0%/*}/boot_state.py" --size "$(stat -Lc %s "$folder/esp.img")" \
		--read-only $read_only --variables "$variables" -- "${machine[@]}" \
		> "$folder/state" &
	! wait $! || state=$(< "$folder/state")
fi
incoming=()
if [ -n "$state" ]; then
	exec 6< "$state"
	incoming=(-incoming defer)
fi
rm -f "$folder/serial.log" "$folder/monitor" "$folder/end" "$folder"/qmp.{in,out}
mkfifo "$folder/monitor" "$folder"/qmp.{in,out}
exec 5> "$folder/qemu.log" 7<> "$folder/monitor" 8<> "$folder/qmp.in" 9<> "$folder/qmp.out"
# shellcheck disable=SC2054 # the commas are QEMU's
consoles=(-serial "file:$folder/serial.log" -monitor stdio)
output=5 limit=(timeout --kill-after=5) terminal='' tells=''
[ ! -t 2 ] || tells=yes
# A shell gives what it starts in the background no standard input, and no terminal's keys to what
# has a process group of its own.
if [ -n "$interactive" ]; then
	# shellcheck disable=SC2054
	consoles=(-chardev "stdio,id=serial,mux=on,signal=off,logfile=$folder/serial.log"
		-serial chardev:serial -mon chardev=serial)
	output=1 limit+=(--foreground) tells=''
	exec 7<&0
	terminal=$(stty -g 2> /dev/null || true)
fi
# shellcheck disable=SC2054 # the commas are QEMU's
command=(
	"${machine[@]}" "${volumes[@]}" "${consoles[@]}"
	-chardev "pipe,id=events,path=$folder/qmp" -mon chardev=events,mode=control
	"${gdb[@]}" "${incoming[@]}"
)
echo '{"execute": "qmp_capabilities"}' >&8
if [ -n "$state" ]; then
	echo '{"execute": "migrate-set-capabilities", "arguments": {"capabilities":' \
		'[{"capability": "events", "state": true}]}}' >&8
	# Not by the descriptor itself: QEMU 11.1 takes none of a file.
	printf '{"execute": "migrate-incoming", "arguments": {"uri": "exec:cat %s"}}\n' \
		"/proc/$$/fd/6" >&8
fi
"${limit[@]}" "$timeout" "${command[@]}" <&7 >&"$output" 2>&5 &
child=$!
hypervisor='' image='' answered='' hung='' overwritten='' continued='' refused=''

end_machine()
{
	if [ -n "$interactive" ]; then
		echo '{"execute": "quit"}' >&8
	else
		echo 'quit' >&7
	fi
}

# What QEMU tells, waiting so long for each line: why it ends, and what the hypervisor's image
# begins with, which nothing but a device can change.
listen()
{
	local line

	while IFS= read -r -t "$1" -u 9 line; do
		if [[ $line =~ \"SHUTDOWN\".*\"reason\":\ *\"([a-z-]+)\" ]]; then
			echo "${BASH_REMATCH[1]}" > "$folder/end"
		elif [[ $line =~ \"return\":\ *\"[0-9a-f]+:\ (0x[0-9a-f\ x]+) ]]; then
			answered=$SECONDS
			image=${image:-${BASH_REMATCH[1]}}
			# The first look may come after the write: an EFI image begins with "MZ".
			[ -n "$direct" ] || [[ $image == 0x*5a4d\ * ]] || overwritten=yes
			[ "$image" = "${BASH_REMATCH[1]}" ] || overwritten=yes
		elif [[ $line =~ \"MIGRATION\".*\"completed\" ]]; then
			echo '{"execute": "cont"}' >&8
			continued=yes
		elif [ -n "$state" ] && [ -z "$continued" ] && [[ $line == *'"error":'* ]]; then
			refused=yes
			end_machine
		fi
	done
}

# A hypervisor whose memory a device has written over may run on for ever in what was written.
# The line with its address is read once it has its end: a part of it names other memory.
look_at_hypervisor()
{
	[ -n "$hypervisor" ] || hypervisor=$(head -c 65536 "$folder/serial.log" 2> /dev/null |
		grep -aoPm1 '^launch: hypervisor at \K0x[0-9a-f]+(?=\r)' || true)
	[ -n "$hypervisor" ] || return 0
	answered=${answered:-$SECONDS}
	printf '{"execute": "human-monitor-command", "arguments": %s}\n' \
		"{\"command-line\": \"xp /2gx $hypervisor\"}" >&8
}

while [ -z "$overwritten" ] && kill -0 "$child" 2> /dev/null; do
	if [ -n "$key_after" ] && grep -aqsF "$key_after" "$folder/serial.log"; then
		echo 'sendkey ret' >&7
		key_after=
	fi
	if [ -n "$until_text" ] && grep -aqsF "$until_text" "$folder/serial.log"; then
		end_machine
		until_text=
	fi
	if [ -n "$tells" ]; then
		points=$(grep -acsE '^(not )?ok [0-9]' "$folder/serial.log" || true)
		printf '\r%3d s, %d test points ' "$SECONDS" "${points:-0}" >&2
	fi
	look_at_hypervisor
	listen 0.3
	# What a device's writes have made of the machine may keep QEMU busy for ever.
	if [ -n "$answered" ] && [ -z "$hung" ] && [ $((SECONDS - answered)) -gt 60 ]; then
		hung=yes
		kill "$child" || true
	fi
done
[ -z "$tells" ] || printf '\r%30s\r' '' >&2
[ -z "$overwritten" ] || end_machine
status=0
wait "$child" || status=$?
[ -z "$terminal" ] || stty "$terminal" <&7 || true
# QEMU can't read the state: the firmware boots, then and henceforth.
if [ -n "$state" ] && [ -z "$continued" ] && [ "$status" != 124 ] &&
	[ "$status$refused" != 0 ]; then
	: > "$state"
	exec "$0" --whole "${arguments[@]}"
fi
# What QEMU has told is in the pipe by now.
listen 0.05
if [ -n "$overwritten" ]; then
	printf "\r\nrefpmu: a device has written over the hypervisor's memory\r\n" \
		>> "$folder/serial.log"
	echo overwritten > "$folder/end"
elif [ -n "$hung" ]; then
	echo hung > "$folder/end"
	status=0
fi
exit "$status"
