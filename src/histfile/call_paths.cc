#include "histfile/call_paths.h"

#include <errno.h>
#include <string.h>

namespace pctally {
namespace {

constexpr uint32_t kRecordUnits = sizeof(PathRecord) / kUnitBytes;
constexpr unsigned kFewestSlotsLog2 = 4;  ///< a unit's
constexpr uint32_t kStatesPerUnit = kUnitBytes / sizeof(uint32_t);

std::unexpected<Error> no_room() noexcept {
  return fail(ENOSPC, "no room for call paths; free some space, or leave out -g");
}

PathTreeHead plan(uint64_t bytes) noexcept { return tree_head_for(bytes / sizeof(PathNode)); }

}  // namespace

PathTreeHead tree_head_for(uint64_t most_nodes) noexcept {
  constexpr unsigned kMostSlotsLog2 = 24;  // what path_slot() takes
  PathTreeHead head{};
  head.most_nodes = static_cast<uint32_t>(most_nodes);
  head.slots_log2 = kFewestSlotsLog2;
  while (head.slots_log2 < kMostSlotsLog2 &&
         (uint64_t{head.most_nodes} >> kMeanChainLog2) > (uint64_t{1} << head.slots_log2))
    ++head.slots_log2;
  return head;
}

Result<void> add_call_paths(ProfileFile* file, const PathLimits& limits) noexcept {
  PathTreeHead context = plan(limits.context_bytes), plane = plan(limits.plane_bytes);
  const uint32_t units = kRecordUnits + directory_units_of(context) + directory_units_of(plane);
  if (!file->make_room(units)) return no_room();
  const Pool pool = file->pool();
  const uint32_t record = pool_take(pool, kRecordUnits);
  context.directory = record == 0 ? 0 : pool_take(pool, directory_units_of(context));
  plane.directory = context.directory == 0 ? 0 : pool_take(pool, directory_units_of(plane));
  if (plane.directory == 0) return no_room();
  auto* paths = pool_at<PathRecord>(pool, record);
  paths->context = context;
  paths->plane = plane;
  file->header().version = kPathsLayoutVersion;
  __atomic_store_n(&file->header().paths, record, __ATOMIC_RELEASE);
  return {};
}

Result<void> add_path_slots(ProfileFile* file, uint32_t count) noexcept {
  const uint32_t state_units = count / kStatesPerUnit, slot_units = count * (sizeof(PathSlot) / kUnitBytes);
  if (!file->make_room(1 + state_units + slot_units)) return no_room();
  const Pool pool = file->pool();
  const uint32_t unit = pool_take(pool, 1), states = pool_take(pool, state_units),
                 slots = pool_take(pool, slot_units);
  if (unit == 0 || states == 0 || slots == 0) return no_room();
  auto* head = pool_at<PathSlotsHead>(pool, unit);
  head->states = states;
  head->slots = slots;
  head->count = count;
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
  const Pool pool = file.pool();
  const uint32_t name = add_string(pool, program.path), unit = name == 0 ? 0 : pool_take(pool, 1);
  if (unit == 0) return 0;
  auto* scope = pool_at<ScopeRecord>(pool, unit);
  scope->kind = ScopeKind::kProgram;
  scope->name = name;
  scope->build_id_bytes = program.build_id_bytes <= sizeof scope->build_id ? program.build_id_bytes : 0;
  if (scope->build_id_bytes != 0) memcpy(scope->build_id, program.build_id, scope->build_id_bytes);
  scope->device = program.device;
  scope->inode = program.inode;
  scope->next = file.header().scopes;  // the recorder alone adds scopes
  __atomic_store_n(&file.header().scopes, unit, __ATOMIC_RELEASE);
  return unit;
}

}  // namespace pctally
