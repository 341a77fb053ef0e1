// pctally engines: the ladder as it stands on this machine, for this user.
#include <fmt/format.h>

#include <iterator>
#include <nlohmann/json.hpp>

#include "recorder/engine.h"
#include "tool/command.h"
#include "tool/command_line.h"

namespace pctally {
namespace {

std::string text_of(const std::vector<Rung>& ladder) {
  std::string text;
  auto to = std::back_inserter(text);
  bool chosen = false;
  for (const Rung& rung : ladder) {
    bool first = rung.available && !chosen;
    chosen = chosen || first;
    fmt::format_to(to, "{:<13}{}\n", rung.name,
                   first            ? "available, record's choice"
                   : rung.available ? "available"
                                    : "not available");
    if (!rung.reason.empty()) fmt::format_to(to, "       why not:  {}\n", rung.reason);
    if (!rung.remedy.empty()) fmt::format_to(to, "       remedy:   {}\n", rung.remedy);
    if (!rung.cost.empty()) fmt::format_to(to, "       costs:    {}\n", rung.cost);
    if (!rung.misses.empty()) fmt::format_to(to, "       misses:   {}\n", rung.misses);
  }
  return text;
}

std::string json_of(const std::vector<Rung>& ladder) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Rung& rung : ladder)
    rows.push_back({{"engine", rung.name},
                    {"available", rung.available},
                    {"reason", rung.reason},
                    {"remedy", rung.remedy},
                    {"costs", rung.cost},
                    {"misses", rung.misses}});
  return rows.dump(2) + "\n";
}

}  // namespace

int run_engines(int argc, char** argv) {
  let_writes_fail();
  CLI::App app("Shows which engines work here; for those that do not, why and what to do about it.",
               "pctally engines");
  bool json = false;
  app.add_flag("--json", json, "print one JSON array");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  std::vector<Rung> ladder = probe_ladder({}, true);
  if (int code = write_out(json ? json_of(ladder) : text_of(ladder)); code != 0) return code;
  for (const Rung& rung : ladder)
    if (rung.available) return 0;
  return kExitFailed;
}

}  // namespace pctally
