# not_linked.sh PROGRAM LIBRARY: the program starts without it.
set -eu
command -v readelf >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
needed=$(LC_ALL=C readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$1 needs:" $needed
! echo "$needed" | grep "^$2[.]so"
