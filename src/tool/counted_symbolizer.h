// Counts the addresses that get names and lines, for the line of progress.
#pragma once
#include <memory>

#include "object/symbolizer.h"
#include "profile/profile.h"

namespace pctally {

/// What is to be named from now on: "... of 200,000 addresses". Those of several profiles are together as
/// many as there are different ones.
void expect_addresses(const Profile& profile);

using SymbolizerOpener = std::unique_ptr<Symbolizer> (*)(const ExecutableIdentity&);

/// What `open` opens, and what goes through it is counted if there is a line of progress.
std::unique_ptr<Symbolizer> open_counted(const ExecutableIdentity& identity, SymbolizerOpener open);

}  // namespace pctally
