// Pairs the objects of the old and the new profiles, by name and by build.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "report/rollup.h"

namespace pctally {

/// The last part of a path, whether the file is deleted or not.
std::string file_name_of(std::string_view path);

struct MatchingObjects {
  std::map<std::string, std::string> renamed;  ///< an object's name and the one it is compared by
  std::set<std::string> same_build;            ///< by their new names: there an address names the same code
  std::map<std::string, std::string> homes{};  ///< of functions of kNoObject: the only object that has them

  /// The name that `object`, of either side, is compared by.
  [[nodiscard]] const std::string& name_of(const std::string& object) const;
  /// The same of an object's function, without_clone_suffix().
  [[nodiscard]] const std::string& name_of(const std::string& object, const std::string& function) const;
};

/// Objects match by file name. An object that only one side has matches the one that only the other side has
/// - if the commands of all recordings name them at the same place (./old FILE, ./new FILE), or
/// - if they are versions of one shared library (libz.so.1.2.13, libz.so.1.3),
/// and no second object of either side would match as well.
MatchingObjects matching_objects(const std::vector<Profile>& before, const std::vector<Profile>& after);

/// A report calls objects by their paths where several have one file name. Where reports do not know the same
/// ones, all of that file name are one object.
void join_namesakes(const std::vector<const Report*>& reports, MatchingObjects* objects);

/// Text of other tools may have no objects. REQUIRES: reports by function; join_namesakes() was called.
void find_homes(const std::vector<const Report*>& reports, MatchingObjects* objects);

}  // namespace pctally
