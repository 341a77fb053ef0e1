#include "report/diff/matching_functions.h"

#include <map>
#include <set>

#include "report/names/short_name.h"

namespace pctally {
namespace {

using FunctionNames = std::map<DiffKey, std::set<DiffKey>>;  ///< by the name without arguments, and object

std::string name_of(const DiffKey& key, const std::vector<MeasuredRun>& runs, NameDetail detail) {
  return short_function_name(std::get<0>(key), linkage_of(key, runs), detail);
}

FunctionNames function_names(const std::vector<MeasuredRun>& runs) {
  std::set<DiffKey> keys;
  for (const MeasuredRun& run : runs)
    for (const auto& [key, ticks] : run.on_path) keys.insert(key);
  FunctionNames names;
  for (const DiffKey& key : keys)
    names[{name_of(key, runs, NameDetail::kTemplates), std::get<1>(key)}].insert(key);
  return names;
}

/// The name says which of several overloads it is: "put(int)".
bool has_arguments(const DiffKey& key, const std::vector<MeasuredRun>& runs) {
  return name_of(key, runs, NameDetail::kBoth) != name_of(key, runs, NameDetail::kTemplates);
}

/// The old key and the new one of each function that has two names.
std::map<DiffKey, DiffKey> named_otherwise(const std::vector<MeasuredRun>& before,
                                           const std::vector<MeasuredRun>& after) {
  const FunctionNames old_names = function_names(before), new_names = function_names(after);
  std::map<DiffKey, DiffKey> pairs;
  for (const auto& [bare, old_keys] : old_names) {
    const auto found = new_names.find(bare);
    if (found == new_names.end() || old_keys.size() != 1 || found->second.size() != 1) continue;
    const DiffKey &old_key = *old_keys.begin(), &new_key = *found->second.begin();
    if (old_key != new_key && !(has_arguments(old_key, before) && has_arguments(new_key, after)))
      pairs.emplace(old_key, new_key);
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
  const std::map<DiffKey, DiffKey> pairs = named_otherwise(*before, after);
  for (MeasuredRun& run : *before) {
    rename(pairs, &run.ticks);
    rename(pairs, &run.on_path);
    rename(pairs, &run.linkage);
  }
}

}  // namespace pctally
