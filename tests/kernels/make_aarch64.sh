#!/bin/bash
# make_aarch64.sh SOURCES DIR: builds pctally for aarch64, with Debian's cross compiler and what Debian has of aarch64's
# packages. Leaves DIR/packages, whose boot/ and lib/modules/ are a kernel for boot_and_run.sh, and DIR/root.img, a root file
# system as that of make_root.sh, with unit tests of rooms that need a kernel of that machine. Needs mmdebstrap and root.
# Exits with 77 if no mirror of Debian can be reached.
#   JOBS=n  compile jobs (default: one per CPU)
set -eu
mkdir -p "$2"
sources=$(realpath "$1") directory=$(realpath "$2")
packages=$directory/packages build=$directory/build root=$directory/root
if [ ! -e "$packages/bin/busybox" ]; then
  rm -rf "$packages" "$packages.new"
  libraries=libelf-dev,libdw-dev,libiberty-dev,libmd-dev,libzstd-dev,zlib1g-dev,libbz2-dev,liblzma-dev,libncurses-dev,libbpf-dev
  headers=libc6-dev,libstdc++-12-dev,libcli11-dev,libfmt-dev,nlohmann-json3-dev,libprotozero-dev,libzydis-dev,libcapstone-dev
  mmdebstrap --quiet --variant=extract --arch=arm64 \
    --include="$libraries,$headers,linux-image-cloud-arm64,bash,busybox-static,xz-utils,sqlite3" bookworm "$packages.new" \
    "${MIRROR:-http://deb.debian.org/debian}" 2>"$directory/packages.log" || {
    cat "$directory/packages.log" >&2
    ! grep -q "Could not resolve\|Could not connect\|Connection failed\|Temporary failure" "$directory/packages.log" || exit 77
    exit 1
  }
  mv "$packages.new" "$packages"
fi
PCTALLY_SYSROOT=$packages cmake -S "$sources" -B "$build" -G Ninja --toolchain "$sources/cmake/toolchains/aarch64.cmake" \
  -DCMAKE_BUILD_TYPE=Release >"$directory/cmake.log" 2>&1 || { tail -20 "$directory/cmake.log"; exit 1; }
programs="spinner known_shares waiting_main signal_reader profil_threads forker churn known_paths starts"
tests="tick_test perf_test path_test bpf_test process_test"
PCTALLY_SYSROOT=$packages ninja -C "$build" -j "${JOBS:-$(nproc)}" pctally pctally_preload pctally_glibc $programs $tests >"$directory/build.log" ||
  { tail -20 "$directory/build.log"; exit 1; }

rm -rf "$root"
mkdir -p "$root"/{proc,sys,dev,tmp,out,root,p/bin,p/lib,t,run,home/u,etc}
for part in bin sbin lib lib64 usr/bin usr/sbin usr/lib; do  # /bin and the like may be links
  [ ! -e "$packages/$part" ] || { mkdir -p "$root/$(dirname "$part")"; cp -a "$packages/$part" "$root/$part"; }
done
rm -rf "$root"/lib/modules "$root"/usr/lib/modules "$root"/usr/lib/gcc "$root"/usr/lib/aarch64-linux-gnu/*.a
chmod 1777 "$root/tmp" "$root/out"
for name in sh mount cat ps id su sleep mkdir cp rm tar grep head sysctl stty poweroff chmod chown uname true; do
  ln -sf busybox "$root/bin/$name"
done
cp "$build/bin/pctally" "$root/p/bin/"
cp -a "$build"/lib/libpctally*.so* "$root/p/lib/"
for name in $programs; do cp "$build/programs/$name" "$root/t/"; done
for name in $tests; do aarch64-linux-gnu-strip --strip-debug -o "$root/t/$name" "$build/tests/$name"; done
if command -v go >/dev/null; then
  GOARCH=arm64 CGO_ENABLED=0 GO111MODULE=off GOCACHE="$directory/go" go build -ldflags "-s -w" -o "$root/t/goroutines" "$sources/tests/paths/goroutines.go"
fi
head -c 3000000 "$build/bin/pctally" >"$root/t/data"
printf 'root:x:0:0:root:/root:/bin/bash\nu:x:1000:1000:u:/home/u:/bin/bash\n' >"$root/etc/passwd"
printf 'root:x:0:\nu:x:1000:\n' >"$root/etc/group"
rm -f "$directory/root.img"
truncate -s 900M "$directory/root.img"
mkfs.ext4 -q -F -O ^has_journal -d "$root" "$directory/root.img"
rm -rf "$root"
