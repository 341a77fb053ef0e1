#include <algorithm>
#include <array>
#include <map>

#include "report/html/parts.h"

namespace pctally {
namespace {

constexpr size_t kBins = 36;

/// The bins of one function; empty if it has no bounds.
std::array<uint64_t, kBins> bins_of(const HotFunction& function) {
  std::array<uint64_t, kBins> bins{};
  const uint64_t bytes = function.range.end - function.range.start;
  for (size_t i = 0; i < function.positions.size(); ++i) {
    const double part = static_cast<double>(function.positions[i] - function.range.start) /
                        static_cast<double>(std::max<uint64_t>(bytes, 1));
    bins[std::min(kBins - 1, static_cast<size_t>(part * kBins))] += function.position_ticks[i];
  }
  return bins;
}

}  // namespace

HtmlJson html_bins(const std::vector<HotFunction>& functions, const FunctionList& list) {
  std::map<int64_t, HtmlJson> of;
  for (const HotFunction& function : functions) {
    if (!has_real_places(function) || function.range.end <= function.range.start) continue;
    of.insert_or_assign(list.number(function), bins_of(function));
  }
  HtmlJson bins = HtmlJson::object();
  for (auto& [number, function_bins] : of) bins.add(std::to_string(number), std::move(function_bins));
  return bins;
}

void find_places(const std::vector<HotFunction>& functions, ObjectNames& names, FunctionList* list) {
  std::map<uint32_t, std::vector<const HotFunction*>> of;
  for (const HotFunction& function : functions)
    if (!function.is_whole_object()) of[function.executable].push_back(&function);
  for (auto& [executable, group] : of) {
    std::sort(group.begin(), group.end(),
              [](const HotFunction* a, const HotFunction* b) { return a->range.start < b->range.start; });
    std::vector<uint64_t> starts;
    for (const HotFunction* function : group) starts.push_back(function->range.start);
    const std::vector<std::vector<Frame>> frames = names.symbolizer(executable).frames(starts);
    for (size_t i = 0; i < frames.size() && i < group.size(); ++i)
      if (!frames[i].empty())
        list->set_place(list->number(*group[i]), frames[i].back().file, frames[i].back().line);
  }
}

}  // namespace pctally
