// The state of n64.cc, as io.cc reads it to send it to gperf.
//
// Everything may change between two calls; `generation` says whether it is still the same list of segments.
#pragma once
#include <stdint.h>

#include "dialect/n64/memory.h"

namespace pctally::n64 {

struct Summary {
  uint64_t generation = 0;  ///< 0: osProfileInit was never called
  uint32_t sections = 0;
  uint32_t period_us = 0;  ///< 0: osProfileStart was never called
  uint32_t overflow = 0;
};

struct Section {
  uint64_t text_start = 0;
  uint32_t counters = 0;
};

/// The state now. Any thread, not under g_sessions_mutex; the same holds for the two functions below.
Summary summary() noexcept;

/// False if the list has been replaced.
bool section(uint64_t generation, uint32_t index, Section* section) noexcept;

/// Copies counters [first, first + count). Counters whose memory is gone are read as 0. False if the list has
/// been replaced, or if no descriptor was left to read them by. REQUIRES: they are counters of the section.
bool read_counters(uint64_t generation, uint32_t section, uint32_t first, uint32_t count, uint16_t* to,
                   UserMemory* memory) noexcept;

/// Starts the I/O thread unless it runs. If no thread or no socket can be created the profile works all the
/// same, and gperf does not find the program.
void start_io_thread() noexcept;

/// Sends everything to a gperf in server mode, if there is one.
void flush() noexcept;

}  // namespace pctally::n64
