// Finds out whether engine "bpf" works here, and if not, why not and what to do about it.
#pragma once
#include "recorder/engine/engine.h"

namespace pctally {

/// The engine's probe of the ladder.
EngineProbe probe_bpf();

/// Marks an available probe as not available if the kernel refuses the program itself, as kernels before 5.15
/// do.
void load_bpf(EngineProbe* probe);

}  // namespace pctally
