#include "report/print/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace pctally {

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string line_text(uint32_t line) { return line == 0 ? "?" : std::to_string(line); }

std::string counted(uint64_t number, const std::string& noun) {
  return fmt::format("{} {}{}", grouped(number), noun, number == 1 ? "" : "s");
}

std::string range_text(double low, double high) {
  return fmt::format("{:.1f} to {:.1f} %", 100 * low, 100 * high);
}

std::string duration_text(int64_t nanoseconds) {
  double ms = static_cast<double>(nanoseconds) / 1e6;
  return nanoseconds < 10000000 ? fmt::format("{:.1f} ms", ms) : fmt::format("{:.2f} s", ms / 1e3);
}

std::string rounded(double value, int figures) {
  constexpr int kMostDecimals = 9;
  const int whole = value == 0 ? 1 : 1 + static_cast<int>(std::floor(std::log10(std::abs(value))));
  const int decimals = std::clamp(figures - whole, 0, kMostDecimals);
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string signed_rounded(double value, int figures) {
  const std::string text = rounded(value, figures);
  return text.starts_with('-') ? text : "+" + text;
}

}  // namespace pctally
