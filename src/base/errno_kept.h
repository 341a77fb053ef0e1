// errno as it was, at the end of a scope. Async-signal-safe.
#pragma once
#include <errno.h>

namespace pctally {

class ErrnoKept {
 public:
  ErrnoKept() = default;
  ErrnoKept(const ErrnoKept&) = delete;
  ErrnoKept& operator=(const ErrnoKept&) = delete;
  ~ErrnoKept() { errno = before_; }

 private:
  const int before_ = errno;
};

}  // namespace pctally
