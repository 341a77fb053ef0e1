#include "report/html/html_report.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

#include "profile/command.h"
#include "report/html/page_bytes.h"
#include "report/html/parts.h"
#include "report/html/source_parts.h"

namespace pctally {
namespace {

constexpr int kDataVersion = 7;  ///< as kVersion in web/src/data.ts
constexpr double kHot = 0.005;   ///< of all ticks: functions from here on are annotated
constexpr char kNoPlaces[] = "the paths that were chosen do not say where in a function its ticks are";

/// Why a function with code has no annotation here; empty if it can have one.
std::string why_no_source(const HotFunction& function, ExecutableKind kind, ObjectNames& names) {
  switch (kind) {
    case ExecutableKind::kFile:
      break;
    case ExecutableKind::kVdso:
      return "it is code that the kernel gives to every process, and in no file";
    case ExecutableKind::kKernel:
      return "it is kernel code, which cannot be annotated";
    case ExecutableKind::kPrivate:
      return "it was made by a JIT, and its code is in no file";
    case ExecutableKind::kStart:
      return "it is time, not code: exec and dynamic linking, before the first tick";
  }
  if (!function.is_whole_object()) return "";
  const std::string& problem = names.symbolizer(function.executable).problem();
  return fmt::format("nothing in {} has a name{}{}", function.object, problem.empty() ? "" : ": ", problem);
}

/// No name may end the script it stands in.
std::string harmless(const std::string& json) {
  std::string text;
  text.reserve(json.size() + json.size() / 16);
  for (char byte : json) {
    if (byte == '<' || byte == '>' || byte == '&')
      text.append(byte == '<' ? "\\u003c" : byte == '>' ? "\\u003e" : "\\u0026");
    else
      text.push_back(byte);
  }
  return text;
}

/// The page with both its places filled; neither text is searched for the other's place.
std::string filled(const std::string& table, const std::string& data) {
  constexpr std::string_view kTable = "@PCTALLY_TABLE@", kData = "@PCTALLY_DATA@";
  const std::string_view page(reinterpret_cast<const char*>(kHtmlPage), kHtmlPageBytes);
  const size_t first = page.find(kTable), second = page.find(kData);
  std::string text(page.substr(0, first));
  text.append(table).append(page.substr(first + kTable.size(), second - first - kTable.size()));
  return text.append(data).append(page.substr(second + kData.size()));
}

/// Makes the data part by part.
class DataMaker {
 public:
  DataMaker(const Profile& profile, const OpenSymbolizer& open, const HtmlOptions& options)
      : profile_(profile),
        options_(options),
        report_(make_report(profile, open, {})),
        names_(profile, open),
        functions_(hot_functions(profile, names_)),
        list_(report_, options.names),
        texts_(options.strip_paths) {}

  HtmlReport run() {
    HtmlJson data = head();
    find_places(functions_, names_, &list_);
    data["bins"] = has_places() ? html_bins(functions_, list_) : HtmlJson::object();
    add_stacks(&data);
    std::vector<std::string> files = add_sources(&data);
    data["diff"] =
        options_.diff == nullptr ? HtmlJson() : html_diff(*options_.diff, options_.limits, list_, texts_);
    data["functions"] = list_.json(&texts_);
    const std::string table = html_table(report_, options_.names, texts_);
    data["texts"] = texts_.take();
    return {filled(table, harmless(data.dump(-1))), std::move(files), command_lines_};
  }

 private:
  void add_stacks(HtmlJson* data) {
    (*data)["from_entry"] = (*data)["small_from_leaf"] = HtmlJson();
    (*data)["edges"] = HtmlJson::array();
    (*data)["edges_left_out"] = {{"calls", 0}, {"ticks", 0}};
    (*data)["on_stack"] = HtmlJson::object();
    if (!profile_.paths.recorded) return;
    const CallTreeNode tree =
        call_tree(NamedPaths(profile_, names_, NamedPaths::Detail::kSharedParts), false);
    const uint64_t least = least_drawn(profile_.ledger.ticks());
    (*data)["from_entry"] = html_call_tree(tree, least, &list_);
    // What is small on every path may be large as what ran.
    (*data)["small_from_leaf"] = html_call_tree(small_paths_bottom_up(tree, least), least, &list_);
    const auto ticks = static_cast<double>(std::max<uint64_t>(1, profile_.ledger.ticks()));
    const NamedPaths paths(profile_, names_, NamedPaths::Detail::kInlinedCode);
    add_call_edges(paths, account_of(profile_).effective_samples / ticks, kMostCalls, &list_, &texts_, data);
  }

  std::vector<std::string> add_sources(HtmlJson* data) {
    SourceParts parts(profile_, names_, &texts_, options_.sources, options_.kept_sources,
                      options_.fetch_source);
    std::map<int64_t, std::string> reasons;
    for (const HotFunction& function : functions_) {
      const int64_t number = list_.number(function);
      if (!is_hot(list_.ticks(number))) continue;
      const ExecutableKind kind = profile_.executables[function.executable].kind;
      const std::string reason = why_no_source(function, kind, names_);
      if (!reason.empty())
        reasons.try_emplace(number, reason);
      else if (!is_hot(function.ticks))
        continue;  // a part of its row
      else if (has_places())
        parts.add(function, number);
      else
        parts.leave_out(number, kNoPlaces);
    }
    HtmlJson& no_source = (*data)["no_source"] = HtmlJson::object();
    for (const auto& [number, reason] : reasons) no_source.add(std::to_string(number), texts_.shown(reason));
    return parts.take(data);
  }

  [[nodiscard]] bool is_hot(uint64_t ticks) const {
    return static_cast<double>(ticks) / static_cast<double>(profile_.ledger.ticks()) >= kHot;
  }

  /// A choice of call paths has all ticks of a function at its first byte.
  [[nodiscard]] bool has_places() const { return profile_.whole == nullptr || !profile_.paths.recorded; }

  /// The commands of all runs, each once.
  HtmlJson commands() {
    HtmlJson lines = HtmlJson::array();
    if (!options_.command) return lines;
    std::set<std::string> known;
    for (const std::vector<std::string>& words : commands_of(profile_)) {
      std::string line = texts_.shown(command_line(words));
      if (!known.insert(line).second) continue;
      lines.push_back(std::move(line));
      command_lines_ += is_command(words) ? 1 : 0;
    }
    return lines;
  }

  HtmlJson head() {
    return {{"version", kDataVersion},
            {"made_by", "pctally"},
            {"view", options_.view},
            {"title", texts_.shown(program_name(profile_))},
            {"commands", commands()},
            {"run", html_run(profile_, report_.account, texts_)},
            {"warnings", html_warnings(report_, texts_)},
            {"annotated_from", kHot},
            {"paths", profile_.paths.recorded && profile_.paths.ends_known ? html_path_account(report_.paths)
                                                                           : HtmlJson()}};
  }

  const Profile& profile_;
  const HtmlOptions& options_;
  Report report_;
  ObjectNames names_;
  std::vector<HotFunction> functions_;
  FunctionList list_;
  Texts texts_;
  size_t command_lines_ = 0;
};

}  // namespace

HtmlReport html_report(const Profile& profile, const OpenSymbolizer& open, const HtmlOptions& options) {
  return DataMaker(profile, open, options).run();
}

}  // namespace pctally
