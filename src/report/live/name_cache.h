// Names kept from one look at a growing profile to the next: an object's debug information is read once, a
// position is looked up once.
//
// Refuses to keep the names of code a JIT has made: they change. Those are read anew each time.
#pragma once
#include <map>
#include <memory>

#include "report/object_names.h"

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
