#include "path/unwinder.h"

#include <string.h>

#include <algorithm>
#include <new>

#include "tick/unwind/call_instruction.h"
#include "tick/unwind/stack_walk.h"

namespace pctally {
namespace {

constexpr size_t kMostOpen = 256;    ///< descriptors; beyond them return addresses are believed
constexpr unsigned kMostReads = 16;  ///< of an object's tables: whoever maps many large ones costs no more
constexpr size_t kMostReturns = size_t{1} << 18;
constexpr size_t kMostKnown = size_t{1} << 14;  ///< rules

/// Words of a copied stack.
class StackReader {
 public:
  explicit StackReader(const StackSample& sample) : sample_(sample), chunks_(sample.chunks) {}

  bool operator()(uint64_t address, uint64_t* value, PathEnd* why) {
    const uint64_t base = sample_.stack_address != 0 ? sample_.stack_address : sample_.registers.stack,
                   offset = address - base;
    // Before the chunks: behind the 512 frames that these hold, each word would be looked for in all of them
    if (address >= base && offset <= sample_.stack.size() && sample_.stack.size() - offset >= sizeof *value) {
      memcpy(value, sample_.stack.data() + offset, sizeof *value);
      return true;
    }
    if (chunks_.read(address, value)) return true;
    *why = address >= base && sample_.cut_off && !elsewhere_ ? PathEnd::kShortDump : sample_.missing;
    return false;
  }

  /// The frame of the kernel between the two is smaller than kLargestSignalFrame, where the stack is the
  /// same.
  void go_on_at(uint64_t stack) noexcept {
    constexpr uint64_t kLargestSignalFrame = 16 << 10;
    const uint64_t base = sample_.stack_address != 0 ? sample_.stack_address : sample_.registers.stack;
    elsewhere_ = stack < base || stack - base > sample_.stack.size() + kLargestSignalFrame;
  }

 private:
  const StackSample& sample_;
  bool elsewhere_ = false;  ///< on another stack than the one that was copied
  StackChunks chunks_;
};

}  // namespace

bool StackChunks::find(uint64_t address, size_t from, size_t to, uint64_t* value) noexcept {
  constexpr uint64_t kCount = 7;
  for (size_t at = from; at < to;) {
    const uint64_t start = words_[at] & ~kCount, count = (words_[at] & kCount) + 1;
    if (count > words_.size() - at - 1) return false;
    const uint64_t number = (address - start) / 8;
    if (address >= start && number < count && (address & kCount) == 0) {
      *value = words_[at + 1 + number];
      last_ = at;
      return true;
    }
    at += count + 1;
  }
  return false;
}

bool StackChunks::read(uint64_t address, uint64_t* value) noexcept {
  return find(address, last_, words_.size(), value) || find(address, 0, last_, value);
}

bool StackChunks::read(uint64_t address, std::span<unsigned char> bytes) noexcept {
  uint64_t word = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const uint64_t byte = (address + i) % sizeof word;
    if ((i == 0 || byte == 0) && !read(address + i - byte, &word)) return false;
    bytes[i] = static_cast<unsigned char>(word >> 8 * byte);
  }
  return true;
}

void Unwinder::add_segment(uint32_t segment, uint64_t start, const ObjectIdentity& identity, int held) {
  if (segments_.contains(segment)) return;
  auto [entry, fresh] = by_identity_.try_emplace(identity_key(identity), objects_.size());
  if (fresh) objects_.push_back(std::make_unique<Object>(identity, held));
  segments_[segment] = {start, entry->second};
}

/// The table has 512 KiB. The kernel clears a page of it when it is used first, and a short run uses few.
Unwinder::Unwinder(uint64_t most_table_bytes, FileReader* files)
    : most_table_bytes_(most_table_bytes), files_(files) {
  if (!known_.resize(kMostKnown)) throw std::bad_alloc();
}

const ObjectFrames* Unwinder::frames_of(uint32_t segment) {
  auto found = segments_.find(segment);
  if (found == segments_.end()) return nullptr;
  Object& object = *objects_[found->second.object];
  if (object.frames == nullptr) {
    object.frames = std::make_unique<ObjectFrames>();
    object.keep_open = opened_++ < kMostOpen;
  }
  object.used = ++uses_;
  if (object.frames->is_dropped() && object.reads < kMostReads) read_tables(&object);
  return object.frames.get();
}

void Unwinder::read_tables(Object* object) {
  ++object->reads;
  object->frames->read(object->identity.get(), object->keep_open, object->held, files_);
  table_bytes_ += object->frames->bytes();
  if (table_bytes_ > most_table_bytes_) drop_all_but(*object);
}

/// As many as are too much, those first that were not used for longest.
void Unwinder::drop_all_but(const Object& used) {
  std::vector<Object*> others;
  for (const auto& object : objects_)
    if (object.get() != &used && object->frames != nullptr && object->frames->bytes() != 0)
      others.push_back(object.get());
  std::ranges::sort(others, {}, &Object::used);
  for (size_t i = 0; i < others.size() && table_bytes_ > most_table_bytes_; ++i) {
    table_bytes_ -= others[i]->frames->bytes();
    others[i]->frames->drop();
  }
}

const Unwinder::Known& Unwinder::rule_at(const CodeAddress& address) {
  const uint64_t place = PathPlace::code(address.segment, address.index);
  Known& known = known_[(place * 0x9e3779b97f4a7c15u >> 40) % known_.size()];
  if (known.place == place) return known;
  known = {place, place, {}};
  const ObjectFrames* frames = frames_of(address.segment);
  CfiFunction function;
  if (frames == nullptr) return known;
  const uint64_t start = segments_[address.segment].start;
  if (!frames->find(start + address.index, &function)) {
    (void)frames->find_by_code(start + address.index, &known.rule);
    return known;
  }
  known.rule = frames->rule_at(function.rule, start + address.index);
  // The table has no name for this code.
  if (known.rule.cfa == CfaKind::kCalled || known.rule.cfa == CfaKind::kUnread) return known;
  const uint64_t first = frames->start_of(function, start + address.index);
  if (first >= start) known.function = PathPlace::code(address.segment, first - start);
  return known;
}

/// `address` is that of the return address.
ReturnsTo Unwinder::returns_to(const CodeAddress& address) {
  const uint64_t place = PathPlace::code(address.segment, address.index);
  if (auto found = returns_.find(place); found != returns_.end()) return found->second;
  if (returns_.size() >= kMostReturns) returns_.clear();
  const ObjectFrames* frames = frames_of(address.segment);
  return returns_[place] = frames == nullptr
                               ? ReturnsTo::kCaller
                               : frames->returns_to(segments_[address.segment].start + address.index);
}

/// Likewise; `inner`: a place in the function that has to be called.
bool Unwinder::is_call_of(const CodeAddress& address, const CodeAddress& inner) {
  const auto from = segments_.find(address.segment), to = segments_.find(inner.segment);
  if (from == segments_.end() || to == segments_.end() || from->second.object != to->second.object)
    return false;
  const ObjectFrames* frames = frames_of(address.segment);
  return frames != nullptr &&
         frames->is_call_of(from->second.start + address.index, to->second.start + inner.index);
}

/// Asked once for each place: a process writes such code once. In a file or the vdso it stays what it is.
/// `place` is that of the byte before.
bool Unwinder::has_trampoline(CodeSpace* code, const CodeAddress& place, uint64_t address) {
  const uint64_t key = PathPlace::code(place.segment, place.index);
  if (auto found = trampolines_.find(key); found != trampolines_.end()) return found->second;
  std::optional<bool> known = code->has_trampoline(address);
  const ObjectFrames* frames = known ? nullptr : frames_of(place.segment);
  if (frames != nullptr) known = frames->has_trampoline(segments_[place.segment].start + place.index + 1);
  if (!known) return false;
  if (trampolines_.size() >= kMostReturns) trampolines_.clear();
  return trampolines_[key] = *known;
}

/// The code of a process, for the walk.
class Unwinder::Walk {
 public:
  Walk(Unwinder* unwinder, CodeSpace* code, std::vector<PathFrame>* frames)
      : unwinder_(unwinder), code_(code), frames_(frames) {}

  bool find(uint64_t address, UnwindRule* rule) {
    if (!code_->find(address, &address_)) return false;
    const Known& known = unwinder_->rule_at(address_);
    function_ = known.function;
    *rule = known.rule;
    return true;
  }
  /// The frame found last is that of the byte before.
  ReturnsTo returns_to(uint64_t) { return unwinder_->returns_to({address_.segment, address_.index + 1}); }
  bool reads_as(uint64_t address, const unsigned char (&)[kTrampolineBytes]) {
    return unwinder_->has_trampoline(code_, address_, address);
  }
  bool leaves_handler(uint64_t address) {
    UnwindRule rule;
    return find(address, &rule) && rule.cfa == CfaKind::kSignal;
  }
  static bool find_by_code(uint64_t, UnwindRule*) { return false; }  // rule_at() has done so
  bool calls_inner(uint64_t) { return unwinder_->is_call_of({address_.segment, address_.index + 1}, inner_); }
  bool add() {
    inner_ = address_;
    const uint64_t here = PathPlace::code(address_.segment, address_.index);
    frames_->push_back({frames_->empty() ? function_ : here, function_});
    return true;
  }

 private:
  Unwinder* unwinder_;
  CodeSpace* code_;
  std::vector<PathFrame>* frames_;
  CodeAddress address_, inner_;
  uint64_t function_ = 0;
};

PathEnd Unwinder::unwind(CodeSpace& code, const StackSample& sample, std::vector<PathFrame>* frames) {
  constexpr uint64_t kInstruction = 4;
  if (!sample.attempted) return sample.without;
  Walk walk(this, &code, frames);
  UnwindRegisters registers = sample.registers;
  // aarch64: a thread in a system call stands behind it. rt_sigreturn does not return there.
  if (kReturnsInRegister && sample.in_kernel && walk.leaves_handler(registers.pc - kInstruction))
    registers.pc -= kInstruction;
  return walk_stack(registers, walk, StackReader(sample));
}

}  // namespace pctally
