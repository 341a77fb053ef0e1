# undefined_symbols.sh ARCHIVE ALLOWED: the archive, taken as a whole, calls nothing but the symbols listed in ALLOWED.
set -eu
command -v nm >/dev/null && command -v ld >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
whole=$(mktemp)
trap 'rm -f "$whole"' EXIT
ld -r -o "$whole" --whole-archive "$1"
undefined=$(nm -u "$whole" | awk '{ print $2 }' | sort)
allowed=$(sort "$2")
[ "$undefined" = "$allowed" ] && exit 0
echo "undefined symbols of $1:"
echo "$undefined"
exit 1
