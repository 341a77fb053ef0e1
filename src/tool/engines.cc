// pctally engines: the ladder as it stands on this machine, for this user.
#include <nlohmann/json.hpp>

#include "engine/engine.h"
#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/message.h"

namespace pctally {
namespace {

void print_text(const std::vector<Rung>& ladder) {
  bool chosen = false;
  for (const Rung& rung : ladder) {
    bool first = rung.available && !chosen;
    chosen = chosen || first;
    fmt::print("{:<13}{}\n", rung.name,
               first            ? "available, record's choice"
               : rung.available ? "available"
                                : "not available");
    if (!rung.reason.empty()) fmt::print("       why not:  {}\n", rung.reason);
    if (!rung.remedy.empty()) fmt::print("       remedy:   {}\n", rung.remedy);
    if (!rung.cost.empty()) fmt::print("       costs:    {}\n", rung.cost);
    if (!rung.misses.empty()) fmt::print("       misses:   {}\n", rung.misses);
  }
}

void print_json(const std::vector<Rung>& ladder) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const Rung& rung : ladder)
    rows.push_back({{"engine", rung.name},
                    {"available", rung.available},
                    {"reason", rung.reason},
                    {"remedy", rung.remedy},
                    {"costs", rung.cost},
                    {"misses", rung.misses}});
  fmt::print("{}\n", rows.dump(2));
}

}  // namespace

int run_engines(int argc, char** argv) {
  CLI::App app("Shows which engines work here; for those that do not, why and what to do about it.",
               "pctally engines");
  bool json = false;
  app.add_flag("--json", json, "print one JSON array");
  if (auto code = parse_command_line(app, argc, argv)) return *code;
  std::vector<Rung> ladder = probe_ladder();
  json ? print_json(ladder) : print_text(ladder);
  if (fflush(stdout) != 0) return complain("cannot write to standard output"), kExitFailed;
  for (const Rung& rung : ladder)
    if (rung.available) return 0;
  return kExitFailed;
}

}  // namespace pctally
