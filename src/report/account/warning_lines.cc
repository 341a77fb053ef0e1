#include "report/account/warning_lines.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "report/print/colors.h"
#include "report/print/escape.h"

namespace pctally {

std::string warning_lines(std::span<const Warning> warnings, bool color) {
  std::string lines;
  const auto add = [&](const char* start, const char* start_color, const std::string& text) {
    lines += color ? fmt::format("{}{}{} {}\n", start_color, start, kPlain, text)
                   : fmt::format("{} {}\n", start, text);
  };
  for (const Warning& warning : warnings) {
    const std::string text = escaped(warning.text);
    if (warning.severity == Severity::kIncomplete)
      add("INCOMPLETE:", kBoldRed, text);
    else if (warning.severity == Severity::kWarning)
      add("WARNING:", kYellow, text);
    else
      lines += fmt::format("note: {}\n", text);
  }
  return lines.empty() ? lines : lines + "\n";
}

std::string gravest_lines(const Profile& profile, bool color) {
  std::vector<Warning> warnings = warnings_of(profile);
  std::erase_if(warnings, [](const Warning& warning) {
    return warning.severity == Severity::kNote && warning.id != std::string_view("in-step");
  });
  return warning_lines(warnings, color);
}

}  // namespace pctally
