#include "report/names/object_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "object/elf/build_id.h"
#include "report/names/innermost.h"

namespace pctally {
namespace {

static_assert(static_cast<int>(ExecutableIdentity::Kind::kStart) == static_cast<int>(ExecutableKind::kStart));

std::string build_id_start(const Executable& executable) {
  std::span<const uint8_t> id(executable.build_id);
  return to_hex(id.first(std::min<size_t>(id.size(), 4)));
}

/// Code that called others may have no ticks of its own.
void add_callers(const Profile& profile, std::vector<uint32_t>* used) {
  for (const PathTree* tree : {&profile.paths.context, &profile.paths.plane})
    for (const PathTreeNode& node : *tree)
      if (node.kind == PathNodeKind::kCode) used->push_back(node.executable);
  std::sort(used->begin(), used->end());
  used->erase(std::unique(used->begin(), used->end()), used->end());
}

}  // namespace

ExecutableIdentity identity_of(const Profile& profile, const Executable& executable) {
  ExecutableIdentity identity;
  identity.kind = static_cast<ExecutableIdentity::Kind>(executable.kind);
  identity.path = executable.path;
  identity.build_id = executable.build_id;
  identity.owner = executable.owner;
  identity.device = executable.stamp.device;
  identity.inode = executable.stamp.inode;
  identity.file_bytes = executable.stamp.bytes;
  identity.time_unix_ns = executable.kind == ExecutableKind::kPrivate ? executable.time_unix_ns
                                                                      : executable.stamp.changed_unix_ns;
  if (is_of_one_boot(executable))
    identity.boot_id = executable.boot_id.empty() ? profile.boot_id : executable.boot_id;
  return identity;
}

void name_by_symbol(const NamedRange& symbol, std::vector<Frame>* frames) {
  if (frames->empty()) return;
  Frame& own = frames->back();
  const bool has_name = !symbol.function.empty() && !symbol.function.starts_with('[');
  if (!has_name && !own.function.empty()) return;
  own.function = symbol.function;
  own.linkage = symbol.linkage;
}

void visit_frames(Symbolizer& symbolizer, std::span<const uint64_t> positions,
                  const std::function<void(size_t, std::vector<Frame>)>& visit) {
  for (size_t done = 0; done < positions.size();) {
    const auto some = positions.subspan(done, std::min(positions.size() - done, Symbolizer::kFramesAtATime));
    for (std::vector<Frame>& frames : symbolizer.frames(some)) visit(done++, std::move(frames));
  }
}

ObjectNames::ObjectNames(const Profile& profile, const OpenSymbolizer& open) : profile_(profile) {
  symbolizers_.resize(profile.executables.size());
  shown_.resize(profile.executables.size());
  std::vector<uint32_t> used;
  for (const WeightedPosition& position : profile.positions)
    if (used.empty() || used.back() != position.executable) used.push_back(position.executable);
  add_callers(profile, &used);
  for (uint32_t executable : used) {
    symbolizers_[executable] = open(identity_of(profile, profile.executables[executable]));
    shown_[executable] = symbolizers_[executable]->object_name();
  }
  const auto is_kernel = [&](uint32_t executable) {
    return profile.executables[executable].kind == ExecutableKind::kKernel;
  };
  several_kernels_ = std::ranges::count_if(used, is_kernel) > 1;
  distinguish(used);
}

ObjectNames::~ObjectNames() = default;

Symbolizer& ObjectNames::symbolizer(uint32_t executable) { return *symbolizers_[executable]; }

std::vector<NamedRange> ObjectNames::name_ticks(uint32_t executable, std::span<const uint64_t> positions) {
  std::vector<NamedRange> ranges = symbolizer(executable).name(positions);
  if (profile_.whole == nullptr || !profile_.paths.recorded) return ranges;
  for (size_t i = 0; i < positions.size(); ++i)
    if (const InnermostNames::Name* name = innermost().find({executable, positions[i]}); name != nullptr)
      ranges[i] = name->range;
  return ranges;
}

const InnermostNames& ObjectNames::innermost() {
  if (innermost_ == nullptr) innermost_ = std::make_unique<InnermostNames>(profile_, *this);
  return *innermost_;
}

bool ObjectNames::known_by_name(uint32_t executable) const {
  const ExecutableKind kind = profile_.executables[executable].kind;
  return kind == ExecutableKind::kPrivate || (kind == ExecutableKind::kKernel && several_kernels_);
}

void ObjectNames::distinguish(const std::vector<uint32_t>& used) {
  std::map<std::string, unsigned> names, paths;
  for (uint32_t index : used) {
    if (known_by_name(index)) continue;
    ++names[shown_[index]];
    ++paths[profile_.executables[index].path];
  }
  for (uint32_t index : used) {
    const Executable& executable = profile_.executables[index];
    if (known_by_name(index) || names[shown_[index]] < 2) continue;
    shown_[index] = executable.path;
    if (paths[executable.path] > 1)
      shown_[index] += executable.build_id.empty() ? fmt::format(" (inode {})", executable.stamp.inode)
                                                   : fmt::format(" (build {})", build_id_start(executable));
  }
}

}  // namespace pctally
