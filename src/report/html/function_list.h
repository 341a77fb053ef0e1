// All functions of a page, numbered: first the rows of the report, then those that are only on stacks.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/annotate/find_function.h"
#include "report/html/texts.h"
#include "report/paths/named_paths.h"
#include "report/rollup.h"

namespace pctally {

class FunctionList {
 public:
  /// `report`: by function, no row left out.
  FunctionList(const Report& report, NameStyle names);

  /// The number of a row with ticks in code.
  [[nodiscard]] int64_t number(const HotFunction& function) const;
  /// The number of a function on a stack; a new one, if it has no row.
  int64_t number(const StackFrame& frame);

  /// Its own, as the report has them.
  [[nodiscard]] uint64_t ticks(int64_t function) const {
    return entries_[static_cast<size_t>(function)].ticks;
  }

  /// The full name and the object of each, by number.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> full_names() const;

  /// Where a function begins in its source.
  void set_place(int64_t function, const std::string& file, uint32_t line);

  /// [name, full, object, file, line, ticks, total low, high, cut, inlined] of each, texts by number.
  [[nodiscard]] Json json(Texts* texts) const;

 private:
  struct Entry {
    std::string name, full, object, file;
    uint32_t line = 0;
    uint64_t ticks = 0;
    bool has_total = false, inlined = false;
    PathTotal total;
  };
  using Key = std::tuple<std::string, std::string, uint64_t>;  ///< object, function, address

  NameStyle names_;
  std::vector<Entry> entries_;
  std::map<Key, int64_t> rows_;
  /// Object, function, and where it is declared: empty, but of one that only has a namesake in the table.
  std::map<std::tuple<std::string, std::string, std::string>, int64_t> by_name_;
};

}  // namespace pctally
