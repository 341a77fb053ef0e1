# analysed_by_clang.sh SRC FILE [CLANG]: clang's analysis of the locks has nothing to say about the file.
command -v "$3" >/dev/null 2>&1 || { echo "skipped: clang++ is not installed (package clang-19)"; exit 77; }
exec "$3" -std=c++23 -fsyntax-only -Wthread-safety -Werror -I"$1" "$2"
