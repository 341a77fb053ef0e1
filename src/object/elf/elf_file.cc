#include "object/elf/elf_file.h"

#include <gelf.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "base/page.h"

namespace pctally {
namespace {

constexpr unsigned char kNativeOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;

/// The end of [start, start + size), cut at the end of the address space.
uint64_t end_of(uint64_t start, uint64_t size) {
  return size > UINT64_MAX - start ? UINT64_MAX : start + size;
}

ElfSegment to_segment(const GElf_Phdr& header) {
  return {header.p_type,   header.p_flags, header.p_offset, header.p_vaddr,
          header.p_filesz, header.p_memsz, header.p_align};
}

bool by_address(const ElfSection& a, const ElfSection& b) { return a.address < b.address; }

bool loads_text(const ElfSegment& segment) {
  return segment.type == PT_LOAD && (segment.flags & PF_X) != 0 && segment.memory_size > 0;
}

bool holds_text(const ElfSection& section) {
  return (section.flags & (SHF_ALLOC | SHF_EXECINSTR)) == (SHF_ALLOC | SHF_EXECINSTR) && section.size > 0;
}

ElfSection text_of(const ElfSegment& segment) {
  ElfSection section;
  section.type = SHT_PROGBITS;
  section.flags = SHF_ALLOC | SHF_EXECINSTR;
  section.address = segment.address;
  section.offset = segment.offset;
  section.size = segment.memory_size;
  return section;
}

/// Sorts by address and cuts each section where the next begins, so that every address lies in one section.
void make_disjoint(std::vector<ElfSection>* text) {
  std::stable_sort(text->begin(), text->end(), by_address);
  for (size_t i = 0; i < text->size(); i++) {
    ElfSection& section = (*text)[i];
    const uint64_t limit = i + 1 < text->size() ? (*text)[i + 1].address : UINT64_MAX;
    section.size = std::min(end_of(section.address, section.size), limit) - section.address;
  }
  std::erase_if(*text, [](const ElfSection& section) { return section.size == 0; });
}

}  // namespace

Result<ElfFile> ElfFile::open(const std::string& path, Trust trust) {
  ElfFile file;
  file.path_ = path;
  auto bytes = FileBytes::open(path, trust);
  if (!bytes) return std::unexpected(bytes.error());
  file.file_ = std::move(*bytes);
  elf_version(EV_CURRENT);
  const auto image = file.file_.span();
  file.elf_.reset(elf_memory(reinterpret_cast<char*>(image.data()), image.size()));
  if (auto done = file.read(); !done)
    return fail(done.error().code, "%s: %s", path.c_str(), done.error().text);
  return file;
}

Result<ElfFile> ElfFile::from_image(std::vector<unsigned char> image) {
  ElfFile file;
  file.image_ = std::move(image);
  elf_version(EV_CURRENT);
  file.elf_.reset(elf_memory(reinterpret_cast<char*>(file.image_.data()), file.image_.size()));
  if (auto done = file.read(); !done) return std::unexpected(done.error());
  return file;
}

Result<void> ElfFile::read() {
  GElf_Ehdr header;
  if (!elf_ || elf_kind(elf_.get()) != ELF_K_ELF || gelf_getehdr(elf_.get(), &header) == nullptr) {
    return fail(EINVAL, "not an ELF file");
  }
  size_t size = 0;
  const char* raw = elf_rawfile(elf_.get(), &size);
  if (raw == nullptr) return fail(EINVAL, "cannot be read: %s", elf_errmsg(-1));
  bytes_ = ByteReader({reinterpret_cast<const unsigned char*>(raw), size});
  machine_ = header.e_machine;
  is_64_bit_ = header.e_ident[EI_CLASS] == ELFCLASS64;
  native_order_ = header.e_ident[EI_DATA] == kNativeOrder;
  is_cut_ = header.e_shoff > size || size_t{header.e_shnum} * header.e_shentsize > size - header.e_shoff;
  size_t count = 0;
  size_t names = 0;
  if (elf_getphdrnum(elf_.get(), &count) == 0) read_segments(count);
  if (elf_getshdrnum(elf_.get(), &count) == 0 && elf_getshdrstrndx(elf_.get(), &names) == 0) {
    read_sections(count, names);
  }
  find_identity();
  find_text();
  return {};
}

void ElfFile::read_segments(size_t count) {
  GElf_Phdr header;
  for (size_t i = 0; i < count && gelf_getphdr(elf_.get(), static_cast<int>(i), &header) != nullptr; i++) {
    segments_.push_back(to_segment(header));
  }
}

void ElfFile::read_sections(size_t count, size_t names) {
  sections_.reserve(std::min<size_t>(count, 4096));
  GElf_Shdr header;
  for (Elf_Scn* scn = nullptr; (scn = elf_nextscn(elf_.get(), scn)) != nullptr;) {
    if (gelf_getshdr(scn, &header) == nullptr) continue;
    const char* name = elf_strptr(elf_.get(), names, header.sh_name);
    sections_.push_back({name == nullptr ? std::string_view() : std::string_view(name), elf_ndxscn(scn),
                         header.sh_type, header.sh_flags, header.sh_addr, header.sh_offset, header.sh_size,
                         header.sh_entsize, header.sh_link, header.sh_info});
  }
}

void ElfFile::find_identity() {
  if (!native_order_) return;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_NOTE) continue;
    build_id_ = find_build_id(contents(section), section.name == ".note.gnu.property" ? 8 : 4);
    if (!build_id_.empty()) return;
  }
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_NOTE) continue;
    build_id_ = find_build_id(bytes_.slice(segment.offset, segment.file_size), segment.alignment);
    if (!build_id_.empty()) return;
  }
}

void ElfFile::find_text() {
  for (const ElfSection& section : sections_) {
    if (holds_text(section)) text_.push_back(section);
  }
  if (sections_.empty()) {
    for (const ElfSegment& segment : segments_) {
      if (loads_text(segment)) text_.push_back(text_of(segment));
    }
  }
  make_disjoint(&text_);
}

const ElfSection* ElfFile::section(std::string_view name) const {
  auto found = std::ranges::find(sections_, name, &ElfSection::name);
  return found == sections_.end() ? nullptr : &*found;
}

const ElfSegment* ElfFile::segment(uint32_t type) const {
  auto found = std::ranges::find(segments_, type, &ElfSegment::type);
  return found == segments_.end() ? nullptr : &*found;
}

std::span<const unsigned char> ElfFile::contents(const ElfSection& section) const {
  if (section.type == SHT_NOBITS) return {};
  return bytes_.slice(section.offset, section.size);
}

std::optional<ObjectAddress> ElfFile::address(FileOffset offset) const {
  std::optional<ObjectAddress> data;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD || offset.value < segment.offset) continue;
    const uint64_t distance = offset.value - segment.offset;
    if (distance >= segment.file_size || distance > UINT64_MAX - segment.address) continue;
    if ((segment.flags & PF_X) != 0) return ObjectAddress{segment.address + distance};
    if (!data) data = ObjectAddress{segment.address + distance};
  }
  return data;
}

std::optional<FileOffset> ElfFile::offset(ObjectAddress address) const {
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD || address.value < segment.address) continue;
    const uint64_t distance = address.value - segment.address;
    if (distance < segment.file_size && distance <= UINT64_MAX - segment.offset) {
      return FileOffset{segment.offset + distance};
    }
  }
  return {};
}

bool ElfFile::restore_layout() {
  const ElfSegment* first = segment(PT_LOAD);
  auto text = std::ranges::find_if(segments_, loads_text);
  if (first == nullptr || text == segments_.end() || first->address % kSmallestPageBytes != 0) return false;
  // In one piece: every segment before the text begins where the one before it ends, up to a page.
  uint64_t expected = first->address;
  for (const ElfSegment& segment : segments_) {
    if (segment.type != PT_LOAD) continue;
    const uint64_t page = std::max(kSmallestPageBytes, segment.alignment);
    if (!std::has_single_bit(page) || segment.address != ((expected + page - 1) & ~(page - 1))) return false;
    if (&segment == &*text) break;
    expected = end_of(segment.address, segment.memory_size);
  }
  const uint64_t base = first->address;
  text->offset = text->address - base;
  text->file_size = text->memory_size;
  has_code_ = false;
  std::erase_if(segments_, [](const ElfSegment& s) { return s.type == PT_LOAD && !loads_text(s); });
  return true;
}

}  // namespace pctally
