// Limits each user's share of a profile file's pool, so that nobody can take it from all others.
//
//  1. Where users are limited, each but root and the recorder's own may take a quarter of the pool for its
//     directories and cells, and all of these together three quarters.
//  2. What a user has taken is counted here. The file, which others may map, is not asked.
//  3. Whoever is refused has a row that says so, and keeps the cells it has.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>
#include <unordered_map>

#include "histfile/profile_file.h"

namespace pctally {

inline constexpr auto kUnknownUser = static_cast<uid_t>(-1);
inline constexpr std::string_view kNoRoomForUsers = "[no room: all users but root]";

/// The real user of a process; kUnknownUser if it is gone, or hidden.
uid_t user_of(pid_t pid);

/// Not thread-safe.
class PoolShares {
 public:
  PoolShares() = default;
  explicit PoolShares(const ProfileFile* file) : file_(file) {}

  void limit_users(uid_t own);
  [[nodiscard]] bool limits_users() const { return limited_; }

  /// True if `user` may take no more than a share.
  [[nodiscard]] bool limits(uid_t user) const { return limited_ && user != 0 && user != own_; }

  /// Why code of `user` may not take `units` more, as the name of a row; empty if it may. Valid
  /// while this is.
  std::string_view refusal_for(uid_t user, uint64_t units);

  void take(uid_t user, uint64_t units);

 private:
  struct Account {
    uint64_t units = 0;
    std::string refusal{};
  };
  [[nodiscard]] uint64_t all_units() const;

  const ProfileFile* file_ = nullptr;
  bool limited_ = false;
  uid_t own_ = 0;
  uint64_t together_ = 0;  ///< units of all limited users
  std::unordered_map<uid_t, Account> accounts_;
};

}  // namespace pctally
