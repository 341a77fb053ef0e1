#include "histfile/call_paths.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include <algorithm>

namespace pctally {
namespace {

constexpr uint32_t kRecordUnits = sizeof(PathRecord) / kUnitBytes;
constexpr unsigned kFewestSlotsLog2 = 4;  ///< a unit's
constexpr unsigned kFirstSlotsLog2 = 10;  ///< of a tree that grows: a page
constexpr unsigned kGrowthLog2 = 3;       ///< of each next directory

std::unexpected<Error> no_room(const ProfileFile& file) noexcept {
  constexpr char kElse[] = "or leave out -g and --scope";
  const int code = file.no_room_code();
  rlimit size{};
  if (code == ENOMEM)
    return fail(ENOMEM, "no room for call paths: ulimit -v is below %llu; raise it, %s",
                static_cast<unsigned long long>(kLeastFreeSpace >> 10), kElse);
  if (code == EFBIG && getrlimit(RLIMIT_FSIZE, &size) == 0 && size.rlim_cur < kLargestBytes)
    return fail(EFBIG, "no room for call paths: ulimit -f allows %llu KiB; raise it, %s",
                static_cast<unsigned long long>(size.rlim_cur >> 10), kElse);
  return fail(code != 0 ? code : ENOSPC, "no room for call paths; free some space, %s", kElse);
}

uint32_t take_scope(const ProfileFile& file, ScopeKind kind, std::string_view text) noexcept {
  const Pool pool = file.pool();
  const uint32_t name = add_string(pool, text), unit = name == 0 ? 0 : pool_take(pool, 1);
  if (unit == 0) return 0;
  auto* scope = pool_at<ScopeRecord>(pool, unit);
  scope->kind = kind;
  scope->name = name;
  return unit;
}

void set_build_id(const ObjectIdentity& program, ScopeRecord* scope) noexcept {
  scope->build_id_bytes = program.build_id_bytes <= sizeof scope->build_id ? program.build_id_bytes : 0;
  if (scope->build_id_bytes != 0) memcpy(scope->build_id, program.build_id, scope->build_id_bytes);
}

/// The recorder alone adds scopes.
uint32_t publish(const ProfileFile& file, uint32_t unit) noexcept {
  pool_at<ScopeRecord>(file.pool(), unit)->next = file.header().scopes;
  __atomic_store_n(&file.header().scopes, unit, __ATOMIC_RELEASE);
  return unit;
}

PathTreeHead plan(uint64_t bytes, const PathLimits& limits) noexcept {
  PathTreeHead head = tree_head_for(bytes / sizeof(PathNode));
  if (!limits.whole_directories && head.slots_log2 > kFirstSlotsLog2) head.slots_log2 = kFirstSlotsLog2;
  return head;
}

}  // namespace

PathTreeHead tree_head_for(uint64_t most_nodes) noexcept {
  PathTreeHead head{};
  head.most_nodes = static_cast<uint32_t>(most_nodes);
  head.slots_log2 = kFewestSlotsLog2;
  while (head.slots_log2 < kMostSlotsLog2 &&
         (uint64_t{head.most_nodes} >> kMeanChainLog2) > (uint64_t{1} << head.slots_log2))
    ++head.slots_log2;
  return head;
}

Result<void> add_call_paths(ProfileFile* file, const PathLimits& limits) noexcept {
  PathTreeHead context = plan(limits.context_bytes, limits), plane = plan(limits.plane_bytes, limits);
  const bool one_frame = limits.plane_bytes == 0;
  const uint32_t plane_units = one_frame ? 0 : path_directory_units(plane.slots_log2),
                 context_units = path_directory_units(context.slots_log2),
                 units = kRecordUnits + context_units + plane_units;
  if (!file->make_room(units)) return no_room(*file);
  const Pool pool = file->pool();
  const uint32_t record = pool_take(pool, kRecordUnits);
  context.directory = record == 0 ? 0 : pool_take(pool, context_units);
  if (!one_frame && context.directory != 0) plane.directory = pool_take(pool, plane_units);
  if ((one_frame ? context : plane).directory == 0) return no_room(*file);
  auto* paths = pool_at<PathRecord>(pool, record);
  paths->context = context;
  paths->plane = plane;
  paths->one_frame = one_frame ? 1 : 0;
  file->header().version = kPathsLayoutVersion;
  __atomic_store_n(&file->header().paths, record, __ATOMIC_RELEASE);
  return {};
}

uint32_t grow_path_tree(ProfileFile* file, PathTreeHead* tree) noexcept {
  const uint32_t whole_log2 = tree_head_for(tree->most_nodes).slots_log2;
  PathDirectory last = first_directory(*tree);
  uint32_t at = 0;
  for (; last.more != 0; last = next_directory(file->pool(), last)) at = last.more;
  if (last.directory == 0 || last.slots_log2 >= whole_log2) return UINT32_MAX;  // 0: no tree, or damage
  if (const uint32_t slots = 1u << last.slots_log2; tree->nodes < slots) return slots;
  const uint32_t log2 = std::min(whole_log2, last.slots_log2 + kGrowthLog2),
                 units = 1 + path_directory_units(log2);
  const uint32_t unit = file->make_room(units) ? pool_take(file->pool(), units) : 0;
  if (unit == 0) return UINT32_MAX;
  *pool_at<PathDirectory>(file->pool(), unit) = {unit + 1, log2, 0};
  uint32_t* more = at == 0 ? &tree->more : &pool_at<PathDirectory>(file->pool(), at)->more;
  __atomic_store_n(more, unit, __ATOMIC_RELEASE);
  return 1u << log2;
}

Result<void> add_path_slots(ProfileFile* file, uint32_t count) noexcept {
  const uint32_t state_units = count / kStatesPerUnit, slot_units = count * kUnitsPerSlot;
  if (!file->make_room(1 + state_units + slot_units)) return no_room(*file);
  const Pool pool = file->pool();
  const uint32_t unit = pool_take(pool, 1), states = pool_take(pool, state_units),
                 slots = pool_take(pool, slot_units);
  if (unit == 0 || states == 0 || slots == 0) return no_room(*file);
  auto* head = pool_at<PathSlotsHead>(pool, unit);
  head->states = states;
  head->slots = slots;
  head->count = count;
  head->one_frame = call_paths(*file)->one_frame;
  __atomic_store_n(&call_paths(*file)->slots, unit, __ATOMIC_RELEASE);
  return {};
}

PathSlots path_slots(const ProfileFile& file) noexcept {
  const PathRecord* paths = call_paths(file);
  if (paths == nullptr) return {};
  return path_slots_at(file.pool(), __atomic_load_n(&paths->slots, __ATOMIC_ACQUIRE));
}

PathRecord* call_paths(const ProfileFile& file) noexcept {
  const Pool pool = file.pool();
  const uint32_t record = __atomic_load_n(&file.header().paths, __ATOMIC_ACQUIRE);
  return pool_holds(pool, record, kRecordUnits) ? pool_at<PathRecord>(pool, record) : nullptr;
}

uint32_t add_program_scope(const ProfileFile& file, const ObjectIdentity& program) noexcept {
  const uint32_t unit = take_scope(file, ScopeKind::kProgram, program.path);
  if (unit == 0) return 0;
  auto* scope = pool_at<ScopeRecord>(file.pool(), unit);
  set_build_id(program, scope);
  scope->device = program.device;
  scope->inode = program.inode;
  return publish(file, unit);
}

uint32_t add_thread_scope(const ProfileFile& file, const ObjectIdentity& program,
                          std::string_view thread) noexcept {
  const uint32_t unit = take_scope(file, ScopeKind::kThread, program.path);
  if (unit == 0) return 0;
  auto* scope = pool_at<ScopeRecord>(file.pool(), unit);
  set_build_id(program, scope);
  memcpy(reinterpret_cast<char*>(scope) + offsetof(ScopeRecord, device), thread.data(),
         thread.size() < kThreadNameBytes ? thread.size() : kThreadNameBytes);
  return publish(file, unit);
}

uint32_t add_group_scope(const ProfileFile& file, std::string_view path) noexcept {
  const uint32_t unit = take_scope(file, ScopeKind::kGroup, path);
  return unit == 0 ? 0 : publish(file, unit);
}

}  // namespace pctally
