// The walk along a stack, from the innermost frame to the outermost: the same for the recorder, which reads a
// copy of it, and for a signal handler, which stands on it.
//
// Nothing is guessed: a path ends at a function whose return address is undefined, or where a goroutine ends
// (kComplete), or it is cut where it cannot be continued, with the reason.
#pragma once
#include "tick/unwind/call_instruction.h"
#include "tick/unwind/unwind_rule.h"

namespace pctally {

/// Code without tables that is known by its bytes, at the place where it is returned to.
#if defined(__aarch64__)
/// What the kernel lets signal handlers return to: mov x8,#139; svc #0 (rt_sigreturn).
inline constexpr unsigned kTrampolineBytes = 8;
inline constexpr unsigned char kTrampoline[kTrampolineBytes] = {0x68, 0x11, 0x80, 0xd2,
                                                                0x01, 0x00, 0x00, 0xd4};
inline constexpr UnwindRule kTrampolineRule = {.cfa = CfaKind::kSignal};
#else
/// What `python -X perf` puts between two functions of Python, in memory without a file: sub $8,%rsp; call
/// *%rcx; add $8,%rsp; ret. It has no frame pointer either. CPython, Python/asm_trampoline.S.
inline constexpr unsigned kTrampolineBytes = 5;
inline constexpr unsigned char kTrampoline[kTrampolineBytes] = {0x48, 0x83, 0xc4, 0x08, 0xc3};
inline constexpr UnwindRule kTrampolineRule = {.cfa = CfaKind::kStack, .cfa_words = 2};
#endif

/// Adds the frames to `code`, and says why there are no more.
///
///   code.find(address, UnwindRule*)   looks up a frame; false if nothing is known to be mapped there
///   code.returns_to(address)          what a return address leads to, in the frame found last: ReturnsTo
///   code.reads_as(address, bytes)     true if the code there, without tables, is those kTrampolineBytes
///   code.find_by_code(address, &rule) true if the code there, without tables, is an entry of a PLT, leaves
///                                     a signal handler, or is a function of the vdso without a frame
///   code.calls_inner(address)         true if a direct call of the frame added last lies before that return
///                                     address, which is of the frame found last
///   code.add()                        adds the frame found last; false if there is no room for it
///   read                              as unwind_step()'s
///   read.go_on_at(stack)              the thread was interrupted there by a signal: it may be another stack
template <class Code, class Read>
PathEnd walk_stack(UnwindRegisters registers, Code&& code, Read&& read) noexcept {
  bool exact = true, by_table = true, has_to_call = false;
  for (unsigned depth = 0;; ++depth) {
    const uint64_t pc = registers.pc;
    UnwindRule rule;
    if (!code.find(exact ? pc : pc - 1, &rule))
      return by_table ? PathEnd::kUnknownMapping : PathEnd::kNoUnwindTable;
    if (!exact && rule.cfa == CfaKind::kNone && code.reads_as(pc, kTrampoline)) rule = kTrampolineRule;
    if (exact && rule.cfa == CfaKind::kNone) (void)code.find_by_code(pc, &rule);
    const bool is_return = !exact && rule.cfa != CfaKind::kSignal;
    const ReturnsTo returns_to = is_return ? code.returns_to(pc) : ReturnsTo::kCaller;
    if (has_to_call && !code.calls_inner(pc)) return PathEnd::kNoUnwindTable;
    if (returns_to == ReturnsTo::kNoCall) return PathEnd::kDoubtful;
    if (depth == kMostFrames) return PathEnd::kTooDeep;
    if (!code.add()) return PathEnd::kNoRoom;
    if (returns_to == ReturnsTo::kGoroutineEnd) return PathEnd::kComplete;
    PathEnd why = PathEnd::kNoUnwindTable;
    has_to_call = rule.cfa == CfaKind::kCalled;
    by_table = rule.cfa != CfaKind::kNone && !has_to_call;
    const bool whole = depth == 0 || (kReturnsInRegister && exact);
    const StepResult step = rule.cfa != CfaKind::kNone ? unwind_step(rule, whole, &registers, read, &why)
                                                       : step_by_frame_pointer(&registers, read);
    if (step == StepResult::kEnd) return PathEnd::kComplete;
    if (step == StepResult::kCut) return by_table ? why : PathEnd::kNoUnwindTable;
    // How the psABI marks the outermost frame; but a frame pointer that is none leads to zeros, too.
    if (registers.pc == 0) return by_table ? PathEnd::kComplete : PathEnd::kNoUnwindTable;
    exact = step == StepResult::kInterrupted;
    if (exact) read.go_on_at(registers.stack);
  }
}

}  // namespace pctally
