// A profile with two symbols in one entry of the unwind table, and choices of it. For tests only.
#pragma once
#include "report/fake_symbolizer_for_test.h"
#include "report/path_choice.h"
#include "report/scope_choice.h"

namespace pctally {

/// Two programs in which f1 calls one entry of the unwind table, at 0x200, that covers f2 and f3.
inline Profile two_symbols_of_one_entry(uint64_t of_f2, uint64_t of_f3) {
  Profile profile;
  profile.executables.push_back({.path = "/bin/prog", .build_id = {}});
  profile.period_ns = 1000000;
  profile.closed = true;
  profile.paths.recorded = true;
  for (const char* name : {"/bin/a", "/bin/b"}) {
    PathTree& tree = profile.paths.context;
    const auto root = static_cast<uint32_t>(tree.size());
    tree.push_back({.kind = PathNodeKind::kScope, .position = profile.paths.scopes.size()});
    tree.push_back({.parent = root, .kind = PathNodeKind::kCode, .position = 0x110});
    tree.push_back({.parent = root + 1, .kind = PathNodeKind::kCode, .position = 0x200, .self = 10});
    profile.paths.scopes.push_back({name, {}});
  }
  if (of_f2 != 0) profile.positions.push_back({0, 0x210, of_f2});
  profile.positions.push_back({0, 0x310, of_f3});
  profile.ledger.counted = profile.ledger.samples = 20;
  profile.ledger.weight_squares = 20;
  return profile;
}

inline Profile only_program_a(const Profile& profile) {
  const NamePattern program = *NamePattern::compile("^a$");
  return chosen_scopes(profile, {.program = &program}).value();
}

inline Profile through_f1(const Profile& profile) {
  const NamePattern focus = *NamePattern::compile("^f1$");
  ObjectNames names(profile, &FakeSymbolizer::open);
  return chosen_paths(profile, names, {.focus = &focus}).value();
}

}  // namespace pctally
