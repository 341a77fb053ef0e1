# needed_libraries.sh FILE [LIBRARY]: it needs the C library and nothing else; or, whatever it needs, not LIBRARY.
set -eu
[ "$1" != sanitized ] || { echo "skipped: a sanitizer's run-time is linked in"; exit 77; }
command -v readelf >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
dynamic=$(LC_ALL=C readelf -dW "$1")  # in no pipe, which would hide its status
needed=$(echo "$dynamic" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
echo "$1 needs:" $needed
if [ $# -gt 1 ]; then
  ! echo "$needed" | grep "^$2[.]so"
else  # some machines name the loader too, which is a part of the C library
  [ "$(echo "$needed" | grep -v '^ld.*[.]so[.]')" = libc.so.6 ]
fi
