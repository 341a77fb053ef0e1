# manual_example.sh PAGE SYSTEM INCLUDE LIBRARY_DIR SANITIZE COMPILER...: the program in the page's EXAMPLES, compiled as its
# SYNOPSIS says, exits 0: it has found its function.
set -eu
page=$1 system=$2 include=$3 libraries=$4 sanitize=$5
shift 5
[ -z "$sanitize" ] || { echo "skipped: the libraries carry a sanitizer"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# Inside a literal block scdoc, too, takes a backslash for the escape of what follows.
sed -n '/^# EXAMPLES/,/^# SEE ALSO/p' "$page" | sed -n '/^```$/,/^```$/p' | sed '/^```$/d; s/\\\(.\)/\1/g' >"$work/example.c"
[ -s "$work/example.c" ] || { echo "$page has no example"; exit 1; }
"$@" -isystem "$include/pctally/compat/$system" "$work/example.c" -o "$work/example" -L "$libraries" -lpctally
LD_LIBRARY_PATH=$libraries "$work/example" | tee "$work/said"
grep -q '^work: [1-9]' "$work/said"
