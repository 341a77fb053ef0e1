// How well a function is called by a name that a person wrote: callers, annotate and the limits of diff
// agree.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

/// The best first.
enum class Called {
  kAsListed,    ///< in a list of several, with its object; called_by() never says so
  kInFull,      ///< by the full name or the symbol
  kAsShown,     ///< as tables show it
  kInForm,      ///< with arguments, template arguments or the suffix of a clone; a clone as its function
  kBare,        ///< by the short name
  kMember,      ///< by the last components of a name
  kInPart,      ///< by a part of the short name
  kInFormPart,  ///< by a part of another form: of its arguments, say
  kNot,
};

/// Whether it is a part of the name alone: another function may have been meant.
constexpr bool is_part(Called called) { return called == Called::kInPart || called == Called::kInFormPart; }

/// `shown`: the function's name in tables.
Called called_by(const std::string& full, const std::string& linkage, const std::string& shown,
                 std::string_view text);

/// Whether a path as debug information has it is meant by `asked`: its last elements are the same.
bool is_path(std::string_view path, std::string_view asked);

}  // namespace pctally
