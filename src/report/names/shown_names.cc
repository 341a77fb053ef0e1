#include "report/names/shown_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/names/short_name.h"

namespace pctally {
namespace {

std::string at_level(const FunctionName& name, NameDetail detail) {
  return short_function_name(name.full, name.linkage, detail);
}

/// Functions of one object whose bare names are the same.
class LookAlikes {
 public:
  void add(size_t index) { members_.push_back(index); }

  void name(std::span<const FunctionName> functions, std::vector<std::string>* names) const {
    std::map<std::string_view, const FunctionName*> fulls;
    for (size_t index : members_) fulls.emplace(functions[index].full, &functions[index]);
    if (fulls.size() > 1) {
      Level level = least_detail(fulls);
      for (size_t index : members_) (*names)[index] = level.name(functions[index]);
    }
    add_places(functions, names);
  }

 private:
  using Fulls = std::map<std::string_view, const FunctionName*>;

  /// What a level of detail makes of names. Making one takes long, so each is made once.
  struct Level {
    NameDetail detail = NameDetail::kFull;
    std::map<std::pair<std::string_view, std::string_view>, std::string> texts{};  ///< full, linkage

    const std::string& name(const FunctionName& function) {
      const auto [known, fresh] = texts.try_emplace({function.full, function.linkage});
      if (fresh) known->second = at_level(function, detail);
      return known->second;
    }
  };

  static Level least_detail(const Fulls& fulls) {
    for (NameDetail detail :
         {NameDetail::kClone, NameDetail::kArguments, NameDetail::kTemplates, NameDetail::kBoth}) {
      Level level{detail};
      std::set<std::string_view> different;
      for (const auto& [full, name] : fulls)
        if (!different.insert(level.name(*name)).second) break;
      if (different.size() == fulls.size()) return level;
    }
    return {};
  }

  struct Places {
    std::set<uint64_t> starts;
    std::set<std::string_view> declared;
  };

  /// Functions with the same full name show where they start, if that is known, or are declared.
  void add_places(std::span<const FunctionName> functions, std::vector<std::string>* names) const {
    std::map<std::string_view, Places> of;
    for (size_t index : members_) {
      const FunctionName& function = functions[index];
      if (function.address != 0) of[function.full].starts.insert(function.address);
      if (!function.declared.empty()) of[function.full].declared.insert(function.declared);
    }
    for (size_t index : members_) {
      const auto& [starts, declared] = of[functions[index].full];
      if (functions[index].address != 0 && starts.size() > 1)
        (*names)[index] += fmt::format(" [0x{:x}]", functions[index].address);
      else if (!functions[index].declared.empty() && declared.size() > 1)
        (*names)[index] += fmt::format(" [{}]", shortest_place(functions[index].declared, declared));
    }
  }

  /// "a.c:2", or the whole path where another one of these ends so.
  static std::string_view shortest_place(std::string_view place, const std::set<std::string_view>& all) {
    const std::string_view end = place.substr(place.rfind('/') + 1);
    const auto ends_so = [end](std::string_view other) { return other.substr(other.rfind('/') + 1) == end; };
    return std::ranges::count_if(all, ends_so) > 1 ? place : end;
  }

  std::vector<size_t> members_;
};

}  // namespace

NameStyle name_style_of(std::string_view word) {
  if (word == "full") return NameStyle::kFull;
  return word == "linkage" ? NameStyle::kLinkage : NameStyle::kShort;
}

std::vector<std::string> short_names(std::span<const FunctionName> functions) {
  std::vector<std::string> names;
  names.reserve(functions.size());
  std::map<std::pair<std::string_view, std::string_view>, LookAlikes> groups;
  for (const FunctionName& function : functions) names.push_back(at_level(function, NameDetail::kBare));
  for (size_t i = 0; i < functions.size(); ++i) groups[{functions[i].object, names[i]}].add(i);
  std::vector<std::string> result = names;  // the groups' keys borrow from `names`
  for (const auto& [key, group] : groups) group.name(functions, &result);
  return result;
}

std::vector<bool> are_in_several_objects(std::span<const FunctionName> functions,
                                         std::span<const std::string> shown) {
  std::map<std::string_view, std::set<std::string_view>> objects;
  for (size_t i = 0; i < functions.size(); ++i)
    for (const std::string_view name : {std::string_view(shown[i]), functions[i].full})
      objects[name].insert(functions[i].object);
  std::vector<bool> several;
  for (size_t i = 0; i < functions.size(); ++i)
    several.push_back(objects[shown[i]].size() > 1 || objects[functions[i].full].size() > 1);
  return several;
}

std::string shown_name(NameStyle style, const std::string& short_name, const std::string& full,
                       const std::string& linkage) {
  if (style == NameStyle::kShort && !short_name.empty()) return short_name;
  return style == NameStyle::kLinkage && !linkage.empty() && is_symbol(full, linkage) ? linkage : full;
}

}  // namespace pctally
