// A profile.proto, written field by field.
#pragma once
#include <protozero/pbf_writer.hpp>
#include <string>
#include <vector>

namespace pctally {

/// A profile.proto in the making.
struct Proto {
  std::string bytes;
  std::vector<std::string> strings = {""};

  int64_t text(const std::string& string) {
    for (size_t i = 0; i < strings.size(); ++i)
      if (strings[i] == string) return static_cast<int64_t>(i);
    strings.push_back(string);
    return static_cast<int64_t>(strings.size() - 1);
  }
  void add(uint32_t tag, const std::string& part) { protozero::pbf_writer(bytes).add_message(tag, part); }
  void type(uint32_t tag, const std::string& type, const std::string& unit) {
    std::string part;
    protozero::pbf_writer writer(part);
    writer.add_int64(1, text(type));
    writer.add_int64(2, text(unit));
    add(tag, part);
  }
  void sample(std::vector<uint64_t> locations, std::vector<int64_t> values) {
    std::string part;
    protozero::pbf_writer writer(part);
    writer.add_packed_uint64(1, locations.begin(), locations.end());
    writer.add_packed_int64(2, values.begin(), values.end());
    add(2, part);
  }
  /// Function `id`, and location `id` in it with function `inlined` inlined there (0: none).
  void function(uint64_t id, const std::string& name, uint64_t inlined = 0, const std::string& system = "") {
    std::string part, location;
    protozero::pbf_writer writer(part), place(location);
    writer.add_uint64(1, id);
    writer.add_int64(2, text(name));
    if (!system.empty()) writer.add_int64(3, text(system));
    add(5, part);
    place.add_uint64(1, id);
    for (const uint64_t number : {inlined, id}) {
      if (number == 0) continue;
      std::string line;
      protozero::pbf_writer(line).add_uint64(1, number);
      protozero::pbf_writer(line).add_int64(2, 7);
      place.add_message(4, line);
    }
    add(4, location);
  }
  /// Location `id` without a name, in mapping `id` of a file.
  void place(uint64_t id, const std::string& file, const std::string& build_id, uint64_t offset = 0,
             uint64_t address = 0x1234) {
    std::string mapping, location;
    protozero::pbf_writer writer(mapping), place(location);
    writer.add_uint64(1, id);
    writer.add_uint64(2, 0x1000);
    writer.add_uint64(3, 0x9000);
    writer.add_uint64(4, offset);
    writer.add_int64(5, text(file));
    writer.add_int64(6, text(build_id));
    add(3, mapping);
    place.add_uint64(1, id);
    place.add_uint64(2, id);
    place.add_uint64(3, address);
    add(4, location);
  }
  std::string done(int64_t period = 0) {
    protozero::pbf_writer writer(bytes);
    if (period != 0) type(11, "cpu", "nanoseconds");
    if (period != 0) writer.add_int64(12, period);
    for (const std::string& string : strings) writer.add_string(6, string);
    return bytes;
  }
};

inline Proto two_stacks(const std::string& type, const std::string& unit) {
  Proto proto;
  proto.type(1, "samples", "count");
  proto.type(1, type, unit);
  proto.function(1, "main");
  proto.function(2, "leaf", 1);
  proto.sample({2, 1}, {3, 30});
  proto.sample({1}, {1, 10});
  return proto;
}

}  // namespace pctally
