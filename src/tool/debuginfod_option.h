// "--debuginfod[=URLS]": debug information from servers, for the subcommands that have this option. Without
// it nothing here asks anybody, whatever DEBUGINFOD_URLS says.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "object/symbolizer.h"
#include "report/annotate/source_files.h"
#include "tool/option_parser.h"

namespace pctally {

/// `servers` is empty without the option.
void add_debuginfod_option(OptionParser& app, std::string& servers);

/// Says in one line who will be asked, and within which limits. An exit code, after a line that says why, if
/// a server is refused or there is none.
std::optional<int> use_debuginfod(const std::string& servers);

/// As Symbolizer::open(), and then what servers have.
std::unique_ptr<Symbolizer> open_here_or_there(const ExecutableIdentity& identity);

/// For a source without a known build id, asks for `usual`. Null if no server is to be asked.
FetchSource source_fetcher(const BuildId& usual = {});

/// A line if servers have failed: what they would have sent is missing.
void warn_of_debuginfod_failure();

}  // namespace pctally
