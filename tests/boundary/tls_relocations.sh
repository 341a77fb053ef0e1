# tls_relocations.sh LIBRARY: no thread-local variable is reached through __tls_get_addr, which may call malloc.
set -eu
[ "$1" != sanitized ] || { echo "skipped: a sanitizer's run-time is linked in"; exit 77; }
command -v readelf >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
relocations=$(readelf -rW "$1")  # in no pipe, which would hide its status
! echo "$relocations" | grep -E 'DTPMOD|TLSDESC'
