// Whose ticks they are: the program scopes of one recording, each made at its first tick.
#pragma once
#include <string>
#include <unordered_map>

#include "histfile/call_paths.h"

namespace pctally {

class ProgramScopes {
 public:
  /// REQUIRES: `file` has call paths, and outlives this.
  explicit ProgramScopes(ProfileFile* file) : file_(file) {}

  /// Unit of the program's scope; beyond kMostScopes that of all others. 0: no room.
  uint32_t scope_of(const ObjectIdentity& program);

 private:
  ProfileFile* file_;
  std::unordered_map<std::string, uint32_t> scopes_;
  uint32_t others_ = 0;
};

}  // namespace pctally
