# exported_symbols.sh LIBRARY GOLDEN: it exports exactly the symbols in GOLDEN, each with a version; and those in
# hooks.symbols (and GOLDEN's .hooks, if it has any) without one, so that a program's reference to any version of the C
# library's finds them.
set -eu
export LC_ALL=C
hooks=$(cat "$(dirname "$0")/hooks.symbols" "${2%.symbols}.hooks" 2>/dev/null | sort)
[ "$1" != sanitized ] || { echo "skipped: a sanitizer's run-time is linked in"; exit 77; }
command -v ${NM:=nm} >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
dynamic=$($NM -D --defined-only "$1")  # in no pipe, which would hide its status
exported=$(echo "$dynamic" | awk '$2 != "A" { print $3 }' | sort)
echo "$exported" | grep -v @ | sed '/^$/d' | diff -u /dev/fd/3 - 3<<END || { echo "not exactly these are without a version"; exit 1; }
$hooks
END
echo "$exported" | grep @ | sed 's/@.*//' | diff -u "$2" -
