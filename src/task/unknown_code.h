// Rows for ticks in code that cannot be named, by the reason: "[code since unmapped]". Never a guess.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "process/address_space.h"

namespace pctally {

inline constexpr std::string_view kOtherNamespace = "[processes outside this pid namespace]";
inline constexpr std::string_view kMapsUnreadable =
    "[maps unreadable]";  ///< of another user, or it has ended
inline constexpr std::string_view kUnknownCode = "[code in no known mapping]";
inline constexpr std::string_view kGuestCode =
    "[guest of a virtual machine]";  ///< whose addresses are not the process's

class UnknownCode {
 public:
  UnknownCode() = default;
  explicit UnknownCode(ProfileFile* file) : file_(file) {}

  /// A table, valid until the next call, in which *place is the row of that reason. There are few reasons.
  RegionTable& table(std::string_view reason, uint64_t* place);

 private:
  ProfileFile* file_ = nullptr;
  std::vector<std::string> reasons_;
  AddressSpace space_;  ///< a page for each reason
  RegionTable table_{};
};

}  // namespace pctally
