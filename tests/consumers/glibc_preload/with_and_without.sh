# with_and_without.sh LIBRARY SANITIZE COMPILER...: one binary, built with the C library's headers alone, is answered by the C
# library when it runs bare and by LIBRARY under LD_PRELOAD, where sprofil also works a second time.
set -eu
library=$1 sanitize=$2
shift 2
[ -z "$sanitize" ] || { echo "skipped: the library carries a sanitizer"; exit 77; }
source=$(dirname "$0")/existing_program.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
"$@" "$source" -o program

# The version the program asks its C library for is the one the library has.
if command -v nm >/dev/null; then
  asked=$(nm -D program | sed -n 's/.* U \(s\{0,1\}profil\)@@*/\1 /p')
  given=$(nm -D "$library" | sed -n 's/.* T \(s\{0,1\}profil\)@@*/\1 /p')
  [ -n "$asked" ] && [ "$asked" = "$given" ] || { echo "asked: $asked; given: $given"; exit 1; }
fi

LD_PRELOAD= ./program 0 >bare
[ "$(cat bare)" = "profil: libc" ] || { echo "bare:"; cat bare; exit 1; }

LD_PRELOAD=$library ./program 2 >preloaded || { echo "preloaded:"; cat preloaded; exit 1; }
cat preloaded
[ "$(grep -c ': pctally' preloaded)" = 3 ] && [ "$(grep -c 'a tick is 10000 us' preloaded)" = 2 ]

# A program that never calls them notices nothing.
[ "$(LD_PRELOAD=$library sh -c 'echo as before' 2>&1)" = "as before" ]

# Linked, not preloaded: the library stands before libc, and the program asks it for the version that libc has.
"$@" "$source" -o linked "$library"
./linked 1 >out || { echo "linked:"; cat out; exit 1; }
[ "$(grep -c ': pctally' out)" = 2 ]
