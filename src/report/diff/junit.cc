#include <fmt/format.h>

#include <algorithm>

#include "report/diff/output.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

std::string xml(const std::string& text) { return marked_up(escaped(text)); }

}  // namespace

std::string diff_junit(const Diff& diff, const std::vector<LimitResult>& results) {
  auto bad = std::count_if(results.begin(), results.end(), [](const LimitResult& result) {
    return result.outcome != LimitResult::Outcome::kPass;
  });
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"pctally diff\" tests=\"{}\" "
      "failures=\"{}\">\n",
      results.size(), bad);
  for (const LimitResult& result : results) {
    out += fmt::format("  <testcase classname=\"pctally.diff\" name=\"{}\">", xml(result.limit.text));
    if (result.outcome != LimitResult::Outcome::kPass)
      out += fmt::format("<failure type=\"{}\" message=\"{:+.3g} ± {:.3g} {}\">{}</failure>",
                         outcome_word(result.outcome), result.measured, result.half_width,
                         unit_of(result.limit), xml(verdict_sentence(diff)));
    out += "</testcase>\n";
  }
  return out + "</testsuite>\n";
}

}  // namespace pctally
