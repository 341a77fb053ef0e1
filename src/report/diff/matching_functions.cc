#include "report/diff/matching_functions.h"

#include <map>
#include <set>

#include "report/names/short_name.h"

namespace pctally {
namespace {

using FunctionNames = std::map<DiffKey, std::set<DiffKey>>;  ///< by the name without arguments, and object

FunctionNames function_names(const std::vector<MeasuredRun>& runs) {
  std::set<DiffKey> keys;
  for (const MeasuredRun& run : runs)
    for (const auto& [key, ticks] : run.on_path) keys.insert(key);
  FunctionNames names;
  for (const DiffKey& key : keys) {
    const auto& [name, object] = key;
    names[{short_function_name(name, linkage_of(key, runs), NameDetail::kTemplates), object}].insert(key);
  }
  return names;
}

/// The old key and the new one of each function that has two names.
std::map<DiffKey, DiffKey> named_otherwise(const FunctionNames& before, const FunctionNames& after) {
  std::map<DiffKey, DiffKey> pairs;
  for (const auto& [bare, old_keys] : before) {
    const auto found = after.find(bare);
    if (found == after.end() || old_keys.size() != 1 || found->second.size() != 1) continue;
    const DiffKey &old_key = *old_keys.begin(), &new_key = *found->second.begin();
    if (old_key != new_key && (old_key == bare || new_key == bare)) pairs.emplace(old_key, new_key);
  }
  return pairs;
}

template <class Value>
void rename(const std::map<DiffKey, DiffKey>& pairs, std::map<DiffKey, Value>* values) {
  for (const auto& [from, to] : pairs)
    if (auto node = values->extract(from); !node.empty()) {
      node.key() = to;
      values->insert(std::move(node));
    }
}

}  // namespace

void join_functions(std::vector<MeasuredRun>* before, const std::vector<MeasuredRun>& after) {
  const std::map<DiffKey, DiffKey> pairs = named_otherwise(function_names(*before), function_names(after));
  for (MeasuredRun& run : *before) {
    rename(pairs, &run.ticks);
    rename(pairs, &run.on_path);
    rename(pairs, &run.linkage);
  }
}

}  // namespace pctally
