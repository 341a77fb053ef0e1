# consume.sh pkg_config|find_package|moved_tree BUILD PREFIX SANITIZE CMAKE GENERATOR CC CXX
# Installs to a temporary directory, builds consumer.c and consumer.cc against it and runs both.
set -eu
way=$1 build=$2 prefix=$3 sanitize=$4 cmake=$5 generator=$6 cc=$7 cxx=$8
source=$(cd "$(dirname "$0")" && pwd)
[ -z "$sanitize" ] || { echo "skipped: the libraries carry a sanitizer"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
DESTDIR=$work/stage "$cmake" --install "$build" >install.log
tree=$work/stage$prefix
if [ "$way" = moved_tree ]; then
  mv "$tree" "$work/elsewhere"
  tree=$work/elsewhere
fi
library=$(find "$tree" -name libpctally.so)
LD_LIBRARY_PATH=$(dirname "$library")
export LD_LIBRARY_PATH

with_pkg_config() {
  command -v pkg-config >/dev/null || { echo "skipped: pkg-config not installed"; exit 77; }
  PKG_CONFIG_PATH=$LD_LIBRARY_PATH/pkgconfig
  export PKG_CONFIG_PATH
  flags="-Wall -Wextra -Werror -pedantic $(pkg-config --cflags pctally)"
  "$cc" -std=c99 $flags "$source/consumer.c" -o from_c $(pkg-config --libs pctally)
  "$cxx" -std=c++11 $flags "$source/consumer.cc" -o from_cxx $(pkg-config --libs pctally)
}

with_find_package() {
  "$cmake" -S "$source/find_package" -B . -G "$generator" -DCMAKE_PREFIX_PATH="$tree" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_CXX_COMPILER="$cxx" >configure.log || { cat configure.log; exit 1; }
  "$cmake" --build . >build.log || { cat build.log; exit 1; }
}

if [ "$way" = find_package ]; then with_find_package; else with_pkg_config; fi
for program in from_c from_cxx; do
  ./$program "$work/$program.pct"
  [ -s "$work/$program.pct" ] || { echo "$program left no profile"; exit 1; }
done
