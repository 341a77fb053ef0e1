#include "report/names/called.h"

#include <algorithm>

#include "report/names/short_name.h"

namespace pctally {
namespace {

/// The same for one form of the name, which is the whole of it for `equal`.
Called called_by_form(std::string_view name, std::string_view text, Called equal, Called part) {
  if (name == text) return equal;
  if (name.size() > text.size() + 2 && name.ends_with(text) &&
      name.substr(0, name.size() - text.size()).ends_with("::"))
    return Called::kMember;
  return name.find(text) != std::string_view::npos ? part : Called::kNot;
}

}  // namespace

Called called_by(const std::string& full, const std::string& linkage, const std::string& shown,
                 std::string_view text) {
  if (full == text || (linkage == text && is_symbol(full, linkage))) return Called::kInFull;
  if (shown == text) return Called::kAsShown;
  Called best = called_by_form(short_function_name(full, linkage), text, Called::kBare, Called::kInPart);
  const auto add = [&](std::string_view name) {
    best = std::min(best, called_by_form(name, text, Called::kInForm, Called::kInFormPart));
  };
  for (const NameDetail detail :
       {NameDetail::kClone, NameDetail::kArguments, NameDetail::kTemplates, NameDetail::kBoth})
    add(short_function_name(full, linkage, detail));
  for (const std::string& name : {full, linkage}) {
    add(name);
    add(without_clone_suffix(name));  // a compiler may have left the clone alone
  }
  return best;
}

bool is_path(std::string_view path, std::string_view asked) {
  while (asked.starts_with("./")) asked.remove_prefix(2);
  if (!path.ends_with(asked)) return false;
  return path.size() == asked.size() || path[path.size() - asked.size() - 1] == '/';
}

}  // namespace pctally
