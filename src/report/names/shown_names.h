// Chooses the name that is shown of a function. All rows of a table get their short names at once: functions
// with the same one show what distinguishes them.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pctally {

enum class NameStyle {
  kShort,    ///< "std::vector::push_back"
  kFull,     ///< "std::vector<int, std::allocator<int> >::push_back(int&&)"
  kLinkage,  ///< "_ZNSt6vectorIiSaIiEE9push_backEOi"
};

/// "short", "full" or "linkage"; any other word is kShort.
NameStyle name_style_of(std::string_view word);

/// A function of a table. Borrowed.
struct FunctionName {
  std::string_view full;
  std::string_view linkage;  ///< the symbol; empty if it is `full`
  std::string_view object;   ///< or what else stands beside the name, and so tells functions apart by itself
  uint64_t address = 0;      ///< of the function; 0: not known. Two of one full name are two functions.
  std::string_view declared{};  ///< file and line; empty: not known. The same holds.
};

/// One short name each. Functions of one object get the same name only if they are the same.
std::vector<std::string> short_names(std::span<const FunctionName> functions);

/// For each, whether a function of another object has the same name, short (`shown`, as of short_names()) or
/// full. Where no object stands beside such a name, the name has to have it.
std::vector<bool> are_in_several_objects(std::span<const FunctionName> functions,
                                         std::span<const std::string> shown);

/// What is shown of a function whose short name is `short_name`.
std::string shown_name(NameStyle style, const std::string& short_name, const std::string& full,
                       const std::string& linkage);

}  // namespace pctally
