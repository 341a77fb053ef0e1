// A value that is there before any constructor runs and after every destructor has: ticks and threads of ours
// come as long as the process lives.
#pragma once

namespace pctally {

/// Constant-initialised in static storage, never destroyed.
template <class T>
class Immortal {
 public:
  constexpr Immortal() noexcept : value_() {}
  ~Immortal() {}
  Immortal(const Immortal&) = delete;
  Immortal& operator=(const Immortal&) = delete;

  T& operator*() noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

 private:
  union {
    T value_;
  };
};

}  // namespace pctally
