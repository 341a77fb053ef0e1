// The profiles of a comparison, and what of them can be compared: the kernel code that only some of them see
// is left out.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/profile.h"
#include "report/rollup.h"

namespace pctally {

struct ComparedProfile {
  const Profile* profile;
  std::string name;  ///< as messages call it: its file
};

/// What all of them count, as of Profile::event. Error: EINVAL if they count different things.
Result<std::string> common_event(std::span<const ComparedProfile> profiles);

/// The first whose ticks follow the kernel's clock; null: none's do.
const ComparedProfile* first_in_step(std::span<const ComparedProfile> profiles);

/// Where a profile has the ticks of kernel code.
enum class KernelCode {
  kUnseen,    ///< nowhere: they are part of the unsampled time
  kInCaller,  ///< in the user code that called it
  kApart,     ///< in rows of its own
  kPartly,    ///< in rows of its own, but for some of the runs it sums up, which do not see it
  kMixed,     ///< of some of the runs it sums up in the user code that called it, or not known
  kUnknown,   ///< another tool's file has no row of it and does not say why
};

KernelCode kernel_code_of(const Profile& profile);

/// True if the profile without its rows of kernel code is user code alone.
bool can_leave_kernel_out(const Profile& profile);

/// The name of a profile that does not see the kernel, or not all of it, where there are rows of it, so that
/// user code alone can be compared; else empty. Processes and programs cannot be compared so.
std::string blind_to_kernel(std::span<const ComparedProfile> profiles, Grouping by);

/// The profile as it were without the ticks of kernel code: without call paths, if some of them are folded.
Profile without_kernel_code(Profile profile);

}  // namespace pctally
