#include <map>
#include <tuple>
#include <vector>

#include "export/formats.h"
#include "export/function_files.h"
#include "profile/command.h"
#include "report/print/escape.h"
#include "report/print/json_value.h"

namespace pctally {
namespace {

constexpr int kVersion =
    48;                      ///< of the processed format: the profiler upgrades older ones when it loads them
constexpr int kLibrary = 1;  ///< type of a resource
constexpr int kOther = 0;    ///< the one category

/// A table as the format has them: an array for each column.
class Table {
 public:
  explicit Table(std::initializer_list<const char*> columns) : columns_(columns) {
    for (const char* column : columns) json_[column] = Json::array();
  }
  void add(std::initializer_list<Json> row) {
    auto value = row.begin();
    for (const char* column : columns_) json_[column].push_back(*value++);
    ++length_;
  }
  [[nodiscard]] size_t length() const { return length_; }
  Json take() {
    json_["length"] = length_;
    return std::move(json_);
  }

 private:
  std::vector<const char*> columns_;
  Json json_ = Json::object();
  size_t length_ = 0;
};

/// The tables of a thread: everything is entered once, in order of first use.
class Thread {
 public:
  struct Identity {
    std::string process, thread;
    size_t pid = 0, tid = 0;  ///< made up: a number of each
    bool first = true;        ///< of its process
  };

  /// REQUIRES: both outlive this.
  Thread(const Samples& samples, const FunctionFiles& files) : samples_(samples), files_(files) {}

  /// Without the `outer` outermost locations of its stack, unless it has no others.
  void add(const Sample& sample, size_t outer) {
    int64_t stack = kNone;
    for (size_t k = sample.stack.size() > outer ? sample.stack.size() - outer : sample.stack.size();
         k-- > 0;) {
      const Location& location = samples_.locations[sample.stack[k]];
      for (size_t i = location.frames.size(); i-- > 0;) stack = stack_of(stack, frame_of(location, i));
    }
    rows_.add({or_null(stack), rows_.length(), sample.ticks});
  }

  Json take(const Identity& identity) {
    Json samples = rows_.take();
    samples["weightType"] = "samples";
    const Table markers({"data", "name", "startTime", "endTime", "phase", "category"});
    const Table symbols({"libIndex", "address", "name", "functionSize"});
    return {{"processType", "default"},
            {"processStartupTime", 0},
            {"processShutdownTime", nullptr},
            {"registerTime", 0},
            {"unregisterTime", nullptr},
            {"pausedRanges", Json::array()},
            {"name", valid_utf8(identity.thread)},
            {"processName", valid_utf8(identity.process)},
            {"isMainThread", identity.first},
            {"pid", std::to_string(identity.pid)},
            {"tid", identity.tid},
            {"samples", std::move(samples)},
            {"markers", Table(markers).take()},
            {"stackTable", stacks_.take()},
            {"frameTable", frames_.take()},
            {"funcTable", functions_.take()},
            {"resourceTable", resources_.take()},
            {"nativeSymbols", Table(symbols).take()},
            {"stringArray", std::move(strings_)}};
  }

 private:
  static constexpr int64_t kNone = -1;  ///< no stack

  size_t text(const std::string& string) {
    const auto [found, added] = known_strings_.try_emplace(valid_utf8(string), strings_.size());
    if (added) strings_.push_back(found->first);
    return found->second;
  }

  /// -1: of no library.
  int64_t resource_of(uint32_t executable) {
    if (executable == Location::kNowhere) return -1;
    const auto [found, added] = known_resources_.try_emplace(executable, resources_.length());
    if (added) resources_.add({executable, text(samples_.objects[executable]), nullptr, kLibrary});
    return static_cast<int64_t>(found->second);
  }

  size_t function_of(const Location& location, const Frame& frame) {
    const std::string& file = files_.of(location, frame);
    const auto [found, added] =
        known_functions_.try_emplace({location.executable, frame.function, file}, functions_.length());
    if (!added) return found->second;
    functions_.add({text(frame.function), false, false, resource_of(location.executable),
                    file.empty() ? Json() : Json(text(file)), nullptr, nullptr});
    return found->second;
  }

  size_t frame_of(const Location& location, size_t index) {
    const Frame& frame = location.frames[index];
    const size_t function = function_of(location, frame), depth = location.frames.size() - 1 - index;
    const auto [found, added] = known_frames_.try_emplace({function, frame.line, depth}, frames_.length());
    const Json line = frame.line == 0 ? Json() : Json(frame.line);
    if (added) frames_.add({-1, depth, kOther, 0, function, nullptr, nullptr, nullptr, line, nullptr});
    return found->second;
  }

  int64_t stack_of(int64_t prefix, size_t frame) {
    const auto [found, added] =
        known_stacks_.try_emplace({prefix, frame}, static_cast<int64_t>(stacks_.length()));
    if (added) stacks_.add({frame, kOther, 0, or_null(prefix)});
    return found->second;
  }
  static Json or_null(int64_t stack) { return stack == kNone ? Json() : Json(stack); }

  const Samples& samples_;
  const FunctionFiles& files_;
  Json strings_ = Json::array();
  Table rows_{"stack", "time", "weight"};
  Table stacks_{"frame", "category", "subcategory", "prefix"};
  Table frames_{"address",      "inlineDepth",   "category",       "subcategory", "func",
                "nativeSymbol", "innerWindowID", "implementation", "line",        "column"};
  Table functions_{"name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"};
  Table resources_{"lib", "name", "host", "type"};
  std::map<std::string, size_t> known_strings_;
  std::map<uint32_t, size_t> known_resources_;
  std::map<std::tuple<uint32_t, std::string, std::string>, size_t> known_functions_;  ///< with their files
  std::map<std::tuple<size_t, uint32_t, size_t>, size_t> known_frames_;
  std::map<std::pair<int64_t, size_t>, int64_t> known_stacks_;
};

Json libraries(const Profile& profile, const Samples& samples) {
  Json libraries = Json::array();
  for (size_t i = 0; i < profile.executables.size(); ++i) {
    const std::string path = valid_utf8(profile.executables[i].path), name = valid_utf8(samples.objects[i]);
    libraries.push_back({{"arch", valid_utf8(profile.machine)},
                         {"name", name},
                         {"path", path},
                         {"debugName", name},
                         {"debugPath", path},
                         {"breakpadId", ""},
                         {"codeId", nullptr}});
  }
  return libraries;
}

Json meta(const Profile& profile, const std::string& name) {
  const double period_ms = profile.counts_cpu_time() ? static_cast<double>(profile.period_ns) / 1e6 : 1;
  return {{"version", 27},
          {"preprocessedProfileVersion", kVersion},
          {"interval", period_ms},
          {"startTime", static_cast<double>(profile.started_unix_ns) / 1e6},
          {"processType", 0},
          {"product", name},
          {"stackwalk", 1},
          {"debug", false},
          {"symbolicated", true},
          {"usesOnlyOneStackType", true},
          {"doesNotUseFrameImplementation", true},
          {"sourceCodeIsNotOnSearchfox", true},
          {"categories", Json::array({{{"name", "Other"}, {"color", "grey"}, {"subcategories", {"Other"}}}})},
          {"markerSchema", Json::array()}};
}

Json one_thread(const Samples& samples, const FunctionFiles& files, const std::string& name) {
  Thread thread(samples, files);
  for (const Sample& sample : samples.samples) thread.add(sample, 0);
  return Json::array({thread.take({name, name})});
}

/// A process for each program or control group, with a thread for each that is known of it. Ticks without a
/// scope have a process of their own, by their name.
Json threads_of_scopes(const Samples& samples, const FunctionFiles& files) {
  std::map<uint32_t, size_t> known;  // by the scope's location
  std::vector<Thread> threads;
  std::vector<Thread::Identity> identities;
  std::map<std::string, size_t> processes;
  for (const Sample& sample : samples.samples) {
    const auto [found, added] = known.try_emplace(sample.stack.back(), threads.size());
    if (added) {
      const std::vector<Frame>& scope = samples.locations[sample.stack.back()].frames;
      const auto [process, first] = processes.try_emplace(scope.back().function, processes.size() + 1);
      threads.emplace_back(samples, files);
      identities.push_back({process->first, scope.front().function, process->second, threads.size(), first});
    }
    threads[found->second].add(sample, 1);
  }
  Json all = Json::array();
  for (size_t i = 0; i < threads.size(); ++i) all.push_back(threads[i].take(identities[i]));
  return all;
}

}  // namespace

std::string firefox_export(const Profile& profile, const Samples& samples) {
  const std::string name = valid_utf8(program_name(profile));
  const FunctionFiles files(samples);
  const Json json = {{"meta", meta(profile, name)},
                     {"libs", libraries(profile, samples)},
                     {"pages", Json::array()},
                     {"threads", samples.with_callers ? threads_of_scopes(samples, files)
                                                      : one_thread(samples, files, name)}};
  return json.dump(-1) + "\n";
}

}  // namespace pctally
