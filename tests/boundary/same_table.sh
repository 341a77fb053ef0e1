# same_table.sh PROGRAM PAGE: the page's rows of offset, size and field are those the program prints, in its order.
set -eu
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
${EMULATOR:-} "$1" >"$printed"
sed -n 's/^\(| [0-9]* | [0-9]* | `[a-z_.0-9]*` |\).*/\1/p' "$2" | diff -u "$printed" -
