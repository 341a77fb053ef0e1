# cmake -DFILE=in -DSOURCE=out.cc -P embed_bytes.cmake: the bytes of a file as kProgramImage of program_image.h.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${SOURCE} "#include \"bpf/program_image.h\"

namespace pctally {

alignas(8) const unsigned char kProgramImage[] = {
${bytes}};
const size_t kProgramImageBytes = sizeof kProgramImage;

}  // namespace pctally
")
