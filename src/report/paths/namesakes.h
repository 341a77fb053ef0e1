// Distinguishes functions of one full name in one object. Functions with symbols differ by where they start.
// A function that is only inlined is known only by where it is declared: the inlined static hash() of
// one file is not the hash() of another file.
#pragma once
#include <map>
#include <set>
#include <string>
#include <utility>

#include "report/paths/stack_frame.h"

namespace pctally {

class Namesakes {
 public:
  /// REQUIRES: called for each frame before the others are.
  void add(const StackFrame& frame);
  /// Whether other frames say that there may be several functions, and this one's declaration is not known.
  [[nodiscard]] bool lacks_declaration(const StackFrame& frame) const;
  /// Keeps of `address` and `declared` of the frame only what distinguishes its function from others.
  void keep_what_distinguishes(StackFrame* frame) const;
  /// A function of a table, as its frames are. `address`: 0 if unknown.
  [[nodiscard]] StackFrame function(std::string object, std::string full, uint64_t address) const;

 private:
  struct Functions {
    std::set<uint64_t> starts;
    std::map<std::string, std::set<uint64_t>> declared;  ///< the starts of those that have any
  };
  using Key = std::pair<std::string, std::string>;  ///< object, full name

  std::map<Key, Functions> functions_;
};

}  // namespace pctally
