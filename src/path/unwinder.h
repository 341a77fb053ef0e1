// Finds the call path of one tick from registers and a copy of the stack. Runs in the recorder.
// The walk itself is tick/unwind/stack_walk.h.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/file/mapped_array.h"
#include "path/kept_identity.h"
#include "path/object_frames.h"

namespace pctally {

/// Registers and stack of a thread at a tick, of user mode; and the calls that led to a tick in the kernel.
struct StackSample {
  UnwindRegisters registers;
  std::span<const unsigned char> stack;      ///< from stack_address upwards; borrowed
  uint64_t stack_address = 0;                ///< 0: registers.stack
  std::span<const uint64_t> chunks{};        ///< words of the stack besides: StackChunks; borrowed
  bool attempted = false;                    ///< false: the kernel gave no registers
  bool in_kernel = false;                    ///< the tick fell there
  bool cut_off = false;                      ///< the stack is longer than what was copied
  PathEnd without = PathEnd::kNotAttempted;  ///< why, if there are no registers
  PathEnd missing = PathEnd::kUnreadable;    ///< why a word is not here, unless the stack is cut off
  std::span<const uint64_t> kernel_calls{};  ///< return addresses in the kernel, innermost first; borrowed
};

/// Words of a stack, in the order in which a walk reads them: a word with an address, a multiple of 8, + the
/// number of words less one, then these words; and so on.
class StackChunks {
 public:
  explicit StackChunks(std::span<const uint64_t> words) : words_(words) {}

  /// The word at `address`. Fast where it lies in the chunk found last or in the next one.
  bool read(uint64_t address, uint64_t* value) noexcept;

  /// Bytes from `address` on.
  bool read(uint64_t address, std::span<unsigned char> bytes) noexcept;

 private:
  bool find(uint64_t address, size_t from, size_t to, uint64_t* value) noexcept;
  std::span<const uint64_t> words_;
  size_t last_ = 0;  ///< where the chunk found last starts
};

/// A place in code as a profile file names it.
struct CodeAddress {
  uint32_t segment = 0;
  uint64_t index = 0;  ///< from the segment's start
};

/// The code of one process.
class CodeSpace {
 public:
  virtual ~CodeSpace() = default;
  /// False if nothing is known to be mapped there.
  virtual bool find(uint64_t address, CodeAddress* found) = 0;
  /// Another number whenever something else may be mapped, in any process; 0: it is not known.
  virtual uint64_t version() { return 0; }
  /// Whether kTrampoline is there, which a process wrote itself; nothing: it cannot be read.
  virtual std::optional<bool> has_trampoline(uint64_t /*address*/) { return std::nullopt; }
};

/// Innermost first.
struct PathFrame {
  uint64_t place = 0;     ///< PathPlace: of the call, or, of the innermost frame, its function
  uint64_t function = 0;  ///< PathPlace of the function's first byte; the place itself where no table has it
};

class Unwinder {
 public:
  static constexpr uint64_t kMostTableBytes = 512 << 20;

  /// `most_table_bytes`: of all tables in memory at a time. Those not used for longest are given up first,
  /// and read again when they are needed.
  /// `files`: opens and reads the files, and outlives this; null: this does so itself.
  explicit Unwinder(uint64_t most_table_bytes = kMostTableBytes, FileReader* files = nullptr);

  /// Says which file a segment belongs to. Other segments have no tables.
  /// `held`: a descriptor of the file that outlives this, for where its path does not lead to it; -1: none.
  void add_segment(uint32_t segment, uint64_t start, const ObjectIdentity& object, int held = -1);

  /// The tables of a segment's object, read now if they are not in memory; null for a segment that was not
  /// added. The object is valid as long as this, what it holds until the next call.
  const ObjectFrames* frames_of(uint32_t segment);

  /// Adds the frames of `sample` to *frames, innermost first, and says why there are no more. The first of
  /// all frames is where the tick fell: the kernel's, if there is one before.
  PathEnd unwind(CodeSpace& code, const StackSample& sample, std::vector<PathFrame>* frames);

 private:
  class Walk;
  struct Segment {
    uint64_t start = 0;
    size_t object = 0;
  };
  struct Object {
    KeptIdentity identity;
    int held = -1;
    std::unique_ptr<ObjectFrames> frames;  ///< opened at the first tick there
    bool keep_open = false;
    unsigned reads = 0;  ///< of the tables
    uint64_t used = 0;   ///< when: of uses_
  };
  /// A rule found before, in a table that forgets by being overwritten.
  struct Known {
    uint64_t place = 0;
    uint64_t function = 0;
    UnwindRule rule;
  };

  void read_tables(Object* object);
  void drop_all_but(const Object& used);
  const Known& rule_at(const CodeAddress& address);
  ReturnsTo returns_to(const CodeAddress& address);
  bool is_call_of(const CodeAddress& address, const CodeAddress& inner);
  bool has_trampoline(CodeSpace* code, const CodeAddress& place, uint64_t address);

  std::unordered_map<uint32_t, Segment> segments_;
  std::vector<std::unique_ptr<Object>> objects_;
  std::unordered_map<std::string, size_t> by_identity_;
  size_t opened_ = 0;
  uint64_t most_table_bytes_, table_bytes_ = 0;
  FileReader* files_;
  uint64_t uses_ = 0;
  MappedArray<Known> known_;
  std::unordered_map<uint64_t, ReturnsTo> returns_;
  std::unordered_map<uint64_t, bool> trampolines_;
};

}  // namespace pctally
