// A report as one HTML page that needs nothing else and reaches for nothing: web/ has the page, the parts
// here its data.
#pragma once
#include <string>
#include <vector>

#include "report/annotate/source_files.h"
#include "report/diff/diff.h"
#include "report/diff/limit.h"
#include "report/names/object_names.h"
#include "report/names/shown_names.h"

namespace pctally {

struct HtmlOptions {
  NameStyle names = NameStyle::kShort;
  std::string view = "functions";     ///< shown first: functions, flame, callers, source, map or compare
  bool command = false;               ///< with the command lines of all runs
  bool sources = true;                ///< with lines of source files
  bool strip_paths = false;           ///< of absolute paths the last part alone
  KeptSources kept_sources{};         ///< that the profile holds
  FetchSource fetch_source{};         ///< gets those that are not here
  const Diff* diff = nullptr;         ///< what changed since other profiles, by function. Outlives the call.
  std::vector<LimitResult> limits{};  ///< that it was checked for
};

struct HtmlReport {
  std::string page;
  std::vector<std::string> files;  ///< source files it has lines from
  size_t command_lines = 0;        ///< that it has, each once
};

/// Figures are those of make_report() by function, with no row left out.
HtmlReport html_report(const Profile& profile, const OpenSymbolizer& open, const HtmlOptions& options);

}  // namespace pctally
