#include "task/process_rows.h"

#include <string.h>

#include <algorithm>

#include "base/text_field.h"
#include "histfile/histogram.h"
#include "tick/wide_counter.h"

namespace pctally {
namespace {

constexpr uint32_t kFoldedFrom = kMostProcesses / 2;

ProcessRecord* record_at(const ProfileFile& file, uint32_t unit) {
  return pool_at<ProcessRecord>(file.pool(), unit);
}

}  // namespace

uint32_t ProcessRows::add(pid_t pid, pid_t parent, std::string_view comm) {
  uint32_t unit = made_ < kFoldedFrom ? 0 : take_ended();
  if (unit == 0) {
    ++made_;
    return add_process(*file_, pid, parent, comm, engine_);
  }
  ProcessRecord* record = record_at(*file_, unit);
  record->pid = pid;
  record->parent = parent;
  record->note = ProcessNote::kNone;
  record->flags = kProcessObserved;
  record->cpu_ns = 0;
  record->started_ns = monotonic_ns();
  memset(record->engine, 0, sizeof record->engine);
  memcpy(record->engine, engine_.data(), std::min(engine_.size(), sizeof record->engine - 1));
  rename_process(record, comm);
  return unit;
}

/// Adds the process that ended first to its program's row. The first of a program becomes that row itself.
uint32_t ProcessRows::take_ended() {
  while (!ended_.empty()) {
    uint32_t unit = ended_.front();
    ended_.pop_front();
    ProcessRecord* record = record_at(*file_, unit);
    auto [row, added] = programs_.try_emplace(field_text(record->comm), unit);
    if (added) {
      record->pid = record->parent = 0;
      record->note = ProcessNote::kEnded;
      continue;
    }
    uint64_t ticks = load_relaxed(&record->ticks);
    add_relaxed(&record_at(*file_, row->second)->ticks, ticks);
    add_relaxed(&record->ticks, -ticks);
    return unit;
  }
  return 0;
}

/// One with a note of its own keeps its row.
void ProcessRows::end(uint32_t unit) {
  if (unit != 0 && record_at(*file_, unit)->note == ProcessNote::kNone) ended_.push_back(unit);
}

void ProcessRows::rename(uint32_t unit, std::string_view comm) {
  if (unit == 0) return;
  ProcessRecord* record = record_at(*file_, unit);
  if (record->note != ProcessNote::kTogether) rename_process(record, comm);
}

}  // namespace pctally
