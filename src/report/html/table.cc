#include <fmt/format.h>

#include "report/html/parts.h"
#include "report/print/escape.h"
#include "report/print/figures.h"

namespace pctally {
namespace {

constexpr size_t kMostRows = 200;

/// What the rows from `first` on have together; empty: there are none.
std::string rest_of(const Report& report, size_t first) {
  if (report.rows.size() <= first) return "";
  double share = 0;
  for (size_t i = first; i < report.rows.size(); ++i) share += report.rows[i].share;
  return fmt::format("<p>{} with {:.2f} % together; scripts show all.</p>\n",
                     counted(report.rows.size() - first, "more row"), 100 * share);
}

}  // namespace

std::string html_table(const Report& report, NameStyle names, const Texts& texts) {
  std::string table =
      "<p>Without scripts this page is a table.</p>\n<table>\n"
      "<tr><th>Self %</th><th>95 %</th><th>Ticks</th><th>Function</th><th>Object</th></tr>\n";
  for (const Row& row : report.rows) {
    if (static_cast<size_t>(&row - report.rows.data()) == kMostRows) break;
    const std::string& name = shown_name(names, row.short_function, row.function, row.linkage);
    table +=
        fmt::format("<tr><td>{:.2f}</td><td>{:.2f} to {:.2f}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                    100 * row.share, 100 * row.interval.low, 100 * row.interval.high, row.ticks,
                    marked_up(texts.shown(name)), marked_up(texts.shown_path(row.object)));
  }
  return table + "</table>\n" + rest_of(report, kMostRows);
}

}  // namespace pctally
