// The live view's terminal. The only user of curses; built without it, there is none and top
// prints plain lines.
#pragma once
#include <memory>
#include <optional>

#include "base/result.h"
#include "report/live/live_text.h"

namespace pctally {

class Screen {
 public:
  /// Null where there is no curses, no terminal on both standard input and output, or a TERM it does not
  /// know. The terminal is as it was once the Screen is gone.
  static std::unique_ptr<Screen> open();
  virtual ~Screen() = default;

  [[nodiscard]] virtual size_t width() const = 0;
  [[nodiscard]] virtual size_t height() const = 0;
  [[nodiscard]] virtual bool ascii() const = 0;

  /// The next key pressed (tool/top/keys.h), without waiting.
  virtual std::optional<unsigned> key() = 0;
  /// Call it after this program was stopped: another one has used the terminal. REQUIRES: resize() and draw()
  /// next.
  virtual void take_back() = 0;
  /// The terminal has another size now.
  virtual void resize() = 0;
  virtual void draw(const std::vector<LiveLine>& lines) = 0;
};

}  // namespace pctally
