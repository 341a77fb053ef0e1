#include "task/unknown_code.h"

#include <algorithm>

namespace pctally {
namespace {

constexpr uint64_t kReasonBytes = 4096;

}  // namespace

RegionTable& UnknownCode::table(std::string_view reason, uint64_t* place) {
  auto found = std::find(reasons_.begin(), reasons_.end(), reason);
  *place = static_cast<uint64_t>(found - reasons_.begin()) * kReasonBytes;
  if (found == reasons_.end()) {
    reasons_.emplace_back(reason);
    file_->make_room(segment_units(kReasonBytes));
    space_.map(*file_, *place, *place + kReasonBytes, 0, unknown_object(reason));
  }
  table_ = space_.table(*file_, 0);
  return table_;
}

}  // namespace pctally
