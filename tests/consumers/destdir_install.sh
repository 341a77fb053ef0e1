# destdir_install.sh BUILD PREFIX LIBDIR CMAKE: everything lies below DESTDIR, at its place.
set -eu
build=$1 prefix=$2 libdir=$3 cmake=$4
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
DESTDIR=$stage "$cmake" --install "$build" >/dev/null

zsh=site-functions
[ "$prefix" != /usr ] || zsh=vendor-completions  # where zsh of Debian looks

status=0
expect() {
  for file; do
    [ -e "$stage$prefix/$file" ] || { echo "not installed: $prefix/$file"; status=1; }
  done
}
expect bin/pctally "$libdir/libpctally.so" "$libdir/libpctally.so.0" "$libdir/pctally/libpctally-preload.so" \
  "$libdir/pctally/libpctally-glibc.so" \
  include/pctally/pctally.h "$libdir/pkgconfig/pctally.pc" "$libdir/cmake/pctally/pctallyConfig.cmake" \
  share/bash-completion/completions/pctally "share/zsh/$zsh/_pctally" \
  share/fish/vendor_completions.d/pctally.fish share/doc/pctally/LICENSE
if command -v scdoc >/dev/null; then
  expect share/man/man1/pctally.1 share/man/man1/pctally-record.1 share/man/man1/pctally-report.1 \
    share/man/man1/pctally-engines.1 share/man/man3/pctally.3 share/man/man3/pctally-hpux.3 \
    share/man/man3/pctally-glibc.3 share/man/man5/pctally-file.5
fi
docs=$stage$prefix/share/doc/pctally
expect share/doc/pctally/README.md share/doc/pctally/docs/engines.md
for page in "$docs"/*.md "$docs"/*/*.md "$docs"/*/*/*.md; do
  for link in $(grep -o '](\([^):#]*\)[#)]' "$page" | sed 's/^](//; s/[#)]$//'); do
    [ -e "$(dirname "$page")/$link" ] || { echo "${page#"$stage"}: a link leads nowhere: $link"; status=1; }
  done
done
outside=$(find "$stage" -type f -o -type l | grep -v "^$stage$prefix/" || true)
[ -z "$outside" ] || { echo "outside the prefix: $outside"; status=1; }
exit $status
