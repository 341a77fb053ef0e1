// What identifies an executable file, kept for longer than whoever said it: an ObjectIdentity refers to its
// path and build id, and does not hold them.
#pragma once
#include <string>
#include <vector>

#include "histfile/histogram.h"

namespace pctally {

/// Equal for equal objects alone.
std::string identity_key(const ObjectIdentity& object);

/// Stays where it is: what get() returns refers to it.
class KeptIdentity {
 public:
  KeptIdentity(const ObjectIdentity& identity);
  KeptIdentity(const KeptIdentity&) = delete;
  KeptIdentity& operator=(const KeptIdentity&) = delete;

  [[nodiscard]] const ObjectIdentity& get() const { return identity_; }

 private:
  std::string path_;
  std::vector<uint8_t> build_id_;
  ObjectIdentity identity_;
};

}  // namespace pctally
