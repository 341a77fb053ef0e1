#include "profile/effective_comment.h"

#include <inttypes.h>
#include <stdio.h>

namespace pctally {

std::string effective_comment(double samples, uint64_t amount, const std::string& kind,
                              const std::string& unit) {
  char text[96];
  snprintf(text, sizeof text, "pctally: %.2f effective samples in %" PRIu64 " ", samples, amount);
  return text + kind + " " + unit;
}

std::optional<double> effective_samples_in(std::string_view comment, uint64_t amount) {
  const std::string text(comment.substr(0, 256));
  double samples = 0;
  uint64_t sum = 0;
  if (sscanf(text.c_str(), "pctally: %lf effective samples in %" SCNu64 " ", &samples, &sum) != 2)
    return std::nullopt;
  const bool is_possible = samples > 0 && samples <= static_cast<double>(amount);
  return sum == amount && is_possible ? std::optional(samples) : std::nullopt;
}

}  // namespace pctally
