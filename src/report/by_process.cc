#include <map>
#include <set>

#include "report/rollup.h"

namespace pctally {

std::vector<Row> rows_by_process(const Profile& profile) {
  std::vector<Row> rows;
  for (const ProfileProcess& process : profile.processes) {
    Row row;
    row.process = process.comm;
    row.pid = process.pid;
    row.note = process.note;
    row.ticks = process.ticks;
    rows.push_back(std::move(row));
  }
  return rows;
}

/// A row of the file may stand for any number of processes: then their number is not known. A process that
/// executed a program may have two rows: one before, one after. Processes of several runs may have one
/// number.
std::vector<Row> rows_by_command(const Profile& profile) {
  std::map<std::string, Row> rows;
  std::set<std::string> uncounted;
  std::set<std::pair<int32_t, std::string>> seen;
  const bool one_run = profile.runs.size() <= 1;
  for (const ProfileProcess& process : profile.processes) {
    Row& row = rows[process.comm];
    row.process = process.comm;
    row.ticks += process.ticks;
    if (seen.emplace(process.pid, process.comm).second || !one_run) ++row.processes;
    if (process.pid == 0) uncounted.insert(process.comm);
  }
  std::vector<Row> result;
  for (auto& [comm, row] : rows) {
    if (uncounted.contains(comm)) row.processes = 0;
    result.push_back(std::move(row));
  }
  return result;
}

}  // namespace pctally
