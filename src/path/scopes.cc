#include "path/scopes.h"

#include "path/kept_identity.h"

namespace pctally {
namespace {

constexpr uint64_t kUnitsPerScope = 3 + 4096 / kUnitBytes;  ///< with the longest path
constexpr char kOthers[] = "(others)";

ObjectIdentity named(std::string_view path) {
  ObjectIdentity identity;
  identity.path = path;
  return identity;
}

}  // namespace

ObjectIdentity Scopes::Program::identity() const {
  ObjectIdentity identity = named(path);
  identity.build_id = build_id.data();
  identity.build_id_bytes = static_cast<uint32_t>(build_id.size());
  identity.device = device;
  identity.inode = inode;
  return identity;
}

/// One number stands for all programs beyond the bound.
uint32_t Scopes::program_of(const ObjectIdentity& program) {
  const auto next = static_cast<uint32_t>(programs_.size() + 1);
  auto [entry, fresh] = program_numbers_.try_emplace(identity_key(program), next);
  if (!fresh) return entry->second;
  if (programs_.size() <= most_) {
    const bool last = programs_.size() == most_;
    programs_.push_back({std::string(last ? kOthers : program.path), {}, program.device, program.inode});
    if (!last) programs_.back().build_id.assign(program.build_id, program.build_id + program.build_id_bytes);
    if (!last) return next;
  }
  program_numbers_.erase(entry);
  return static_cast<uint32_t>(most_ + 1);
}

template <class Add, class AddOthers>
uint32_t Scopes::scope_at(std::string key, Add&& add, AddOthers&& add_others) {
  const auto found = scopes_.find(key);
  if (found != scopes_.end()) return found->second;
  file_->make_room(kUnitsPerScope);
  if (scopes_.size() >= most_) return others_ != 0 ? others_ : others_ = add_others();
  const uint32_t unit = add();
  if (unit != 0) scopes_.emplace(std::move(key), unit);
  return unit;
}

uint32_t Scopes::scope_of(uint32_t program) {
  const bool is_others = program > most_;
  if (is_others && others_ != 0) return others_;
  const auto others = [&] { return add_program_scope(*file_, named(kOthers)); };
  if (is_others) return others_ = others();
  return scope_at(
      std::to_string(program), [&] { return add_program_scope(*file_, programs_[program - 1].identity()); },
      others);
}

uint32_t Scopes::scope_of_thread(uint32_t program, std::string_view thread) {
  std::string key = std::to_string(program) + " ";
  key.append(thread);
  const ObjectIdentity identity = program == 0 ? named("") : programs_[program - 1].identity();
  return scope_at(
      std::move(key), [&] { return add_thread_scope(*file_, identity, thread); },
      [&] { return add_thread_scope(*file_, named(kOthers), kOthers); });
}

uint32_t Scopes::scope_of_group(std::string_view path) {
  return scope_at(
      std::string(path), [&] { return add_group_scope(*file_, path); },
      [&] { return add_group_scope(*file_, kOthers); });
}

}  // namespace pctally
