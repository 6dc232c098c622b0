#!/bin/bash
# SPDX-License-Identifier: MIT
# Builds PMUTest86, boots it under QEMU and prints the results: TAP 14 on standard output,
# everything else on standard error. `./run-qemu.sh --help` lists the options.
set -euo pipefail
cd "$(dirname "$0")"
BUILD=${BUILD:-build}

usage()
{
	cat << 'EOF'
usage: ./run-qemu.sh [OPTION]...
  --cpu NAME        processor generation that the reference PMU presents (default haswell)
  --all             every generation, several at a time; drawn tests take 500ms on each, not 2s
  --pmu WHICH       reference: software model on QEMU's TCG (default); host: the host's vPMU
                    through KVM; none: no PMU at all
  --tests GLOB      only tests whose name matches (default all); separate patterns by commas;
                    @ID: the tests that decide this requirement
  --fault NAME      the reference PMU breaks this rule; NAME@pmc2, NAME@page-crossing: only
                    there; NAME@nth=3, NAME@1in4, NAME@from=2: only at these occurrences;
                    @int, @beside, @cpl3, @cpu1: see refpmu/model/fault_when.h
  --seed N          draw the behaviour that the manual leaves open from N (default 0: no latitude)
  --draw N|Ns|Nms   drawn tests: N cases of each, or this time for all together (default 2s)
  --draw-seed N     seed of drawn tests (default: that of --seed)
  --draw-case N     drawn tests: only case N of each
  --profile NAME    latitude within the ranges of one kind of platform
  --latitude K:V,...
                    set knob K to V, whatever seed and profile say; --list latitude lists knobs
  --personality FILE
                    enumerate the PMU of the machine that FILE describes: machine.json of a run,
                    or the output of cpuid -r with MSRs (docs/REFERENCE-PMU.md)
  --personality-of CPU
                    print the machine.json of this generation
  --require G,...   a SKIP or INCONCLUSIVE in these groups of requirements gives exit status 2
  --engine NAME     how the reference PMU counts instructions: step (single steps), direct
                    (executed one by one), fast (also translated). Default: the fastest, fast
  --smp N           processors, 1 to 16 (default 2: the two threads of a core)
  --on WHICH        run tests on the first processor (first), on the first of each kind (kinds),
                    on all in turn (all), or on processor N; the others sleep meanwhile. Default:
                    first; kinds where the reference PMU has cores of two types (from --smp 3 on)
  --boot WHICH      uefi: through UEFI firmware (default, without --all); direct: without
                    firmware, QEMU starts the program by its PVH entry (default with --all)
  --efi FILE        boot this EFI program on the reference PMU instead; its arguments follow
                    after --. Implies --latitude tsc-by-reference:1
  --linux FILE      boot this Linux kernel on the reference PMU instead (with an EFI stub, as in
                    distributions), until it switches the machine off. Implies the same latitude
  --initrd FILE     with --linux: the initial file system
  --append TEXT     with --linux: the command line; console=ttyS0 shows the kernel's messages
  --interactive     with --efi or --linux: this terminal is the program's serial line; Ctrl-A X
                    ends the machine. No time limit without --timeout
  --disk FILE       with --efi or --linux: a further disk (raw or QCOW2), which the program may
                    write to; may be given several times
  --network         with --efi or --linux: a network card, on QEMU's user network
  --memory MIB      memory of the machine (default: 192 and 96 for each processor; 1024 with
                    --linux)
  --out DIR         folder for results (default build/results/<cpu>)
  --trace FILE      write the actions of the PMU to a file for Perfetto (docs/TRACE.md)
  --gdb             stop before the first instruction, print the command that starts gdb, and
                    wait for it. GDB_PORT: the port (default 1234)
  --gui             show the screen
  --force           --pmu host even if the host's NMI watchdog holds a counter
  --timeout S       stop the machine after S seconds (default 120; 300 with cores of two types)
  --list WHAT       print tests, faults, cpus, requirements, profiles or latitude, and exit
  --version         print the version and exit
  -h, --help        print this text and exit
Exit status: 0 nothing failed, and at least one requirement was decided; 1 a requirement failed;
2 the harness or its environment failed, an option is wrong, or nothing was tested (the last line
says NOT TESTED and why). Without --seed, --profile and --latitude the reference PMU decides every
test, so an INCONCLUSIVE gives exit status 2.
QEMU=program replaces qemu-system-x86_64.
EOF
}

bad()
{
	echo "run-qemu.sh: $*" >&2
	exit 2
}

# ---------------------------------------------------------------- options
LIMIT=120 LIMIT_OF_HYBRID=300 # seconds without --timeout
cpu='' all='' pmu=reference tests='' fault='' seed='' profile='' latitude='' require=''
engine='' smp=2 on=''
draw='' draw_seed='' draw_case=''
personality='' personality_of=''
boot='' efi='' linux='' initrd='' append='' memory='' out='' gui='' gdb='' force='' timeout=''
list='' trace='' interactive='' disk='' network=''
efi_arguments=() disks=()

while [ $# -gt 0 ]; do
	option=$1
	shift
	case $option in
	-h | --help)
		usage || exit 2
		exit 0
		;;
	--version)
		echo "PMUTest86 $(tools/version.sh)" || exit 2
		exit 0
		;;
	--all)
		all=yes
		continue
		;;
	--gui)
		gui=yes
		continue
		;;
	--gdb)
		gdb=yes
		continue
		;;
	--force)
		force=yes
		continue
		;;
	--interactive)
		interactive=yes
		continue
		;;
	--network)
		network=yes
		continue
		;;
	--)
		efi_arguments=("$@" '')
		unset 'efi_arguments[-1]'
		[ -n "$efi" ] || bad "arguments after -- need --efi FILE"
		break
		;;
	--cpu | --pmu | --tests | --fault | --seed | --profile | --latitude | \
		--require | --engine | --smp | --on | --boot | --efi | --linux | --initrd | \
		--append | --memory | --out | --timeout | --list | --draw | --draw-seed | \
		--draw-case | --trace | --personality | --personality-of | --disk)
		[ $# -gt 0 ] || bad "$option needs a value, see --help"
		value=$1
		shift
		;;
	--*=*) value=${option#*=} option=${option%%=*} ;;
	*) bad "unknown option '$option', see --help" ;;
	esac
	[ -n "$value" ] || bad "$option needs a value, see --help"
	case $option in
	--cpu | --pmu | --tests | --fault | --seed | --profile | --latitude | \
		--require | --engine | --smp | --on | --boot | --efi | --linux | --initrd | \
		--append | --memory | --out | --timeout | --list | --draw | --draw-seed | \
		--draw-case | --trace | --personality | --personality-of | --disk)
		option=${option#--}
		[ "$option" != disk ] || disks+=("$value")
		printf -v "${option//-/_}" %s "$value"
		;;
	*) bad "unknown option '$option', see --help" ;;
	esac
done

# $1 of table $2 is one of its names.
check_name()
{
	local names

	names=$(tools/spec.py list "$2" | cut -f1)
	grep -qxF -- "$1" <<< "$names"
}

# Contradictions first: they don't depend on this machine.
case $pmu in
reference) ;;
host | none)
	for option in cpu fault seed profile latitude engine efi linux personality \
		personality_of; do
		[ -z "${!option}" ] || bad "--pmu $pmu can't be combined with --${option//_/-}:" \
			"it needs the reference PMU"
	done
	;;
*) bad "unknown --pmu '$pmu'; known: reference host none" ;;
esac
if [ -n "$trace" ]; then
	[ "$pmu$all" = reference ] || bad "--trace needs --pmu reference, and not --all"
fi
# What differs from one generation to the next doesn't depend on the firmware.
[ -n "$boot" ] || boot=$([ -z "$all" ] && echo uefi || echo direct)
case $boot in
uefi | direct) ;;
*) bad "unknown --boot '$boot'; known: uefi direct" ;;
esac
if [ "$boot" = direct ]; then
	for option in efi linux; do
		[ -z "${!option}" ] || bad "--boot direct can't be combined with --$option:" \
			"such a program is started by UEFI"
	done
	[ -z "$gdb" ] || bad "--gdb needs --boot uefi"
fi
if [ -n "$all" ]; then
	[ "$pmu" = reference ] || bad "--all can't be combined with --pmu $pmu"
	for option in cpu efi linux gui gdb personality personality_of; do
		[ -z "${!option}" ] || bad "--all can't be combined with --${option//_/-}"
	done
	draw=${draw:-500ms}
fi
if [ -n "$personality" ]; then
	[ -z "$cpu$personality_of" ] || bad "--personality names the generation itself"
	[ -f "$personality" ] || bad "--personality: no such file '$personality'"
fi
if [ -n "$personality_of" ]; then
	[ -z "$cpu$tests$efi$linux" ] ||
		bad "--personality-of can't be combined with --cpu, --tests, --efi and --linux"
	cpu=$personality_of tests='count.instructions_are_counted_exactly'
fi
[ -n "$linux" ] || for option in initrd append; do
	[ -z "${!option}" ] || bad "--$option needs --linux FILE"
done
# Its EFI stub loads the initial file system from the volume that it was started from.
if [ -n "$linux" ]; then
	for option in tests require on efi; do
		[ -z "${!option}" ] || bad "--linux can't be combined with --$option"
	done
	for option in linux initrd; do
		[ -z "${!option}" ] || [ -f "${!option}" ] ||
			bad "--$option: no such file '${!option}'"
	done
	[ ${#append} -le 900 ] || bad "--append takes at most 900 characters"
	efi=$linux efi_arguments=("${initrd:+initrd=\\initrd }$append")
fi
if [ -n "$efi" ]; then
	for option in tests require on; do
		[ -z "${!option}" ] || bad "--efi can't be combined with --$option"
	done
	[ -f "$efi" ] || bad "--efi: no such file '$efi'"
	[[ ${efi_arguments[*]-} != *$'\n'* ]] || bad "--efi: arguments can't hold a line end"
fi
for option in interactive disk network; do
	[ -n "$efi" ] || [ -z "${!option-}" ] || bad "--$option needs --efi FILE or --linux FILE"
done
for disk in "${disks[@]}"; do
	if [ ! -f "$disk" ] || [ ! -r "$disk" ] || [ ! -w "$disk" ]; then
		bad "--disk: no file '$disk' that can be read and written"
	fi
done
[[ $BUILD != *[[:space:]]* ]] || bad "BUILD can't hold a blank: '$BUILD'"
[[ $require != *[[:space:]]* ]] || bad "--require takes groups with commas between, not '$require'"
[[ $out != -* ]] || out=./$out
# A session may last a day.
timeout=${timeout:-${gdb:+86400}} timeout=${timeout:-${interactive:+86400}}
port=${GDB_PORT:-1234}
[[ $port =~ ^[1-9][0-9]{0,4}$ ]] || bad "GDB_PORT is a port's number, not '$port'"
[ -z "$gdb" ] || command -v gdb > /dev/null ||
	bad "--gdb needs gdb; run: sudo apt-get install -y gdb"
[[ ${timeout:-1} =~ ^[1-9][0-9]{0,5}$ ]] || bad "--timeout takes seconds, not '$timeout'"
[[ $seed =~ ^[0-9]{0,18}$ ]] || bad "--seed takes a number, not '$seed'"
[[ $draw_seed =~ ^[0-9]{0,18}$ ]] || bad "--draw-seed takes a number, not '$draw_seed'"
[[ $draw_case =~ ^[0-9]{0,18}$ ]] || bad "--draw-case takes a number, not '$draw_case'"
[[ $draw =~ ^([0-9]{1,6}(s|ms)?)?$ ]] ||
	bad "--draw takes a number of cases, or a time such as 2s or 250ms, not '$draw'"
case $engine in
'' | step | direct | fast) ;;
*) bad "unknown --engine '$engine'; known: step direct fast" ;;
esac
[[ $memory =~ ^([1-9][0-9]{2,5})?$ ]] || bad "--memory takes MiB from 100 on, not '$memory'"
memory=${memory:-${linux:+1024}}
[[ $smp =~ ^([1-9]|1[0-6])$ ]] || bad "--smp takes 1 to 16 processors, not '$smp'"
case $on in
'' | first | kinds | all) ;;
*)
	[[ $on =~ ^([0-9]|1[0-5])$ ]] ||
		bad "--on takes first, kinds, all or a processor's number from 0, not '$on'"
	[ "$on" -lt "$smp" ] || bad "--on $on: with --smp $smp the last one is" \
		"$((smp - 1))"
	;;
esac
[[ $fault =~ ^[a-z0-9-]*(@[a-z0-9=-]+)*$ ]] ||
	bad "--fault takes a name, perhaps with @parameters, not '$fault'"
[[ $latitude =~ ^([a-z0-9-]+:[0-9]{1,10}(,[a-z0-9-]+:[0-9]{1,10})*)?$ ]] ||
	bad "--latitude takes KNOB:VALUE,..., not '$latitude'"
case $list in
'' | tests | faults | cpus | requirements | profiles | latitude) ;;
*) bad "--list takes tests, faults, cpus, requirements, profiles or latitude, not '$list'" ;;
esac

tools/setup.sh

if [ -n "$personality" ]; then
	told=$(tools/personality/file.py knobs "$personality") || exit 2
	cpu=${told%%$'\t'*} told=${told#*$'\t'}
	latitude+=${latitude:+${told:+,}}$told
fi
[ -z "$cpu" ] || check_name "$cpu" cpus ||
	bad "unknown --cpu '$cpu'; known: $(tools/spec.py list cpus | cut -f1 | paste -sd' ')"
[ -z "$fault" ] || [ "$fault" = none ] || check_name "${fault%%@*}" faults ||
	bad "unknown --fault '$fault'; ./run-qemu.sh --list faults lists them"
[ "$profile" != none ] || profile=''
[ -z "$profile" ] || check_name "$profile" profiles ||
	bad "unknown --profile '$profile'; known: $(tools/spec.py list profiles | cut -f1 |
		paste -sd' ')"
for setting in ${latitude//,/ }; do
	range=$(tools/spec.py list latitude |
		sed -nE "s/^${setting%%:*}\t([0-9]+) to ([0-9]+):.*/\1 \2/p")
	[ -n "$range" ] || bad "unknown knob '${setting%%:*}' in --latitude;" \
		"./run-qemu.sh --list latitude lists them"
	value=$((10#${setting#*:}))
	if [ "$value" -lt "${range% *}" ] || [ "$value" -gt "${range#* }" ]; then
		bad "--latitude ${setting%%:*} takes ${range/ / to }, not $value"
	fi
done
# A foreign program may compare reference cycles with the TSC, as on a processor.
if [ -n "$efi" ] && [[ ,$latitude != *,tsc-by-reference:* ]]; then
	latitude+="${latitude:+,}tsc-by-reference:1"
fi
if [ -n "$require" ]; then
	[[ $require =~ [^,] ]] || bad "--require takes groups, not '$require'"
	for group in ${require//,/ }; do
		check_name "$group" groups || bad "unknown group '$group' in --require;" \
			"known: $(tools/spec.py list groups | cut -f1 | paste -sd' ')"
	done
fi
case $list in
faults | cpus | requirements | profiles | latitude)
	tools/spec.py list "$list"
	exit 0
	;;
esac
if [ "$pmu" = host ]; then
	[ -e /dev/kvm ] || bad "--pmu host needs KVM: there is no /dev/kvm on this machine"
	[ -w /dev/kvm ] || bad "--pmu host needs KVM: no permission to open /dev/kvm"
	tools/host-pmu.sh "$force" || exit 2
fi
if [ -n "$gui" ]; then
	grep -qx gtk <<< "$("${QEMU:-qemu-system-x86_64}" -display help 2> /dev/null)" ||
		bad "--gui needs QEMU's gtk display; run: sudo apt-get install -y qemu-system-gui"
fi

# ---------------------------------------------------------------- build
mkdir -p "$BUILD"
if ! flock "$BUILD/.lock" make -s -j"$(nproc)" BUILD="$BUILD" all >&2; then
	bad "the build failed, see above"
fi
if [ "$list" = tests ]; then
	awk -F'\t' '{ text = $1; sub(/^[^.]*\./, "", text); gsub(/_/, " ", text)
		      print $1 "\t" text " [" $2 "]" }' "$BUILD/tests.tsv"
	exit 0
fi

# Shell patterns are those of the harness: '*' and '?'; a comma separates patterns.
matches_something()
{
	local pattern name ids mark tags

	[[ $tests =~ ^[A-Za-z0-9_.*?,@-]{1,767}$ ]] || return 1
	while IFS=$'\t' read -r name ids mark; do
		tags=",@${ids//,/,@},@$mark,"
		for pattern in ${tests//,/ }; do
			# shellcheck disable=SC2053 # a pattern
			[[ $name != $pattern && $tags != *,$pattern,* ]] || return 0
		done
		# What tests were called in the last release: the harness says so.
	done < <(cat "$BUILD/tests.tsv" &&
		sed -nE 's/^OLD_NAME\((\w+), (\w+), .*/\1.\2/p' tests/frame/old_names.def)
	return 1
}
if [ -n "$tests" ]; then
	set -f
	matches_something || bad "--tests '$tests' matches no test;" \
		"./run-qemu.sh --list tests lists them"
	set +f
fi

# ---------------------------------------------------------------- run
# Fail early, not after a long run.
if [ -n "$out" ] && {
	! mkdir -p -- "$out" 2> /dev/null || [ ! -w "$out" ]
}; then
	bad "--out $out isn't a folder to write to"
fi
case $BUILD in
/*) work=$BUILD/run.$$.$RANDOM ;;
*) work=$PWD/$BUILD/run.$$.$RANDOM ;;
esac
children=()
# shellcheck disable=SC2317 # called by traps
stop_children()
{
	local child

	for child in "${children[@]}"; do
		kill "$child" 2> /dev/null || true
	done
}
# What still runs may write there.
trap 'stop_children; wait; rm -rf "$work"' EXIT
# HUP: the terminal was closed.
trap 'exit 130' INT TERM HUP
# After the traps: a signal may come as soon as the folder exists.
(umask 077 && mkdir "$work")

# Does generation $1 have cores of two types here? The first core, of two threads, is a P-core.
is_hybrid()
{
	[ "$pmu" = reference ] && [ "$smp" -gt 2 ] &&
		tools/spec.py list hybrids | cut -f1 | grep -qxF -e "$1"
}

# The words of the harness's configuration on generation $1, but for how it ends: into the array
# words.
configure_harness()
{
	local which=${on:-first}

	[ -n "$on" ] || ! is_hybrid "$1" || which=kinds
	words=("tests=${tests:-*}" results=off "require=$require" "on=$which"
		"seed=$((10#${draw_seed:-${seed:-0}}))")
	[ -n "$require" ] || unset 'words[2]'
	[ -z "$draw" ] || words+=("draw=$draw")
	[ -z "$draw_case" ] || words+=("draw_case=$draw_case")
	[ -z "$gdb" ] || words+=(debugger=on)
	[ "$pmu" = reference ] || return 0
	words+=(serial=0x3f8)
	# A profile is judged as the platform that it stands for.
	[ -n "$profile" ] || words+=(strict=on)
	# Without latitude every precondition is reached, unless a rule is broken.
	[ -n "$profile$latitude" ] || [ $((10#${seed:-0})) != 0 ] ||
		words+=(inconclusive=error)
}

# The words of a plan's line, for generation $1: into the array plan.
configure_reference()
{
	plan=("cpu=$1" "fault=${fault:-none}" "seed=${seed:-0}" "engine=${engine:-fast}")
	[ -z "$profile" ] || plan+=("profile=$profile")
	[ -z "$latitude" ] || plan+=("latitude=$latitude")
	[ -z "$trace" ] || plan+=(trace=1)
	# One processor is a core with one thread: up to Skylake it has eight counters then.
	[ "$smp" != 1 ] || plan+=(ht=0)
}

# What the partition holds, in folder $1/esp, for generation $2.
prepare()
{
	local esp=$1/esp program='\pmutest86.efi' words plan arguments

	configure_harness "$2"
	mkdir -p "$esp/EFI/BOOT"
	if [ "$pmu" != reference ]; then
		cp "$BUILD/pmutest86.efi" "$esp/EFI/BOOT/BOOTX64.EFI"
		printf '%s\n' "${words[@]/=/ = }" 'at_end = shutdown' > "$esp/pmutest86.cfg"
		return
	fi
	cp "$BUILD/launch.efi" "$esp/EFI/BOOT/BOOTX64.EFI"
	cp "$BUILD/refpmu.efi" "$BUILD/pmutest86.efi" "$esp/"
	arguments="${words[*]} at_end=return"
	if [ -n "$efi" ]; then
		program='\program.efi' arguments=${efi_arguments[*]-}
		cp "$efi" "$esp/program.efi"
		[ -z "$initrd" ] || cp "$initrd" "$esp/initrd"
	fi
	configure_reference "$2"
	echo "run ${plan[*]} efi=$program args=$arguments" > "$esp/refpmu-plan.txt"
}

# The same for a boot without firmware: what QEMU starts, with which words and which module.
prepare_direct()
{
	local words plan

	configure_harness "$2"
	if [ "$pmu" != reference ]; then
		cp "$BUILD/pmutest86.elf" "$1/kernel"
		echo "${words[*]} at_end=shutdown" > "$1/append"
		return
	fi
	configure_reference "$2"
	cp "$BUILD/refpmu.elf" "$1/kernel"
	cp "$BUILD/pmutest86.elf" "$1/module"
	echo "run ${plan[*]} efi=pmutest86.elf args=${words[*]} at_end=exit" > "$1/append"
}

# How a debugger is started for the run in folder $1.
say_debugger()
{
	local waits=True

	[ -z "$efi" ] || waits=False
	cat > "$1/debug.gdb" <<- EOF
		source $PWD/tools/debug.py
		python attach($port, "$1/serial.log", "$BUILD", $waits)
	EOF
	{
		echo "run-qemu.sh: the machine waits for a debugger; in another terminal, here:"
		echo "  gdb -q -x $1/debug.gdb"
	} >&2
}

# What QEMU said last in its log $1, its monitor's prompts and what was typed at them apart; or how
# it ended, status $2. A message may follow a prompt on its line.
last_words()
{
	local words

	words=$(tr -d '\r' < "$1" 2> /dev/null | sed -E 's/^(\(qemu\) ?)+//' |
		grep -avE '^(QEMU .* monitor|sendkey |quit|$)' | tail -n 1) || true
	if [ -z "$words" ] && [ "$2" -gt 128 ]; then
		words="killed by signal $(($2 - 128))"
	fi
	echo "${words:-ended with status $2}"
}

# How the machine in folder $1 ended by itself.
how_it_ended()
{
	local cause=''

	[ ! -e "$1/end" ] || cause=$(< "$1/end")
	case $cause in
	guest-reset) echo "the machine was reset" ;;
	guest-shutdown) echo "the machine switched itself off" ;;
	overwritten) echo "the machine was stopped" ;;
	host-qmp-quit) echo "the machine was ended" ;;
	hung) echo "QEMU hadn't answered for a minute, and was killed" ;;
	'') echo "the machine ended" ;;
	*) echo "the machine ended ($cause)" ;;
	esac
}

# Boots generation $1 in folder $2, results to folder $3. TAP on standard output.
run_one()
{
	local status=0 reason='' end='' settings="pmu=$pmu" limit=${timeout:-$LIMIT} options

	[ -n "$timeout" ] || ! is_hybrid "$1" || limit=$LIMIT_OF_HYBRID
	options=(--timeout "$limit" --smp "$smp")

	if [ "$boot" = direct ]; then
		prepare_direct "$2" "$1"
		options+=(--direct)
		settings+=" boot=direct"
	else
		prepare "$2" "$1"
	fi
	[ -z "$memory" ] || options+=(--memory "$memory")
	if [ -n "$gui" ]; then
		options+=(--gui)
	elif [ -n "$efi" ] && [ -z "$linux" ]; then
		# Some programs need a screen, even where they write to the serial line as well.
		options+=(--screen VGA)
	fi
	[ -z "$trace" ] || options+=(--trace)
	[ -z "$interactive" ] || options+=(--interactive)
	[ -z "$network" ] || options+=(--network)
	for disk in "${disks[@]}"; do
		options+=(--disk "$disk")
	done
	[ "$pmu" != host ] || options+=(--kvm)
	[ -z "$gdb" ] || {
		options+=(--gdb "$port") && say_debugger "$2"
	}
	if [ "$pmu" = reference ]; then
		settings+=" cpu=$1 fault=${fault:-none} seed=${seed:-0}"
		settings+="${profile:+ profile=$profile}${latitude:+ latitude=$latitude}"
	fi
	[ -z "$require" ] || settings+=" require=$require"
	# In the background, because a shell that waits hears signals at once; such a program's
	# standard input is empty unless it is named.
	tools/boot.sh "${options[@]}" "$2" <&0 &
	# shellcheck disable=SC2031 # with --all each run has a shell and a list of its own
	children+=($!)
	wait $! || status=$?
	case $status in
	0) end=$(how_it_ended "$2") ;;
	124) reason="timeout after $limit s" ;;
	130) exit 130 ;;
	*) reason="QEMU: $(last_words "$2/qemu.log" "$status")" ;;
	esac
	[ -z "$trace" ] || tools/trace/convert.py "$2/trace" "$trace" || exit 2
	status=0
	exec 4>&1
	# What the program said has been seen.
	if [ -n "$interactive" ]; then
		exec 4> /dev/null
		echo "run-qemu.sh: ${reason:-$end}; what was said is in $3/serial.log" >&2
	fi
	tools/conclude.py "--serial=$2/serial.log" "--out=$3" "--run=$settings" \
		"--reason=$reason" "--end=$end" "--efi=${efi##*/}" \
		${linux:+--system} "--build=$BUILD" >&4 || status=$?
	return "$status"
}

if [ -z "$all" ]; then
	mkdir "$work/1"
	if [ "$pmu" = reference ]; then
		name=${cpu:-haswell}
	else
		name=$pmu
	fi
	status=0 kind=${efi:+efi-}
	[ -z "$linux" ] || kind=linux-
	[ -z "$personality" ] || kind=personality-$kind
	out=${out:-$BUILD/results/$kind$name}
	if [ -n "$personality_of" ]; then
		run_one "$name" "$work/1" "$out" > "$work/tap" || status=$?
		grep -q '"subleaf"' "$out/machine.json" ||
			bad "--personality-of: the run told nothing"
		cat "$out/machine.json"
		exit 0
	fi
	run_one "$name" "$work/1" "$out" || status=$?
	[ -z "$personality" ] || [ -n "$efi" ] ||
		tools/personality/file.py compare "$personality" "$out" || status=2
	exit "$status"
fi

# Every generation, as many at a time as there are processors; one subtest each, in order. The last
# ones have the most tests, so they begin first: the short ones fill the end.
mapfile -t names < <(tools/spec.py list cpus | cut -f1)
for ((i = ${#names[@]} - 1; i >= 0; i--)); do
	name=${names[i]}
	while [ "$(jobs -rp | wc -l)" -ge "$(nproc)" ]; do
		wait -n || true
	done
	mkdir "$work/$name"
	(
		# shellcheck disable=SC2030
		children=() status=0
		trap stop_children EXIT
		trap 'exit 130' INT TERM HUP
		run_one "$name" "$work/$name" "${out:-$BUILD/results}/$name" \
			> "$work/$name/tap" 2> "$work/$name/errors" || status=$?
		echo "$status" > "$work/$name/status"
	) &
	# shellcheck disable=SC2031
	children+=($!)
done
wait
status=0
for name in "${names[@]}"; do
	cat "$work/$name/errors" >&2
	one=$(cat "$work/$name/status" 2> /dev/null || echo 2)
	# 1 wins over 2.
	if [ "$one" != 0 ] && [ "$status" != 1 ]; then
		status=$one
	fi
done

print_all()
{
	local name number=0 result

	echo "TAP version 14" && echo "1..${#names[@]}" || return
	for name in "${names[@]}"; do
		number=$((number + 1)) result=ok
		[ "$(cat "$work/$name/status" 2> /dev/null)" = 0 ] || result='not ok'
		echo "# Subtest: $name" && sed 's/^/    /' "$work/$name/tap" &&
			echo "$result $number - $name" || return
	done
}
# A reader that has gone mustn't end this before it can say so.
trap '' PIPE
print_all 2> /dev/null ||
	bad "standard output can't be written; results are in ${out:-$BUILD/results}"
exit "$status"
