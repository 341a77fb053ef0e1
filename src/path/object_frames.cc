#include "path/object_frames.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/file/stat_at_once.h"
#include "base/kernel/vdso_path.h"
#include "path/frame_table.h"
#include "process/build_id.h"
#include "tick/unwind/call_instruction.h"
#include "tick/unwind/cfi_cursor.h"
#include "tick/unwind/cfi_interpreter.h"
#include "tick/unwind/clone_return.h"
#include "tick/unwind/plt_stub.h"
#include "tick/unwind/stack_walk.h"

namespace pctally {
namespace {

#if defined(__aarch64__)
constexpr Elf64_Half kThisMachine = EM_AARCH64;
#else
constexpr Elf64_Half kThisMachine = EM_X86_64;
#endif
constexpr uint64_t kMostSegments = 64;
constexpr uint64_t kMostTableBytes = 64 << 20;  ///< chromium's are 0.5 MB, libLLVM's 6
constexpr uint64_t kMostNameBytes = 1 << 20;    ///< of all sections
constexpr size_t kMostIntervals = 4 << 20;      ///< of an object; so many rows fill the kernel's tables
constexpr uint64_t kMostSteps = 32 << 20;  ///< that rows() takes for an object: 0.3 s. libLLVM's: 3.5 million
constexpr size_t kMostVdsoBytes = 64 << 10;
constexpr size_t kFrameBytesPerRow = 5;  ///< of .eh_frame, seldom fewer

/// aarch64: the stack pointer and x30 are not where the table of sizes suggests. C calls the first, the
/// second saves no x30; the next two seem to be called by what a signal interrupted, from a frame that they
/// are not in the size of (src/runtime/signal_arm64.go); the last starts a thread with its parent's x30.
bool has_own_frame(std::string_view name) {
  static constexpr std::string_view kNames[] = {"crosscall2", "runtime.addmoduledata", "runtime.sigpanic",
                                                "runtime.asyncPreempt", "runtime.clone"};
  return std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with("runtime.debugCall");
}

/// `bytes`: as GoTable::visit_stack(); negative: that is not known. A caller's frame pointer is not looked
/// for: no function of Go needs one. On aarch64 x30 is saved by the instruction that makes the function's
/// first frame, of `first` bytes, at its lower end.
UnwindRule go_rule(const GoTable& table, uint64_t number, int32_t bytes, int32_t first) {
  if (table.is_outermost(number)) return {.cfa = CfaKind::kEnd};
  const int32_t words = bytes / 8, saved = first / 8;
  const bool is_far = kReturnsInRegister && saved > INT16_MAX;
  const bool is_known = !table.writes_stack_pointer(number) && bytes >= 0 && bytes % 8 == 0 && !is_far;
  if (!is_known) return {.cfa = CfaKind::kUnsupported};
  UnwindRule rule{.cfa = CfaKind::kStack, .frame = FrameKind::kUndefined, .base = FrameKind::kUndefined};
  rule.set_far_words(kReturnsInRegister ? words : words + 1);
  if (!kReturnsInRegister) return rule;
  rule.base = words == 0 ? FrameKind::kSame : FrameKind::kSaved;
  rule.base_words = static_cast<int16_t>(words == 0 ? 0 : -saved);
  return rule;
}

}  // namespace

std::unique_ptr<ObjectFrames> ObjectFrames::open(const ObjectIdentity& identity, bool keep_open, int held,
                                                 FileReader* files) {
  auto frames = std::make_unique<ObjectFrames>();
  frames->read(identity, keep_open, held, files);
  return frames;
}

void ObjectFrames::read(const ObjectIdentity& identity, bool keep_open, int held, FileReader* files) {
  static FileReader plain;
  files_ = files != nullptr ? files : &plain;
  drop();
  loads_.clear();
  const bool is_vdso = identity.kind == ObjectKind::kVdso && identity.path != kVdso32Path,
             is_file = identity.kind == ObjectKind::kFile;
  const bool opened = is_vdso ? open_vdso() : is_file && (fd_ >= 0 || open_file(identity, held));
  unread_ = is_file && !opened;
  const bool has_segments = opened && read_segments();
  if (!has_segments || !read_tables()) sections_ = {};
  if (has_segments) read_go_table();
  if (!keep_open && opened_.valid()) close_file();
  dropped_ = false;
}

void ObjectFrames::drop() noexcept {
  dropped_ = true;
  sections_ = {};
  go_.reset();
  for (Bytes* bytes : {&header_, &frames_, &go_bytes_}) Bytes().swap(*bytes);
}

/// Something else may lie at the path by now, such as a device. Only a regular file is opened. What is held
/// is read as it is, without a descriptor of our own: closing that asks some file systems.
bool ObjectFrames::open_file(const ObjectIdentity& identity, int held) {
  const std::string path(identity.path);
  if (path.empty() || path[0] != '/') return false;
  const bool is_held = held >= 0 && is_file_of(held, identity, *files_);
  if (!is_held) opened_ = files_->open(path);
  fd_ = is_held ? held : opened_.get();
  if (is_held || (opened_.valid() && is_file_of(fd_, identity, *files_))) return true;
  close_file();
  return false;
}

bool ObjectFrames::is_file_of(int fd, const ObjectIdentity& identity, FileReader& files) {
  struct statx status;
  if (!stat_at_once(fd, "", &status) || !S_ISREG(status.stx_mode)) return false;
  char byte;
  if (files.read(fd, 0, &byte, 1) < 0) return false;  // it was opened as a place alone
  struct File {
    FileReader& files;
    int fd;
  } file{files, fd};
  const auto read = [](void* of, uint64_t offset, void* to, size_t bytes) {
    const auto* asked = static_cast<const File*>(of);
    return asked->files.read(asked->fd, offset, to, bytes);
  };
  uint8_t id[kBuildIdBytes];
  const uint32_t bytes = read_build_id(read, &file, id);
  if (bytes == 0 || identity.build_id_bytes == 0)
    return status.stx_ino == identity.inode && device_number(status) == identity.device;
  return bytes == identity.build_id_bytes && memcmp(id, identity.build_id, bytes) == 0;
}

/// The same memory in every 64-bit process of this machine.
bool ObjectFrames::open_vdso() {
  const auto* start = reinterpret_cast<const unsigned char*>(getauxval(AT_SYSINFO_EHDR));
  if (start == nullptr) return false;
  Elf64_Ehdr header;
  memcpy(&header, start, sizeof header);
  const uint64_t bytes = header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
  if (bytes > kMostVdsoBytes) return false;
  image_.assign(start, start + bytes);
  frameless_ = find_frameless(image_.data(), image_.size(), 0);
  return true;
}

bool ObjectFrames::read_at(uint64_t offset, void* to, size_t bytes) const noexcept {
  if (fd_ < 0) {
    if (offset > image_.size() || bytes > image_.size() - offset) return false;
    memcpy(to, image_.data() + offset, bytes);
    return true;
  }
  return files_->read(fd_, offset, to, bytes) == static_cast<ssize_t>(bytes);
}

bool ObjectFrames::read_segments() {
  Elf64_Ehdr header;
  if (!read_at(0, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != kThisMachine) return false;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostSegments) return false;
  entry_ = header.e_entry;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!read_at(header.e_phoff + uint64_t{i} * sizeof segment, &segment, sizeof segment)) return false;
    if (segment.p_type == PT_LOAD) loads_.push_back(segment);
    if (segment.p_type != PT_GNU_EH_FRAME) continue;
    header_address_ = segment.p_vaddr;
    header_bytes_ = segment.p_filesz;
  }
  return true;
}

/// Bytes of the file that are loaded at `address`, up to the end of its segment.
ObjectFrames::Bytes ObjectFrames::read_mapped(uint64_t address, uint64_t most) const {
  for (const Elf64_Phdr& load : loads_) {
    if (address < load.p_vaddr || address - load.p_vaddr >= load.p_filesz) continue;
    const uint64_t bytes = std::min(most, load.p_filesz - (address - load.p_vaddr));
    if (bytes > kMostTableBytes) return {};
    Bytes result(bytes);
    if (!read_at(load.p_offset + (address - load.p_vaddr), result.data(), result.size())) return {};
    return result;
  }
  return {};
}

bool ObjectFrames::read_tables() { return header_bytes_ != 0 ? read_sorted_tables() : sort_tables(); }

/// Every object is asked for a section: in three reads.
bool ObjectFrames::find_section(const char* name, Elf64_Shdr* found) const {
  Elf64_Ehdr header;
  if (!read_at(0, &header, sizeof header) || header.e_shentsize != sizeof(Elf64_Shdr)) return false;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return false;
  if (header.e_shstrndx >= sections.size()) return false;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  if (names.sh_size > kMostNameBytes) return false;
  Bytes text(names.sh_size);
  if (!read_at(names.sh_offset, text.data(), text.size())) return false;
  const size_t bytes = strlen(name) + 1;  // with its end
  for (const Elf64_Shdr& section : sections) {
    if (!ByteReader(text).holds(section.sh_name, bytes)) continue;
    if (memcmp(text.data() + section.sh_name, name, bytes) != 0) continue;
    *found = section;
    return true;
  }
  return false;
}

/// Static programs have .eh_frame and no .eh_frame_hdr.
bool ObjectFrames::sort_tables() {
  Elf64_Shdr section;
  if (!find_section(".eh_frame", &section) || section.sh_type == SHT_NOBITS) return false;
  frames_ = read_mapped(section.sh_addr, section.sh_size);
  sections_ = {nullptr, 0, section.sh_addr, frames_.data(), frames_.size(), section.sh_addr};
  header_ = make_frame_table(sections_);
  sections_.header = header_.data();
  sections_.header_bytes = header_.size();
  return !header_.empty();
}

/// Where .eh_frame starts is said by .eh_frame_hdr; it ends with its segment at the latest.
bool ObjectFrames::read_sorted_tables() {
  int32_t distance = 0;
  header_ = read_mapped(header_address_, header_bytes_);
  if (header_.size() < 8 || header_[1] != pointer_encoding::kRelativeSigned4) return false;
  memcpy(&distance, header_.data() + 4, sizeof distance);
  const uint64_t address = header_address_ + 4 + static_cast<uint64_t>(int64_t{distance});
  frames_ = read_mapped(address, kMostTableBytes);  // what is behind them is an entry that cannot be read
  sections_ = {header_.data(), header_.size(), header_address_, frames_.data(), frames_.size(), address};
  return !frames_.empty();
}

void ObjectFrames::read_go_table() {
  Elf64_Shdr section;
  if (!find_section(GoTable::kSign, &section)) return;
  const auto read_section = [&](const char* name) {
    const bool found = find_section(name, &section) && section.sh_size <= kMostTableBytes;
    return found ? read_mapped(section.sh_addr, section.sh_size) : Bytes{};
  };
  Bytes relocations;
  for (const char* name : GoTable::kRelocations)
    if (relocations.empty()) relocations = read_section(name);
  for (const char* name : GoTable::kSections) {
    go_bytes_ = read_section(name);
    go_ = GoTable::in_section(go_bytes_, section.sh_addr, relocations);
    if (go_) return;
  }
}

/// Calls visit(start, end, rule) for the addresses of a function, ascending and without gaps.
template <class Visit>
void ObjectFrames::visit_go(uint64_t number, Visit&& visit) const {
  const uint64_t start = go_->start(number), end = go_->end(number);
  uint64_t known = start;
  int32_t first = 0;
  if (start == entry_) return visit(start, end, UnwindRule{.cfa = CfaKind::kEnd});
  if (kReturnsInRegister && has_own_frame(go_->name(number)))
    return visit(start, end, go_rule(*go_, number, -1, 0));
  go_->visit_stack(number, [&](uint64_t from, uint64_t to, int32_t bytes) {
    if (first == 0) first = std::max(bytes, 0);
    visit(from, to, go_rule(*go_, number, bytes, first));
    known = to;
  });
  if (known < end) visit(known, end, go_rule(*go_, number, -1, 0));
}

bool ObjectFrames::find_go(uint64_t address, CfiFunction* found) const noexcept {
  const auto number = go_ ? go_->find(address) : std::nullopt;
  if (!number) return false;
  *found = {go_->start(*number), go_->end(*number), {}};
  visit_go(*number, [&](uint64_t start, uint64_t end, const UnwindRule& rule) {
    if (address >= start && address < end) found->rule = rule;
  });
  return true;
}

bool ObjectFrames::find_clone(uint64_t address, CfiFunction* found) const noexcept {
  const auto read_code = [this](uint64_t from, unsigned char(&bytes)[kCloneReturnBytes]) {
    uint64_t position = 0;
    return to_position(from, &position) && read_at(position, bytes, sizeof bytes);
  };
  return sections_.header != nullptr && find_clone_return(sections_, address, found, read_code);
}

bool ObjectFrames::to_address(uint64_t position, uint64_t* address) const noexcept {
  for (const Elf64_Phdr& load : loads_) {
    if (position < load.p_offset || position - load.p_offset >= load.p_filesz || (load.p_flags & PF_X) == 0)
      continue;
    *address = position - load.p_offset + load.p_vaddr;
    return true;
  }
  return false;
}

bool ObjectFrames::to_position(uint64_t address, uint64_t* position) const noexcept {
  for (const Elf64_Phdr& load : loads_) {
    if (address < load.p_vaddr || address - load.p_vaddr > load.p_filesz) continue;
    *position = address - load.p_vaddr + load.p_offset;
    return true;
  }
  return false;
}

bool ObjectFrames::find(uint64_t position, CfiFunction* found) const noexcept {
  uint64_t address = 0;
  *found = {};
  if (unread_ || dropped_) {
    *found = {0, UINT64_MAX, {.cfa = CfaKind::kUnread}};
    return true;
  }
  if ((sections_.header == nullptr && !go_) || !to_address(position, &address)) return false;
  const bool has_entry = sections_.header != nullptr && find_cfi(sections_, address, found);
  if (!has_entry && !find_go(address, found) && !find_entry_code(entry_, address, found) &&
      !find_clone(address, found))
    return false;
  return to_position(found->start, &found->start) && to_position(found->end, &found->end);
}

uint64_t ObjectFrames::start_of(const CfiFunction& function, uint64_t position) const noexcept {
  return function_start(function, position, [this](uint64_t from, unsigned char(&bytes)[kStubBytes]) {
    return read_at(from, bytes, sizeof bytes);
  });
}

/// [start, end) of positions.
struct ObjectFrames::Interval {
  uint64_t start, end;
  UnwindRule rule;
};

/// The intervals of one object, or of one function in it, and what they have cost.
struct ObjectFrames::Intervals {
  std::vector<Interval> list;
  size_t made = 0;     ///< by all functions so far
  uint64_t steps = 0;  ///< likewise
  [[nodiscard]] bool are_too_many() const { return made > kMostIntervals || steps > kMostSteps; }
};

/// What of [start, end), of addresses, is code.
void ObjectFrames::add_interval(uint64_t start, uint64_t end, const UnwindRule& rule,
                                Intervals* intervals) const {
  ++intervals->steps;
  for (const Elf64_Phdr& load : loads_) {
    const uint64_t low = std::max(start, load.p_vaddr), high = std::min(end, load.p_vaddr + load.p_filesz);
    if ((load.p_flags & PF_X) == 0 || low >= high) continue;
    const uint64_t position = low - load.p_vaddr + load.p_offset;
    intervals->list.push_back({position, position + (high - low), rule});
    ++intervals->made;
  }
}

/// Adds the intervals of one function, up to where the next one of the table starts.
void ObjectFrames::add_intervals(uint32_t number, Intervals* intervals) const {
  Fde fde, next;
  uint64_t from = 0, to = UINT64_MAX;
  UnwindRule rule{.cfa = CfaKind::kUnsupported};
  if (number + 1 < count_fdes(sections_)) (void)fde_at(sections_, number + 1, &to, &next);
  if (!fde_at(sections_, number, &from, &fde)) return add_interval(from, to, rule, intervals);
  CfiRow row;
  CfiInterpreter interpreter(fde);
  bool understood = interpreter.start(&row);
  for (uint64_t at = fde.start; at < std::min(to, fde.end);) {
    understood = understood && interpreter.advance_to(at);
    rule = understood ? rule_of(row, fde.cie.is_signal) : UnwindRule{.cfa = CfaKind::kUnsupported};
    const uint64_t end = std::min({understood ? interpreter.next_row() : fde.end, fde.end, to});
    add_interval(std::max(at, from), end, rule, intervals);
    at = end;
  }
  intervals->steps += interpreter.executed();
  CfiFunction clone;
  if (fde.end >= to || to - fde.end != kCloneReturnBytes || rule.cfa != CfaKind::kStack) return;
  intervals->steps += interpreter.executed();
  if (find_clone(fde.end, &clone)) add_interval(fde.end, to, clone.rule, intervals);
}

/// Makes rows of intervals, and of the code at the entry point, where no interval is.
class ObjectFrames::RowMaker {
 public:
  explicit RowMaker(size_t expected, std::vector<Interval> entry) : entry_(std::move(entry)) {
    rows_.reserve(expected);
  }

  /// Takes them, in any order; they lie behind those before. What is behind none is of a damaged table.
  void take(std::vector<Interval>* intervals) {
    std::sort(intervals->begin(), intervals->end(),
              [](const Interval& a, const Interval& b) { return a.start < b.start; });
    for (const Interval& interval : *intervals) {
      if (interval.end <= end_) continue;
      if (interval.start > end_) add_gap(interval.start);
      add(std::max(interval.start, end_), interval.rule);
      end_ = interval.end;
    }
    intervals->clear();
  }

  std::vector<UnwindRow> finish() {
    add_gap(UINT64_MAX);
    return std::move(rows_);
  }

 private:
  void add(uint64_t position, const UnwindRule& rule) {
    if (!rows_.empty() && rows_.back().position == position) rows_.pop_back();
    if (rows_.empty() || !(rows_.back().rule == rule)) rows_.push_back({position, rule});
  }

  void add_gap(uint64_t to) {
    add(end_, {});
    if (entry_.empty() || entry_[0].end <= end_ || entry_[0].start >= to) return;
    add(std::max(end_, entry_[0].start), entry_[0].rule);
    if (entry_[0].end < to) add(entry_[0].end, {});
  }

  std::vector<UnwindRow> rows_;
  std::vector<Interval> entry_;  ///< one, or none
  uint64_t end_ = 0;
};

/// Functions of .eh_frame_hdr ascend by address, and so by position where the segments do by both.
bool ObjectFrames::is_in_order() const {
  const auto falls = [](const Elf64_Phdr& a, const Elf64_Phdr& b) {
    return b.p_vaddr < a.p_vaddr || b.p_offset < a.p_offset;
  };
  return !go_ && std::adjacent_find(loads_.begin(), loads_.end(), falls) == loads_.end();
}

/// All intervals of cc1plus are 16 MB, whose page faults were half of the time.
std::optional<std::vector<UnwindRow>> ObjectFrames::rows() const {
  if (dropped_) return {};
  if (unread_) return std::vector<UnwindRow>{{0, {.cfa = CfaKind::kUnsupported}}};
  if (sections_.header == nullptr && !go_) return std::vector<UnwindRow>();
  Intervals entry, intervals;
  CfiFunction code;
  if (find_entry_code(entry_, entry_, &code)) add_interval(code.start, code.end, code.rule, &entry);
  RowMaker rows(std::min(frames_.size() / kFrameBytesPerRow, kMostIntervals), std::move(entry.list));
  const bool in_order = is_in_order();
  const uint32_t entries = sections_.header == nullptr ? 0 : count_fdes(sections_);
  for (uint32_t number = 0; number < entries && !intervals.are_too_many(); ++number) {
    add_intervals(number, &intervals);
    if (in_order) rows.take(&intervals.list);
  }
  const uint64_t functions = go_ ? go_->functions() : 0;
  for (uint64_t number = 0; number < functions && !intervals.are_too_many(); ++number)
    visit_go(number, [&](uint64_t start, uint64_t end, const UnwindRule& rule) {
      add_interval(start, end, rule, &intervals);
    });
  if (intervals.are_too_many()) return {};
  rows.take(&intervals.list);
  return rows.finish();
}

/// Else the file does not show the code: a runtime maps its own from it, moves it and writes it (SBCL).
bool ObjectFrames::is_loaded_code(uint64_t position) const noexcept {
  return std::ranges::any_of(loads_, [position](const Elf64_Phdr& load) {
    return (load.p_flags & (PF_X | PF_W)) == PF_X && position >= load.p_offset &&
           position - load.p_offset < load.p_filesz;
  });
}

ReturnsTo ObjectFrames::returns_to(uint64_t position) const noexcept {
  unsigned char before[kLongestCall], end[kGoroutineEndBytes];
  if (position < sizeof before || !is_loaded_code(position) ||
      !read_at(position - sizeof before, before, sizeof before))
    return ReturnsTo::kCaller;
  if (ends_in_call(before)) return ReturnsTo::kCaller;
  return read_at(position - kGoroutineEndBefore, end, sizeof end) && is_goroutine_end(end)
             ? ReturnsTo::kGoroutineEnd
             : ReturnsTo::kNoCall;
}

bool ObjectFrames::find_by_code(uint64_t position, UnwindRule* rule) const noexcept {
  const auto read = [this](uint64_t from, unsigned bytes, unsigned char* to) {
    return read_at(from, to, bytes);
  };
  const bool is_known = is_loaded_code(position) && find_rule_by_code(position, rule, read);
  if (is_known || !frameless_.holds(position)) return is_known;
  *rule = kFramelessRule;
  return true;
}

UnwindRule ObjectFrames::rule_at(const UnwindRule& found, uint64_t position) const noexcept {
  return rule_behind_clone(found, position, [this](uint64_t place, uint32_t(&words)[kCloneWords]) {
    constexpr uint64_t kBefore = (kCloneWords - 1) * sizeof *words;
    return place >= kBefore && is_loaded_code(place) && read_at(place - kBefore, words, sizeof words);
  });
}

std::optional<bool> ObjectFrames::has_trampoline(uint64_t position) const noexcept {
  unsigned char bytes[kTrampolineBytes];
  if (!is_loaded_code(position) || !read_at(position, bytes, sizeof bytes)) return std::nullopt;
  return std::ranges::equal(bytes, kTrampoline);
}

bool ObjectFrames::is_call_of(uint64_t position, uint64_t inner) const noexcept {
  unsigned char before[kLongestCall];
  CfiFunction called;
  uint64_t back = 0, start = 0;
  return position >= sizeof before && is_loaded_code(position) && find(inner, &called) &&
         to_address(position, &back) && to_address(called.start, &start) &&
         read_at(position - sizeof before, before, sizeof before) && ends_in_call_of(before, back, start);
}

}  // namespace pctally
