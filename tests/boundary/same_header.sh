# same_header.sh PROGRAM PAGE: the manual page's lines of offset, size and field are the header's rows of the program.
set -eu
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
${EMULATOR:-} "$1" | sed -n '/`magic`/,/`runs`/ { s/[|`]//g; p; / runs /q }' | awk '{ print $1, $2, $3 }' >"$printed"
awk '/^ *[0-9]+ +[0-9]+ +[a-z_.]+( |$)/ { print $1, $2, $3 }' "$2" | diff -u "$printed" -
