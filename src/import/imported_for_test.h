// A profile of another tool, read from a text, and what a test asks of it.
#pragma once
#include <map>
#include <string>

#include "import/formats.h"
#include "profile/path_cut.h"

namespace pctally {

inline ImportedBytes bytes_of(const std::string& text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

struct Imported {
  ImportedNames names;
  Profile profile;
  std::string error;  ///< empty: it was read; "none": it is none

  explicit Imported(const std::string& text) {
    auto read = import_profile(bytes_of(text), "file.name", &names);
    if (!read)
      error = "none";
    else if (!*read)
      error = read->error().text;
    else
      profile = std::move(**read);
  }

  /// Nanoseconds or events of each function.
  std::map<std::string, uint64_t> amounts() {
    std::map<std::string, uint64_t> sums;
    for (const WeightedPosition& position : profile.positions)
      sums[name(position.executable, position.position)] += position.ticks * profile.period_ns;
    return sums;
  }
  /// "prog;main;leaf" and its amount.
  std::map<std::string, uint64_t> stacks() { return stacks(false); }
  /// The same as "prog;/bin/x:main;/bin/x:leaf".
  std::map<std::string, uint64_t> stacks_with_objects() { return stacks(true); }

 private:
  std::map<std::string, uint64_t> stacks(bool with_objects) {
    std::map<std::string, uint64_t> sums;
    const PathTree& tree = profile.paths.context;
    for (const PathTreeNode& leaf : tree) {
      std::string text;
      for (const PathTreeNode* node = &leaf;; node = &tree[node->parent]) {
        const bool is_code = node->kind == PathNodeKind::kCode;
        std::string part = is_code ? name(node->executable, node->position) : "";
        if (is_code && with_objects) part = profile.executables[node->executable].path + ":" + part;
        if (node->kind == PathNodeKind::kCut)
          part = std::string("[") + cut_reason(profile.paths, static_cast<PathEnd>(node->position)).id + "]";
        if (node->kind == PathNodeKind::kScope) part = profile.paths.scopes[node->position].name;
        text = text.empty() ? part : part + ";" + text;
        if (node->parent == PathTreeNode::kNoParent) break;
      }
      if (leaf.self != 0) sums[text] += leaf.self * profile.period_ns;
    }
    return sums;
  }
  std::string name(uint32_t executable, uint64_t position) {
    const Executable& object = profile.executables[executable];
    ExecutableIdentity identity;
    identity.device = object.stamp.device;
    identity.inode = object.stamp.inode;
    const auto symbolizer = names.open(identity);
    if (!symbolizer) return object.path + "+" + std::to_string(position);
    return symbolizer->name({&position, 1})[0].function;
  }
};

using Sums = std::map<std::string, uint64_t>;

}  // namespace pctally
