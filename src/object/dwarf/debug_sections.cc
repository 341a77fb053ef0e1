#include "object/dwarf/debug_sections.h"

#include <elf.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace pctally {
namespace {

constexpr uint32_t kZstd = 2;  // ELFCOMPRESS_ZSTD
constexpr uint64_t kMostBytes = uint64_t{1} << 30;
/// Real debug information shrinks to a tenth; what claims to have shrunk more than this is a bomb.
constexpr uint64_t kMostRatio = 200;
constexpr uint64_t kSmall = 1 << 24;
/// A byte of a line table can be a row, which takes fifty bytes here. Real ones shrink to a third.
constexpr uint64_t kMostLineRatio = 50;
constexpr uint64_t kSmallLines = 1 << 20;

struct Compression {
  uint32_t kind = 0;
  uint64_t size = 0;         ///< once decompressed
  uint64_t header_size = 0;  ///< before the compressed bytes
};

Compression old_zlib(std::span<const unsigned char> bytes) {
  uint64_t size = 0;  // big-endian, behind "ZLIB"
  if (!ByteReader(bytes).read(4, &size) || memcmp(bytes.data(), "ZLIB", 4) != 0) return {};
  if constexpr (std::endian::native == std::endian::little) size = __builtin_bswap64(size);
  return {ELFCOMPRESS_ZLIB, size, 12};
}

std::optional<Compression> compression_of(const ElfFile& file, const ElfSection& section) {
  const auto bytes = file.contents(section);
  if (section.name.starts_with(".zdebug")) return old_zlib(bytes);
  if ((section.flags & SHF_COMPRESSED) == 0) return {};
  Elf64_Chdr wide;
  Elf32_Chdr narrow;
  const ByteReader reader(bytes);
  if (file.is_64_bit() && reader.read(0, &wide)) return Compression{wide.ch_type, wide.ch_size, sizeof wide};
  if (!file.is_64_bit() && reader.read(0, &narrow)) {
    return Compression{narrow.ch_type, narrow.ch_size, sizeof narrow};
  }
  return Compression{};
}

bool is_debug(const ElfSection& section) {
  return section.name.starts_with(".debug") || section.name.starts_with(".zdebug");
}

/// What a compressed section may have been.
uint64_t believable_size(const ElfSection& section) {
  const bool is_lines = section.name == ".debug_line" || section.name == ".zdebug_line";
  return is_lines ? std::max(kSmallLines, section.size * kMostLineRatio)
                  : std::max(kSmall, section.size * kMostRatio);
}

/// Says whether any section needs our help; fails if the claimed sizes are not believable.
Result<bool> needs_zstd(const ElfFile& file) {
  uint64_t total = 0;
  bool found = false;
  for (const ElfSection& section : file.sections()) {
    if (!is_debug(section)) continue;
    const auto compression = compression_of(file, section);
    if (!compression) continue;
    if (!file.native_order()) return fail(0, "compressed debug sections of another byte order");
    const uint64_t room = believable_size(section);
    if (section.size > kMostBytes || compression->size > std::min(room, kMostBytes - total)) {
      return fail(0, "its compressed debug sections claim more than %llu MB in %s",
                  static_cast<unsigned long long>(std::min(room, kMostBytes) >> 20),
                  std::string(section.name).c_str());
    }
    total += compression->size;
    found = found || compression->kind == kZstd;
  }
  return found;
}

/// Builds an ELF file with the sections of another at the same indices; those that are not debug
/// sections are empty.
class Image {
 public:
  Image(const ElfFile& file, const Elf64_Ehdr& header) : file_(file), header_(header) {
    bytes_.resize(sizeof header_);
  }

  bool add(Elf64_Shdr header, const ElfSection& section) {
    const bool is_names = headers_.size() == header_.e_shstrndx;
    if (!is_debug(section) && !is_names) {
      header.sh_type = header.sh_type == SHT_NULL ? SHT_NULL : SHT_NOBITS;
      headers_.push_back(header);
      return true;
    }
    bytes_.resize((bytes_.size() + 7) & ~size_t{7});
    header.sh_offset = bytes_.size();
    if (!append(section)) return false;
    header.sh_size = bytes_.size() - header.sh_offset;
    if (compressed_with_zstd(section)) {
      header.sh_flags &= ~uint64_t{SHF_COMPRESSED};
      header.sh_addralign = 1;
    }
    headers_.push_back(header);
    return true;
  }

  std::vector<unsigned char> finish() {
    bytes_.resize((bytes_.size() + 7) & ~size_t{7});
    header_.e_shoff = bytes_.size();
    header_.e_phoff = 0;
    header_.e_phnum = 0;
    memcpy(bytes_.data(), &header_, sizeof header_);
    const auto* table = reinterpret_cast<const unsigned char*>(headers_.data());
    bytes_.insert(bytes_.end(), table, table + headers_.size() * sizeof(Elf64_Shdr));
    return std::move(bytes_);
  }

 private:
  bool compressed_with_zstd(const ElfSection& section) const {
    const auto compression = compression_of(file_, section);
    return compression && compression->kind == kZstd;
  }
  bool append(const ElfSection& section) {
    const auto contents = file_.contents(section);
    // Headers can make every section as large as the file.
    if (contents.size() > 2 * kMostBytes - std::min(2 * kMostBytes, uint64_t{bytes_.size()})) return false;
    if (!compressed_with_zstd(section)) {
      bytes_.insert(bytes_.end(), contents.begin(), contents.end());
      return true;
    }
    const Compression compression = *compression_of(file_, section);
    const auto packed = contents.subspan(compression.header_size);
    const size_t start = bytes_.size();
    bytes_.resize(start + compression.size);
    return ZSTD_decompress(bytes_.data() + start, compression.size, packed.data(), packed.size()) ==
           compression.size;
  }

  const ElfFile& file_;
  Elf64_Ehdr header_;
  std::vector<unsigned char> bytes_;
  std::vector<Elf64_Shdr> headers_;
};

const ElfSection* section_at(const ElfFile& file, size_t index) {
  const auto found = std::ranges::find(file.sections(), index, &ElfSection::index);
  return found == file.sections().end() ? nullptr : &*found;
}

Result<std::unique_ptr<ElfFile>> rebuild(const ElfFile& file) {
  Elf64_Ehdr header;
  if (!file.is_64_bit() || !file.bytes().read(0, &header) || header.e_shentsize != sizeof(Elf64_Shdr)) {
    return fail(0, "debug sections compressed with zstd in a file of an unusual form");
  }
  Image image(file, header);
  for (size_t i = 0; i < header.e_shnum; i++) {
    Elf64_Shdr section;
    if (!file.bytes().read(header.e_shoff + i * sizeof section, &section))
      return fail(0, "section headers cut off");
    const ElfSection* known = section_at(file, i);
    if (!image.add(section, known == nullptr ? ElfSection() : *known)) {
      return fail(0, "debug sections compressed with zstd are damaged");
    }
  }
  auto rebuilt = ElfFile::from_image(image.finish());
  if (!rebuilt) return std::unexpected(rebuilt.error());
  return std::make_unique<ElfFile>(std::move(*rebuilt));
}

}  // namespace

bool has_line_information(const ElfFile& file) {
  const auto filled = [&file](const char* name) {
    const ElfSection* section = file.section(name);
    return section != nullptr && section->type != SHT_NOBITS && section->size > 0;
  };
  return filled(".debug_info") || filled(".zdebug_info");
}

Result<std::unique_ptr<ElfFile>> decompress_debug_sections(const ElfFile& file) {
  const auto needed = needs_zstd(file);
  if (!needed) return std::unexpected(needed.error());
  if (!*needed) return std::unique_ptr<ElfFile>();
  return rebuild(file);
}

}  // namespace pctally
