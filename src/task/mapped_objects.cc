#include "task/mapped_objects.h"

#include <algorithm>

#include "path/unwinder.h"

namespace pctally {
namespace {

/// "/usr/lib/libc.so.6" of "/proc/12/root/usr/lib/libc.so.6".
std::string_view path_inside(std::string_view path) {
  constexpr std::string_view kProc = "/proc/", kRoot = "/root";
  if (!path.starts_with(kProc)) return path;
  const size_t digits = path.find_first_not_of("0123456789", kProc.size());
  const bool is_root =
      digits != path.npos && digits > kProc.size() && path.substr(digits).starts_with("/root/");
  return is_root ? path.substr(digits + kRoot.size()) : path;
}

std::string whole_key(const ObjectIdentity& identity) {
  return identity_key(identity) + std::to_string(identity.file_bytes) + ' ' + std::to_string(identity.owner);
}

/// A build id says that it is the same file, whatever device and root it is in.
std::string key_of(const ObjectIdentity& identity) {
  if (identity.build_id_bytes == 0) return whole_key(identity);
  ObjectIdentity inside;
  inside.kind = identity.kind;
  inside.path = path_inside(identity.path);
  inside.build_id = identity.build_id;
  inside.build_id_bytes = identity.build_id_bytes;
  return whole_key(inside);
}

}  // namespace

/// Whether the object may stand for the file at another place, which its own container may outlive. Until its
/// first tick it goes to where it was met last; then its file is held, or it stays what it was met as.
bool MappedObjects::moves(Object* object, const ObjectIdentity& identity) {
  if (object->path == identity.path || object->held) return true;
  if (!object->segments.empty()) return false;
  object->path = identity.path;
  object->identity.path = object->path;
  object->identity.device = identity.device;
  object->identity.inode = identity.inode;
  return true;
}

uint32_t MappedObjects::number_of(const ObjectIdentity& identity) {
  const uint32_t number = number_at(key_of(identity), identity);
  return moves(objects_[number - 1].get(), identity) ? number : number_at(whole_key(identity), identity);
}

uint32_t MappedObjects::number_at(std::string key, const ObjectIdentity& identity) {
  auto [entry, fresh] = by_key_.try_emplace(std::move(key), 0);
  if (!fresh) return entry->second;
  auto object = std::make_unique<Object>();
  object->key = entry->first;
  object->path = identity.path;
  object->build_id.assign(identity.build_id, identity.build_id + identity.build_id_bytes);
  object->identity = identity;
  object->identity.path = object->path;
  object->identity.build_id = object->build_id.data();
  if (free_numbers_.empty()) {
    objects_.push_back(nullptr);
    free_numbers_.push_back(static_cast<uint32_t>(objects_.size()));
  }
  entry->second = free_numbers_.back();
  free_numbers_.pop_back();
  objects_[entry->second - 1] = std::move(object);
  return entry->second;
}

MappedObjects::Segment MappedObjects::find_segment(uint32_t number, const TextRange& range) const {
  const Object& object = at(number);
  for (size_t i = 0; i < object.segments.size(); ++i)
    if (object.ranges[i].covers(range)) return {object.segments[i], object.ranges[i]};
  return {};
}

MappedObjects::Segment MappedObjects::add_segment(uint32_t number, const TextRange& range) {
  Object& object = *objects_[number - 1];
  file_->make_room(segment_units(range.bytes));
  const uint32_t record = find_or_add_object(*file_, object.identity);
  const uint32_t unit = record == 0 ? 0 : find_or_add_segment(*file_, record, range.start, range.bytes);
  if (unit == 0) return {};
  object.segments.push_back(unit);
  object.ranges.push_back(range);
  return {unit, range};
}

void MappedObjects::forget_others(const std::vector<bool>& mapped) {
  for (uint32_t number = 1; number < end_number(); ++number) {
    std::unique_ptr<Object>& object = objects_[number - 1];
    if (object == nullptr || mapped[number] || !object->segments.empty()) continue;
    by_key_.erase(object->key);
    object.reset();
    free_numbers_.push_back(number);
  }
  many_ = std::max(many_, 2 * by_key_.size());
}

}  // namespace pctally
