#include "task/task.h"

#include <algorithm>
#include <iterator>

namespace pctally {
namespace {

constexpr size_t kMostReplacements = 4096;

}  // namespace

Task Task::forked(pid_t number, const Task& parent) {
  Task child;
  child.parent = number;
  child.comm = parent.comm;
  child.held = parent.held;
  child.exec_id = parent.exec_id;
  child.execs = parent.execs;
  child.exec_id_in_doubt = parent.exec_id_in_doubt;
  child.root = parent.root;
  child.root_hidden = parent.root_hidden;
  child.maps_unreadable = parent.maps_unreadable;
  child.anonymous = parent.anonymous;
  child.user = parent.user;
  return child;
}

void Task::forget_mappings() {
  space.clear();
  anonymous.clear();
  table_valid = false;
}

void Task::add_anonymous(uint64_t start, uint64_t end) {
  auto at = anonymous.upper_bound(start);
  if (at != anonymous.begin() && std::prev(at)->second >= start) --at;
  while (at != anonymous.end() && at->first <= end) {
    start = std::min(start, at->first);
    end = std::max(end, at->second);
    at = anonymous.erase(at);
  }
  anonymous[start] = end;
}

bool Task::has_anonymous(uint64_t pc) const {
  const auto after = anonymous.upper_bound(pc);
  return after != anonymous.begin() && std::prev(after)->second > pc;
}

void Task::note_replacement(const Replacement& replacement) {
  if (replaced.size() >= kMostReplacements)
    replaced.erase(replaced.begin(), replaced.begin() + kMostReplacements / 2);
  replaced.push_back(replacement);
}

bool Task::was_replaced(uint64_t pc, uint64_t first, uint64_t last) const {
  return std::any_of(replaced.rbegin(), replaced.rend(), [=](const Replacement& replacement) {
    return replacement.time >= first && replacement.time <= last && pc >= replacement.start &&
           pc < replacement.end;
  });
}

}  // namespace pctally
