#!/bin/bash
# make_root.sh BUILD ROOT.IMG: a root file system (ext4) of this machine's programs with the libraries they need, pctally's
# build at /p, its test programs at /t, and a plain user u. Needs no privilege.
set -eu
build=$1 image=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,proc,sys,dev,tmp,out,etc,root,p/bin,p/lib,t,run,home/u,lib64,usr/bin,usr/lib/x86_64-linux-gnu,lib/x86_64-linux-gnu}
chmod 1777 "$root/tmp" "$root/out"
cp "$(command -v busybox)" "$root/bin/"
for name in sh mount cat ps id su sleep mkdir cp rm tar grep head sysctl stty poweroff chmod chown uname true; do
  ln -sf busybox "$root/bin/$name"
done
libraries() {
  ldd "$1" 2>/dev/null | grep -o '/[^ ]*' | while read -r library; do
    mkdir -p "$root$(dirname "$library")"
    [ -e "$root$library" ] || cp -L "$library" "$root$library"
  done
}
cp "$build/bin/pctally" "$root/p/bin/"
cp -a "$build"/lib/libpctally*.so* "$root/p/lib/"
for name in spinner known_shares waiting_main signal_reader profil_threads forker churn known_paths; do cp "$build/programs/$name" "$root/t/"; done
for name in bash xz; do cp -L "$(command -v $name)" "$root/usr/bin/"; done
ln -sf /usr/bin/bash "$root/bin/bash"
for file in "$root"/p/bin/* "$root"/p/lib/*.so "$root"/t/* "$root"/usr/bin/*; do libraries "$file"; done
head -c 3000000 "$build/bin/pctally" >"$root/t/data"
printf 'root:x:0:0:root:/root:/bin/bash\nu:x:1000:1000:u:/home/u:/bin/bash\n' >"$root/etc/passwd"
printf 'root:x:0:\nu:x:1000:\n' >"$root/etc/group"
rm -f "$image"
truncate -s 400M "$image"
mkfs.ext4 -q -F -O ^has_journal -d "$root" "$image"
