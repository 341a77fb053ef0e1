#include "import/pprof_value.h"

#include <errno.h>

#include <algorithm>
#include <string>

namespace pctally {
namespace {

struct NamedUnit {
  std::string_view name;
  uint64_t amount;
};

/// As go tool pprof takes them, in nanoseconds.
constexpr NamedUnit kTimes[] = {{"ns", 1},
                                {"nanosecond", 1},
                                {"us", 1'000},
                                {"μs", 1'000},  // Greek
                                {"µs", 1'000},  // micro
                                {"microsecond", 1'000},
                                {"ms", 1'000'000},
                                {"millisecond", 1'000'000},
                                {"s", 1'000'000'000},
                                {"sec", 1'000'000'000},
                                {"second", 1'000'000'000},
                                {"min", 60'000'000'000},
                                {"minute", 60'000'000'000},
                                {"hr", 3600'000'000'000},
                                {"hour", 3600'000'000'000}};
constexpr NamedUnit kSizes[] = {{"b", 1},
                                {"byte", 1},
                                {"kb", 1 << 10},
                                {"kbyte", 1 << 10},
                                {"kilobyte", 1 << 10},
                                {"mb", 1 << 20},
                                {"mbyte", 1 << 20},
                                {"megabyte", 1 << 20},
                                {"gb", 1 << 30},
                                {"gbyte", 1 << 30},
                                {"gigabyte", 1 << 30},
                                {"tb", uint64_t{1} << 40},
                                {"tbyte", uint64_t{1} << 40},
                                {"terabyte", uint64_t{1} << 40},
                                {"pb", uint64_t{1} << 50},
                                {"pbyte", uint64_t{1} << 50},
                                {"petabyte", uint64_t{1} << 50}};

/// 0: the unit is none of these.
uint64_t amount_of(std::string_view unit, std::span<const NamedUnit> units) {
  std::string name(unit);
  for (char& letter : name)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter + 'a' - 'A');
  auto found = std::ranges::find(units, name, &NamedUnit::name);
  if (found == units.end() && name.size() > 2 && name.ends_with('s')) {
    name.pop_back();
    found = std::ranges::find(units, name, &NamedUnit::name);
  }
  return found == units.end() ? 0 : found->amount;
}

std::string listed(std::span<const PprofType> types) {
  std::string text;
  for (const PprofType& type : types) text.append(text.empty() ? "" : ", ").append(type.type);
  return text;
}

size_t chosen(std::span<const PprofType> types, const std::vector<bool>& used, std::string_view usual) {
  const auto has_amounts = [&](size_t number) { return number < used.size() && used[number]; };
  size_t last = types.size() - 1;
  while (last > 0 && !has_amounts(last)) --last;
  const auto found = std::ranges::find(types, usual, &PprofType::type);
  const auto number = static_cast<size_t>(found - types.begin());
  if (!usual.empty() && found != types.end() && (has_amounts(number) || !has_amounts(last))) return number;
  return has_amounts(last) ? last : types.size() - 1;
}

bool counts_samples(const PprofType& type) {
  return type.unit == "count" &&
         (type.type.ends_with("sample") || type.type.ends_with("samples") || type.type == "contentions");
}

/// The kind called like those of Go, or else the nearest that may count the samples of the value: before it
/// if there is one. Datadog, pprof-nodejs and profiles of locks have other names.
size_t samples_of(std::span<const PprofType> types, size_t value, bool has_period) {
  size_t nearest = PprofValue::kNone;
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i].type == "samples" && types[i].unit == "count") return i;
    if (counts_samples(types[i]) && (i <= value || nearest == PprofValue::kNone)) nearest = i;
  }
  return has_period ? PprofValue::kNone : nearest;
}

}  // namespace

Result<PprofValue> choose_pprof_value(std::span<const PprofType> types, const std::vector<bool>& used,
                                      std::string_view wanted, std::string_view usual,
                                      const PprofType& period_type, int64_t period) {
  PprofValue value{.number = chosen(types, used, usual), .unit = {}};
  if (!wanted.empty()) {
    const auto found = std::ranges::find(types, wanted, &PprofType::type);
    if (found == types.end())
      return fail(EINVAL, "it has no values called %.40s; its kinds are %.200s", std::string(wanted).c_str(),
                  listed(types).c_str());
    value.number = static_cast<size_t>(found - types.begin());
  }
  const auto& [type, unit] = types[value.number];
  const uint64_t ns = amount_of(unit, kTimes), bytes = amount_of(unit, kSizes);
  value.scale = std::max({ns, bytes, uint64_t{1}});
  value.unit.cpu_time = ns != 0 && type == "cpu";
  value.unit.event = type;
  value.unit.unit = ns != 0 ? "nanoseconds" : bytes != 0 ? "bytes" : std::string(unit);
  if (ns != 0)
    value.unit.event += "-ns";
  else if (bytes == 0 && unit != "count" && !unit.empty())
    value.unit.event.append("-").append(unit);
  const bool same = period_type.type == type && period_type.unit == unit;
  if (same && period > 0 && static_cast<uint64_t>(period) < UINT64_MAX / 2 / value.scale)
    value.period = value.unit.period = static_cast<uint64_t>(period) * value.scale;
  if (unit == "count" && value.unit.period == 0) value.unit.period = 1;
  value.samples = samples_of(types, value.number, value.period != 0);
  return value;
}

}  // namespace pctally
