#include "library/self_paths.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/page.h"
#include "clock/tick_path.h"
#include "fault/fault_guard.h"
#include "process/proc_maps.h"

namespace pctally {
namespace {

/// For as many ticks at the same moment, of 30 frames each: half a MiB.
constexpr uint32_t kSlots = 1024;

/// Unit of this program's scope; 0: no room for it.
uint32_t add_own_scope(const ProfileFile& file) noexcept {
  const uint64_t entry = getauxval(AT_ENTRY);
  uint32_t scope = 0;
  (void)ProcMaps(0).visit([&](const ExecutableMapping& mapping) {
    if (entry >= mapping.start && entry < mapping.end && scope == 0)
      scope = add_program_scope(file, mapping.object);
  });
  return scope;
}

bool is_main_thread() noexcept { return syscall(SYS_gettid) == getpid(); }

}  // namespace

uint64_t SelfPaths::file_bytes(uint64_t path_bytes) noexcept {
  const PathTreeHead tree = tree_head_for(path_bytes / sizeof(PathNode));
  const uint64_t bytes =
      path_bytes + kMoreMarks * sizeof(PathNode) + kUnitBytes * path_directory_units(tree.slots_log2);
  return page_end(2 * bytes + sizeof(PathRecord));
}

bool SelfPaths::work_here() noexcept { return can_find_own_tables(); }

bool SelfPaths::make_slots() noexcept {
  if (!states_.resize(kSlots) || !slots_.resize(kSlots)) return false;
  head_.count = kSlots;
  own_.slots = {&head_, states_.data(), slots_.data(), kSlots};
  own_.process = 1;  // what is in a slot's state: anything but 0
  return true;
}

Result<void> SelfPaths::start(ProfileFile* file, uint64_t path_bytes) noexcept {
  const PathLimits limits{.context_bytes = path_bytes, .plane_bytes = path_bytes, .whole_directories = true};
  if (auto made = add_call_paths(file, limits); !made)
    return fail(made.error().code, "no room for call paths; set a smaller options.path_bytes");
  PathRecord* paths = call_paths(*file);
  paths->first_come = 1;
  if (!make_slots()) return fail(ENOMEM, "no memory for call paths");
  if (auto guarded = install_fault_guard(); !guarded) return explained(guarded);
  need_fault_guard(GuardUser::kPaths, true);
  know_own_code(&own_);
  if (is_main_thread()) know_main_stack();
  trees_ = trees_of(*file, paths);
  own_.scope = PathPlace::mark(PathPlace::kScope, add_own_scope(*file));
  own_.trees = &trees_;
  return {};
}

}  // namespace pctally
