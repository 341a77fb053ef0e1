// Names of files that a recording has held open: of containers that are gone, of what was replaced meanwhile.
#pragma once
#include <memory>

#include "object/symbolizer.h"
#include "task/process_files.h"

namespace pctally {

/// Opens an executable as it lies on disk; if that is not the one that ran, by the descriptor that `files`
/// holds of it. It replaces how this process opens files (set_file_opener()): call it in a process of its
/// own.
std::unique_ptr<Symbolizer> open_held(const ProcessFiles& files, const ExecutableIdentity& identity);

}  // namespace pctally
