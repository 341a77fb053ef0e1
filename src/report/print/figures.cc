#include "report/print/figures.h"

#include <fmt/format.h>

namespace pctally {

std::string grouped(uint64_t number) {
  std::string digits = std::to_string(number), text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i != 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

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

}  // namespace pctally
