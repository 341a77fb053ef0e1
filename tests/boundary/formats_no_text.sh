# formats_no_text.sh ARCHIVE: nothing in the archive makes the text of an error: its code runs in signal handlers and in
# the children of fork(2), and says what went wrong by a Status.
set -eu
command -v nm >/dev/null || { echo "skipped: binutils not installed"; exit 77; }
undefined=$(nm -uC "$1")  # in no pipe, which would hide its status
found=$(echo "$undefined" | grep -E 'pctally::(fail|explained)\(|printf|scanf|strerror' | sort -u)
[ -z "$found" ] && exit 0
echo "$1:"
echo "$found"
exit 1
