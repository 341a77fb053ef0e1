# no_header.sh BUILD PREFIX SANITIZE CMAKE CC: a source that calls profil() without including a header finds its own system's
# call by what the system's pkg-config file says, also where it declares it itself, and by objcopy where there is only an
# object. Without either it gets the C library's: if it no longer does, the manual pages can drop the advice.
set -eu
build=$1 prefix=$2 sanitize=$3 cmake=$4 cc=$5
source=$(cd "$(dirname "$0")" && pwd)/no_header
[ -z "$sanitize" ] || { echo "skipped: the libraries carry a sanitizer"; exit 77; }
command -v pkg-config >/dev/null || { echo "skipped: pkg-config not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
DESTDIR=$work/stage "$cmake" --install "$build" >install.log
LD_LIBRARY_PATH=$(dirname "$(find "$work/stage$prefix" -name libpctally.so)")
PKG_CONFIG_PATH=$LD_LIBRARY_PATH/pkgconfig
export LD_LIBRARY_PATH PKG_CONFIG_PATH

echo 'extern int profil();' >declared.h
echo 'extern void profil(unsigned short *, unsigned int, unsigned int, unsigned int);' >system_v.h

link_and_run() { # NAME OBJECT
  "$cc" -no-pie "$2" counted.o -o "$1" $libraries
  ./"$1"
}
for system in svr4 bsd hpux tru64 aix irix glibc; do
  flags=$(pkg-config --cflags pctally-$system) libraries=$(pkg-config --libs pctally-$system)
  "$cc" $flags -DSYSTEM="\"$system\"" -c "$source/counted.c" -o counted.o
  "$cc" -std=gnu89 -w -fno-pie $flags -c "$source/old.c" -o old.o
  ! link_and_run trap old.o || { echo "$system: counted without any advice"; exit 1; }
  objcopy --redefine-sym profil=pctally_${system}_profil old.o renamed.o
  link_and_run renamed renamed.o
  "$cc" -std=gnu89 -w -fno-pie $flags $(pkg-config --variable=no_header pctally-$system) -c "$source/old.c" -o included.o
  link_and_run included included.o
  "$cc" -std=gnu89 -w -fno-pie $flags $(pkg-config --variable=no_header pctally-$system) -include declared.h -c "$source/old.c" -o declared.o
  link_and_run declared declared.o
done
flags=$(pkg-config --cflags pctally-svr4) libraries=$(pkg-config --libs pctally-svr4)
"$cc" $flags -DSYSTEM='"svr4"' -c "$source/counted.c" -o counted.o
"$cc" -std=gnu89 -w -fno-pie $flags -DPCTALLY_SOURCE_DECLARES -include unistd.h -include system_v.h -c "$source/old.c" -o prototype.o
link_and_run prototype prototype.o
