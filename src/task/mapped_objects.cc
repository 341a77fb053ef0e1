#include "task/mapped_objects.h"

#include <algorithm>

namespace pctally {

uint32_t MappedObjects::number_of(const ObjectIdentity& identity) {
  auto [entry, fresh] = by_key_.try_emplace(
      identity_key(identity) + std::to_string(identity.file_bytes) + ' ' + std::to_string(identity.owner), 0);
  if (!fresh) return entry->second;
  auto object = std::make_unique<Object>(identity, entry->first);
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
  const uint32_t record = find_or_add_object(*file_, object.identity.get());
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
