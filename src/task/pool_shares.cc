#include "task/pool_shares.h"

#include <fmt/format.h>
#include <pwd.h>
#include <stdio.h>

#include "base/kernel/proc_file.h"

namespace pctally {
namespace {

constexpr uint64_t kMostShares = 4;  ///< parts of a pool

/// By /etc/passwd alone: a directory service may take its time, and ticks do not wait.
std::string name_of_user(uid_t user) {
  std::string name = std::to_string(user);
  FILE* users = fopen("/etc/passwd", "re");
  if (users == nullptr) return name;
  while (const passwd* entry = fgetpwent(users)) {
    if (entry->pw_uid != user) continue;
    name = entry->pw_name;
    break;
  }
  fclose(users);
  return name;
}

std::string refusal_of(uid_t user) {
  return user == kUnknownUser ? "[no room: unknown user]"
                              : fmt::format("[no room: user {}]", name_of_user(user));
}

}  // namespace

uid_t user_of(pid_t pid) {
  ProcStatus status;
  return pid > 0 && read_proc_status(pid, &status) ? status.users[0] : kUnknownUser;
}

void PoolShares::limit_users(uid_t own) {
  limited_ = true;
  own_ = own;
}

uint64_t PoolShares::all_units() const { return (file_->mapping().size() - kHeaderBytes) / kUnitBytes; }

std::string_view PoolShares::refusal_for(uid_t user, uint64_t units) {
  if (!limits(user)) return {};
  const uint64_t share = all_units() / kMostShares;
  Account& account = accounts_[user];
  if (account.units + units <= share) return together_ + units <= all_units() - share ? "" : kNoRoomForUsers;
  if (account.refusal.empty()) account.refusal = refusal_of(user);
  return account.refusal;
}

void PoolShares::take(uid_t user, uint64_t units) {
  if (!limits(user)) return;
  accounts_[user].units += units;
  together_ += units;
}

}  // namespace pctally
