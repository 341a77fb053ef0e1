# cmake -DFILE=in -DSOURCE=out.cc -DHEADER=room/header.h -DNAME=kName -P embed_bytes.cmake: the bytes of a file as kName, and their
# number as kNameBytes; the header declares both.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${SOURCE} "#include \"${HEADER}\"

namespace pctally {

alignas(8) const unsigned char ${NAME}[] = {
${bytes}};
const size_t ${NAME}Bytes = sizeof ${NAME};

}  // namespace pctally
")
