// The functions of a profile that have ticks, and which of them a person means.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "report/names/called.h"
#include "report/names/object_names.h"

namespace pctally {

/// A function with ticks: the row of the report it is.
struct HotFunction {
  uint32_t executable = 0;
  NamedRange range;
  std::string object;
  std::string short_name;
  uint64_t ticks = 0;
  std::vector<uint64_t> positions;  ///< ascending
  /// Nothing in its object has a name, nor bounds.
  [[nodiscard]] bool is_whole_object() const { return range.end == UINT64_MAX; }
  std::vector<uint64_t> position_ticks;  ///< of each
};

/// Most ticks first. Their ticks add up to the ledger's counted.
std::vector<HotFunction> hot_functions(const Profile& profile, ObjectNames& names);

/// Functions that called others, with the places of the calls, which have no ticks.
std::vector<HotFunction> calling_functions(const Profile& profile, ObjectNames& names);

/// "logstat.cc:28", if that is what `query` is: what stands behind the last colon is a line.
struct SourcePlace {
  std::string file;
  uint32_t line = 0;
};
bool parse_place(std::string_view query, SourcePlace* place);

/// How well `query` names the function.
Called called_by(const HotFunction& function, const std::string& query);

/// The functions that `query` names best, most ticks first. Where an object is called `query`, functions are
/// not found by a part of their names.
std::vector<const HotFunction*> functions_called(const std::vector<HotFunction>& functions,
                                                 const std::string& query);

/// Among copies of one function, most ticks first: the copy that has ten times the ticks of the others
/// together. Null if there is none, or if they are several functions.
const HotFunction* main_copy(const std::vector<const HotFunction*>& functions);

/// The functions whose code has another symbol, which `query` names as a whole: most ticks first.
std::vector<const HotFunction*> functions_aliased(const std::vector<HotFunction>& functions,
                                                  ObjectNames& names, const std::string& query);

/// The functions with ticks at that place, inlined code too, most ticks there first.
std::vector<const HotFunction*> functions_at(const std::vector<HotFunction>& functions, ObjectNames& names,
                                             const SourcePlace& place);

/// The functions that a function called so, not by a part of its name, was inlined into and has ticks in,
/// most ticks there first.
std::vector<const HotFunction*> functions_around(const std::vector<HotFunction>& functions,
                                                 ObjectNames& names, const std::string& query);

}  // namespace pctally
