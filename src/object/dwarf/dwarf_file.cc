#include "object/dwarf/dwarf_file.h"

#include <dwarf.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/unique_fd.h"
#include "object/dwarf/debug_finder.h"
#include "object/dwarf/debug_sections.h"
#include "object/elf/demangle.h"

namespace pctally {
namespace {

bool is_absent_or_regular(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) != 0 ? errno == ENOENT : S_ISREG(status.st_mode);
}

bool is_another_kind(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

std::string joined(const std::string& directory, const std::string& name) {
  return name.starts_with('/') ? name : directory + "/" + name;
}

/// That of the file's owner, at most: whoever reads the one file may read the other. The code of the error is
/// kOtherUsersFile where that forbids it, or EACCES.
Result<std::unique_ptr<ElfFile>> open_if_of(const std::string& path, BuildId id, const ElfFile& file) {
  auto companion = ElfFile::open(path);
  if (!companion) return std::unexpected(companion.error());
  if (!std::ranges::equal(companion->build_id(), id)) return fail(ENOENT, "another build id");
  const uid_t owner = companion->status().st_uid;
  if (owner != 0 && owner != geteuid() && owner != file.status().st_uid)
    return fail(kOtherUsersFile, "another user's");
  return std::make_unique<ElfFile>(std::move(*companion));
}

std::string text_attribute(Dwarf_Die* die, unsigned name, unsigned older_name) {
  Dwarf_Attribute attribute;
  if (dwarf_attr(die, name, &attribute) == nullptr && dwarf_attr(die, older_name, &attribute) == nullptr)
    return {};
  const char* text = dwarf_formstring(&attribute);
  return text == nullptr ? std::string() : std::string(text);
}

/// False while it reads another user's file.
bool process_opens_files() {
  const UniqueFd root(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return root.valid() || errno != EPERM;
}

bool is_there(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0;
}

std::string why_not_split(const std::string& name, const std::string& path) {
  const std::string package = path + ".dwp";
  if (!path.empty() && is_there(package)) return package + ": split units in a .dwp are not supported";
  if (!process_opens_files()) return name + " is not read of another user's file (report as that user)";
  return name + " is not here";
}

/// Whether the split unit of that name may be looked for: libdw tries the name in the file's own directory
/// and in the directory of compilation.
bool has_safe_split_unit(Dwarf_Die* unit, const std::string& name, const std::string& path) {
  const std::string directory = text_attribute(unit, DW_AT_comp_dir, DW_AT_comp_dir);
  const std::string own = path.substr(0, path.rfind('/') + 1);
  return is_absent_or_regular(name) && is_absent_or_regular(joined(own, name)) &&
         is_absent_or_regular(joined(directory, name)) && is_absent_or_regular(own + joined(directory, name));
}

/// It has no DW_AT_ranges: a unit has the bounds of its first section, whatever other code it has.
bool is_dwarf2(Dwarf_Die* unit) {
  Dwarf_Half version = 0;
  dwarf_cu_info(unit->cu, &version, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  return version == 2;
}

bool may_have_more_ranges(Dwarf_Die* unit) {
  if (dwarf_hasattr(unit, DW_AT_ranges) != 0) return false;
  return is_dwarf2(unit) || dwarf_hasattr(unit, DW_AT_low_pc) == 0;
}

void add_function_ranges(Dwarf_Die unit, AddressRange text, uint32_t id, IntervalMap* intervals,
                         uint64_t* left) {
  Dwarf_Die die;
  const void* last = unit.addr;
  if (dwarf_child(&unit, &die) != 0) return;
  do {
    // Sibling references of malformed units may lead backwards, for ever.
    if (!std::less<>()(last, die.addr)) return;
    last = die.addr;
    if (dwarf_tag(&die) == DW_TAG_subprogram) *left -= add_ranges(&die, text, id, intervals, *left);
  } while (dwarf_siblingof(&die, &die) == 0);
}

}  // namespace

Result<std::unique_ptr<DwarfFile>> DwarfFile::open(const ElfFile& file) {
  auto decompressed = decompress_debug_sections(file);
  if (!decompressed) return std::unexpected(decompressed.error());
  auto result = std::make_unique<DwarfFile>();
  result->file_ = &file;
  result->decompressed_ = std::move(*decompressed);
  if (!result->begin()) return fail(0, "debug information cannot be read: %s", dwarf_errmsg(-1));
  if (auto opened = result->open_companion(); !opened) return std::unexpected(opened.error());
  result->read_units();
  const AddressRange text = text_bounds(file);
  result->add_all_ranges(text);
  result->intervals_.flatten();
  return result;
}

/// Lists of malformed units may be shared, and are read for each.
void DwarfFile::add_all_ranges(AddressRange text) {
  uint64_t left = 4 * IntervalMap::kMostIntervals;
  for (uint32_t i = 0; i < units_.size(); i++) left -= add_ranges(&units_[i], text, i, &intervals_, left);
  add_ranges_elsewhere(text, &left);
  if (left == 0 || intervals_.is_full())
    problem_ = "debug information has too many ranges of addresses: some lines are missing";
}

/// What .debug_aranges says of units that do not say it themselves, else what functions of DWARF 2 say. Those
/// of others are not looked for: LTO of GCC leaves thousands of large units without code.
void DwarfFile::add_ranges_elsewhere(AddressRange text, uint64_t* left) {
  std::unordered_map<Dwarf_Off, uint32_t> units;  // by offset
  for (uint32_t i = 0; i < units_.size(); i++)
    if (may_have_more_ranges(&units_[i])) units.emplace(dwarf_dieoffset(&units_[i]), i);
  if (units.empty()) return;
  std::unordered_set<uint32_t> found;
  Dwarf_Aranges* ranges = nullptr;
  size_t count = 0;
  if (dwarf_getaranges(dwarf_.get(), &ranges, &count) != 0) count = 0;
  for (size_t i = 0; i < count; i++) {
    Dwarf_Addr start = 0;
    Dwarf_Word bytes = 0;
    Dwarf_Off offset = 0;
    if (dwarf_getarangeinfo(dwarf_onearange(ranges, i), &start, &bytes, &offset) != 0) continue;
    const auto unit = units.find(offset);
    if (unit == units.end()) continue;
    found.insert(unit->second);
    if (text.contains(start)) intervals_.add({start, start + bytes}, unit->second);
  }
  for (const auto& [offset, unit] : units)
    if (!found.contains(unit) && is_dwarf2(&units_[unit]))
      add_function_ranges(units_[unit], text, unit, &intervals_, left);
}

bool DwarfFile::begin() {
  Elf* elf = decompressed_ ? decompressed_->handle() : file_->handle();
  dwarf_.reset(dwarf_begin_elf(elf, DWARF_C_READ, nullptr));
  if (dwarf_ && common_) dwarf_setalt(dwarf_.get(), common_.get());
  return dwarf_ != nullptr;
}

/// libdw would open what it finds under the name, whatever lies there, and knows no directory of a file in
/// memory.
Result<void> DwarfFile::open_companion() {
  const char* link = nullptr;
  const void* id_bytes = nullptr;
  const ssize_t id_size = dwelf_dwarf_gnu_debugaltlink(dwarf_.get(), &link, &id_bytes);
  if (id_size <= 0) return {};
  const BuildId id(static_cast<const unsigned char*>(id_bytes), static_cast<size_t>(id_size));
  const std::string name = link, path = joined(file_->path().substr(0, file_->path().rfind('/')), name);
  if (is_another_kind(path)) return fail(0, "debug information names a companion that is not a regular file");
  auto companion = open_if_of(path, id, *file_);
  companion_ = companion ? std::move(*companion) : DebugFinder().find(id);
  if (!companion_) {
    const int code = companion.error().code;
    const bool forbidden = code == kOtherUsersFile || code == EACCES;
    problem_ = name + (forbidden ? " (of dwz) is another user's: it is not read" : " (of dwz) is not here");
    return {};
  }
  auto decompressed = decompress_debug_sections(*companion_);
  if (!decompressed) return std::unexpected(decompressed.error());
  decompressed_companion_ = std::move(*decompressed);
  const ElfFile& source = decompressed_companion_ ? *decompressed_companion_ : *companion_;
  common_.reset(dwarf_begin_elf(source.handle(), DWARF_C_READ, nullptr));
  if (!common_) return fail(0, "debug information of %s cannot be read: %s", name.c_str(), dwarf_errmsg(-1));
  dwarf_setalt(dwarf_.get(), common_.get());
  return {};
}

/// Unit by unit: clang writes no .debug_aranges.
void DwarfFile::read_units() {
  Dwarf_CU* unit = nullptr;
  Dwarf_Die die;
  uint8_t type = 0;
  while (dwarf_get_units(dwarf_.get(), unit, &unit, nullptr, &type, &die, nullptr) == 0)
    if (type == DW_UT_compile || type == DW_UT_skeleton) units_.push_back(die);
}

bool DwarfFile::renew() {
  const size_t before = units_.size();
  units_.clear();
  dwarf_.reset();
  if (begin()) read_units();
  if (units_.size() == before) return true;  // intervals_ has their indices
  intervals_ = {};
  return false;
}

DwarfFile::Unit DwarfFile::unit(uint32_t index) {
  Dwarf_Die die = units_[index];
  Unit unit{die, die, text_attribute(&die, DW_AT_comp_dir, DW_AT_comp_dir)};
  const std::string name = text_attribute(&unit.die, DW_AT_dwo_name, DW_AT_GNU_dwo_name);
  if (name.empty()) return unit;
  Dwarf_Die split;
  uint8_t type = 0;
  if (has_safe_split_unit(&unit.die, name, file_->path()) &&
      dwarf_cu_info(unit.die.cu, nullptr, &type, nullptr, &split, nullptr, nullptr, nullptr) == 0 &&
      type == DW_UT_skeleton && split.cu != nullptr) {
    unit.inner = split;
  } else if (problem_.empty() && dwarf_haschildren(&unit.die) == 0) {
    problem_ = why_not_split(name, file_->path());
  }
  return unit;
}

uint64_t add_ranges(Dwarf_Die* die, AddressRange text, uint32_t id, IntervalMap* intervals, uint64_t most) {
  Dwarf_Addr base = 0;
  Dwarf_Addr start = 0;
  Dwarf_Addr end = 0;
  ptrdiff_t next = 0;
  uint64_t read = 0;
  for (; read < most && (next = dwarf_ranges(die, next, &base, &start, &end)) > 0; read++) {
    if (text.contains(start)) intervals->add({start, end}, id);
  }
  return read;
}

std::string source_path(const std::string& directory, const char* name) {
  if (name == nullptr || *name == '\0' || strnlen(name, kLongestName) == kLongestName) return {};
  return directory.starts_with('/') ? joined(directory, name) : std::string(name);
}

AddressRange text_bounds(const ElfFile& file) {
  if (file.text().empty()) return {};
  const ElfSection& last = file.text().back();
  return {file.text().front().address, last.address + last.size};
}

}  // namespace pctally
