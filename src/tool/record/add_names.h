// Names for a recording that has ended: put into its file by a process of their own.
#pragma once
#include <functional>
#include <string>

#include "object/symbolizer.h"
#include "recorder/recording.h"
#include "report/object_names.h"

namespace pctally {

/// Adds the names of everything hit to the closed `file`, which `profile` is loaded from. Takes at
/// most a second, and ends at once with a signal that asks to end: the file is then what it was, and a line
/// says so. A second more where an object's file system does not answer: it is left out, which a line says,
/// too. True then.
///
/// Executables are read by a child process, as they may be large, damaged or somebody else's.
///
/// REQUIRES: signals that ask to end are blocked. `signals` is readable when one has come; `handle` takes it.
bool add_names(const RecordedFile& file, const Profile& profile, int signals,
               const std::function<void()>& handle, const OpenSymbolizer& open = &Symbolizer::open);

/// The same, with signals read here.
bool add_names(const RecordedFile& file, const Profile& profile,
               const OpenSymbolizer& open = &Symbolizer::open);

/// Lets this process end although it holds files of a file system that does not answer: another one closes
/// them, and waits. Nothing can be read or written afterwards.
void leave_files_behind();

}  // namespace pctally
