// The scopes (programs, threads or control groups) of one recording; each is created at its first tick.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include "histfile/call_paths.h"

namespace pctally {

/// What a recording makes room for, beside the one of all others; a merged file may hold more.
inline constexpr size_t kMostScopes = 4096;
static_assert(kMostScopes < kMostScopesOfFile);

class Scopes {
 public:
  /// REQUIRES: `file` has call paths, and outlives this.
  explicit Scopes(ProfileFile* file, size_t most = kMostScopes) : file_(file), most_(most) {}

  /// A number for a program, above 0.
  uint32_t program_of(const ObjectIdentity& program);

  // Each returns the unit of a scope; where there are `most` already, that of "(others)". 0: no room.

  /// `program`: of program_of().
  uint32_t scope_of(uint32_t program);
  uint32_t scope_of(const ObjectIdentity& program) { return scope_of(program_of(program)); }
  /// `program`: 0 if it is not known.
  uint32_t scope_of_thread(uint32_t program, std::string_view thread);
  uint32_t scope_of_group(std::string_view path);

 private:
  struct Program {
    std::string path;
    std::vector<uint8_t> build_id;
    uint64_t device = 0, inode = 0;
    [[nodiscard]] ObjectIdentity identity() const;
  };

  /// Calls `add` for a key that is new. `others`: for all that have no room.
  template <class Add, class AddOthers>
  uint32_t scope_at(std::string key, Add&& add, AddOthers&& add_others);

  ProfileFile* file_;
  size_t most_;
  std::vector<Program> programs_;
  std::unordered_map<std::string, uint32_t> program_numbers_;
  std::unordered_map<std::string, uint32_t> scopes_;
  uint32_t others_ = 0;
};

}  // namespace pctally
