// Figures as people read them.
#pragma once
#include <cstdint>
#include <string>

namespace pctally {

/// "1,234,567"
std::string grouped(uint64_t number);

/// "1 tick", "1,234 ticks"
std::string counted(uint64_t number, const std::string& noun);

/// "28"; "?" for 0, a line that is not known.
std::string line_text(uint32_t line);

/// "0.0 to 95.8 %", of two shares of 1
std::string range_text(double low, double high);

/// "12.3 s" with two decimals from 10 ms on, else "0.4 ms".
std::string duration_text(int64_t nanoseconds);

/// With so many figures, or all digits before the point, and without an exponent: "0.0359", "12.3", "1751".
std::string rounded(double value, int figures);

/// The same with its sign: "+12.3"
std::string signed_rounded(double value, int figures);

/// 0 of nothing.
inline double percent_of(uint64_t part, uint64_t whole) noexcept {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace pctally
