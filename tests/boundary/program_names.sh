# program_names.sh LIBRARY: it calls nothing by a name that ISO C leaves to programs, neither the C library's nor a call that it
# exports itself: a program may define that name for something else (src/base/own_calls.cc). Left are names of ISO C, reserved
# ones, pthread_*, and the two calls that find the others.
set -eu
[ "$1" != sanitized ] || { echo "skipped: a sanitizer's run-time is linked in"; exit 77; }
command -v readelf >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
header=$(LC_ALL=C readelf -hW "$1")  # in no pipe, which would hide its status
relocations=$(readelf -rW "$1")
case $(echo "$header" | sed -n 's/ *Machine: *//p') in
  *X86-64* | AArch64 | RISC-V) ;;
  *) echo "skipped: on this machine the C library's calls are used"; exit 77 ;;
esac
found=$(echo "$relocations" | awk '$3 ~ /JUMP_SL|GLOB_DAT|_64$|ABS64/ && $5 != "+" && $5 != "" { sub("@.*", "", $5); print $5 }' | sort -u |
  grep -vxE '_.*|mem[a-z]*|str[a-z]*|v?snprintf|getenv|pthread_[a-z_]*|pctally_[a-z0-9_]*|program_invocation_short_name|dl(sym|error)') || exit 0
echo "called by names that a program may define for something else:"
echo "$found"
exit 1
