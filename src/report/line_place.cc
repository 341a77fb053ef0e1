#include "report/line_place.h"

#include <fmt/format.h>

#include "base/base_name.h"
#include "report/print/escape.h"
#include "report/print/figures.h"

namespace pctally {
namespace {

std::string place(std::string_view file, uint32_t line) {
  return fmt::format("{}:{}", escaped(file), line_text(line));
}

/// " (62 %, 3 more)"
std::string part_of_row(const Row& row) {
  const HotChain& chain = row.hot_chain;
  if (chain.lines.empty() || chain.ticks == row.ticks) return "";
  const std::string more = chain.others == 0 ? "" : fmt::format(", {} more", grouped(chain.others));
  return fmt::format(" ({:.0f} %{})", percent_of(chain.ticks, row.ticks), more);
}

}  // namespace

std::string line_place(const Row& row, bool by_base_name) {
  if (row.file.empty()) return row.object.empty() ? "" : "?";
  std::string text = place(by_base_name ? base_name(row.file) : row.file, row.line);
  for (const InlinedLines* lines : {&row.inside, &row.hot_chain.lines})
    for (const auto& [file, line] : *lines) text += " < " + place(base_name(file), line);
  return text + part_of_row(row);
}

}  // namespace pctally
