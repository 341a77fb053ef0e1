#include "report/part_of_profile.h"

#include <algorithm>

#include "profile/positions.h"
#include "report/path_choice.h"
#include "report/scope_choice.h"
#include "report/scope_names.h"

namespace pctally {

constexpr std::string_view kNoCode[] = {kLeftOut,        kInnerNotKept,  kNoFunction,  kNoPath,
                                        kOtherPrograms,  kOtherThreads,  kOtherGroups, kProgramNotKnown,
                                        kThreadNotKnown, kGroupNotKnown, kNotRead};

bool stands_for_no_code(std::string_view name) {
  return std::ranges::find(kNoCode, name) != std::end(kNoCode);
}

Profile part_of(const Profile& profile, const char* left_out, BracketedPlaces* places) {
  Profile part = profile;
  if (part.whole == nullptr) part.whole = std::make_shared<const Profile>(profile);
  const auto first = static_cast<uint32_t>(part.executables.size());
  for (const char* name : {left_out, kInnerNotKept, kNoFunction, kNoPath})
    part.executables.emplace_back().path = name;
  *places = {first, first + 1, first + 2, first + 3};
  return part;
}

void count_by_paths(const BracketedPlaces& places, uint64_t left_out, Profile* part) {
  if (left_out != 0)
    part->paths.context.push_back(
        {.kind = PathNodeKind::kCode, .executable = places.left_out, .self = left_out});
  std::vector<WeightedPosition>& positions = part->positions;
  positions.clear();
  uint64_t sum = 0;
  for (const PathTreeNode& node : part->paths.context) {
    const bool is_code = node.kind == PathNodeKind::kCode;
    if (node.self != 0)
      positions.push_back(
          {is_code ? node.executable : places.no_function, is_code ? node.position : 0, node.self});
    if (node.folded != 0) positions.push_back({places.inner_not_kept, 0, node.folded});
    sum += node.self + node.folded;
  }
  TickLedger& ledger = part->ledger;
  const uint64_t all = ledger.counted + ledger.outside + ledger.full;
  if (sum < all) positions.push_back({places.no_room, 0, all - sum});
  add_up(&positions);
  ledger.counted = all;
  ledger.outside = ledger.full = 0;
  part->paths.no_room = all - std::min(all, sum);
}

}  // namespace pctally
