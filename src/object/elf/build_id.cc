#include "object/elf/build_id.h"

#include <elf.h>

#include <cstring>

#include "base/hex.h"

namespace pctally {
namespace {

constexpr size_t kLongestId = 64;

uint64_t padded(uint64_t size, uint64_t alignment) { return (size + alignment - 1) & ~(alignment - 1); }

bool is_build_id(std::span<const unsigned char> name, const Elf64_Nhdr& note) {
  return note.n_type == NT_GNU_BUILD_ID && name.size() == 4 && memcmp(name.data(), "GNU", 4) == 0 &&
         note.n_descsz > 0 && note.n_descsz <= kLongestId;
}

}  // namespace

BuildId find_build_id(std::span<const unsigned char> notes, uint64_t alignment) {
  const uint64_t step = alignment == 8 ? 8 : 4;
  const ByteReader reader(notes);
  uint64_t offset = 0;
  Elf64_Nhdr note;
  while (reader.read(offset, &note)) {
    const uint64_t name = offset + sizeof note;
    const uint64_t description = padded(name + note.n_namesz, step);
    if (is_build_id(reader.slice(name, note.n_namesz), note)) return reader.slice(description, note.n_descsz);
    offset = padded(description + note.n_descsz, step);
  }
  return {};
}

std::string to_hex(std::span<const unsigned char> bytes) {
  std::string text(bytes.size() * 2, '\0');
  char* to = text.data();
  for (unsigned char byte : bytes) to = put_hex(byte, to);
  return text;
}

std::string debug_file_name(BuildId id) {
  if (id.size() < 2) return {};
  return ".build-id/" + to_hex(id.first(1)) + "/" + to_hex(id.subspan(1)) + ".debug";
}

}  // namespace pctally
