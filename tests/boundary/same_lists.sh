# same_lists.sh PROGRAM PAGE: each of the manual page's lists of offset, size and field is a whole struct of those the program
# prints, the first one the header.
set -eu
printed=$(mktemp)
trap 'rm -f "$printed"' EXIT
${EMULATOR:-} "$1" | sed 's/[|`]//g' | awk '{ print $1, $2, $3 }' >"$printed"
awk '
  function end_list() {  # a struct ends where the next one begins
    if (list != "" && !index(all, "\n" list "0 ")) { printf "no such struct:\n%s", list; wrong = 1 }
    if (list != "" && ++lists == 1 && list !~ /^0 8 magic\n/) { print "the first list is not the header"; wrong = 1 }
    list = ""
  }
  NR == FNR { all = all "\n" $0; next }
  FNR == 1 { all = all "\n0 " }
  /^```/ { end_list() }
  /^ *[0-9]+ +[0-9]+ +[a-z_.0-9]+( |$)/ { list = list $1 " " $2 " " $3 "\n" }
  END { if (!lists) { print "no list"; wrong = 1 } exit wrong }' "$printed" "$2"
