# undefined_symbols.sh ARCHIVE ALLOWED [LOWER...]: the archive, taken as a whole and with the LOWER ones, calls nothing but the
# symbols listed in ALLOWED.
#   LD, NM   those of the archive's machine
# Names that the linker itself gives to its tables are no calls.
set -eu
command -v ${NM:=nm} >/dev/null && command -v ${LD:=ld} >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
whole=$(mktemp)
trap 'rm -f "$whole"' EXIT
archive=$1 allowed=$2
shift 2
$LD -r -o "$whole" --whole-archive "$archive" --no-whole-archive "$@"
undefined=$($NM -u "$whole")
allowed=$(sort "$allowed")
undefined=$(echo "$undefined" | awk '$2 !~ /^(|_GLOBAL_OFFSET_TABLE_|[.]TOC[.])$/ { print $2 }' | sort)
[ "$undefined" = "$allowed" ] && exit 0
echo "undefined symbols of $archive:"
echo "$undefined"
exit 1
