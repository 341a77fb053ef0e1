// Names of the innermost nodes of paths where an entry of the unwind table covers several symbols.
//
// An innermost node has the start of what its entry covers. Hand-written assembly may have more symbols
// there: then the ticks at the addresses themselves say which of them ran, for all paths together.
#pragma once
#include <map>
#include <optional>

#include "report/object_names.h"

namespace pctally {

class InnermostNames {
 public:
  struct Name {
    NamedRange range;      ///< of the one symbol that ran; or of all that did, as "one, another"
    bool several = false;  ///< which of them ran on a path is not known
    std::vector<std::pair<std::string, uint64_t>> symbols{};  ///< these: function and start
  };

  /// `profile` has call paths.
  InnermostNames(const Profile& profile, ObjectNames& names);

  /// Null: the symbol at the node's position is the one that ran.
  [[nodiscard]] const Name* find(const PathTreeNode& node) const;

 private:
  using Place = std::pair<uint32_t, uint64_t>;  // executable, position
  std::map<Place, Name> names_;
};

}  // namespace pctally
