# without_call_paths.sh SRC COMPILER...: what has a half for machines that follow no paths compiles there, too. No machine of
# the ordinary check is one.
set -eu
src=$1
shift
other=$(mktemp -d)
trap 'rm -rf "$other"' EXIT
mkdir -p "$other/tick/unwind"
sed 's/PCTALLY_FOLLOWS_PATHS 1/PCTALLY_FOLLOWS_PATHS 0/' "$src/tick/unwind/unwind_rule.h" >"$other/tick/unwind/unwind_rule.h"
if cmp -s "$src/tick/unwind/unwind_rule.h" "$other/tick/unwind/unwind_rule.h"; then exit 1; fi
sources=$(grep -l PCTALLY_FOLLOWS_PATHS "$src"/*/*.cc | grep -v _test)
for source in $sources; do
  "$@" -I"$other" -I"$src" -I"$src/../include" "$source"
done
