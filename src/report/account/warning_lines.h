// Warnings as lines for people, above what they are of.
#pragma once
#include <span>
#include <string>

#include "report/account/warnings.h"

namespace pctally {

/// One line each, and an empty one behind them; empty if there are none.
std::string warning_lines(std::span<const Warning> warnings, bool color);

/// Those of a view without an account of the ticks: what makes its shares less sure or less complete.
std::string gravest_lines(const Profile& profile, bool color);

}  // namespace pctally
