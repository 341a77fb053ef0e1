# bash completion for pctally(1)

_pctally_events='cpu-clock page-faults minor-faults major-faults context-switches cpu-migrations
  alignment-faults emulation-faults cycles ref-cycles instructions stalled-cycles-frontend stalled-cycles-backend bus-cycles branches branch-misses
  cache-references cache-misses'

_pctally_words() {
  local IFS=$' \n'
  COMPREPLY+=($(compgen -W "$1" -- "$current"))
}

_pctally_files() {
  local IFS=$'\n'
  compopt -o filenames 2>/dev/null
  COMPREPLY+=($(compgen -f -X "$1" -- "$current") $(compgen -d -- "$current"))
}

# The command to record and its arguments complete as they would alone.
_pctally_command() {
  local start=$1
  if declare -F _command_offset >/dev/null; then
    _command_offset "$start"
  elif ((COMP_CWORD == start)); then
    COMPREPLY=($(compgen -c -- "$current"))
  else
    _pctally_files ''
  fi
}

_pctally_record() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    case ${COMP_WORDS[i]} in
      --) _pctally_command $((i + 1)); return ;;
      =) ((i++)) ;; # bash takes --frequency=100 for three words
      --frequency | --period | --engine | --event | --output | --pid | --cgroup | --for | --call-graph | --scope | --paths-memory)
        [[ ${COMP_WORDS[i + 1]} == = ]] || ((i++))
        ;;
      -F | -c | -e | -o | -p) ((i++)) ;;
      -*) ;;
      *) _pctally_command $i; return ;;
    esac
  done
  case $previous in
    -F | --frequency) _pctally_words '100 1000 4000' ;;
    -c | --period) _pctally_words '250us 1ms 10ms' ;;
    -e | --engine | --event) _pctally_words "bpf ring timer trap $_pctally_events" ;;
    -p | --pid) _pctally_words "$(compgen -G '/proc/[0-9]*' | sed 's,/proc/,,')" ;;
    --cgroup) _pctally_files '*' ;;
    --for) _pctally_words '10 60' ;;
    --scope) _pctally_words 'program thread cgroup' ;;
    --paths-memory) _pctally_words '64K 1M 8M 24M' ;;
    -o | --output) _pctally_files '' ;;
    --call-graph) _pctally_words 'fp dwarf lbr' ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '-F -c -e -o -f -q -v -p -a --frequency --period --engine --event --output --force --quiet --verbose
          --pid --all --cgroup --for -g --callers --no-callers --call-graph --scope --paths-memory --no-children --wait --fixed-period --help --'
      else
        _pctally_command "$COMP_CWORD"
      fi
      ;;
  esac
}

_pctally_report() {
  case $previous in
    --by) _pctally_words 'function object line process command program thread cgroup program,function thread,function cgroup,function' ;;
    --sort) _pctally_words 'ticks total name object' ;;
    --names) _pctally_words 'short full linkage' ;;
    --color) _pctally_words 'always auto never' ;;
    --html | --flamegraph) _pctally_files ;;
    --limit | --min-share | --sample-index | --callers | --filter | --object | --program | --thread | --cgroup | --focus | --ignore | --hide) ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '--by --sort --limit --min-share --own --inlines --debuginfod --sample-index --callers --tree --bottom-up --focus --ignore --hide --flamegraph --filter --object --program --thread --cgroup --names --html --command --no-sources --strip-paths --json --color --help'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_annotate() {
  case $previous in
    --names) _pctally_words 'short full linkage' ;;
    --color) _pctally_words 'always auto never' ;;
    --object | --min-share | --source-path) ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '--object --all --min-share --intel --names --source-path --debuginfod --json --color --help'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_diff() {
  case $previous in
    --by) _pctally_words 'function object line process command program' ;;
    --color) _pctally_words 'always auto never' ;;
    --budget | --html) _pctally_files ;;
    --names) _pctally_words 'short full linkage' ;;
    --limit | --work | --sample-index | --fail-if) ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '--by --limit --names --sample-index --work --fail-if --budget --markdown --json --junit --html --no-sources --strip-paths --color --help --'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_engines() {
  _pctally_words '--json --help'
}

_pctally_plan() {
  case $previous in
    --by) _pctally_words 'function object line process command program' ;;
    --names) _pctally_words 'short full linkage' ;;
    --limit | --change | --power | --runs | --sample-index) ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '--by --limit --names --change --power --runs --sample-index --help'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_export() {
  case $previous in
    --format) _pctally_words 'pprof folded speedscope firefox perf callgrind csv markdown gmon llvm' ;;
    -o | --output) _pctally_files ;;
    --names) _pctally_words 'short full linkage' ;;
    --limit | --object | --sample-index) ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '--format -o --output --names --no-lines --limit --object --sample-index --debuginfod --help'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_gperf() {
  case $previous in
    -t) ;;
    -p | --pid) _pctally_words "$(compgen -G '/proc/[0-9]*' | sed 's,/proc/,,')" ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '-c -r -s -t -p --pid --help'
      else
        _pctally_files ''
      fi
      ;;
  esac
}

_pctally_prof() {
  case $previous in
    --hz) _pctally_words '100 1024' ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '-t -c -a -n -o -x -C -g -h -m -s -z --hz --help'
      else
        _pctally_files ''
      fi
      ;;
  esac
}

_pctally_top() {
  local i
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i]} == -- ]] && { _pctally_command $((i + 1)); return; }
  done
  case $previous in
    -p | --pid) _pctally_words "$(compgen -G '/proc/[0-9]*' | sed 's,/proc/,,')" ;;
    -F | --frequency) _pctally_words '100 1000 4000' ;;
    -c | --period) _pctally_words '250us 1ms 10ms' ;;
    -e | --engine | --event) _pctally_words "bpf ring timer trap $_pctally_events" ;;
    --by) _pctally_words 'function object line process command program thread cgroup program,function thread,function cgroup,function' ;;
    --cgroup) _pctally_files '' ;;
    --names) _pctally_words 'short full linkage' ;;
    --interval | --window | --count | --limit | --filter) ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '-p -a -g -F -c -e --pid --all --callers --cgroup --frequency --period --engine --event --by --filter --names --interval --window --count
          --limit --help --'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_merge() {
  case $previous in
    -o | --output) _pctally_files '' ;;
    --memory) _pctally_words '1G 4G' ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '-o -f -q --output --force --no-paths --memory --quiet --help'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_archive() {
  case $previous in
    -o | --output) _pctally_files '' ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '-o -f -q --output --force --no-sources --no-command --strip-paths --quiet --debuginfod --help'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally_snapshot() {
  case $previous in
    -o | --output) _pctally_files '' ;;
    *)
      if [[ $current == -* ]]; then
        _pctally_words '-o -f -q --output --force --quiet --help'
      else
        _pctally_files '!*.pct'
      fi
      ;;
  esac
}

_pctally() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
  local commands='record report annotate diff plan export merge archive top snapshot engines gperf prof'
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    _pctally_words "$commands help version --help --version"
    return
  fi
  if [[ $current == = ]]; then # --option=, and nothing behind it yet
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  case ${COMP_WORDS[1]} in
    help) ((COMP_CWORD == 2)) && _pctally_words "$commands" ;;
    record) _pctally_record ;;
    report) _pctally_report ;;
    annotate) _pctally_annotate ;;
    diff) _pctally_diff ;;
    plan) _pctally_plan ;;
    export) _pctally_export ;;
    top) _pctally_top ;;
    snapshot) _pctally_snapshot ;;
    merge) _pctally_merge ;;
    archive) _pctally_archive ;;
    gperf) _pctally_gperf ;;
    prof) _pctally_prof ;;
    engines) _pctally_engines ;;
  esac
}

complete -F _pctally pctally
