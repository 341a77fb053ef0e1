# compile_and_run.sh SOURCE INCLUDE LIBRARY_DIR SANITIZE QUICK_CLOCK run|link COMPILER...: an unchanged source of its system, with
# -isystem of that system's headers alone; run, it exits 0 when it has found its hot function, and not where no clock brings
# ticks.
set -eu
source=$1 include=$2 libraries=$3 sanitize=$4 quick_clock=$5 goal=$6
shift 6
[ -z "$sanitize" ] || { echo "skipped: the libraries carry a sanitizer"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
system=$(basename "$(dirname "$source")")
"$@" -pthread -isystem "$include/pctally/compat/$system" "$source" -o "$work/program" -L "$libraries" -lpctally
[ "$goal" = run ] || exit 0
cd "$work" # some leave a file
export LD_LIBRARY_PATH=$libraries
# A busy host may let a program run for 0.1 s without an interrupt: the tick that follows counts for all that were due, a fifth of
# those of a run. One of 200 runs beside three busy loops found another function hot; three in a row would be one in 8 million.
./program || ./program || ./program
# Without a tick it need not work for long.
! LD_PRELOAD=$quick_clock PCTALLY_ENGINE=manual ./program || { echo "found its hot function without a tick"; exit 1; }
