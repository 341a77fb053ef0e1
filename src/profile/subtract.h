// The difference of two profiles of one recording: what was counted between them.
#pragma once
#include "profile/profile.h"

namespace pctally {

/// What `later` holds beyond `earlier`, an older copy of the same recording. It has all positions and
/// processes of `later` in the same order, also those that did not grow (0 ticks), so that the two give the
/// same rows. Objects are matched by what they are, processes by pid and turn, and claim no more than the
/// ledger has. counted is the sum of the positions; ticks resolved since are counted in the difference
/// although `earlier` held them as outside. Counts never go negative; entries found only in `earlier` are
/// dropped. CPU time is unknown.
Profile subtract(const Profile& later, const Profile& earlier);

}  // namespace pctally
