# bpf_compiles.sh INCLUDE SOURCE CLANG: the source compiles for the BPF target and calls nothing.
set -eu
case ${3:-} in '' | *NOTFOUND) echo "skipped: clang not installed"; exit 77 ;; esac
"$3" --print-targets | grep -qw bpf || { echo "skipped: $3 has no BPF target"; exit 77; }
object=$(mktemp)
trap 'rm -f "$object"' EXIT
"$3" -target bpf -O2 -Wall -Wextra -Werror -Wno-unused-function -I"$1" -c "$2" -o "$object"
