// A copy of a growing profile file, written as a file of its own that is closed and whose account is exact.
#pragma once
#include "histread/live_file.h"

namespace pctally {

/// Turns a copy of a live file into the bytes of a closed one: its ledger's counted is the sum of its cells,
/// ended_ns is the moment the copy covers, and `snapshot` says what it is. What was copied from a file closed
/// before stays as it is; from one its recorder left unclosed, only the account is settled.
void close_copy(FileCopy* copy);

/// Writes it with mode 0600. The header goes last: nobody mistakes half a file for a whole one. Errors:
/// EEXIST without `overwrite`, EINVAL where the file is `source` itself, whatever open(2) and write(2) say
/// (nothing is left behind).
Result<void> write_snapshot(const FileCopy& copy, const LiveFile& source, const char* path, bool overwrite);

}  // namespace pctally
