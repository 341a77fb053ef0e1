// The CPU time a process used before the engine was in it: in fork(2) and exec(2), in the dynamic linker, in
// constructors that ran earlier. Nothing ticks there, but the process's own clock tells how much it was: it
// is counted as whole ticks at a place of its own. In short processes this is the larger part.
#pragma once
#include "histfile/histogram.h"

namespace pctally {

/// The place; no program runs there.
inline constexpr uint64_t kStartPc = 1;

/// What it is in the file.
ObjectIdentity start_object() noexcept;

/// The record of the program image that exec(2) made this one of, which its own process `pid` had entered: of
/// those that are no older than `since_ns` (CLOCK_MONOTONIC), or where that is 0 among the newest 256. 0 if
/// there is none. To be asked before the new image gets its record.
uint32_t image_before(const ProfileFile& file, int32_t pid, uint64_t since_ns = 0) noexcept;

/// The same of the calling process. One of that number in another pid namespace, or one that had the number
/// before, may have left a record that is older than this process. And a process that has used much CPU time
/// may have had hundreds of children since its own.
uint32_t own_image_before(const ProfileFile& file, uint64_t used_ns) noexcept;

/// `process` begins to be observed, having used `used_ns` since it was made; `before` is its
/// image_before(). Returns the ticks to be counted at kStartPc. Remainders below one tick, and overcounts
/// of an earlier image, are carried to the next process, so the total is exact. An earlier image that ran
/// for long, or whose ticks leave out kernel mode (`before_is_whole` false), is not corrected: what it
/// lacks has other reasons. Then only what came after its exec(3) counts, where its record says what the
/// process had used by then.
uint64_t account_start(const ProfileFile& file, uint32_t process, uint32_t before, bool before_is_whole,
                       uint64_t used_ns) noexcept;

}  // namespace pctally
