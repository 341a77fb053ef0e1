// Does engine "bpf" work here, and if not, why not and what to do about it.
#pragma once
#include "recorder/engine/engine.h"

namespace pctally {

/// The engine's probe of the ladder.
EngineProbe probe_bpf();

/// Makes an available probe one that is not if the kernel refuses the program itself, as those
/// before 5.15 do.
void load_bpf(EngineProbe* probe);

}  // namespace pctally
