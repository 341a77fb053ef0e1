#!/bin/bash
# boot_and_run.sh KERNEL ROOT.IMG SCRIPT OUTDIR: boots KERNEL (an unpacked Debian linux-image-*.deb) in QEMU without
# hardware help on a throw-away copy of ROOT.IMG (make_root.sh), runs SCRIPT there as root, prints what it printed, and
# brings back to OUTDIR what it left in /out. 5 s from start to the script's first line on an idle machine.
#   LIMIT=seconds (900)   MACHINE=x86_64 or aarch64 (x86_64): of the kernel and of the programs
# Emulation loses clock interrupts: compare shares, not totals. x86-64 without cx16: Linux 6.12 panics behind a
# cmpxchg16b of QEMU 7.2.
set -eu
kernel=$1 root=$2 script=$3 out=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
modules=$(ls -d "$kernel"/lib/modules/* "$kernel"/usr/lib/modules/* 2>/dev/null | head -1)
image=$(ls "$kernel"/boot/vmlinuz-* "$modules/vmlinuz" 2>/dev/null | head -1)  # newer packages have it beside the modules
busybox=$kernel/bin/busybox
[ -e "$busybox" ] || busybox=$(command -v busybox)
case ${MACHINE:-x86_64} in
  aarch64)  # one serial line
    machine="qemu-system-aarch64 -M virt -cpu max,pauth-impdef=on" console=ttyAMA0 said=ttyAMA0
    serial="-chardev file,id=c1,path=$work/serial -serial chardev:c1"
    ;;
  *)
    machine="qemu-system-x86_64 -cpu max,cx16=off" console=ttyS0 said=ttyS1
    serial="-chardev file,id=c0,path=$work/console -serial chardev:c0 -chardev file,id=c1,path=$work/serial -serial chardev:c1"
    ;;
esac

mkdir -p "$work"/initial/{bin,m,new,proc,dev} "$work/in"
cp "$busybox" "$work/initial/bin/busybox"
for name in virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
  file=$(find "$modules" -name "$name.ko*" | head -1)
  case $file in
    '') ;;
    *.xz) xz -dc "$file" >"$work/initial/m/$name.ko" ;;
    *.zst) zstd -qdc "$file" >"$work/initial/m/$name.ko" ;;
    *) cp "$file" "$work/initial/m/$name.ko" ;;
  esac
done
sed "s/SAID/$said/g" >"$work/initial/init" <<'INIT'
#!/bin/busybox sh
b=/bin/busybox
$b mount -t proc p /proc; $b mount -t devtmpfs d /dev
for round in 1 2 3; do
  for name in virtio_ring virtio virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_blk; do
    [ -e /m/$name.ko ] && $b insmod /m/$name.ko 2>/dev/null
  done
done
tries=0; while [ ! -b /dev/vda ] && [ $tries -lt 50 ]; do $b sleep .1; tries=$((tries + 1)); done
$b mount -t ext4 /dev/vda /new; $b mount -t devtmpfs d /new/dev; $b mount -t proc p /new/proc; $b mount -t sysfs s /new/sys
$b mkdir -p /new/dev/shm; $b mount -t tmpfs t /new/dev/shm; $b mount -t tmpfs t /new/tmp; $b chmod 1777 /new/tmp /new/dev/shm
$b mount -t tracefs t /new/sys/kernel/tracing 2>/dev/null; $b mount -t bpf b /new/sys/fs/bpf 2>/dev/null
exec $b switch_root /new /bin/sh -c 'export PATH=/p/bin:/usr/bin:/bin HOME=/root; stty -onlcr </dev/SAID 2>/dev/null
tar xf /dev/vdb -C /run; /bin/bash /run/script </dev/null >/dev/SAID 2>&1; echo "[script: $?]" >/dev/SAID
tar cf /dev/vdc -C /out .; sleep 0.3; poweroff -f'
INIT
chmod +x "$work/initial/init"
(cd "$work/initial" && find . | busybox cpio -o -H newc 2>/dev/null | gzip -1) >"$work/initrd"
cp "$script" "$work/in/script"
tar cf "$work/in.tar" -C "$work/in" .
truncate -s %1M "$work/in.tar"
truncate -s 64M "$work/out.tar"
: >"$work/serial"
timeout "${LIMIT:-900}" $machine -accel tcg,thread=multi -smp 2 -m 1G -nographic -nodefaults -no-reboot \
  -kernel "$image" -initrd "$work/initrd" -append "console=$console rdinit=/init panic=1 mitigations=off quiet loglevel=1" $serial \
  -drive "file=$root,format=raw,if=virtio,snapshot=on" -drive "file=$work/in.tar,format=raw,if=virtio,readonly=on" \
  -drive "file=$work/out.tar,format=raw,if=virtio" >"$work/qemu" 2>&1 || true
cat "$work/serial"
grep -q '^\[script: ' "$work/serial" || { echo "it did not come to its end; the console:"; tail -c 3000 "$work"/console 2>/dev/null || true; cat "$work/qemu"; }
mkdir -p "$out"
tar xf "$work/out.tar" -C "$out" 2>/dev/null || true
grep -q '^\[script: 0\]' "$work/serial"
