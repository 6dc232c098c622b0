# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154 # sourced by test.sh, whose functions and variables it uses
#
# Tests of `make test`: images, and the ways in which they boot.

# The tests that an image of these tests runs, and its action at the end.
short_configuration()
{
	printf '%s\n' 'tests = selftest.tsc*,enumeration.enumerated*' "at_end = $1" \
		> "$log/short.cfg"
	export CFG=$log/short.cfg
}

# boot_image FILE OPTION...: boots that file; the log is $log/machine/serial.log.
boot_image()
{
	rm -rf "$log/machine"
	mkdir -p "$log/machine"
	cp "$1" "$log/machine/esp.img"
	shift
	tools/boot.sh --image --timeout 60 "$@" "$log/machine"
}

# GRUB for images that a BIOS boots.
has_bios_grub()
{
	[ -f /usr/lib/grub/i386-pc/boot.img ] && command -v grub-mkimage > /dev/null
}

firmware_code()
{
	compgen -G '/usr/share/OVMF/OVMF_CODE_4M.fd' || compgen -G '/usr/share/OVMF/OVMF_CODE.fd'
}

# GRUB as one program with the entry of docs/BOOTING.md. grub_image CONFIGURATION PROGRAM
grub_image()
{
	[ -d /usr/lib/grub/x86_64-efi ] && command -v grub-mkstandalone > /dev/null || return 1
	sed -n '/^menuentry/,/^}/p' docs/BOOTING.md > "$1"
	echo 'set timeout=0' >> "$1"
	grub-mkstandalone -O x86_64-efi -o "$2" --install-modules "search search_fs_file \
		part_gpt part_msdos fat chain normal" --locales= --fonts= --themes= \
		"boot/grub/grub.cfg=$1"
}

ran()
{
	grep -aq '^# end of PMUTest86' "$log/machine/serial.log" || fail "$1 didn't run"
}

# Identifiers and times aren't drawn.
takes 20 test_images_are_reproducible
test_images_are_reproducible()
{
	local kind

	for kind in first second; do
		mkdir -p "$log/$kind"
		cp "$build/"{pmutest86.{efi,elf},pmutest86-report,refpmu.efi,launch.efi} \
			"$build/refpmu-fault" "$log/$kind"
		tools/images/usb.sh "$log/$kind" > /dev/null
		if command -v xorriso > /dev/null; then
			KIND=iso tools/images/usb.sh "$log/$kind" > /dev/null
			tools/images/release.sh "$log/$kind" > /dev/null
		fi
		sleep 2
	done
	(cd "$log/first" && sha256sum pmutest86* > "../sums")
	(cd "$log/second" && sha256sum --quiet -c "../sums")
	expect_bad "no file 'nowhere.efi'" tools/images/usb.sh "$build" nowhere.efi
}

# A CD; and at_end = exit: QEMU's exit status is 2 * 2 + 1, because nothing is tested.
takes 5 test_a_cd_boots
test_a_cd_boots()
{
	local status=0

	command -v xorriso > /dev/null || skip "no xorriso"
	short_configuration exit
	mkdir -p "$log/images"
	cp "$build/pmutest86.elf" "$log/images/"
	KIND=iso tools/images/usb.sh "$log/images" "$build/pmutest86.efi"
	boot_image "$log/images/pmutest86.iso" --cd --exit || status=$?
	[ $status = 5 ] || fail "QEMU ended with $status, not 5"
	ran "the CD"
	grep -aq '^# results are not saved: ' "$log/machine/serial.log"
	has_bios_grub || skip "the BIOS: no GRUB for one (grub-common, grub-pc-bin)"
	status=0
	boot_image "$log/images/pmutest86.iso" --cd --bios --exit || status=$?
	[ $status = 5 ] || fail "QEMU with a BIOS ended with $status, not 5"
	ran "the CD with a BIOS"
	grep -aq '^# firmware: none, entered by Multiboot2;' "$log/machine/serial.log"
}

# Without a volume there is no configuration: all tests run, and the firmware goes on.
takes 15 test_the_network_boots_it
test_the_network_boots_it()
{
	local folder=$log/machine/tftp server

	rm -rf "$log/machine"
	mkdir -p "$folder"
	cp "$build/pmutest86.efi" "$folder/"
	tools/boot.sh --net --until '# end of PMUTest86' --timeout 60 "$log/machine"
	ran "the program by PXE"
	grep -aq '^# results are not saved: ' "$log/machine/serial.log"
	python3 -u -m http.server 0 --bind 127.0.0.1 --directory "$folder" > "$log/server" 2>&1 &
	server=$!
	for _ in {1..50}; do
		! grep -q ' port ' "$log/server" || break
		sleep 0.1
	done
	tools/boot.sh --http "$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$log/server")" \
		--until '# end of PMUTest86' --timeout 60 "$log/machine"
	kill "$server"
	ran "the program by HTTP"
	grep -q '"GET /pmutest86.efi HTTP' "$log/server"
}

# What docs/BOOTING.md says of other loaders; their words are load options.
takes 20 test_other_loaders_start_it
test_other_loaders_start_it()
{
	local options='tests=selftest.tsc*,enumeration.enumerated* at_end=shutdown' loader esp
	local systemd_boot=/usr/lib/systemd/boot/efi/systemd-bootx64.efi

	for loader in shell grub systemd-boot; do
		rm -rf "$log/machine"
		esp=$log/machine/esp
		mkdir -p "$esp/EFI/BOOT" "$esp/EFI/pmutest86" "$esp/loader/entries"
		cp "$build/pmutest86.efi" "$esp/EFI/pmutest86/"
		case $loader in
		shell)
			tools/ovmf_shell.py "$(firmware_code)" "$esp/EFI/BOOT/BOOTX64.EFI"
			printf '%s\r\n' 'fs0:' 'cd EFI\pmutest86' "pmutest86.efi $options" \
				> "$esp/startup.nsh"
			;;
		grub)
			if ! grub_image "$log/grub.cfg" "$esp/EFI/BOOT/BOOTX64.EFI"; then
				echo "# no GRUB for UEFI"
				continue
			fi
			# An entry without options: the file has them.
			printf '%s\n' "${options/ /$'\n'}" > "$esp/pmutest86.cfg"
			;;
		systemd-boot)
			if [ ! -e $systemd_boot ]; then
				echo "# no systemd-boot"
				continue
			fi
			cp $systemd_boot "$esp/EFI/BOOT/BOOTX64.EFI"
			sed -n '/^title /,/^options /p' docs/BOOTING.md |
				sed "s/^options .*/options $options/" \
					> "$esp/loader/entries/pmutest86.conf"
			;;
		esac
		tools/boot.sh --timeout 60 "$log/machine"
		ran "the program from $loader"
		grep -aq '^1\.\.2' "$log/machine/serial.log" ||
			fail "$loader: its options didn't arrive"
	done
}

# With the keys of OVMF's test variables: signed boots, unsigned is refused.
takes 42 test_secure_boot_wants_a_signature
test_secure_boot_wants_a_signature()
{
	local keys=/usr/share/ovmf/PkKek-1-snakeoil

	command -v sbsign > /dev/null || skip "no sbsign"
	[ -e $keys.key ] || skip "OVMF without its test keys"
	short_configuration reset
	mkdir -p "$log/images"
	openssl rsa -in $keys.key -passin pass:snakeoil -out "$log/key" 2> /dev/null
	cp "$build/pmutest86.efi" "$log/images/"
	expect_bad "is no file" tools/images/sign.sh "$log/images" nowhere $keys.pem
	tools/images/sign.sh "$log/images" "$log/key" $keys.pem
	tools/images/usb.sh "$log/images" "$log/images/signed/pmutest86.efi"
	boot_image "$log/images/pmutest86.img" --secure
	ran "the signed program"
	grep -q guest-reset "$log/machine/end"
	[ "$(mdir -b -i "$log/machine/esp.img@@1M" :: | grep -c '/LICEN[A-Z]*\.TXT$')" = 2 ] ||
		fail "the image lacks the licences"
	tools/images/usb.sh "$log/images"
	boot_image "$log/images/pmutest86.img" --secure --timeout 30 || [ $? = 124 ]
	grep -aq 'Access Denied' "$log/machine/serial.log"
	refute grep -aq 'TAP version' "$log/machine/serial.log"
}
