// pctally engines: the ladder as it stands on this machine, for this user.
#include <fmt/format.h>

#include "perf/descriptor_limit.h"
#include "recorder/engine/engine.h"
#include "report/print/json_value.h"
#include "tool/command.h"
#include "tool/command_line.h"

namespace pctally {
namespace {

constexpr char kHelp[] = R"(Show which engines work here, and for the others why not and what to do.

  pctally engines                       in the order in which record tries them

          --json               one array of objects

Exit: 0 at least one works; 2 usage; 125 none works.
)";

std::string text_of(const std::vector<EngineProbe>& ladder) {
  std::string text;
  bool chosen = false;
  for (const EngineProbe& probe : ladder) {
    bool first = probe.available && !chosen;
    chosen = chosen || first;
    text += fmt::format("{:<13}{}\n", probe.name,
                        first             ? "available, record's choice"
                        : probe.available ? "available"
                                          : "not available");
    if (!probe.reason.empty()) text += fmt::format("       why not:  {}\n", probe.reason);
    if (!probe.remedy.empty()) text += fmt::format("       remedy:   {}\n", probe.remedy);
    if (!probe.cost.empty()) text += fmt::format("       costs:    {}\n", probe.cost);
    if (!probe.misses.empty()) text += fmt::format("       misses:   {}\n", probe.misses);
  }
  return text;
}

std::string json_of(const std::vector<EngineProbe>& ladder) {
  Json rows = Json::array();
  for (const EngineProbe& probe : ladder)
    rows.push_back({{"engine", probe.name},
                    {"available", probe.available},
                    {"reason", probe.reason},
                    {"remedy", probe.remedy},
                    {"costs", probe.cost},
                    {"misses", probe.misses}});
  return rows.dump(2) + "\n";
}

}  // namespace

int run_engines(int argc, char** argv) {
  let_writes_fail();
  OptionParser app("pctally engines");
  app.help_page(kHelp);
  bool json = false;
  app.add_flag("--json", json);
  if (auto code = app.parse(argc, argv)) return *code;
  raise_descriptor_limit();  // as record does
  std::vector<EngineProbe> ladder = probe_ladder({}, true);
  if (int code = write_out(json ? json_of(ladder) : text_of(ladder)); code != 0) return code;
  for (const EngineProbe& probe : ladder)
    if (probe.available) return 0;
  return kExitFailed;
}

}  // namespace pctally
