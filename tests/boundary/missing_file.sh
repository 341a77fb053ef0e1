# missing_file.sh DIRECTORY: the scripts there that read a library or an archive fail where that is missing. A pipe would hide it.
set -eu
export LC_ALL=C
for check in "room_symbols.sh room missing /dev/null" "formats_no_text.sh missing" "tls_relocations.sh missing" "program_names.sh missing" \
  "needed_libraries.sh missing" "needed_libraries.sh missing libm" "exported_symbols.sh missing /dev/null" "undefined_symbols.sh missing /dev/null"; do
  sh "$1/fails_with.sh" "No such file" sh "$1/"$check
done
