#include "report/scope_names.h"

#include <map>

#include "base/base_name.h"

namespace pctally {
namespace {

/// The file's name in a path. Other tools' profiles have names of processes, which may have slashes, too
/// ("kworker/0:2").
std::string short_program(const std::string& name) {
  return name.starts_with('/') ? std::string(base_name(name)) : name;
}

/// The paths that programs of each last part have; the first of them where there are more.
std::map<std::string, std::pair<std::string, bool>> programs_by_name(const CallPaths& paths) {
  std::map<std::string, std::pair<std::string, bool>> programs;
  for (const PathScope& scope : paths.scopes) {
    const auto [entry, fresh] = programs.try_emplace(short_program(scope.name), scope.name, false);
    if (!fresh && entry->second.first != scope.name) entry->second.second = true;
  }
  return programs;
}

}  // namespace

std::vector<ScopeName> scope_names(const CallPaths& paths) {
  const auto programs = programs_by_name(paths);
  std::vector<ScopeName> names;
  for (const PathScope& scope : paths.scopes) {
    ScopeName name = unknown_scope(scope.kind);
    if (scope.kind == PathScopeKind::kGroup) {
      if (!scope.name.empty()) name.group = scope.name;
    } else if (!scope.name.empty()) {
      const std::string part = short_program(scope.name);
      name.program = programs.at(part).second || part.empty() ? scope.name : part;
    }
    if (!scope.thread.empty()) name.thread = scope.thread;
    names.push_back(std::move(name));
  }
  return names;
}

ScopeName unknown_scope(PathScopeKind kind) {
  if (kind == PathScopeKind::kGroup) return {"", "", kGroupNotKnown};
  return {kProgramNotKnown, kind == PathScopeKind::kThread ? kThreadNotKnown : "", ""};
}

PathScopeKind scope_kind(const CallPaths& paths) {
  return paths.scopes.empty() ? PathScopeKind::kProgram : paths.scopes.front().kind;
}

bool has_scopes_for(const CallPaths& paths, Grouping by) {
  if (!is_by_scope(by)) return true;
  if (!paths.has_scopes()) return false;
  const PathScopeKind kind = scope_kind(paths);
  if (by == Grouping::kThread || by == Grouping::kThreadFunction) return kind == PathScopeKind::kThread;
  const bool by_group = by == Grouping::kGroup || by == Grouping::kGroupFunction;
  return by_group == (kind == PathScopeKind::kGroup);
}

std::vector<uint32_t> scope_of_nodes(const PathTree& tree, size_t all_scopes) {
  std::vector<uint32_t> scopes;
  scopes.reserve(tree.size());
  for (const PathTreeNode& node : tree) {
    if (node.parent != PathTreeNode::kNoParent) {
      scopes.push_back(scopes[node.parent]);
      continue;
    }
    const bool known = node.kind == PathNodeKind::kScope && node.position < all_scopes;
    scopes.push_back(known ? static_cast<uint32_t>(node.position) : UINT32_MAX);
  }
  return scopes;
}

}  // namespace pctally
