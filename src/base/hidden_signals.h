// The signals that our ticks come with while a clock runs: the program is not to see them, and no code of
// ours keeps them waiting.
#pragma once

namespace pctally {

/// From now on, until reveal_signals().
void hide_signal(int signal) noexcept;
void reveal_signals() noexcept;

/// By bit (signal - 1); 0: none. Async-signal-safe.
[[nodiscard]] unsigned long long hidden_signals() noexcept;

}  // namespace pctally
