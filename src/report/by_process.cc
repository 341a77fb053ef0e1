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

}  // namespace pctally
