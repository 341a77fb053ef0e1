// Names of files that a recording has held open: of containers that are gone, of what was replaced meanwhile.
#pragma once
#include <memory>

#include "object/symbolizer.h"
#include "task/process_files.h"

namespace pctally {

/// Opens an executable as it lies on disk; where that is not the one that ran, by the descriptor that is held
/// of it. Files of this process are opened by it from then on (set_file_opener): for a process of its own.
std::unique_ptr<Symbolizer> open_held(const ProcessFiles& files, const ExecutableIdentity& identity);

}  // namespace pctally
