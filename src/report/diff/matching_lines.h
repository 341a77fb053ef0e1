// Follows the lines of functions that other lines moved: a line of a function is the same line, counted from
// where the function is declared.
#pragma once
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "report/diff/matching_objects.h"
#include "report/rollup.h"

namespace pctally {

enum class LineMatch {
  kFollowed,  ///< counted from where its function is declared
  kByNumber,  ///< in the file
  kAlone,     ///< its function has ticks on one side alone
  kUnmoved,   ///< no edit moves it: its number is not known
};

class MatchingLines {
 public:
  MatchingLines() = default;
  /// `before`, `after`: the rows of each run, by line.
  MatchingLines(const std::vector<Report>& before, const std::vector<Report>& after,
                const MatchingObjects& objects);

  /// What the row's line is called in all runs. REQUIRES: it has a file.
  struct Key {
    std::string name;
    LineMatch match = LineMatch::kByNumber;
  };
  [[nodiscard]] Key key_of(const Row& row, const std::string& object) const;

 private:
  /// Object, name of the file and short name of the function.
  using Name = std::tuple<std::string, std::string, std::string>;
  /// The same with the full name.
  using Function = std::tuple<std::string, std::string, std::string, std::string>;

  std::map<Function, std::string> followed_;  ///< the first of the full names that are one function
  std::set<Name> alone_;                      ///< on one side
};

}  // namespace pctally
