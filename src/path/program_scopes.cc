#include "path/program_scopes.h"

#include "path/unwinder.h"

namespace pctally {
namespace {

constexpr size_t kMostScopes = 4096;
constexpr uint64_t kUnitsPerScope = 3 + 4096 / kUnitBytes;  ///< with the longest path

}  // namespace

uint32_t ProgramScopes::scope_of(const ObjectIdentity& program) {
  auto [entry, fresh] = scopes_.try_emplace(identity_key(program), 0);
  if (!fresh) return entry->second;
  file_->make_room(kUnitsPerScope);
  if (scopes_.size() <= kMostScopes) return entry->second = add_program_scope(*file_, program);
  scopes_.erase(entry);
  ObjectIdentity others;
  others.path = "(others)";
  if (others_ == 0) others_ = add_program_scope(*file_, others);
  return others_;
}

}  // namespace pctally
