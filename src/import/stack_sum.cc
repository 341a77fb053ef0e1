#include "import/stack_sum.h"

#include <errno.h>
#include <stdio.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "import/recorded_object.h"
#include "profile/positions.h"

namespace pctally {
namespace {

constexpr uint64_t kLargestSum = uint64_t{1} << 60;

}  // namespace

std::string address_name(uint64_t address) {
  char name[24];
  snprintf(name, sizeof name, "[0x%llx]", static_cast<unsigned long long>(address));
  return name;
}

StackSum::StackSum(ImportedNames* names, const std::string& program) : names_(names), program_(program) {}

uint32_t StackSum::named_object(const std::string& object, const std::vector<uint8_t>& build_id) {
  const std::string path = recorded_object(object);
  const auto [entry, fresh] =
      named_.try_emplace({path, build_id}, static_cast<uint32_t>(sum_.executables.size()));
  if (fresh) sum_.executables.push_back(names_->executable(path, build_id));
  return entry->second;
}

uint32_t StackSum::file_object(const std::string& path, ExecutableKind kind,
                               const std::vector<uint8_t>& build_id) {
  const auto [entry, fresh] =
      files_.try_emplace({path, kind, build_id}, static_cast<uint32_t>(sum_.executables.size()));
  if (fresh) sum_.executables.push_back({.kind = kind, .path = path, .build_id = build_id});
  return entry->second;
}

ImportedPlace StackSum::place(uint32_t object, const std::vector<Frame>& frames) {
  return {object, names_->object(sum_.executables[object]).position(frames)};
}

std::string StackSum::name_of(const ImportedPlace& place) const {
  const Executable& object = sum_.executables[place.executable];
  return names_->knows(object.stamp) ? names_->object(object).name(place.position).function : "";
}

/// perf calls so what is in no mapping: the walk of frame pointers had left the stack's frames.
bool StackSum::is_unknown(const ImportedPlace& place) const {
  const std::string& path = sum_.executables[place.executable].path;
  return (path == "[unknown]" || path == kNoObject) && name_of(place) == "[unknown]";
}

/// Our own exports have ticks without a place as stacks of one frame.
bool StackSum::add_without_place(const ImportedPlace& place, uint64_t amount, uint64_t count,
                                 const PathScope& scope) {
  const std::string name = name_of(place);
  if (name == "[lost]")
    add_lost(amount);
  else if (name == "[outside]")
    add_to(&TickLedger::outside, amount, count, scope);
  else if (name == "[full]")
    add_to(&TickLedger::full, amount, count, scope);
  else
    return false;
  return true;
}

uint32_t StackSum::child(uint32_t parent, PathNodeKind kind, uint32_t executable, uint64_t position,
                         bool is_end) {
  PathTree& tree = sum_.paths.context;
  const auto [entry, fresh] =
      nodes_.try_emplace({parent, kind, executable, position, is_end}, static_cast<uint32_t>(tree.size()));
  if (fresh)
    tree.push_back(
        {.parent = parent, .kind = kind, .is_end = is_end, .executable = executable, .position = position});
  return entry->second;
}

uint32_t StackSum::scope_of(PathScope scope) {
  if (scope.name.empty()) scope.name = program_;
  const auto [entry, fresh] = scopes_.try_emplace(scope, static_cast<uint32_t>(sum_.paths.scopes.size()));
  if (fresh) sum_.paths.scopes.push_back(std::move(scope));
  return child(PathTreeNode::kNoParent, PathNodeKind::kScope, 0, entry->second);
}

void StackSum::count_delivery(uint64_t amount, uint64_t count) {
  common_ = std::gcd(common_, amount);
  TickLedger& ledger = sum_.ledger;
  ledger.samples += std::min(count, kLargestSum);
  const auto size = static_cast<double>(amount);
  squares_ += count == 0 ? 0 : size * size / static_cast<double>(count);
  const uint64_t all = ledger.ticks();
  if (amount > kLargestSum || all + amount > kLargestSum || ledger.samples > kLargestSum) overflow_ = true;
}

void StackSum::add(std::span<const ImportedPlace> stack, uint64_t amount, uint64_t count,
                   const PathScope& scope, PathEnd end) {
  if (amount == 0 || (stack.size() == 1 && add_without_place(stack.front(), amount, count, scope))) return;
  count_delivery(amount, count);
  if (overflow_) return;
  sum_.ledger.counted += amount;
  const ImportedPlace& leaf = stack.front();
  sum_.positions.push_back({leaf.executable, leaf.position, amount});
  has_callers_ = has_callers_ || stack.size() > 1;
  has_unread_ = has_unread_ || end == PathEnd::kInterrupted;
  uint32_t node = scope_of(scope);
  if (!has_callers_) flat_[{node, leaf.executable, leaf.position}] += amount;
  if (stack.size() > kMostImportedFrames) {
    end = PathEnd::kTooDeep;
    stack = stack.first(kMostImportedFrames);
  } else if (is_unknown(stack.back())) {
    end = PathEnd::kUnknownMapping;
  }
  if (end != PathEnd::kComplete) node = child(node, PathNodeKind::kCut, 0, static_cast<uint64_t>(end));
  for (size_t i = stack.size(); i-- > 1;)
    node = child(node, PathNodeKind::kCode, stack[i].executable, stack[i].position);
  // The innermost node is the function that ran; where in it is in the positions.
  const bool named = names_->knows(sum_.executables[leaf.executable].stamp);
  const uint64_t start = named ? ImportedObject::function_start(leaf.position) : leaf.position;
  node = child(node, PathNodeKind::kCode, leaf.executable, start, true);
  sum_.paths.context[node].self += amount;
}

void StackSum::add_to(uint64_t TickLedger::*row, uint64_t amount, uint64_t count, const PathScope& scope) {
  count_delivery(amount, count);
  if (overflow_) return;
  sum_.ledger.*row += amount;
  const uint32_t cut =
      child(scope_of(scope), PathNodeKind::kCut, 0, static_cast<uint64_t>(PathEnd::kInterrupted));
  sum_.paths.context[cut].self += amount;
}

void StackSum::add_lost(uint64_t amount) {
  common_ = std::gcd(common_, amount);
  if (amount > kLargestSum || sum_.ledger.ticks() + amount > kLargestSum) overflow_ = true;
  if (!overflow_) sum_.ledger.lost += amount;
}

void StackSum::add_process(int32_t pid, const std::string& comm, uint64_t amount) {
  if (amount <= kLargestSum) processes_[{pid, comm}] += amount;
}

/// The place of each tick below its scope. Without callers there are no paths that could be cut.
PathTree StackSum::one_frame_tree() const {
  PathTree tree;
  std::vector<uint32_t> moved;
  for (PathTreeNode node : sum_.paths.context) {
    moved.push_back(static_cast<uint32_t>(tree.size()));
    if (node.kind == PathNodeKind::kCode || (node.kind == PathNodeKind::kCut && node.self == 0)) continue;
    if (node.parent != PathTreeNode::kNoParent) node.parent = moved[node.parent];
    tree.push_back(node);
  }
  for (const auto& [key, amount] : flat_) {
    const auto& [scope, executable, position] = key;
    tree.push_back({.parent = moved[scope],
                    .kind = PathNodeKind::kCode,
                    .executable = executable,
                    .position = position,
                    .self = amount});
  }
  return tree;
}

void StackSum::set_effective_samples(double samples) {
  const auto all = static_cast<double>(amount());
  squares_ = all * all / samples;
  sum_.ledger.samples = std::max(sum_.ledger.samples, static_cast<uint64_t>(std::ceil(samples)));
}

/// From amounts to ticks.
void StackSum::divide(uint64_t period, Profile* profile) {
  for (WeightedPosition& position : profile->positions) position.ticks /= period;
  for (PathTreeNode& node : profile->paths.context) node.self /= period;
  for (ProfileProcess& process : profile->processes) process.ticks /= period;
  for (uint64_t* ticks :
       {&profile->ledger.counted, &profile->ledger.outside, &profile->ledger.full, &profile->ledger.lost})
    *ticks /= period;
  const auto size = static_cast<double>(period);
  profile->ledger.weight_squares = squares_ / size / size;
}

Result<Profile> StackSum::take(const ImportedUnit& unit, Profile profile) {
  if (overflow_) return fail(EOVERFLOW, "its amounts are larger than any sum can be");
  if (sum_.ledger.ticks() == 0) return fail(EINVAL, "it has no samples");
  const bool whole = unit.period != 0 && common_ % unit.period == 0;
  profile.period_ns = whole ? unit.period : 1;
  profile.period_asked_ns = whole || !unit.cpu_time ? profile.period_ns : 0;  // 1 ns is only our unit
  profile.event = unit.cpu_time ? "" : unit.event;
  if (!unit.cpu_time) profile.event_unit = unit.unit;
  profile.closed = profile.kernel_observed = true;
  profile.ledger = sum_.ledger;
  profile.executables = std::move(sum_.executables);
  profile.positions = std::move(sum_.positions);
  add_up(&profile.positions);
  for (const auto& [key, amount] : processes_)
    profile.processes.push_back(
        {.pid = key.first, .comm = key.second, .engine = profile.engine, .note = {}, .ticks = amount});
  if (!has_callers_ && keeps_scopes_) sum_.paths.context = one_frame_tree();
  if (has_callers_ || keeps_scopes_) {
    profile.paths = std::move(sum_.paths);
    profile.paths.recorded = has_callers_;
    profile.paths.one_frame = !has_callers_;
    profile.paths.ends_known = false;
    profile.paths.stackless = !has_unread_;
  }
  divide(profile.period_ns, &profile);
  return profile;
}

}  // namespace pctally
