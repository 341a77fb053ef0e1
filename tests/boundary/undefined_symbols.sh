# undefined_symbols.sh ARCHIVE ALLOWED: the archive, taken as a whole, calls nothing but the symbols listed in ALLOWED.
#   LD, NM   those of the archive's machine        LIBGCC  the compiler's own library, whose code counts as the archive's
# Names that the linker itself gives to its tables are no calls.
set -eu
command -v ${NM:=nm} >/dev/null && command -v ${LD:=ld} >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
whole=$(mktemp)
trap 'rm -f "$whole"' EXIT
$LD -r -o "$whole" --whole-archive "$1" --no-whole-archive ${LIBGCC:-}
undefined=$($NM -u "$whole" | awk '$2 !~ /^(|_GLOBAL_OFFSET_TABLE_|_gp_disp|[.]TOC[.])$/ { print $2 }' | sort)
allowed=$(sort "$2")
[ "$undefined" = "$allowed" ] && exit 0
echo "undefined symbols of $1:"
echo "$undefined"
exit 1
