#include "export/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "export/folded_leaves.h"
#include "report/path_choice.h"
#include "report/paths/named_paths.h"
#include "report/rollup.h"
#include "report/scope_names.h"

namespace pctally {
namespace {

Location nowhere(const std::string& name) {
  Location location;
  location.frames.push_back({name, "", 0});
  return location;
}

void add_sample(Location location, uint64_t ticks, Samples* samples) {
  samples->samples.push_back({{static_cast<uint32_t>(samples->locations.size())}, ticks, {}});
  samples->locations.push_back(std::move(location));
}

/// Positions without another unit are addresses themselves.
uint64_t address_of(uint64_t position, const NamedRange& range) {
  return range.address == 0 ? position : range.address + (position - range.start);
}

void add_executable(const ExecutableTicks& part, ObjectNames& names, bool lines, Samples* samples) {
  Symbolizer& symbolizer = names.symbolizer(part.executable);
  std::vector<NamedRange> ranges = names.name_ticks(part.executable, part.positions);
  ranges.resize(part.positions.size());
  std::vector<std::vector<Frame>> frames;
  if (lines) frames = symbolizer.frames(part.positions);
  frames.resize(part.positions.size());
  for (size_t i = 0; i < part.positions.size(); ++i) {
    Location location{part.executable, part.positions[i], address_of(part.positions[i], ranges[i]),
                      table_address(names, part.executable, ranges[i]), std::move(frames[i])};
    if (location.frames.empty()) location.frames.push_back({});
    // The symbol names the function: debug information may not know it, or by another name.
    if (!ranges[i].function.empty()) {
      location.frames.back().function = std::move(ranges[i].function);
      location.frames.back().linkage = std::move(ranges[i].linkage);
    }
    add_sample(std::move(location), part.ticks[i], samples);
  }
}

void add_nowhere(const std::string& name, uint64_t ticks, Samples* samples) {
  if (ticks != 0) add_sample(nowhere(name), ticks, samples);
}

/// A symbol stays what it is where the name gets an address.
void rename(std::string name, Frame* frame) {
  std::string old = std::exchange(frame->function, std::move(name));
  if (frame->linkage.empty() && frame->function.size() > old.size()) frame->linkage = std::move(old);
}

/// Names all frames at once: equal short names must be made distinct.
void shorten(Samples* samples) {
  std::vector<Frame*> frames;
  std::vector<FunctionName> functions;
  for (Location& location : samples->locations) {
    const bool placed = location.executable != Location::kNowhere;
    const std::string_view object = placed ? std::string_view(samples->objects[location.executable]) : "";
    for (Frame& frame : location.frames) {
      frames.push_back(&frame);
      const bool is_real = &frame == &location.frames.back();
      functions.push_back({frame.function, frame.linkage, object, is_real ? location.start : 0});
    }
  }
  std::vector<std::string> names = short_names(functions);
  for (size_t i = 0; i < frames.size(); ++i) rename(std::move(names[i]), frames[i]);
}

/// Functions of one object with one name show where they start, as their short names do.
void add_starts(Samples* samples) {
  struct Starts {
    uint64_t first = 0;
    bool several = false;
  };
  std::map<std::pair<uint32_t, std::string>, Starts> functions;
  std::vector<const Starts*> starts_of;
  for (const Location& location : samples->locations) {
    starts_of.push_back(nullptr);
    if (location.start == 0) continue;
    Starts& starts = functions[{location.executable, location.frames.back().function}];
    if (starts.first == 0) starts.first = location.start;
    if (starts.first != location.start) starts.several = true;
    starts_of.back() = &starts;
  }
  for (size_t i = 0; i < starts_of.size(); ++i) {
    if (starts_of[i] == nullptr || !starts_of[i]->several) continue;
    Frame& frame = samples->locations[i].frames.back();
    rename(fmt::format("{} [0x{:x}]", frame.function, samples->locations[i].start), &frame);
  }
}

void name_functions(NameStyle style, Samples* samples) {
  if (style == NameStyle::kShort) return shorten(samples);
  if (style == NameStyle::kLinkage)
    for (Location& location : samples->locations)
      for (Frame& frame : location.frames)
        frame.function = shown_name(NameStyle::kLinkage, {}, frame.function, frame.linkage);
  add_starts(samples);
}

void mark_imported(const Profile& profile, IsImported is_imported, Samples* samples) {
  if (is_imported == nullptr) return;
  for (Location& location : samples->locations) {
    if (location.executable == Location::kNowhere) continue;
    location.is_placed = !is_imported(profile.executables[location.executable]);
    if (!location.is_placed) location.start = 0;
  }
}

/// The program and, where threads are known, its thread; or the control group. Innermost first.
Location scope_location(const ScopeName& name) {
  Location location;
  location.is_scope = true;
  if (!name.thread.empty()) location.frames.push_back({name.thread, "", 0});
  location.frames.push_back({name.group.empty() ? name.program : name.group, "", 0});
  return location;
}

/// Paths have positions alone.
void add_addresses(ObjectNames& names, Samples* samples) {
  std::map<uint32_t, std::vector<Location*>> by_executable;
  for (Location& location : samples->locations)
    if (location.executable != Location::kNowhere) by_executable[location.executable].push_back(&location);
  for (auto& [executable, locations] : by_executable) {
    std::ranges::sort(locations, {}, &Location::position);
    std::vector<uint64_t> positions;
    for (const Location* location : locations) positions.push_back(location->position);
    const std::vector<NamedRange> ranges = names.symbolizer(executable).name(positions);
    for (size_t i = 0; i < locations.size(); ++i) locations[i]->address = address_of(positions[i], ranges[i]);
  }
}

/// "" where threads are not known.
std::string thread_of(const Profile& profile, const std::vector<uint32_t>& scopes, uint32_t node) {
  return scopes[node] == UINT32_MAX ? "" : profile.paths.scopes[scopes[node]].thread;
}

/// The location of each node of the context tree. Nodes with the same frames at the same place share one.
std::vector<uint32_t> add_locations(const Profile& profile, const NamedPaths& paths, Samples* samples) {
  std::map<std::tuple<uint32_t, uint64_t, const void*>, uint32_t> known;
  std::vector<uint32_t> locations;
  const std::vector<ScopeName> scopes = scope_names(profile.paths);
  const auto scope_of = [&](const PathTreeNode& node) {
    return node.position < scopes.size() ? scopes[node.position] : unknown_scope(scope_kind(profile.paths));
  };
  for (uint32_t node = 0; node < paths.tree().size(); ++node) {
    const PathTreeNode& own = paths.tree()[node];
    const std::vector<StackFrame>& frames = paths.frames(node);
    const bool is_scope = own.kind == PathNodeKind::kScope, is_code = own.kind == PathNodeKind::kCode;
    const bool is_cut = own.kind == PathNodeKind::kCut;
    const void* identity = is_cut ? nullptr : is_scope ? static_cast<const void*>(&own) : &frames;
    const auto [entry, fresh] = known.try_emplace({own.executable, own.position, identity},
                                                  static_cast<uint32_t>(samples->locations.size()));
    locations.push_back(entry->second);
    if (!fresh) continue;
    Location location = is_scope ? scope_location(scope_of(own)) : Location{};
    if (is_code) location.executable = own.executable;
    if (is_code) location.position = own.position;
    if (is_code && !frames.empty()) location.start = frames.front().address;
    for (size_t i = frames.size(); i-- > 0;)
      location.frames.push_back({frames[i].function, frames[i].file, frames[i].line, frames[i].linkage,
                                 frames[i].file.empty() ? 0 : frames[i].start_line});
    if (is_cut && own.position == kFoldedPart) location = nowhere("[folded]");
    if (is_cut && own.position == kPathWithoutRoom) location = nowhere(kNoPath);
    samples->locations.push_back(std::move(location));
  }
  return locations;
}

}  // namespace

Samples stacks_of(const Profile& recorded, const OpenSymbolizer& open, bool lines, NameStyle style,
                  IsImported is_imported) {
  Samples result;
  result.with_callers = true;
  std::optional<Profile> with_leaves;
  if (lacks_leaves(recorded.paths)) with_leaves = recorded;
  const Profile& profile = with_leaves ? *with_leaves : recorded;
  ObjectNames names(profile, open);
  if (with_leaves) add_leaves(&*with_leaves, names);
  const NamedPaths paths(profile, names,
                         lines ? NamedPaths::Detail::kSharedParts : NamedPaths::Detail::kFunctions);
  for (uint32_t i = 0; i < profile.executables.size(); ++i) result.objects.push_back(names.shown(i));
  const std::vector<uint32_t> locations = add_locations(profile, paths, &result),
                              scopes = scope_of_nodes(paths.tree(), profile.paths.scopes.size());
  for (uint32_t node = 0; node < paths.tree().size(); ++node) {
    const PathTreeNode& own = paths.tree()[node];
    if (own.self == 0) continue;
    Sample sample{{}, own.self, thread_of(profile, scopes, node)};
    for (uint32_t at = node; at != PathTreeNode::kNoParent; at = paths.tree()[at].parent)
      sample.stack.push_back(locations[at]);
    result.samples.push_back(std::move(sample));
  }
  add_nowhere("[lost]", profile.ledger.lost, &result);
  add_addresses(names, &result);
  mark_imported(profile, is_imported, &result);
  name_functions(style, &result);
  return result;
}

Samples samples_of(const Profile& profile, const OpenSymbolizer& open, bool lines, NameStyle style,
                   IsImported is_imported) {
  Samples result;
  ObjectNames names(profile, open);
  for_each_batch(profile, [&](const ExecutableTicks& part) { add_executable(part, names, lines, &result); });
  for (uint32_t i = 0; i < profile.executables.size(); ++i) result.objects.push_back(names.shown(i));
  add_nowhere("[outside]", profile.ledger.outside, &result);
  add_nowhere("[full]", profile.ledger.full, &result);
  add_nowhere("[lost]", profile.ledger.lost, &result);
  mark_imported(profile, is_imported, &result);
  name_functions(style, &result);
  return result;
}

ValueKind value_kind(const Profile& profile) {
  if (profile.counts_cpu_time()) return {"cpu", "nanoseconds"};
  if (profile.event_unit.empty()) return {profile.event, "count"};
  // An import's event is called by its unit, too.
  std::string type = profile.event;
  const std::string end = profile.event_unit == "nanoseconds" ? "-ns" : "-" + profile.event_unit;
  if (type.ends_with(end)) type.resize(type.size() - end.size());
  return {type, profile.event_unit};
}

}  // namespace pctally
