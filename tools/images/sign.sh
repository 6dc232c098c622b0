#!/bin/bash
# SPDX-License-Identifier: MIT
# sign.sh BUILD KEY CERT: signs BUILD/pmutest86.efi for Secure Boot with that key and certificate,
# PEM both, into BUILD/signed/pmutest86.efi. Images: make usb iso EFI=BUILD/signed/pmutest86.efi
set -euo pipefail
cd "$(dirname "$0")/../.."
bad()
{
	echo "sign.sh: $*" >&2
	exit 2
}
[ $# = 3 ] || bad "usage: make sign KEY=file CERT=file"
command -v sbsign > /dev/null ||
	bad "signing needs sbsign; run: sudo apt-get install -y sbsigntool"
[ -f "$2" ] || bad "KEY='$2' is no file"
[ -f "$3" ] || bad "CERT='$3' is no file"
mkdir -p "$1/signed"
sbsign --key "$2" --cert "$3" --output "$1/signed/new" "$1/pmutest86.efi" > "$1/signed/log" 2>&1 ||
	bad "sbsign: $(tail -n 1 "$1/signed/log")"
sbverify --cert "$3" "$1/signed/new" > "$1/signed/log" 2>&1 ||
	bad "sbverify: $(tail -n 1 "$1/signed/log")"
mv "$1/signed/new" "$1/signed/pmutest86.efi"
echo "$1/signed/pmutest86.efi: the firmware must know the certificate $3"
