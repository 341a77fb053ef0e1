#include <fmt/format.h>

#include <algorithm>

#include "report/diff/output.h"
#include "report/print/escape.h"

namespace pctally {
namespace {

std::string xml(const std::string& text) { return marked_up(escaped(text)); }

bool passes(const LimitResult& result) { return result.outcome == LimitResult::Outcome::kPass; }

std::string failure(const Diff& diff, const LimitResult& result) {
  return fmt::format("<failure type=\"{}\" message=\"{}\">{}</failure>", outcome_word(result.outcome),
                     marked_up(text_with_remarks(result)), xml(verdict_sentence(diff)));
}

/// A limit that passes on profiles that cannot be relied on is as good as one that was not checked.
std::string error(const Diff& diff) {
  std::string all;
  for (const Doubt& doubt : diff.doubts) all += xml(doubt.text()) + "\n";
  return fmt::format("<error type=\"UNRELIABLE\" message=\"{}\">{}</error>", xml(diff.doubts[0].text()), all);
}

}  // namespace

std::string diff_junit(const Diff& diff, const std::vector<LimitResult>& results) {
  const size_t passed = std::ranges::count_if(results, passes);
  const size_t in_doubt = diff.is_in_doubt() ? passed : 0;
  // Some build servers want the root and the times; a limit takes none.
  const std::string counts =
      fmt::format("name=\"pctally diff\" tests=\"{}\" failures=\"{}\" errors=\"{}\" time=\"0\"",
                  results.size(), results.size() - passed, in_doubt);
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n <testsuite {}>\n", counts, counts);
  for (const LimitResult& result : results) {
    out +=
        fmt::format("  <testcase classname=\"pctally.diff\" name=\"{}\" time=\"0\">", xml(result.limit.text));
    if (!passes(result))
      out += failure(diff, result);
    else if (in_doubt != 0)
      out += error(diff);
    out += "</testcase>\n";
  }
  return out + " </testsuite>\n</testsuites>\n";
}

}  // namespace pctally
