#include "object/elf/plt.h"

#include <gelf.h>

#include <algorithm>

#include "object/elf/symbol_table.h"

namespace pctally {
namespace {

constexpr uint64_t kMostRelocations = 1 << 20;

/// Bytes before the first stub: the resolver's entry on machines whose stubs do not all have one size.
uint64_t header_size(const ElfFile& file, const ElfSection& section) {
  const bool long_header = file.machine() == EM_AARCH64 || file.machine() == EM_RISCV;
  return long_header && section.name == ".plt" ? 32 : 0;
}

uint64_t stub_size(const ElfSection& section) {
  const uint64_t size = section.entry_size;
  return size == 8 || size == 24 || size == 32 ? size : 16;
}

int64_t sign_extend(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// [endbr64] [mov $number,%r11d] [bnd] jmp *slot(%rip)
std::optional<uint64_t> slot_x86_64(std::span<const unsigned char> code, uint64_t address) {
  static constexpr unsigned char kEndbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  size_t at = code.size() >= 4 && std::equal(kEndbr64, kEndbr64 + 4, code.begin()) ? 4 : 0;
  if (at + 6 < code.size() && code[at] == 0x41 && code[at + 1] == 0xbb) at += 6;  // mold's
  if (at < code.size() && code[at] == 0xf2) at++;
  if (at + 2 > code.size() || code[at] != 0xff || code[at + 1] != 0x25) return {};
  int32_t distance = 0;
  if (!ByteReader(code).read(at + 2, &distance)) return {};
  return address + at + 6 + static_cast<uint64_t>(static_cast<int64_t>(distance));
}

/// [bti c] adrp x16, page; ldr x17, [x16, #offset]
std::optional<uint64_t> slot_aarch64(std::span<const unsigned char> code, uint64_t address) {
  uint32_t adrp = 0;
  uint32_t ldr = 0;
  const ByteReader reader(code);
  for (uint64_t at = 0; at <= 4 && reader.read(at, &adrp) && reader.read(at + 4, &ldr); at += 4) {
    if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211) continue;
    const uint64_t pages = ((adrp >> 5) & 0x7ffff) << 2 | ((adrp >> 29) & 3);
    const uint64_t page =
        ((address + at) & ~uint64_t{0xfff}) + (static_cast<uint64_t>(sign_extend(pages, 21)) << 12);
    return page + ((ldr >> 10) & 0xfff) * 8;
  }
  return {};
}

/// auipc t3, high; ld t3, low(t3)
std::optional<uint64_t> slot_riscv64(std::span<const unsigned char> code, uint64_t address) {
  uint32_t auipc = 0;
  uint32_t load = 0;
  const ByteReader reader(code);
  if (!reader.read(0, &auipc) || !reader.read(4, &load)) return {};
  if ((auipc & 0xfff) != 0xe17 || (load & 0xfffff) != 0xe3e03) return {};
  const auto high = static_cast<uint64_t>(sign_extend(auipc & 0xfffff000, 32));
  return address + high + static_cast<uint64_t>(sign_extend(load >> 20, 12));
}

/// Whether a relocation fills a slot stubs jump through; others fill data, by the hundred thousand.
bool fills_slot(uint16_t machine, uint64_t type) {
  switch (machine) {
    case EM_X86_64:
      return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_IRELATIVE;
    case EM_AARCH64:
      return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_IRELATIVE;
    case EM_RISCV:
      return type == R_RISCV_JUMP_SLOT || type == R_RISCV_64 || type == R_RISCV_IRELATIVE;
    default:
      return false;
  }
}

}  // namespace

bool Plt::is_stub_section(const ElfSection& section) {
  return section.name == ".plt" || section.name == ".plt.sec" || section.name == ".plt.got" ||
         section.name == ".iplt";
}

AddressRange Plt::stub(const ElfSection& section, uint64_t address) const {
  const uint64_t header = std::min(header_size(*file_, section), section.size);
  const uint64_t first = section.address + header;
  if (address < first) return {section.address, first};
  const uint64_t size = stub_size(section);
  const uint64_t start = first + (address - first) / size * size;
  return {start, std::min(size, section.address + section.size - start) + start};
}

std::string Plt::target(const AddressRange& stub) {
  const auto place = slot(stub);
  if (!place) return {};
  const Relocation* found = find(*place);
  if (found == nullptr) return {};
  return found->symbol == 0 ? resolver_name(found->addend) : symbol_name(*found);
}

std::optional<uint64_t> Plt::slot(const AddressRange& stub) const {
  const auto offset = file_->offset(ObjectAddress{stub.start});
  if (!offset || !file_->has_code() || !file_->native_order() || !file_->is_64_bit()) return {};
  const auto code = file_->bytes().slice(offset->value, stub.end - stub.start);
  switch (file_->machine()) {
    case EM_X86_64:
      return slot_x86_64(code, stub.start);
    case EM_AARCH64:
      return slot_aarch64(code, stub.start);
    case EM_RISCV:
      return slot_riscv64(code, stub.start);
    default:
      return {};
  }
}

/// Sections that fill one table of slots are read first: the one with all other relocations can have
/// hundreds of thousands, and few slots are filled by it.
const Plt::Relocation* Plt::find(uint64_t slot) {
  for (;;) {
    if (const auto found = by_slot_.find(slot); found != by_slot_.end()) return &found->second;
    if (parts_read_ == 2) return nullptr;
    const bool wanted = parts_read_++ == 0;
    for (const ElfSection& section : file_->sections()) {
      const bool is_of_slots = (section.flags & SHF_INFO_LINK) != 0;
      const bool is_loaded = section.type == SHT_RELA && (section.flags & SHF_ALLOC) != 0;
      if (is_loaded && is_of_slots == wanted) read_section(section);
    }
  }
}

void Plt::read_section(const ElfSection& section) {
  Elf_Data* data = elf_getdata(elf_getscn(file_->handle(), section.index), nullptr);
  if (data == nullptr || data->d_buf == nullptr || data->d_type != ELF_T_RELA) return;
  GElf_Rela rela;
  for (int i = 0; gelf_getrela(data, i, &rela) != nullptr && by_slot_.size() < kMostRelocations; i++) {
    if (!fills_slot(file_->machine(), GELF_R_TYPE(rela.r_info))) continue;
    const auto symbol = static_cast<uint32_t>(GELF_R_SYM(rela.r_info));
    by_slot_.emplace(rela.r_offset, Relocation{section.link, symbol, static_cast<uint64_t>(rela.r_addend)});
  }
}

std::string Plt::symbol_name(const Relocation& relocation) const {
  for (const ElfSection& section : file_->sections()) {
    if (section.index != relocation.table || section.type != SHT_DYNSYM) continue;
    if (auto table = SymbolTable::open(*file_, section)) return std::string(table->name(relocation.symbol));
  }
  return {};
}

std::string Plt::resolver_name(uint64_t address) const {
  std::string_view best;
  Symbol best_symbol;
  for (const ElfSection& section : file_->sections()) {
    if (section.type != SHT_DYNSYM && section.type != SHT_SYMTAB) continue;
    const auto table = SymbolTable::open(*file_, section);
    for (size_t i = 0; table && i < table->size(); i++) {
      const auto symbol = table->code(i);
      if (!symbol || symbol->value != address || !symbol->is_function) continue;
      if (best.empty() || names_better(*symbol, table->name(i), best_symbol, best)) {
        best = table->name(i);
        best_symbol = *symbol;
      }
    }
  }
  return std::string(best);
}

}  // namespace pctally
