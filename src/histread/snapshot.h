// A copy of a growing profile file, written as a file of its own that is closed and whose account is exact.
#pragma once
#include <span>

#include "histread/live_file.h"

namespace pctally {

/// Turns a copy of a live file into the bytes of a closed one: its ledger's counted is the sum of its cells,
/// ended_ns is the moment the copy covers, and `snapshot` says what it is. What was copied from a file closed
/// before stays as it is; from one its recorder left unclosed, only the account is balanced.
void close_copy(FileCopy* copy);

/// Writes it with mode 0600, under its name once it is whole and on the disk (base/file/new_file.h). Errors:
/// those of NewFile::create, EINVAL where the file is `source` itself, those of write(2) and fsync(2)
/// (nothing is left behind, and an older file stays).
Result<void> write_snapshot(const FileCopy& copy, const LiveFile& source, const char* path, bool overwrite);

/// The bytes of a closed profile file under that name, as write_snapshot() does.
Result<void> write_profile(std::span<const unsigned char> bytes, const char* path, bool overwrite);

}  // namespace pctally
