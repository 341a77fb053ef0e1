// Names for a recording that has ended: put into its file by a process of their own.
#pragma once
#include <functional>
#include <string>

#include "object/symbolizer.h"
#include "recorder/recording.h"
#include "report/names/object_names.h"

namespace pctally {

/// Adds the names of everything hit to the closed `file`, which `profile` is loaded from. Takes at most a
/// second. A signal that asks to end ends it at once: the file is then what it was, and a line says so. Where
/// an object's file system does not answer, it takes a second more and leaves the object out, and a line says
/// so. True if a file system did not answer.
///
/// Executables are read by a child process, because they may be large, damaged or another user's.
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
