# fails_with.sh WORD COMMAND...: the command fails and says WORD. A check that cannot fail checks nothing.
word=$1
shift
said=$("$@" 2>&1)
status=$?
[ $status -ne 77 ] || { echo "$said"; exit 77; }
echo "$said"
[ $status -ne 0 ] && echo "$said" | grep -qw -- "$word"
