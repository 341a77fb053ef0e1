#include "report/diff/matching_objects.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/base_name.h"
#include "object/symbolizer.h"
#include "report/names/short_name.h"

namespace pctally {
namespace {

using Builds = std::map<std::string, std::set<std::vector<uint8_t>>>;

/// A report's name of an object, "/a/b (build 1234)" or "[vdso] (build 1234)", without what tells builds
/// apart.
std::string_view without_build(std::string_view name) {
  const size_t mark = std::min(name.rfind(" (build "), name.rfind(" (inode "));
  const bool is_path = name.starts_with('/') || name.starts_with('[');
  return is_path && name.ends_with(')') ? name.substr(0, mark) : name;
}

Builds builds_of(const std::vector<Profile>& side) {
  Builds builds;
  for (const Profile& profile : side)
    for (const Executable& executable : profile.executables)
      builds[file_name_of(executable.path)].insert(executable.build_id);
  return builds;
}

std::vector<const ProfileRun*> runs_of(const std::vector<Profile>& side) {
  std::vector<const ProfileRun*> runs;
  for (const Profile& profile : side) {
    if (profile.runs.empty()) runs.push_back(&profile);
    for (const ProfileRun& run : profile.runs) runs.push_back(&run);
  }
  return runs;
}

/// The place of the word that names `object` in the commands of all `runs`.
std::optional<size_t> place_in_commands(const std::string& object,
                                        const std::vector<const ProfileRun*>& runs) {
  const std::vector<std::string>& first = runs.front()->command;
  for (size_t place = 0; place < first.size(); ++place) {
    const auto names_it = [&](const ProfileRun* run) {
      return place < run->command.size() && file_name_of(run->command[place]) == object;
    };
    if (std::all_of(runs.begin(), runs.end(), names_it)) return place;
  }
  return std::nullopt;
}

/// What an object is whatever its name; empty: its name alone says what it is.
std::string role_of(const std::string& object, const std::vector<const ProfileRun*>& runs) {
  if (const auto place = place_in_commands(object, runs)) return "word " + std::to_string(*place);
  const size_t version = object.find(".so.");
  return version == std::string::npos ? "" : object.substr(0, version);
}

/// The names that only `side` has, by their roles.
std::map<std::string, std::vector<std::string>> own_objects(const Builds& own, const Builds& other,
                                                            const std::vector<Profile>& side) {
  std::map<std::string, std::vector<std::string>> by_role;
  const std::vector<const ProfileRun*> runs = runs_of(side);
  for (const auto& [object, builds] : own) {
    if (other.contains(object)) continue;
    if (std::string role = role_of(object, runs); !role.empty()) by_role[role].push_back(object);
  }
  return by_role;
}

}  // namespace

void join_namesakes(const std::vector<const Report*>& reports, MatchingObjects* objects) {
  std::map<std::string, std::set<std::set<std::string>>> known;  // by file name: what each report calls them
  for (const Report* report : reports) {
    std::map<std::string, std::set<std::string>> names;
    for (const Row& row : report->rows) names[file_name_of(without_build(row.object))].insert(row.object);
    for (auto& [file, objects_of_it] : names) known[file].insert(std::move(objects_of_it));
  }
  for (const auto& [file, ways] : known) {
    if (ways.size() == 1) continue;
    const std::string joint = objects->name_of(file);
    for (const std::set<std::string>& names : ways)
      for (const std::string& name : names)
        if (name != joint) objects->renamed[name] = joint;
  }
}

std::string file_name_of(std::string_view path) {
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return std::string(base_name(path));
}

const std::string& MatchingObjects::name_of(const std::string& object) const {
  const auto found = renamed.find(object);
  return found == renamed.end() ? object : found->second;
}

const std::string& MatchingObjects::name_of(const std::string& object, const std::string& function) const {
  if (object != kNoObject) return name_of(object);
  const auto home = homes.find(function);
  return home == homes.end() ? object : home->second;
}

void find_homes(const std::vector<const Report*>& reports, MatchingObjects* objects) {
  std::map<std::string, std::set<std::string>> found;  // by function
  for (const Report* report : reports)
    for (const Row& row : report->rows)
      if (row.object == kNoObject && !row.function.starts_with('['))
        found[without_clone_suffix(row.function)];
  if (found.empty()) return;
  for (const Report* report : reports)
    for (const Row& row : report->rows) {
      const auto function = found.find(without_clone_suffix(row.function));
      if (function != found.end() && row.object != kNoObject)
        function->second.insert(objects->name_of(row.object));
    }
  for (auto& [function, homes] : found)
    if (homes.size() == 1) objects->homes[function] = *homes.begin();
}

MatchingObjects matching_objects(const std::vector<Profile>& before, const std::vector<Profile>& after) {
  MatchingObjects matching;
  Builds builds = builds_of(after);
  const Builds old_builds = builds_of(before);
  if (!before.empty() && !after.empty()) {
    auto new_objects = own_objects(builds, old_builds, after);
    for (const auto& [role, objects] : own_objects(old_builds, builds, before))
      if (objects.size() == 1 && new_objects[role].size() == 1)
        matching.renamed[objects[0]] = new_objects[role][0];
  }
  for (const auto& [object, ids] : old_builds)
    builds[matching.name_of(object)].insert(ids.begin(), ids.end());
  for (const auto& [object, ids] : builds)
    if (ids.size() == 1 && !ids.begin()->empty()) matching.same_build.insert(object);
  return matching;
}

}  // namespace pctally
