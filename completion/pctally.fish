# fish completion for pctally(1)

# Whether the subcommand is one of those.
function __pctally_is
    set -l words (commandline -opc)
    set -q words[2]; and contains -- $words[2] $argv
end

function __pctally_none
    test (count (commandline -opc)) -eq 1
end

set -l events bpf ring timer trap cpu-clock page-faults minor-faults major-faults context-switches cpu-migrations \
    alignment-faults emulation-faults cycles ref-cycles instructions stalled-cycles-frontend stalled-cycles-backend bus-cycles \
    branches branch-misses cache-references cache-misses
set -l profile '(__fish_complete_suffix .pct)'

complete -c pctally -f
complete -c pctally -n __pctally_none -a record -d 'run a command and record it'
complete -c pctally -n __pctally_none -a report -d 'print a profile'
complete -c pctally -n __pctally_none -a annotate -d 'print lines and instructions of a function'
complete -c pctally -n __pctally_none -a diff -d 'say what changed between profiles'
complete -c pctally -n __pctally_none -a plan -d 'say how many runs show a change'
complete -c pctally -n __pctally_none -a export -d 'write a profile for another tool'
complete -c pctally -n __pctally_none -a merge -d 'add up profiles'
complete -c pctally -n __pctally_none -a archive -d 'make a profile readable elsewhere'
complete -c pctally -n __pctally_none -a top -d 'watch a recording live'
complete -c pctally -n __pctally_none -a snapshot -d 'copy a recording that goes on'
complete -c pctally -n __pctally_none -a engines -d 'which engines work here'
complete -c pctally -n __pctally_none -a gperf -d 'print the profile of a program that uses osProfile*'
complete -c pctally -n __pctally_none -a prof -d 'list functions as prof(1) did'
complete -c pctally -n __pctally_none -a help -d 'show the help of a subcommand'
complete -c pctally -n __pctally_none -a version -d 'show the version'
complete -c pctally -n __pctally_none -l help -d 'show a summary'
complete -c pctally -n __pctally_none -l version -d 'show the version'
complete -c pctally -n '__pctally_is help' -a 'record report annotate diff plan export merge archive top snapshot engines gperf prof'

# record
complete -c pctally -n '__pctally_is record' -s F -l frequency -x -a '100 1000 4000' -d 'ticks per second of CPU time'
complete -c pctally -n '__pctally_is record' -s c -l period -x -a '250us 1ms 10ms' -d 'CPU time, or events, of one tick'
complete -c pctally -n '__pctally_is record' -s e -l event -x -a "$events" -d 'engine, event'
complete -c pctally -n '__pctally_is record' -l engine -x -a "$events" -d 'engine, event'
complete -c pctally -n '__pctally_is record' -s o -l output -r -F -d 'profile file'
complete -c pctally -n '__pctally_is record' -s f -l force -d 'replace an existing file'
complete -c pctally -n '__pctally_is record' -s q -l quiet -d 'say nothing but errors'
complete -c pctally -n '__pctally_is record' -s v -l verbose -d 'say which engine is taken and why'
complete -c pctally -n '__pctally_is record' -s p -l pid -x -a '(__fish_complete_pids)' -d 'running processes'
complete -c pctally -n '__pctally_is record' -s a -l all -d 'the whole machine'
complete -c pctally -n '__pctally_is record' -l cgroup -x -a '(__fish_complete_directories)' -d 'a control group'
complete -c pctally -n '__pctally_is record' -l for -x -a '10 60' -d 'end after'
complete -c pctally -n '__pctally_is record' -s g -l callers -d 'keep call paths'
complete -c pctally -n '__pctally_is record' -l no-callers -d 'keep no call paths'
complete -c pctally -n '__pctally_is record' -l call-graph -x -a 'fp dwarf lbr' -d 'keep call paths, as perf is asked for them'
complete -c pctally -n '__pctally_is record' -l scope -x -a 'program thread cgroup' -d 'keep ticks apart by'
complete -c pctally -n '__pctally_is record' -l paths-memory -x -a '8M 24M' -d 'most memory for each tree of call paths'
complete -c pctally -n '__pctally_is record' -l no-children -d 'do not follow child processes'
complete -c pctally -n '__pctally_is record' -l wait -d 'until the last process that the command started has ended'
complete -c pctally -n '__pctally_is record' -l fixed-period -d 'use the asked period as it is'
complete -c pctally -n '__pctally_is record' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is record' -x -a "(__fish_complete_subcommand --fcs-skip=2 -F --frequency -c --period -e --event --engine -o --output -p --pid --cgroup --for --call-graph --scope --paths-memory)"

# report
complete -c pctally -n '__pctally_is report' -l by -x -a 'function object line process command program thread cgroup program,function thread,function cgroup,function' -d 'what a row is'
complete -c pctally -n '__pctally_is report' -l sort -x -a 'ticks total name object' -d 'order of the rows'
complete -c pctally -n '__pctally_is report' -l limit -x -d 'print at most this many rows'
complete -c pctally -n '__pctally_is report' -l min-share -x -d 'leave out rows with a smaller share'
complete -c pctally -n '__pctally_is report' -l sample-index -x -d 'which values of a pprof file'
complete -c pctally -n '__pctally_is report' -l debuginfod -d 'what is missing here from servers'
complete -c pctally -n '__pctally_is report' -l own -d 'the innermost line in your files'
complete -c pctally -n '__pctally_is report' -l inlines -d 'what is inlined at a line'
complete -c pctally -n '__pctally_is report' -l callers -x -d 'who calls a function'
complete -c pctally -n '__pctally_is report' -l tree -d 'the call tree'
complete -c pctally -n '__pctally_is report' -l bottom-up -d 'the call tree from what ran'
complete -c pctally -n '__pctally_is report' -l focus -x -d 'only paths with a function that matches'
complete -c pctally -n '__pctally_is report' -l ignore -x -d 'no path with a function that matches'
complete -c pctally -n '__pctally_is report' -l hide -x -d 'functions that match are not shown'
complete -c pctally -n '__pctally_is report' -l flamegraph -r -F -d 'write a flame graph'
complete -c pctally -n '__pctally_is report' -l filter -x -d 'only rows whose names match'
complete -c pctally -n '__pctally_is report' -l object -x -d 'only rows of these objects'
complete -c pctally -n '__pctally_is report' -l program -x -d 'only ticks of these programs'
complete -c pctally -n '__pctally_is report' -l thread -x -d 'only ticks of these threads'
complete -c pctally -n '__pctally_is report' -l cgroup -x -d 'only ticks of these control groups'
complete -c pctally -n '__pctally_is report' -l names -x -a 'short full linkage' -d 'how functions are called'
complete -c pctally -n '__pctally_is report' -l html -r -F -d 'write a page for a browser'
complete -c pctally -n '__pctally_is report' -l command -d 'with the command line in the page'
complete -c pctally -n '__pctally_is report' -l no-sources -d 'without lines of sources in the page'
complete -c pctally -n '__pctally_is report' -l strip-paths -d 'without directories in the page'
complete -c pctally -n '__pctally_is report' -l json -d 'print JSON'
complete -c pctally -n '__pctally_is report' -l color -x -a 'auto always never' -d 'when to colour'
complete -c pctally -n '__pctally_is report' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is report' -k -a $profile

# annotate
complete -c pctally -n '__pctally_is annotate' -l object -x -d 'only functions of objects that match'
complete -c pctally -n '__pctally_is annotate' -l all -d 'print every instruction'
complete -c pctally -n '__pctally_is annotate' -l min-share -x -d 'from which an instruction is hot'
complete -c pctally -n '__pctally_is annotate' -l intel -d 'Intel\'s syntax'
complete -c pctally -n '__pctally_is annotate' -l names -x -a 'short full linkage' -d 'how functions are called'
complete -c pctally -n '__pctally_is annotate' -l debuginfod -d 'what is missing here from servers'
complete -c pctally -n '__pctally_is annotate' -l source-path -x -d 'where sources are now: OLD=NEW'
complete -c pctally -n '__pctally_is annotate' -l json -d 'print JSON'
complete -c pctally -n '__pctally_is annotate' -l color -x -a 'auto always never' -d 'when to colour'
complete -c pctally -n '__pctally_is annotate' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is annotate' -k -a $profile

# diff
complete -c pctally -n '__pctally_is diff' -l by -x -a 'function object line process command program' -d 'what a row is'
complete -c pctally -n '__pctally_is diff' -l limit -x -d 'print at most this many rows'
complete -c pctally -n '__pctally_is diff' -l names -x -a 'short full linkage' -d 'how functions are called'
complete -c pctally -n '__pctally_is diff' -l sample-index -x -d 'which values of a pprof file'
complete -c pctally -n '__pctally_is diff' -l work -x -d 'units of work a run does'
complete -c pctally -n '__pctally_is diff' -l fail-if -x -d 'a limit'
complete -c pctally -n '__pctally_is diff' -l budget -r -F -d 'file of limits'
complete -c pctally -n '__pctally_is diff' -l markdown -d 'print Markdown'
complete -c pctally -n '__pctally_is diff' -l json -d 'print JSON'
complete -c pctally -n '__pctally_is diff' -l junit -d 'print the limits as JUnit XML'
complete -c pctally -n '__pctally_is diff' -l html -r -F -d 'write a page for a browser'
complete -c pctally -n '__pctally_is diff' -l no-sources -d 'without lines of sources in the page'
complete -c pctally -n '__pctally_is diff' -l strip-paths -d 'without directories in the page'
complete -c pctally -n '__pctally_is diff' -l color -x -a 'auto always never' -d 'when to colour'
complete -c pctally -n '__pctally_is diff' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is diff' -k -a $profile

# plan
complete -c pctally -n '__pctally_is plan' -l by -x -a 'function object line process command program' -d 'what a row is'
complete -c pctally -n '__pctally_is plan' -l limit -x -d 'print at most this many rows'
complete -c pctally -n '__pctally_is plan' -l names -x -a 'short full linkage' -d 'how functions are called'
complete -c pctally -n '__pctally_is plan' -l sample-index -x -d 'which values of a pprof file'
complete -c pctally -n '__pctally_is plan' -l change -x -a '5 10 20' -d 'the change to detect, in percent'
complete -c pctally -n '__pctally_is plan' -l power -x -a '80 90 95' -d 'probability of detecting it, in percent'
complete -c pctally -n '__pctally_is plan' -l runs -x -d 'runs a side that lengths are for'
complete -c pctally -n '__pctally_is plan' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is plan' -k -a $profile

# export
complete -c pctally -n '__pctally_is export' -l format -x -a 'pprof folded speedscope firefox perf callgrind csv markdown gmon llvm' -d 'format of the output'
complete -c pctally -n '__pctally_is export' -s o -l output -r -F -d 'file to write'
complete -c pctally -n '__pctally_is export' -l names -x -a 'short full linkage' -d 'how functions are called'
complete -c pctally -n '__pctally_is export' -l sample-index -x -d 'which values of a pprof file'
complete -c pctally -n '__pctally_is export' -l debuginfod -d 'what is missing here from servers'
complete -c pctally -n '__pctally_is export' -l no-lines -d 'functions alone'
complete -c pctally -n '__pctally_is export' -l limit -x -d 'most rows of markdown'
complete -c pctally -n '__pctally_is export' -l object -x -d 'the file that gmon or llvm is of'
complete -c pctally -n '__pctally_is export' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is export' -k -a $profile

# merge
complete -c pctally -n '__pctally_is merge' -s o -l output -r -F -d 'the sum'
complete -c pctally -n '__pctally_is merge' -s f -l force -d 'replace an existing file'
complete -c pctally -n '__pctally_is merge' -s q -l quiet -d 'say nothing but errors'
complete -c pctally -n '__pctally_is merge' -l no-paths -d 'leave call paths out'
complete -c pctally -n '__pctally_is merge' -l memory -x -a '1G 4G' -d 'most memory to take'
complete -c pctally -n '__pctally_is merge' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is merge' -k -a $profile

# archive
complete -c pctally -n '__pctally_is archive' -s o -l output -r -F -d 'the file to write'
complete -c pctally -n '__pctally_is archive' -s f -l force -d 'replace an existing profile'
complete -c pctally -n '__pctally_is archive' -s q -l quiet -d 'say nothing but errors'
complete -c pctally -n '__pctally_is archive' -l no-sources -d 'without source files'
complete -c pctally -n '__pctally_is archive' -l no-command -d 'without the command line'
complete -c pctally -n '__pctally_is archive' -l debuginfod -d 'what is missing here from servers'
complete -c pctally -n '__pctally_is archive' -l strip-paths -d 'without directories'
complete -c pctally -n '__pctally_is archive' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is archive' -k -a $profile

# top
complete -c pctally -n '__pctally_is top' -s p -l pid -x -a '(__fish_complete_pids)' -d 'running processes'
complete -c pctally -n '__pctally_is top' -s a -l all -d 'the whole machine'
complete -c pctally -n '__pctally_is top' -s g -l callers -d 'keep call paths'
complete -c pctally -n '__pctally_is top' -l cgroup -x -a '(__fish_complete_directories)' -d 'a control group'
complete -c pctally -n '__pctally_is top' -s F -l frequency -x -a '100 1000 4000' -d 'ticks per second of CPU time'
complete -c pctally -n '__pctally_is top' -s c -l period -x -a '250us 1ms 10ms' -d 'CPU time, or events, of one tick'
complete -c pctally -n '__pctally_is top' -s e -l event -x -a "$events" -d 'engine, event'
complete -c pctally -n '__pctally_is top' -l engine -x -a "$events" -d 'engine, event'
complete -c pctally -n '__pctally_is top' -l by -x -a 'function object line process command program thread cgroup program,function thread,function cgroup,function' -d 'what a row is'
complete -c pctally -n '__pctally_is top' -l filter -x -d 'only rows that hold a text'
complete -c pctally -n '__pctally_is top' -l names -x -a 'short full linkage' -d 'how functions are called'
complete -c pctally -n '__pctally_is top' -l interval -x -d 'seconds between two refreshes'
complete -c pctally -n '__pctally_is top' -l window -x -d 'seconds that count as now'
complete -c pctally -n '__pctally_is top' -l count -x -d 'end after so many refreshes'
complete -c pctally -n '__pctally_is top' -l limit -x -d 'print at most this many rows'
complete -c pctally -n '__pctally_is top' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is top' -k -a $profile

# snapshot
complete -c pctally -n '__pctally_is snapshot' -s o -l output -r -F -d 'the copy'
complete -c pctally -n '__pctally_is snapshot' -s f -l force -d 'replace an existing file'
complete -c pctally -n '__pctally_is snapshot' -s q -l quiet -d 'say nothing but errors'
complete -c pctally -n '__pctally_is snapshot' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is snapshot' -k -a $profile

# engines
complete -c pctally -n '__pctally_is engines' -l json -d 'print JSON'
complete -c pctally -n '__pctally_is engines' -l help -d 'show a summary'

# gperf
complete -c pctally -n '__pctally_is gperf' -s c -d 'print counts'
complete -c pctally -n '__pctally_is gperf' -s r -d 'print the time used'
complete -c pctally -n '__pctally_is gperf' -s s -d 'print a report at each osProfileFlush'
complete -c pctally -n '__pctally_is gperf' -s t -x -d 'leave out functions below'
complete -c pctally -n '__pctally_is gperf' -s p -l pid -x -a '(__fish_complete_pids)' -d 'running processes'
complete -c pctally -n '__pctally_is gperf' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is gperf' -F

# prof
complete -c pctally -n '__pctally_is prof' -s t -d 'sort by decreasing time'
complete -c pctally -n '__pctally_is prof' -s c -d 'sort by decreasing number of calls'
complete -c pctally -n '__pctally_is prof' -s a -d 'sort by increasing address'
complete -c pctally -n '__pctally_is prof' -s n -d 'sort by name'
complete -c pctally -n '__pctally_is prof' -s o -d 'print addresses, in octal'
complete -c pctally -n '__pctally_is prof' -s x -d 'print addresses, in hexadecimal'
complete -c pctally -n '__pctally_is prof' -s C -d 'demangle names'
complete -c pctally -n '__pctally_is prof' -s g -d 'a line for every static function, too'
complete -c pctally -n '__pctally_is prof' -s h -d 'leave out the header'
complete -c pctally -n '__pctally_is prof' -s m -r -F -d 'the data'
complete -c pctally -n '__pctally_is prof' -s s -d 'print a summary on standard error'
complete -c pctally -n '__pctally_is prof' -s z -d 'a line for functions without time and calls, too'
complete -c pctally -n '__pctally_is prof' -l hz -x -a '100 1024' -d 'ticks per second, where the data do not say'
complete -c pctally -n '__pctally_is prof' -l help -d 'show a summary'
complete -c pctally -n '__pctally_is prof' -F
