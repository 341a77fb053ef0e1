# room_symbols.sh ROOM ARCHIVE ALLOWED LOWER...: what the archive of a room that runs in the program calls is defined in
# itself, in the archives of the rooms below (LOWER), or listed in ALLOWED. So no room needs the C++ library, the heap or
# exceptions, and a new call of libc is seen in a review.
set -eu
command -v nm >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
room=$1 archive=$2 allowed=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -u "$archive" >"$work/nm"  # in no pipe, which would hide its status
awk '$1 ~ /^[Uwv]$/ { print $2 }' "$work/nm" | sort -u >"$work/undefined"
nm --defined-only "$archive" "$@" >"$work/nm"
awk '$2 ~ /^[A-Z]$/ { print $3 }' "$work/nm" | sort -u >"$work/defined"
# What compilers and linkers put in by themselves.
sort -u "$allowed" - >"$work/allowed" <<'SYMBOLS'
_GLOBAL_OFFSET_TABLE_
__errno_location
__stack_chk_fail
memcmp
memcpy
memmove
memset
SYMBOLS
found=$(comm -23 "$work/undefined" "$work/defined" | comm -23 - "$work/allowed")
[ -z "$found" ] && exit 0
echo "$room/ calls what $allowed does not list:"
echo "$found"
exit 1
