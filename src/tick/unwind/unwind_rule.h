// Steps from a frame to its caller: one rule of 12 bytes, and the step itself. x86-64 and aarch64.
//
//  1. A rule says where the caller's stack pointer (the CFA, in DWARF's words) is found, and where the
//     caller's frame pointer was saved. On x86-64 the return address lies in the word below the CFA. On
//     aarch64 it is in register x30, or where the rule says that x30 was saved.
//  2. A step reads the stack through `read` and nothing else. It never goes down the stack.
//  3. A frame that nobody can prove is a cut with a reason, never a guess.
#pragma once
#include <stdint.h>

namespace pctally {

/// Why a call path ends. The numbers are in profile files.
enum class PathEnd : uint8_t {
  kComplete = 0,        ///< at a function whose return address is undefined: _start, clone3
  kNoUnwindTable = 1,   ///< code without unwind table
  kUnsupported = 2,     ///< an unwind rule that is not supported
  kUnreadable = 3,      ///< the stack could not be read
  kShortDump = 4,       ///< the stack is deeper than the part of it that was copied
  kTooDeep = 5,         ///< more frames than kMostFrames
  kUnknownMapping = 6,  ///< a return address in no known mapping
  kNoRoom = 7,          ///< no room to put it aside
  kDoubtful = 8,        ///< no progress, or no call instruction before the return address
  kNotAttempted = 9,    ///< a thread without user code, or of another word size
  // 10 was never written
  kInterrupted = 11,  ///< the recorder had not read it: it was killed, or goes on
  kByHand = 12,       ///< pctally_count(): nobody says what the stack was
  kMemoryGone = 13,   ///< the process was ending, or in exec, and had given its memory back
  kUnreadTable = 14,  ///< code of a file that could not be read, or is another one by now
};
inline constexpr unsigned kPathEnds = 15;

inline constexpr unsigned kMostFrames = 1023;

/// An engine in the program follows paths of more frames more rarely, so that they cost no more than one of
/// these at every sample (clock/deep_stacks.h).
inline constexpr unsigned kFramesAtFullRate = 128;

/// Machines on which paths are followed.
#if defined(__x86_64__) || defined(__aarch64__)
#define PCTALLY_FOLLOWS_PATHS 1
#else
#define PCTALLY_FOLLOWS_PATHS 0
#endif

#if defined(__aarch64__)
/// A call leaves the return address in x30, which the callee saves if it calls in its turn.
inline constexpr bool kReturnsInRegister = true;
inline constexpr unsigned kBitsOfUserCode = 48;
#else
inline constexpr bool kReturnsInRegister = false;
inline constexpr unsigned kBitsOfUserCode = 47;
#endif

enum class CfaKind : uint8_t {
  kNone,         ///< no table covers the address
  kStack,        ///< stack pointer + far offset
  kFrame,        ///< frame pointer + far offset
  kPlt,          ///< stack pointer + 8, and 8 more in the second half of a PLT entry
  kSignal,       ///< the frame the kernel makes for a signal handler: all registers are in it
  kEnd,          ///< the return address is undefined: the outermost frame
  kUnsupported,  ///< a rule that is not supported
  kFrameSlot,    ///< what lies at frame pointer + offset, + add
  kStackSlot,    ///< what lies at stack pointer + offset, + add
  kBase,         ///< rbx + far offset: the dynamic linker's lazy binding on x86-64
  kScratch,      ///< r10 + far offset, in the innermost frame alone: GCC realigns the stack of main so
  kLink,         ///< stack pointer + far offset; the return address is in rdi, in the innermost frame alone:
                 ///< vfork keeps it there, since the child overwrites its parent's stack
  kCalled,       ///< stack pointer + 8, in the innermost frame alone, and only if a direct call of the
                 ///< function lies before the return address (clone_return.h)
  kParent,       ///< stack pointer, in the innermost frame alone, and only if x0 is not 0: behind the system
                 ///< call of clone on aarch64 (likewise)
  kUnread,       ///< the table could not be read
};

/// Where the caller's value of a register is: the frame pointer, and rbx or (aarch64) x30.
enum class FrameKind : uint8_t {
  kSame,         ///< the register is the caller's
  kSaved,        ///< saved at CFA + offset
  kUndefined,    ///< lost
  kFrameOffset,  ///< saved at frame pointer + offset
  kUnsupported,
};

/// Offsets are in words of 8 bytes. A far offset, of more than 256 KiB of locals, has its upper half in
/// `add_words`. A value.
struct UnwindRule {
  CfaKind cfa = CfaKind::kNone;
  FrameKind frame = FrameKind::kSame;
  FrameKind base = FrameKind::kSame;
  int16_t cfa_words = 0;
  int16_t add_words = 0;
  int16_t frame_words = 0;
  int16_t base_words = 0;

  [[nodiscard]] int32_t far_words() const noexcept {
    return static_cast<int32_t>(static_cast<uint32_t>(add_words) << 16 | static_cast<uint16_t>(cfa_words));
  }
  void set_far_words(int32_t words) noexcept {
    cfa_words = static_cast<int16_t>(words);
    add_words = static_cast<int16_t>(words >> 16);
  }
  bool operator==(const UnwindRule&) const = default;
};
static_assert(sizeof(UnwindRule) == 12);

/// aarch64: of a function that keeps its return address in x30 and has no frame.
inline constexpr UnwindRule kFramelessRule = {.cfa = CfaKind::kStack};

/// The rule from a position in an object on, up to the next row.
struct UnwindRow {
  uint64_t position = 0;
  UnwindRule rule;  ///< CfaKind::kNone where no table covers the code
};

struct UnwindRegisters {
  uint64_t pc = 0;
  uint64_t stack = 0;
  uint64_t frame = 0;
  uint64_t base = 0;     ///< rbx; on aarch64 x30, the link register
  uint64_t scratch = 0;  ///< r10, on aarch64 x0, of the innermost frame
  uint64_t link = 0;     ///< rdi, likewise; 0: it is not known
};

enum class StepResult : uint8_t {
  kCaller,       ///< pc is a return address: the call lies before it
  kInterrupted,  ///< pc is where a signal interrupted the caller
  kEnd,          ///< there is no caller
  kCut,          ///< *why says
};

namespace unwind {

inline uint64_t at(uint64_t base, int32_t words) noexcept {
  return base + static_cast<uint64_t>(int64_t{8} * words);
}

/// Steps out of the frame that the kernel makes: at the stack pointer lies a ucontext_t, on aarch64
/// behind a siginfo_t.
template <class Read>
StepResult leave_signal_frame(UnwindRegisters* registers, Read&& read, PathEnd* why) noexcept {
#if defined(__aarch64__)
  constexpr uint64_t kRegisters = 128 + 184, kFramePointer = 29, kBase = 30, kStackPointer = 31,
                     kProgramCounter = 32;
#else
  constexpr uint64_t kRegisters = 40, kFramePointer = 10, kBase = 11, kStackPointer = 15,
                     kProgramCounter = 16;
#endif
  const uint64_t first = registers->stack + kRegisters;
  UnwindRegisters caller;
  if (!read(first + 8 * kProgramCounter, &caller.pc, why) ||
      !read(first + 8 * kStackPointer, &caller.stack, why) ||
      !read(first + 8 * kFramePointer, &caller.frame, why) || !read(first + 8 * kBase, &caller.base, why))
    return StepResult::kCut;
  *registers = caller;
  return StepResult::kInterrupted;
}

template <class Read>
bool find_cfa(const UnwindRule& rule, const UnwindRegisters& registers, bool whole, Read&& read,
              uint64_t* cfa, PathEnd* why) noexcept {
  const bool of_frame = rule.cfa == CfaKind::kFrame || rule.cfa == CfaKind::kFrameSlot;
  const uint64_t base = of_frame ? registers.frame : registers.stack;
  *why = rule.cfa == CfaKind::kUnread ? PathEnd::kUnreadTable : PathEnd::kUnsupported;
  switch (rule.cfa) {
    case CfaKind::kStack:
    case CfaKind::kFrame:
      *cfa = at(base, rule.far_words());
      return true;
    case CfaKind::kPlt:
      *cfa = registers.stack + 8 + ((registers.pc & 15) >= static_cast<uint64_t>(rule.cfa_words) ? 8 : 0);
      return true;
    case CfaKind::kFrameSlot:
    case CfaKind::kStackSlot:
      if (!read(at(base, rule.cfa_words), cfa, why)) return false;
      *cfa = at(*cfa, rule.add_words);
      return true;
    case CfaKind::kBase:
      *cfa = at(registers.base, rule.far_words());
      return true;
    case CfaKind::kScratch:
      *cfa = at(registers.scratch, rule.far_words());
      return whole;
    case CfaKind::kLink:
      *cfa = at(registers.stack, rule.far_words());
      return whole && registers.link != 0;
    case CfaKind::kCalled:
      *cfa = at(registers.stack, 1);
      return whole;
    case CfaKind::kParent:
      *cfa = registers.stack;
      *why = PathEnd::kNoUnwindTable;
      return whole && registers.scratch != 0;
    case CfaKind::kNone:
      *why = PathEnd::kNoUnwindTable;
      return false;
    default:
      return false;
  }
}

/// The caller's value of a register into *value, which is the callee's. `callee`: its stack and frame
/// pointer. A slot below the stack pointer has been popped: epilogues do that without saying so, and the
/// register has its value again.
template <class Read>
bool restore(FrameKind kind, int16_t words, uint64_t cfa, const UnwindRegisters& callee, Read&& read,
             uint64_t* value, PathEnd* why) noexcept {
  if (kind == FrameKind::kSame) return true;
  if (kind == FrameKind::kSaved || kind == FrameKind::kFrameOffset) {
    const uint64_t slot = at(kind == FrameKind::kSaved ? cfa : callee.frame, words);
    return slot < callee.stack || read(slot, value, why);
  }
  *value = 0;
  return true;
}

/// A return address without what pointer authentication has signed it with. How many bits an address has is
/// the machine's choice: the instruction (xpaclri) knows. Machines without signatures do nothing.
inline uint64_t without_signature(uint64_t address) noexcept {
#if defined(__aarch64__)
  register uint64_t link __asm__("x30") = address;
  __asm__("hint #7" : "+r"(link));
  return link;
#else
  return address;
#endif
}

/// aarch64: where the frame returns to, from what x30 was restored to. `whole`: no call has overwritten it.
inline bool take_return(FrameKind link, bool whole, UnwindRegisters* caller, PathEnd* why) noexcept {
  const bool is_known = link != FrameKind::kUndefined && link != FrameKind::kUnsupported;
  caller->pc = without_signature(caller->base);
  *why = is_known ? PathEnd::kDoubtful : PathEnd::kUnsupported;
  return is_known && (link != FrameKind::kSame || whole);
}

}  // namespace unwind

/// Steps from the frame `registers` to its caller. `whole`: all registers are the frame's: it is the
/// innermost one, or (aarch64) one that a signal interrupted. `read(address, uint64_t* value, PathEnd* why)`
/// reads a word of the stack, or says why it cannot. With kCut *registers is as before.
template <class Read>
StepResult unwind_step(const UnwindRule& rule, bool whole, UnwindRegisters* registers, Read&& read,
                       PathEnd* why) noexcept {
  if (rule.cfa == CfaKind::kEnd) return StepResult::kEnd;
  if (rule.cfa == CfaKind::kSignal) return unwind::leave_signal_frame(registers, read, why);
  uint64_t cfa = 0;
  UnwindRegisters caller;
  caller.frame = registers->frame;
  caller.base = registers->base;
  if (!unwind::find_cfa(rule, *registers, whole, read, &cfa, why)) return StepResult::kCut;
  *why = PathEnd::kDoubtful;
  const bool in_register = kReturnsInRegister || rule.cfa == CfaKind::kLink;
  const bool may_be_empty = in_register && whole;  // a function that calls none may need no stack
  if (cfa < registers->stack || (cfa == registers->stack && !may_be_empty) || (cfa & 7) != 0)
    return StepResult::kCut;
  caller.pc = registers->link;
  if (!in_register && !read(cfa - 8, &caller.pc, why)) return StepResult::kCut;
  if (!unwind::restore(rule.frame, rule.frame_words, cfa, *registers, read, &caller.frame, why) ||
      !unwind::restore(rule.base, rule.base_words, cfa, *registers, read, &caller.base, why))
    return StepResult::kCut;
  if (kReturnsInRegister && !unwind::take_return(rule.base, whole, &caller, why)) return StepResult::kCut;
  // Lazy binding on aarch64: a PLT has pushed x30 and one more word, which the CFA of glibc's
  // resolver leaves out.
  const bool from_plt = kReturnsInRegister && rule.base == FrameKind::kSaved && rule.base_words >= 0;
  caller.stack = from_plt ? unwind::at(cfa, rule.base_words) + 8 : cfa;
  *registers = caller;
  return StepResult::kCaller;
}

/// The same by the frame pointer, for code that no table covers. The caller checks that the new pc lies in
/// code: without that it is a guess. aarch64 is always cut here: the pointer leads to the lower end of a
/// frame, so that it does not say where the caller's stack pointer is.
template <class Read>
StepResult step_by_frame_pointer(UnwindRegisters* registers, Read&& read) noexcept {
  if (kReturnsInRegister) return StepResult::kCut;
  constexpr uint64_t kLargestFrame = 1 << 20;
  UnwindRegisters caller;
  PathEnd why;
  const uint64_t frame = registers->frame;
  if (frame < registers->stack || frame - registers->stack >= kLargestFrame || (frame & 7) != 0)
    return StepResult::kCut;
  if (!read(frame, &caller.frame, &why) || !read(frame + 8, &caller.pc, &why)) return StepResult::kCut;
  caller.stack = frame + 16;
  caller.base = registers->base;
  *registers = caller;
  return StepResult::kCaller;
}

}  // namespace pctally
