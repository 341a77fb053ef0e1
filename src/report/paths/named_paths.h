// The context tree with the source frames of every place: inlined functions are frames of their own.
// The first nodes are the profile's.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "report/account/path_account.h"
#include "report/names/innermost.h"
#include "report/names/object_names.h"
#include "report/path_totals.h"
#include "report/paths/inlined_code.h"
#include "report/paths/innermost_parts.h"
#include "report/paths/namesakes.h"

namespace pctally {

/// What is known of a function apart from the context tree.
struct KnownTicks {
  uint64_t self = 0;         ///< in the function itself, at least
  bool self_is_all = false;  ///< and at most
  uint64_t low = 0;          ///< with it on the stack, at least: of the largest
  uint64_t high = 0;         ///< at most, not inlined; where `complete`
  bool complete = false;     ///< each of its ticks is in an entry of the call plane that is its own
};

class NamedPaths {
 public:
  enum class Detail {
    kFunctions,
    kLines,  ///< files, lines and inlined functions of calls, which takes reading the debug information
    kInnermostParts,  ///< kLines; and leaves have siblings for what is inlined there, as far as it is certain
    kSharedParts,     ///< the same for all of it: paths of a function share its parts in proportion to their
                      ///< ticks
    kInlinedCode,     ///< kLines; and which inlined functions have ticks of their own, as long as a report by
                      ///< line takes
  };
  NamedPaths(const Profile& profile, ObjectNames& names, Detail detail);

  [[nodiscard]] const PathTree& tree() const { return tree_; }
  /// Outermost first; empty for scopes. A cut has one frame, in brackets.
  [[nodiscard]] const std::vector<StackFrame>& frames(uint32_t node) const { return places_[place_[node]]; }
  [[nodiscard]] const std::vector<uint64_t>& below() const { return below_; }
  /// The node is inlined code. The path may have more ticks there, which count as its function's own; or,
  /// with shared parts, more or fewer.
  [[nodiscard]] bool is_inexact(uint32_t node) const { return node < inexact_.size() && inexact_[node]; }
  /// Its ticks are what estimates have left of them.
  [[nodiscard]] bool is_rest(uint32_t node) const { return node < rests_.size() && rests_[node]; }
  /// Ticks without a place, which no node has.
  [[nodiscard]] uint64_t lost() const { return profile_.ledger.lost; }
  /// A function of a table, as its frames are. `address`: 0 if unknown.
  [[nodiscard]] StackFrame function(std::string object, std::string full, uint64_t address) const {
    return namesakes_.function(std::move(object), std::move(full), address);
  }

  /// Whether a path that begins another way than those before may have found no room at all.
  [[nodiscard]] bool is_first_come() const { return profile_.paths.first_come; }

  /// The call plane, where parts of the tree were folded; else empty, for the tree says it all.
  [[nodiscard]] const PathTree& plane() const { return plane_; }
  [[nodiscard]] const std::vector<StackFrame>& plane_frames(uint32_t node) const {
    return places_[plane_place_[node]];
  }
  /// Symbols that share an entry of the unwind table; with Detail::kInlinedCode what was inlined, too.
  [[nodiscard]] const std::vector<InlinedCode>& inlined_code() const { return inlined_code_; }
  /// Ticks without a known path: known() has those of functions themselves.
  [[nodiscard]] const TicksWithoutPath& without_path() const { return without_path_; }
  /// The caller of these.
  [[nodiscard]] StackFrame unknown_caller() const;
  /// Where the plane is not empty, or there are ticks without a path; of symbols that share an entry, and of
  /// the entry, nothing.
  [[nodiscard]] KnownTicks known(const StackFrame& function) const;

 private:
  using Positions = std::map<std::pair<uint32_t, bool>, std::vector<uint64_t>>;
  using Places = std::map<std::tuple<uint32_t, uint64_t, bool>, uint32_t>;
  /// The code of a place whose lines were not read.
  struct CodeOfPlace {
    uint32_t place = 0, executable = 0;
    uint64_t position = 0;
  };

  void add_places(const Profile& profile, ObjectNames& names, bool lines);
  void place_innermost(const Profile& profile, ObjectNames& names);
  void add_symbols(const Profile& profile, uint32_t executable, const InnermostNames::Name& name,
                   uint64_t ticks, ObjectNames& names);
  Places add_positions(Positions positions, bool lines, bool one_frame, ObjectNames& names);
  void add_executable(uint32_t executable, const std::vector<uint64_t>& positions, bool lines,
                      ObjectNames& names);
  std::vector<uint32_t> places_of(const PathTree& tree, const std::vector<bool>& is_call,
                                  const Places& known);
  uint32_t add_place(StackFrame frame);
  template <class Visit>
  void for_each_frame(Visit&& visit);
  void split_leaves(const Profile& profile, ObjectNames& names, InnermostTicks which);
  void distinguish_namesakes(ObjectNames& names);
  void name_functions();
  KnownTicks& known_of(const std::string& object, const std::string& full, uint64_t address);
  void add_known(const Profile& profile, ObjectNames& names);

  const Profile& profile_;
  PathTree tree_;
  const PathTree& plane_;
  TicksWithoutPath without_path_;
  std::vector<std::vector<StackFrame>> places_;  ///< by number; 0: nothing
  std::vector<uint32_t> place_, plane_place_;    ///< of each node
  std::vector<bool> inexact_, rests_;
  std::vector<InlinedCode> inlined_code_;
  std::vector<CodeOfPlace> without_lines_;  ///< first bytes of functions that ran
  Namesakes namesakes_;
  std::vector<uint64_t> below_;
  std::map<StackFunction, KnownTicks> known_;
};

}  // namespace pctally
