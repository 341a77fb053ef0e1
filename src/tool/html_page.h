// Writing a page for a browser, and saying what of this machine is in it.
#pragma once
#include <string>

#include "report/html/html_report.h"

namespace pctally {

/// What is wrong with `path` as the name of a page; empty if nothing is. For OptionParser.
std::string is_page(const std::string& path);

/// The exit code. Lines on stderr name the file, the source files it has lines from, and how many
/// command lines (`options` made the page).
int write_page(const std::string& path, const HtmlReport& report, const HtmlOptions& options);

}  // namespace pctally
