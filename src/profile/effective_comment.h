// A comment of a pprof file that we have written: on how many independent samples its shares rest. The values
// do not say it: of runs with unlike periods, and where one sample came as several ticks.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pctally {

/// "pctally: 7790.42 effective samples in 8271982822 cpu nanoseconds". `amount`: the sum of all values of the
/// kind, in the unit.
std::string effective_comment(double samples, uint64_t amount, const std::string& kind,
                              const std::string& unit);

/// The samples, if the comment is one of ours and its sum is `amount`: files that `go tool pprof` has added
/// up or chosen from have other values and the old comments.
std::optional<double> effective_samples_in(std::string_view comment, uint64_t amount);

}  // namespace pctally
