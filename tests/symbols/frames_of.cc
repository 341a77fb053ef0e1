// Prints what pctally knows of addresses of one file: frames_of FILE <ADDRESSES, one hexadecimal number a
// line. Of each: the address, then a line "SYMBOL FILE:LINE" for each frame, innermost first, as addr2line -f
// -i has them; "??" stands for what is not known.
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "object/elf/elf_file.h"
#include "object/symbolizer.h"

namespace pctally {
namespace {

std::string known(const std::string& text) { return text.empty() || text[0] == '[' ? "??" : text; }

void print(const std::string& function, const std::string& linkage, const std::string& file, uint32_t line) {
  printf("%s %s:%u\n", known(linkage.empty() ? function : linkage).c_str(),
         file.empty() ? "??" : file.c_str(), line);
}

struct Place {
  uint64_t position = 0, address = 0;
  auto operator<=>(const Place&) const = default;
};

int run(const char* path) {
  const auto file = ElfFile::open(path);
  if (!file) {
    fprintf(stderr, "frames_of: %s\n", file.error().text);
    return 1;
  }
  std::vector<Place> places;
  for (uint64_t address = 0; scanf("%" SCNx64, &address) == 1;)
    if (const auto offset = file->offset(ObjectAddress{address})) places.push_back({offset->value, address});
  std::sort(places.begin(), places.end());
  std::vector<uint64_t> positions;
  for (const Place& place : places) positions.push_back(place.position);
  ExecutableIdentity identity{.path = path};
  identity.build_id.assign(file->build_id().begin(), file->build_id().end());
  const auto symbolizer = Symbolizer::open(identity);
  const auto frames = symbolizer->frames(positions);
  const auto names = symbolizer->name(positions);
  for (size_t i = 0; i < places.size(); ++i) {
    printf("0x%" PRIx64 "\n", places[i].address);
    for (const Frame& frame : frames[i]) print(frame.function, frame.linkage, frame.file, frame.line);
    if (frames[i].empty()) print(names[i].function, names[i].linkage, "", 0);
  }
  return 0;
}

}  // namespace
}  // namespace pctally

int main(int argc, char** argv) { return argc == 2 ? pctally::run(argv[1]) : 2; }
