#include "tick/own_path.h"

#include "tick/context_tree.h"
#include "tick/unwind/call_instruction.h"
#include "tick/unwind/clone_return.h"
#include "tick/unwind/plt_stub.h"
#include "tick/unwind/stack_walk.h"

namespace pctally {
namespace {

constexpr uint64_t kLowestCode = 4096;
constexpr uint64_t kEndOfUserCode = uint64_t{1} << kBitsOfUserCode;

/// Where an address lies in the file, or the address itself.
uint64_t place_of(const RegionTable& table, uint64_t address) noexcept {
  uint64_t index = 0;
  const Region* region = find_region(table, address, &index);
  if (region == nullptr || region->kind != CellKind::kTree) return address | PathSlotFrame::kAddress;
  return PathPlace::code(region->segment, index + region->tree_bias);
}

bool is_address(uint64_t place) noexcept { return (place & PathSlotFrame::kAddress) != 0; }

bool add_frame(const OwnPaths& paths, const PathSlotFrame& frame, OwnPath* path) noexcept {
  const PathSlots& slots = paths.slots;
  PathSlot* slot = &slots.slots[path->last];
  if (slot->frames == kFramesPerSlot) {
    const uint32_t next = take_path_slot(slots, paths.process);
    if (next == slots.count) return false;
    slot->next = next + 1;
    path->last = next;
    slot = &slots.slots[next];
  }
  slot->frame[slot->frames] = frame;
  // A fault may end the walk any moment: what is counted is written.
  __atomic_store_n(&slot->frames, slot->frames + 1, __ATOMIC_RELEASE);
  ++path->frames;
  return true;
}

/// This process's code, for the walk.
class OwnCode {
 public:
  OwnCode(const RegionTable& table, OwnPath* path) : table_(table), paths_(*table.paths), path_(path) {}

  /// Code without tables may be a JIT's, or nothing at all: the recorder cuts the path there, who knows.
  bool find(uint64_t address, UnwindRule* rule) noexcept {
    if (address < kLowestCode || address >= kEndOfUserCode) return false;
    CfiSections sections;
    CfiFunction function;
    frame_.place = frame_.function = place_of(table_, address);
    const bool has_tables = paths_.find_tables(address, &sections);
    of_file_ = has_tables || !is_address(frame_.place);
    if (paths_.trees != nullptr && is_address(frame_.place)) return false;
    if (!has_tables || !find_cfi(sections, address, &function))
      for (const uint64_t entry : paths_.entry_points)
        if (find_entry_code(entry, address, &function)) break;
    if (innermost_ && function.start == 0 && has_tables) (void)find_clone(sections, address, &function);
    inner_ = innermost_ ? function.start : inner_;
    if (function.rule.cfa == CfaKind::kCalled) function.start = 0;  // the table has no name for this code
    function.rule =
        rule_behind_clone(function.rule, address, [this](uint64_t place, uint32_t(&words)[kCloneWords]) {
          read_code(place - (kCloneWords - 1) * 4, sizeof words, reinterpret_cast<unsigned char*>(words));
          return true;
        });
    if (function.start != 0) frame_.function = place_of(table_, start_of(function, address));
    if (paths_.trees != nullptr && is_address(frame_.function)) frame_.function = frame_.place;
    *rule = function.rule;
    if (innermost_) path_->by_table = rule->cfa != CfaKind::kNone;
    return true;
  }

  /// Code that no file holds is believed where the recorder finds it executable: a runtime may make return
  /// addresses of its own.
  ReturnsTo returns_to(uint64_t address) noexcept {
    if (!of_file_) return ReturnsTo::kCaller;
    unsigned char before[kLongestCall], end[kGoroutineEndBytes];
    read_code(address - kLongestCall, kLongestCall, before);
    if (ends_in_call(before)) return ReturnsTo::kCaller;
    read_code(address - kGoroutineEndBefore, kGoroutineEndBytes, end);
    return is_goroutine_end(end) ? ReturnsTo::kGoroutineEnd : ReturnsTo::kNoCall;
  }

  bool reads_as(uint64_t address, const unsigned char (&expected)[kTrampolineBytes]) noexcept {
    unsigned char bytes[kTrampolineBytes];
    read_code(address, kTrampolineBytes, bytes);
    for (unsigned i = 0; i < kTrampolineBytes; ++i)
      if (bytes[i] != expected[i]) return false;
    return true;
  }

  bool find_by_code(uint64_t address, UnwindRule* rule) noexcept {
    const auto read = [this](uint64_t from, unsigned bytes, unsigned char* to) {
      read_code(from, bytes, to);
      return true;
    };
    bool is_known = of_file_ && find_rule_by_code(address, rule, read);
    if (!is_known && paths_.frameless.holds(address)) {
      *rule = kFramelessRule;
      is_known = true;
    }
    if (innermost_ && is_known) path_->by_table = true;
    return is_known;
  }

  bool calls_inner(uint64_t address) noexcept {
    unsigned char before[kLongestCall];
    if (!of_file_) return false;
    read_code(address - kLongestCall, kLongestCall, before);
    return ends_in_call_of(before, address, inner_);
  }

  bool add() noexcept {
    if (innermost_) frame_.place = frame_.function;
    innermost_ = false;
    return add_frame(paths_, frame_, path_);
  }

 private:
  uint64_t start_of(const CfiFunction& function, uint64_t address) noexcept {
    if (!innermost_) return function.start;
    return function_start(function, address, [this](uint64_t from, unsigned char(&bytes)[kStubBytes]) {
      read_code(from, kStubBytes, bytes);
      return true;
    });
  }

  bool find_clone(const CfiSections& sections, uint64_t address, CfiFunction* function) noexcept {
    return find_clone_return(sections, address, function,
                             [this](uint64_t from, unsigned char(&bytes)[kCloneReturnBytes]) {
                               read_code(from, kCloneReturnBytes, bytes);
                               return true;
                             });
  }

  /// What cannot be read is no return address: a fault ends the walk so.
  void read_code(uint64_t address, unsigned count, unsigned char* bytes) noexcept {
    const PathEnd before = path_->end;
    path_->end = PathEnd::kDoubtful;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    const auto* code = reinterpret_cast<const volatile unsigned char*>(address);
    for (unsigned i = 0; i < count; ++i) bytes[i] = code[i];
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    path_->end = before;
  }

  const RegionTable& table_;
  const OwnPaths& paths_;
  OwnPath* path_;
  PathSlotFrame frame_{};
  bool of_file_ = false;
  bool innermost_ = true;
  uint64_t inner_ = 0;  ///< where the innermost frame's function starts
};

/// Words of the thread's own stack, or of the stacks that its signal handlers have left.
class OwnStackReader {
 public:
  explicit OwnStackReader(const OwnStack& stack)
      : stack_(stack), start_(stack.registers.stack), end_(stack.end) {}

  /// Without the guard only what lies above the tick is known to be there.
  void go_on_at(uint64_t address) noexcept {
    if (!stack_.may_fault) return;
    const bool of_thread = address < stack_.thread_end && stack_.thread_end - address < stack_.thread_bytes;
    start_ = address;
    end_ = of_thread ? stack_.thread_end : address + OwnStack::kGuessedBytes;
  }

  bool operator()(uint64_t address, uint64_t* value, PathEnd* why) const noexcept {
    *why = PathEnd::kUnreadable;
    if (address < start_ || address >= end_ || end_ - address < sizeof *value) return false;
    __builtin_memcpy(value, reinterpret_cast<const void*>(address), sizeof *value);
    return true;
  }

 private:
  const OwnStack& stack_;
  uint64_t start_, end_;
};

/// The frames of a path in its slots.
class SlotFrames {
 public:
  SlotFrames(const PathSlots& slots, uint32_t first) noexcept : slots_(slots) {
    for (uint32_t index = first; count_ < kMostSlotsOfPath; index = slots.slots[index].next - 1) {
      index_[count_++] = index;
      if (slots.slots[index].next == 0) break;
    }
    frames_ = (count_ - 1) * kFramesPerSlot + slots.slots[index_[count_ - 1]].frames;
  }

  [[nodiscard]] uint32_t size() const noexcept { return frames_; }
  const PathSlotFrame& operator[](uint32_t i) const noexcept {
    return slots_.slots[index_[i / kFramesPerSlot]].frame[i % kFramesPerSlot];
  }
  void free() noexcept {
    for (uint32_t i = 0; i < count_; ++i) __atomic_store_n(&slots_.states[index_[i]], 0, __ATOMIC_RELEASE);
  }

 private:
  PathSlots slots_;
  uint32_t index_[kMostSlotsOfPath];
  uint32_t count_ = 0;
  uint32_t frames_ = 0;
};

/// Not inlined: it takes little of a stack, which may be nearly used up.
[[gnu::noinline]] uint32_t own_child(const OwnPaths& paths, PathTreeHead* tree, uint32_t parent,
                                     uint64_t place) noexcept {
  return path_child(paths.trees->pool, tree, parent, place);
}

/// A path without a frame.
void count_cut(const OwnPaths& paths, PathEnd end, uint64_t ticks) noexcept {
  const PathTrees& trees = *paths.trees;
  const uint32_t scope = own_child(paths, trees.context, 0, paths.scope);
  const uint64_t mark = PathPlace::mark(PathPlace::kCut, static_cast<uint32_t>(end));
  const uint32_t cut = scope == 0 ? 0 : own_child(paths, trees.context, scope, mark);
  add_relaxed(cut != 0 ? &path_node(trees.pool, cut)->self : trees.no_room, ticks);
}

[[gnu::noinline]] void count_frames(const OwnPaths& paths, const OwnPath& path, uint64_t ticks) noexcept {
  SlotFrames frames(paths.slots, path.first);
  count_path(*paths.trees, paths.scope, frames, path.end, ticks,
             [&](PathTreeHead* tree, uint32_t parent, uint64_t place) {
               return own_child(paths, tree, parent, place);
             });
  frames.free();
}

void count_own_path(const OwnPaths& paths, const OwnPath& path) noexcept {
  const PathSlot& first = paths.slots.slots[path.first];
  if (first.frames != 0) return count_frames(paths, path, first.ticks);
  count_cut(paths, path.end, first.ticks);
  __atomic_store_n(&paths.slots.states[path.first], 0, __ATOMIC_RELEASE);
}

void book_without_room(const OwnPaths& paths, uint64_t ticks) noexcept {
  if (paths.trees != nullptr) return count_cut(paths, PathEnd::kNoRoom, ticks);
  add_relaxed(&paths.slots.head->no_slot, ticks);
}

}  // namespace

bool open_own_path(const OwnPaths& paths, uint64_t ticks, OwnPath* path) noexcept {
  const uint32_t index = take_path_slot(paths.slots, paths.process);
  if (index == paths.slots.count) {
    book_without_room(paths, ticks);
    return false;
  }
  PathSlot* slot = &paths.slots.slots[index];
  slot->ticks = ticks;
  slot->process = paths.process;
  slot->program = paths.program;
  path->first = path->last = index;
  return true;
}

#if PCTALLY_FOLLOWS_PATHS
void walk_own_stack(const RegionTable& table, const OwnStack& stack, OwnPath* path) noexcept {
  path->end = walk_stack(stack.registers, OwnCode(table, path), OwnStackReader(stack));
}
#else  // nobody calls it there, and compilers would put calls of memset into it
void walk_own_stack(const RegionTable&, const OwnStack&, OwnPath* path) noexcept {
  path->end = PathEnd::kUnreadable;
}
#endif

void add_tick_place(const RegionTable& table, uint64_t pc, OwnPath* path) noexcept {
  add_own_place(*table.paths, place_of(table, pc), path);
}

void add_place_by_hand(const RegionTable& table, uint64_t pc, OwnPath* path) noexcept {
  const uint64_t place = place_of(table, pc);
  if (table.paths->trees == nullptr || !is_address(place))
    (void)add_frame(*table.paths, {place, place}, path);
  path->end = PathEnd::kByHand;
}

void add_own_place(const OwnPaths& paths, uint64_t place, OwnPath* path) noexcept {
  (void)add_frame(paths, {place, place}, path);
  path->end = PathEnd::kComplete;
}

void close_own_path(const OwnPaths& paths, const OwnPath& path) noexcept {
  if (paths.trees != nullptr) return count_own_path(paths, path);
  paths.slots.slots[path.first].end = path.end;
  paths.slots.slots[path.first].by_table = path.by_table ? 1 : 0;
  __atomic_store_n(&paths.slots.states[path.first], paths.process | kSlotReady, __ATOMIC_RELEASE);
}

}  // namespace pctally
