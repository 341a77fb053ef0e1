# scripts_explain.sh DIRECTORY: the scripts there say what they do when they are asked by --help, and do nothing of it.
# They find no program but sed here, so that a wrong one could install or build nothing.
set -eu
scripts=$1
programs=$(mktemp -d)
trap 'rm -rf "$programs"' EXIT
ln -s "$(command -v sed)" "$programs/sed"
for script in bench build check demo pictures; do
  said=$(env -i PATH="$programs" /bin/sh "$scripts/$script" --help) || { echo "scripts/$script --help failed"; exit 1; }
  [ ${#said} -gt 60 ] || { echo "scripts/$script --help says: $said"; exit 1; }
done
