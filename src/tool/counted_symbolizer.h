// Counts the addresses that get names and lines, for the line of progress.
#pragma once
#include <memory>

#include "object/symbolizer.h"
#include "profile/profile.h"

namespace pctally {

/// Adds the addresses of `profile` to those that are to be named: "... of 200,000 addresses". An address that
/// several profiles have counts once.
void expect_addresses(const Profile& profile);

using SymbolizerOpener = std::unique_ptr<Symbolizer> (*)(const ExecutableIdentity&);

/// What `open` opens, and what goes through it is counted if there is a line of progress.
std::unique_ptr<Symbolizer> open_counted(const ExecutableIdentity& identity, SymbolizerOpener open);

}  // namespace pctally
