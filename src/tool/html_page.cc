#include "tool/html_page.h"

#include <algorithm>

#include "report/print/figures.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/terminal/message.h"

namespace pctally {
namespace {

constexpr size_t kMostFiles = 20;  ///< listed of those in a page

void list_files(const std::vector<std::string>& files) {
  if (files.empty()) return;
  inform("it holds lines of {} (--no-sources leaves them out):", counted(files.size(), "source file"));
  for (size_t i = 0; i < std::min(files.size(), kMostFiles); ++i) inform("  {}", files[i]);
  if (files.size() > kMostFiles) inform("  and {} more", files.size() - kMostFiles);
}

std::string commands_text(size_t lines) {
  if (lines == 0) return "it holds no command line, as none was recorded";
  if (lines == 1) return "it holds the command line of the recording";
  return fmt::format("it holds {} command lines of the recordings", grouped(lines));
}

}  // namespace

std::string is_page(const std::string& path) {
  return path.ends_with(".html") ? "" : path + ": what is written is a page; name a file that ends in .html";
}

int write_page(const std::string& path, const HtmlReport& report, const HtmlOptions& options) {
  if (write_file(path, report.page) != 0) return kExitFailed;
  inform("wrote {}; open it in a browser", path);
  if (options.command) inform("{}", commands_text(report.command_lines));
  list_files(report.files);
  return 0;
}

}  // namespace pctally
