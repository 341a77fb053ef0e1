# header_compiles.sh HEADER COMPILER...: the header compiles alone, and twice.
set -eu
header=$1
shift
printf '#include "%s"\n#include "%s"\ntypedef int not_empty;\n' "$header" "$header" | "$@" -
