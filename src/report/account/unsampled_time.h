// Says why CPU time was not sampled, as far as the file can tell.
#pragma once
#include <optional>
#include <string>

#include "report/account/account.h"
#include "report/account/warnings.h"

namespace pctally {

/// What to say of the difference between the CPU time and the ticks; nothing where it is small.
std::optional<Warning> unsampled_time(const Profile& profile, const Account& account);

/// "threads with blocked signals", if most of the unsampled time is theirs, or empty.
std::string main_part(const Profile& profile, const Account& account);

/// "802 processes without a tick (800 of true); try -F 10000 or -e timer", where these can have used
/// most of the unsampled time, or empty.
std::string processes_without_a_tick(const Profile& profile, const Account& account);

}  // namespace pctally
