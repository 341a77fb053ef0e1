// Detects a child that shares its parent's memory (vfork(2), clone(2) with CLONE_VM). It has actions, masks
// and clocks of its own: what it sets must not be written where the parent's is kept.
#pragma once

namespace pctally {

/// This process is the one whose clocks, actions and threads are kept here. Where a clock or a recording
/// starts, and in each child of fork(2), whether or not one starts there. Async-signal-safe.
void note_own_process() noexcept;

/// True in such a child. A system call; behind a seccomp filter none is made, and the answer is false.
/// Async-signal-safe.
[[nodiscard]] bool runs_in_lent_memory() noexcept;

/// Whose memory a call finds itself in.
enum class Memory : unsigned char {
  kOwn,
  kCopied,  ///< a child's, by _Fork(3) or the bare clone(2): no handler of fork(2) has run in it
  kLent     ///< the parent's: the child of a vfork(2)
};

/// This memory is the calling process's own: when the library is loaded, and in each child that has a copy.
void claim_memory() noexcept;

/// Async-signal-safe. Behind a seccomp filter, where it may not be asked, kOwn. Where nothing is cleared in
/// children a copy is taken for lent memory.
[[nodiscard]] Memory memory_here() noexcept;

/// Memory that the kernel clears in each child of fork(2): the child may have its parent's number, where both
/// are process 1 of a pid namespace. Null before Linux 4.14; qemu-user clears nothing.
[[nodiscard]] char* page_cleared_in_children() noexcept;

}  // namespace pctally
