// The errors of the debug library, reported to the program's error handler.
#pragma once
#include "pctally/n64.h"

namespace pctally::n64 {

/// One error with the arguments of its message; code 0 is none. Which arguments count depends on the code.
struct Complaint {
  int16_t code = 0;
  int number = 0;
  const void* first = nullptr;
  const void* second = nullptr;
};

/// Calls the handler. Not under a lock: the handler may do as it likes, and may not return.
void report(const Complaint& complaint) noexcept;

}  // namespace pctally::n64
