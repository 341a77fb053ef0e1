#include "report/diff/matching_lines.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>

#include "base/base_name.h"
#include "report/names/short_name.h"

namespace pctally {
namespace {

/// A function's declaration in one run.
using Start = std::pair<size_t, uint32_t>;

/// Those of one short name in files of one name.
struct Namesakes {
  std::map<std::string, std::set<Start>> starts;  ///< of each full name: template arguments, overloads

  [[nodiscard]] std::set<Start> all() const {
    std::set<Start> all;
    for (const auto& [name, own] : starts) all.insert(own.begin(), own.end());
    return all;
  }
};

std::string file_of(const Row& row) { return std::string(base_name(row.file)); }

struct FollowedFunction {
  std::vector<const std::string*> names;
  std::set<Start> starts;
};

/// Full names whose declarations are the same in any run are one function: instances of a template.
class SameFunctions {
 public:
  explicit SameFunctions(const Namesakes& functions) {
    std::map<Start, size_t> first;
    for (const auto& [name, starts] : functions.starts) {
      const size_t own = names_.size();
      names_.push_back(&name);
      starts_.push_back(&starts);
      parent_.push_back(own);
      for (const Start& start : starts) join(own, first.try_emplace(start, own).first->second);
    }
  }

  /// Each function with all its names.
  std::vector<FollowedFunction> all() {
    std::map<size_t, FollowedFunction> functions;
    for (size_t i = 0; i < names_.size(); ++i) {
      FollowedFunction& function = functions[root(i)];
      function.names.push_back(names_[i]);
      function.starts.insert(starts_[i]->begin(), starts_[i]->end());
    }
    std::vector<FollowedFunction> list;
    for (auto& [root, function] : functions) list.push_back(std::move(function));
    return list;
  }

 private:
  size_t root(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(size_t a, size_t b) {
    a = root(a);
    b = root(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

  std::vector<const std::string*> names_;
  std::vector<const std::set<Start>*> starts_;
  std::vector<size_t> parent_;
};

bool are_of_both_sides(const std::set<Start>& starts, size_t old_runs) {
  return starts.begin()->first < old_runs && starts.rbegin()->first >= old_runs;
}

/// True if each run has at most one declaration, which is known, and both sides have some.
bool can_be_followed(const std::set<Start>& starts, size_t old_runs) {
  std::set<size_t> runs;
  for (const auto& [run, line] : starts)
    if (line == 0 || !runs.insert(run).second) return false;
  return are_of_both_sides(starts, old_runs);
}

}  // namespace

MatchingLines::MatchingLines(const std::vector<Report>& before, const std::vector<Report>& after,
                             const MatchingObjects& objects) {
  std::map<Name, Namesakes> namesakes;
  size_t run = 0;
  for (const std::vector<Report>* side : {&before, &after})
    for (const Report& report : *side) {
      for (const Row& row : report.rows) {
        const std::string& object = objects.name_of(row.object);
        if (row.file.empty() || objects.same_build.contains(object)) continue;
        namesakes[{object, file_of(row), short_function_name(row.function, row.linkage)}]
            .starts[without_clone_suffix(row.function)]
            .emplace(run, row.start_line);
      }
      ++run;
    }
  for (const auto& [key, functions] : namesakes) {
    if (!are_of_both_sides(functions.all(), before.size())) alone_.insert(key);
    for (const auto& [names, starts] : SameFunctions(functions).all()) {
      if (!can_be_followed(starts, before.size())) continue;
      for (const std::string* name : names)
        followed_.emplace(std::tuple_cat(key, std::tuple(*name)), *names.front());
    }
  }
}

/// A line is the same in another directory: it has the file's name and the function's, whatever the arguments
/// of its template are.
MatchingLines::Key MatchingLines::key_of(const Row& row, const std::string& object) const {
  const std::string file = file_of(row), function = short_function_name(row.function, row.linkage);
  const auto found = followed_.find({object, file, function, without_clone_suffix(row.function)});
  if (found == followed_.end() || row.line < row.start_line) {
    LineMatch match = LineMatch::kByNumber;
    if (alone_.contains({object, file, function})) match = LineMatch::kAlone;
    if (row.line == 0) match = LineMatch::kUnmoved;
    return {file + ":" + std::to_string(row.line) + "\n" + function, match};
  }
  return {file + ":+" + std::to_string(row.line - row.start_line) + "\n" + function + "\n" + found->second,
          LineMatch::kFollowed};
}

}  // namespace pctally
