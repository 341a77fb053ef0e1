#include "report/prof/prof_listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "report/print/escape.h"

namespace pctally {
namespace {

struct Line {
  std::string name;
  uint64_t address = std::numeric_limits<uint64_t>::max();  ///< of a function; others come last by address
  double ticks = 0;
  uint64_t calls = 0;
  bool is_function = false;
};

std::string names_of(const ProfFunction& function) {
  std::string text;
  for (const std::string& name : function.names) {
    if (!text.empty()) text += ',';
    text += escaped(name);
  }
  return text;
}

std::vector<Line> lines_of(const ProfFunctions& functions, const std::vector<ProfElsewhere>& elsewhere,
                           const ProfOptions& options) {
  std::vector<Line> lines;
  Line statics{.name = "[static functions]"};
  for (const ProfFunction& function : functions.all()) {
    if (function.is_static && !options.statics) {
      statics.ticks += function.ticks;
      statics.calls += function.calls;
    } else if (function.ticks > 0 || function.calls > 0 || options.unused) {
      lines.push_back({.name = names_of(function),
                       .address = function.start,
                       .ticks = function.ticks,
                       .calls = function.calls,
                       .is_function = true});
    }
  }
  if (statics.ticks > 0 || statics.calls > 0) lines.push_back(statics);
  if (functions.unnamed_ticks() > 0)
    lines.push_back({.name = "[code without a symbol]", .ticks = functions.unnamed_ticks()});
  for (const ProfElsewhere& other : elsewhere)
    if (other.ticks > 0) lines.push_back({.name = escaped(other.label), .ticks = other.ticks});
  return lines;
}

void sort(std::vector<Line>* lines, ProfOrder order) {
  std::ranges::stable_sort(*lines, [order](const Line& a, const Line& b) {
    switch (order) {
      case ProfOrder::kTime:
        return a.ticks > b.ticks;
      case ProfOrder::kCalls:
        return a.calls > b.calls;
      case ProfOrder::kAddress:
        return a.address < b.address;
      default:
        return a.name < b.name;
    }
  });
}

/// Calls, and milliseconds per call with more digits the more calls there are; blanks without calls.
std::string calls_columns(const Line& line, double seconds) {
  if (line.calls == 0) return std::string(22, ' ');
  int digits = std::min(4, static_cast<int>(std::log10(static_cast<double>(line.calls))));
  double each = 1000 * seconds / static_cast<double>(line.calls);
  std::string columns = fmt::format("{:8}{:#{}.{}f}", line.calls, each, 8 + digits, digits);
  return columns.size() < 22 ? columns + std::string(22 - columns.size(), ' ') : columns + "  ";
}

std::string address_column(const Line& line, ProfAddress radix) {
  if (radix == ProfAddress::kNone) return {};
  if (!line.is_function) return std::string(18, ' ');
  return radix == ProfAddress::kHex ? fmt::format("{:#16x}  ", line.address)
                                    : fmt::format("{:#16o}  ", line.address);
}

}  // namespace

std::string prof_listing(const ProfFunctions& functions, const std::vector<ProfElsewhere>& elsewhere,
                         const ProfOptions& options) {
  std::vector<Line> lines = lines_of(functions, elsewhere, options);
  sort(&lines, options.order);
  double total = 0, sum = 0;
  for (const Line& line : lines) total += line.ticks;
  std::string text;
  if (options.header)
    text = fmt::format(" %Time Seconds Cumsecs  #Calls   msec/call  {}Name\n",
                       options.address == ProfAddress::kNone ? "" : "         Address  ");
  for (const Line& line : lines) {
    double seconds = line.ticks * options.seconds_per_tick;
    sum += seconds;
    text += fmt::format("{:6.1f}{:8.2f}{:8.2f}{}{}{}\n", total > 0 ? 100 * line.ticks / total : 0.0, seconds,
                        sum, calls_columns(line, seconds), address_column(line, options.address), line.name);
  }
  return text;
}

std::string prof_summary(const TextProfile& profile, const ProfFunctions& functions,
                         double seconds_per_tick) {
  uint64_t ticks = 0, counters = 0, used = 0;
  for (const TextHistogram& histogram : profile.histograms)
    for (uint64_t count : histogram.counts) {
      ticks += count;
      used += count != 0 ? 1 : 0;
      ++counters;
    }
  auto hit = std::ranges::count_if(functions.all(), [](const auto& function) { return function.ticks > 0; });
  const bool in_nanoseconds = seconds_per_tick == 1e-9;  // a sum of runs whose periods differ
  const char* unit = in_nanoseconds ? "nanoseconds" : "ticks";
  return fmt::format(
      "{} {}{}: {:.2f} s\n{} of {} counters used, in {} ranges of text\n"
      "{} of {} functions have time, {} {} are in none\n{} call counts\n",
      ticks, unit, in_nanoseconds ? "" : fmt::format(" of {:g} s", seconds_per_tick),
      static_cast<double>(ticks) * seconds_per_tick, used, counters, profile.histograms.size(), hit,
      functions.all().size(), functions.unnamed_ticks(), unit, profile.calls.size());
}

}  // namespace pctally
