// Processes as the kernel's records tell them, and what a task table makes of these. For tests only.
#pragma once
#include <gtest/gtest.h>
#include <string.h>

#include <map>
#include <string>

#include "histfile/call_paths.h"
#include "histfile/fresh_file_for_test.h"
#include "histfile/path_nodes_for_test.h"
#include "task/task_table.h"

namespace pctally {

inline constexpr pid_t kPid = 0x7ff00001, kChild = 0x7ff00002,
                       kNobody = 0x7ff00003;  // above pid_max: /proc knows nothing of them

class TaskRecordsTest : public testing::Test {
 protected:
  TaskRecordsTest() { use(TaskTable::Unknown::kIgnore); }

  void use(TaskTable::Unknown unknown_processes) { tasks_ = TaskTable(&file_, "ring", unknown_processes); }

  void exec(pid_t pid, const char* comm) {
    tasks_.apply({.kind = PerfRecord::Kind::kComm, .exec = true, .pid = pid, .tid = pid}, comm);
  }
  void map(pid_t pid, uint64_t start, const char* path) {
    tasks_.apply(
        {.kind = PerfRecord::Kind::kMmap, .executable = true, .pid = pid, .start = start, .bytes = 0x1000},
        path);
  }
  void fork(pid_t parent, pid_t child) {
    tasks_.apply({.kind = PerfRecord::Kind::kFork, .pid = child, .tid = child, .parent = parent}, "");
  }
  /// And long enough ago for the process to be forgotten.
  void end(pid_t pid) {
    exit(pid);
    exit(kNobody);
  }
  void exit(pid_t pid) {
    time_ += 2000000000;
    tasks_.apply({.kind = PerfRecord::Kind::kExit, .pid = pid, .tid = pid, .time = time_}, "");
  }
  /// Keeps ticks apart, without call paths.
  void keep(ScopeKind kind) {
    ASSERT_TRUE(add_call_paths(&file_, {.context_bytes = 64 << 10, .plane_bytes = 0}));
    tasks_.keep_scopes(kind, false);
  }
  void start_thread(pid_t pid, pid_t by, pid_t tid) {
    tasks_.apply(
        {.kind = PerfRecord::Kind::kFork, .pid = pid, .tid = tid, .parent = pid, .parent_thread = by}, "");
  }
  void rename(pid_t pid, pid_t tid, const char* name) {
    tasks_.apply({.kind = PerfRecord::Kind::kComm, .pid = pid, .tid = tid}, name);
  }
  bool count_in(pid_t pid, pid_t tid, uint64_t pc) { return tasks_.count({pid, tid}, pc, false, {}); }
  /// "program thread" -> ticks below its scope.
  std::map<std::string, uint64_t> scopes() {
    std::map<std::string, uint64_t> ticks;
    const Pool pool = file_.pool();
    const std::map<uint32_t, PathNode> nodes = nodes_of(pool, call_paths(file_)->context);
    for (const auto& [number, node] : nodes) {
      uint32_t root = number;
      while (nodes.at(root).parent != 0) root = nodes.at(root).parent;
      ticks[scope_name(pool, static_cast<uint32_t>(nodes.at(root).place))] += node.self + node.folded;
    }
    return ticks;
  }
  static std::string scope_name(const Pool& pool, uint32_t unit) {
    if (unit == 0) return "unknown";
    const auto* scope = pool_at<ScopeRecord>(pool, unit);
    const auto* text = pool_at<StringRecord>(pool, scope->name);
    std::string name(reinterpret_cast<const char*>(text + 1), text->bytes);
    const char* thread = reinterpret_cast<const char*>(scope) + offsetof(ScopeRecord, device);
    if (scope->kind == ScopeKind::kThread) name.append(" ").append(thread, strnlen(thread, kThreadNameBytes));
    return name;
  }
  bool count(pid_t pid, uint64_t pc) { return tasks_.count(pid, pc, false, 1); }

  /// "path" -> sum of the ticks in its segments' cells, for objects that have any segment.
  uint64_t ticks_in(const std::string& path) {
    uint64_t sum = 0;
    Pool pool = file_.pool();
    for (uint32_t unit = file_.header().objects; unit != 0; unit = pool_at<ObjectRecord>(pool, unit)->next) {
      const auto* text = pool_at<StringRecord>(pool, pool_at<ObjectRecord>(pool, unit)->path);
      if (std::string(reinterpret_cast<const char*>(text + 1), text->bytes) != path) continue;
      for (uint32_t at = pool_at<ObjectRecord>(pool, unit)->segments; at != 0;
           at = pool_at<SegmentRecord>(pool, at)->next)
        sum += ticks_of(pool, *pool_at<SegmentRecord>(pool, at));
    }
    return sum;
  }
  static uint64_t ticks_of(const Pool& pool, const SegmentRecord& segment) {
    uint64_t sum = 0;
    for (uint64_t byte = 0; byte < 0x1000 && byte < segment.bytes; ++byte)
      sum += *tree_cell(pool, segment.directory, byte);
    return sum;
  }
  const ProcessRecord* process(pid_t pid) { return fresh_.process(pid); }

  FreshFile fresh_{{.bytes = sizeof(void*) < 8 ? 16 << 20 : kInitialBytes}};  // it does not grow on 32 bits
  ProfileFile& file_ = fresh_.file();
  TaskTable tasks_;
  uint64_t time_ = 0;
};

}  // namespace pctally
