#include "report/diff/matching_functions.h"

#include <map>
#include <set>

#include "report/names/short_name.h"

namespace pctally {
namespace {

/// The functions of one name without arguments.
struct Overloads {
  std::set<DiffKey> keys;
  bool have_arguments = false;  ///< the name says which: "put(int)"
};

using FunctionNames = std::map<DiffKey, Overloads>;  ///< by the name without arguments, and object

FunctionNames function_names(const std::vector<MeasuredRun>& runs) {
  std::set<DiffKey> keys;
  for (const MeasuredRun& run : runs)
    for (const auto& [key, ticks] : run.on_path) keys.insert(key);
  FunctionNames names;
  for (const DiffKey& key : keys) {
    const auto& [name, object] = key;
    const std::string linkage = linkage_of(key, runs);
    const std::string bare = short_function_name(name, linkage, NameDetail::kTemplates);
    Overloads& overloads = names[{bare, object}];
    overloads.keys.insert(key);
    overloads.have_arguments |= short_function_name(name, linkage, NameDetail::kBoth) != bare;
  }
  return names;
}

/// The old key and the new one of each function that has two names.
std::map<DiffKey, DiffKey> named_otherwise(const FunctionNames& before, const FunctionNames& after) {
  std::map<DiffKey, DiffKey> pairs;
  for (const auto& [bare, old] : before) {
    const auto found = after.find(bare);
    if (found == after.end() || old.keys.size() != 1 || found->second.keys.size() != 1) continue;
    if (old.have_arguments && found->second.have_arguments) continue;  // others, or they would have one name
    pairs.emplace(*old.keys.begin(), *found->second.keys.begin());
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
