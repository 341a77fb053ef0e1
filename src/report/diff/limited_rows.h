// Which rows of a comparison a limit means by a name.
#pragma once
#include <string>
#include <vector>

#include "report/diff/diff.h"

namespace pctally {

struct LimitedRows {
  bool named = false;                  ///< there is a row of that name, with ticks or not
  std::vector<const DiffRow*> rows{};  ///< that are meant; they have ticks of their own, or a total
  /// Whole names of the lines among `rows` that the end of a path means. Empty: the name is a whole one, or
  /// no line's.
  std::vector<std::string> lines{};
  /// Functions that may be one of `rows` under another name: the new side (the old one) has none of `rows`,
  /// but this one with the same short name, which the other side does not have. Null: there is none.
  const DiffRow* new_namesake = nullptr;
  const DiffRow* old_namesake = nullptr;
};

/// An exact match on one side excludes partial matches there. Compilers name one function differently ("f" in
/// C, "f(int)" in C++; "r::f" and "r::f::<u32>" in Rust), so the best matches of both sides are taken
/// together. `totals`: also of functions that only call others.
LimitedRows limited_rows(const Diff& diff, const std::string& name, bool totals = false);

/// The name of a function as a limit takes it to mean all of the same short name.
std::string bare_name(const DiffRow& row);

}  // namespace pctally
