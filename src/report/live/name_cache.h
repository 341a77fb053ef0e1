// Names kept from one refresh of a growing profile to the next: an object's debug information is read once,
// and a position is resolved once.
//
// Names of code that a JIT has made are not kept, because they change: they are read at each refresh.
#pragma once
#include <map>
#include <memory>

#include "report/names/object_names.h"

namespace pctally {

class CachedNames;

class NameCache {
 public:
  explicit NameCache(OpenSymbolizer open);
  NameCache(const NameCache&) = delete;
  NameCache& operator=(const NameCache&) = delete;
  ~NameCache();

  /// A symbolizer that remembers. REQUIRES: this outlives it.
  std::unique_ptr<Symbolizer> open(const ExecutableIdentity& identity);

 private:
  OpenSymbolizer open_;
  std::map<ExecutableIdentity, std::unique_ptr<CachedNames>> known_;
};

}  // namespace pctally
