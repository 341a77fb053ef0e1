#include "tool/debuginfod_option.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

#include "object/debuginfod.h"
#include "object/fetched_symbolizer.h"
#include "tool/command.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"

namespace pctally {
namespace {

constexpr char kBare[] = "true";  ///< what the parser makes of the option without a value

std::optional<Debuginfod>& servers() {
  static std::optional<Debuginfod> servers;
  return servers;
}

/// A limit that the user has set for debuginfod's own tools holds here, too.
uint64_t limit(const char* name, uint64_t usual, uint64_t most) {
  const char* text = getenv(name);
  const uint64_t value = text == nullptr ? 0 : strtoull(text, nullptr, 10);
  return value == 0 || value > most ? usual : value;
}

std::string size_text(uint64_t bytes) {
  return bytes >> 20 == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{} MiB", bytes >> 20);
}

std::string listed_urls(const std::vector<std::string>& urls) {
  std::string text;
  for (const std::string& url : urls) text += (text.empty() ? "" : ", ") + url;
  return text;
}

}  // namespace

void add_debuginfod_option(OptionParser& app, std::string& servers) { app.add_flag("--debuginfod", servers); }

std::optional<int> use_debuginfod(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const char* usual = getenv("DEBUGINFOD_URLS");
  const auto urls = parse_debuginfod_servers(text != kBare ? text : usual == nullptr ? "" : usual);
  if (!urls || urls->empty()) {
    complain("{}",
             urls ? "debuginfod: no server is named; write --debuginfod=https://HOST, or set DEBUGINFOD_URLS"
                  : urls.error().text);
    return kExitUsage;
  }
  const Debuginfod::Limits usually;
  const Debuginfod::Limits limits{limit("DEBUGINFOD_MAXSIZE", usually.file_bytes, uint64_t{1} << 40),
                                  limit("DEBUGINFOD_MAXTIME", usually.seconds, 24 * 3600)};
  inform("debuginfod: asks {}; at most {} a file, {} s in all", listed_urls(*urls),
         size_text(limits.file_bytes), limits.seconds);
  servers().emplace(*urls, limits,
                    [](const std::string& what) { ProgressLine::show("debuginfod: asks for " + what); });
  return std::nullopt;
}

std::unique_ptr<Symbolizer> open_here_or_there(const ExecutableIdentity& identity) {
  if (!servers()) return Symbolizer::open(identity);
  return std::make_unique<FetchedSymbolizer>(identity, *servers());
}

FetchSource source_fetcher(const BuildId& usual) {
  if (!servers()) return {};
  return [usual](const BuildId& of, const std::string& path) -> Result<std::string> {
    const BuildId& id = of.empty() ? usual : of;
    if (id.empty()) return fail(ENOENT, "%s: its executable has no build id", path.c_str());
    return servers()->source(id, path);
  };
}

void warn_of_debuginfod_failure() {
  if (servers() && !servers()->failure().empty())
    complain("debuginfod: {}; what the servers may have is missing", servers()->failure());
}

}  // namespace pctally
