// A LiveTable as lines of text for a screen of any size, or for a pipe. Every name passes through escaped().
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "report/live/live.h"
#include "report/names/shown_names.h"

namespace pctally {

enum class LineStyle { kPlain, kTitle, kHeader, kSelected, kUp, kDown, kWarning, kKeys };

struct LiveLine {
  LineStyle style = LineStyle::kPlain;
  std::string text;  ///< UTF-8, at most `width` characters
};

struct LiveTextOptions {
  NameStyle names = NameStyle::kShort;
  size_t width = 0;            ///< 0: nothing is cut
  size_t rows = 0;             ///< most rows of the table; 0: all
  size_t first = 0;            ///< rows scrolled over
  size_t selected = SIZE_MAX;  ///< row that is marked
  std::vector<std::string> beneath =
      {};                    ///< lines between the table and the ledger: what is to be said of it
  bool ascii = false;        ///< for a terminal that knows nothing else
  std::string state = {};    ///< one word: "recording", "ended", ...
  std::string filter = {};   ///< as it is typed
  std::string message = {};  ///< takes the place of the warnings; may hold names
};

/// What is there whatever the table holds: title, account of the window, message, column titles, ledger.
inline constexpr size_t kFixedLiveLines = 5;

/// The title, the window, a message or the gravest warning, the table with its titles, the ledger.
std::vector<LiveLine> live_text(const Profile& profile, const LiveTable& table,
                                const LiveTextOptions& options);

/// What the columns mean and the keys do.
std::vector<LiveLine> live_help(const LiveTextOptions& options);

}  // namespace pctally
