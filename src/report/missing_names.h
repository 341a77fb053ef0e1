// Warns of objects whose functions or lines have no names, with the reason and the way to them.
#pragma once
#include <vector>

#include "report/account/warnings.h"
#include "report/names/object_names.h"

namespace pctally {

/// Adds the objects whose names could not be read, and why; where `lines` are shown, those that have names
/// and no lines, too.
void add_missing_names(const Profile& profile, ObjectNames& names, bool lines,
                       std::vector<Warning>* warnings);

}  // namespace pctally
