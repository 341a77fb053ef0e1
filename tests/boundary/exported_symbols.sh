# exported_symbols.sh LIBRARY GOLDEN: it exports exactly the symbols in GOLDEN, each with a version.
set -eu
[ "$1" != sanitized ] || { echo "skipped: a sanitizer's run-time is linked in"; exit 77; }
command -v ${NM:=nm} >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
exported=$($NM -D --defined-only --with-symbol-versions "$1" | awk '$2 != "A" { print $3 }' | sort)
unversioned=$(echo "$exported" | grep -v @ || true)
[ -z "$unversioned" ] || { echo "without a version:" $unversioned; exit 1; }
echo "$exported" | sed 's/@.*//' | sed '/^$/d' | diff -u "$2" -
