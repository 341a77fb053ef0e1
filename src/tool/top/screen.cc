#include "tool/top/screen.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1  // its macros are called erase, move, timeout ...
#include <curses.h>

#include "tool/top/keys.h"

namespace pctally {
namespace {

enum Pair : short { kRed = 1, kYellow };

struct Drawn {
  wchar_t text[1024];
  int characters = 0;
};

/// What fits into `width` columns. Characters of no or unknown width, which escaped() leaves none
/// of, are dropped.
Drawn fitting(const std::string& text, int width) {
  Drawn drawn;
  mbstate_t state{};
  const char* at = text.data();
  size_t left = text.size();
  for (int column = 0; left > 0 && drawn.characters < 1023;) {
    wchar_t character = 0;
    size_t bytes = mbrtowc(&character, at, left, &state);
    bool valid = bytes != 0 && bytes <= left;
    if (!valid) {
      character = L'?';
      bytes = 1;
      state = {};
    }
    int columns = wcwidth(character);
    if (columns < 0) columns = 0;
    if (column + columns > width) break;
    if (columns > 0) drawn.text[drawn.characters++] = character;
    column += columns;
    at += bytes;
    left -= bytes;
  }
  return drawn;
}

unsigned translated(wint_t key) {
  switch (key) {
    case KEY_UP:
      return kKeyUp;
    case KEY_DOWN:
      return kKeyDown;
    case KEY_PPAGE:
      return kKeyPageUp;
    case KEY_NPAGE:
      return kKeyPageDown;
    case KEY_HOME:
      return kKeyHome;
    case KEY_BACKSPACE:
    case KEY_DC:
      return kKeyBackspace;
    case KEY_ENTER:
      return kKeyEnter;
    default:
      return 0;
  }
}

class CursesScreen : public Screen {
 public:
  explicit CursesScreen(SCREEN* screen) : screen_(screen) {
    ascii_ = strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
    cbreak();
    noecho();
    nonl();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    set_escdelay(50);
    curs_set(0);
    const char* no_color = getenv("NO_COLOR");
    colors_ = (no_color == nullptr || *no_color == 0) && has_colors();
    if (!colors_) return;
    start_color();
    use_default_colors();
    init_pair(kRed, COLOR_RED, -1);
    init_pair(kYellow, COLOR_YELLOW, -1);
  }
  ~CursesScreen() override {
    endwin();
    delscreen(screen_);
  }

  [[nodiscard]] size_t width() const override { return static_cast<size_t>(getmaxx(stdscr)); }
  [[nodiscard]] size_t height() const override { return static_cast<size_t>(getmaxy(stdscr)); }
  [[nodiscard]] bool ascii() const override { return ascii_; }

  std::optional<unsigned> key() override {
    wint_t key = 0;
    int kind = get_wch(&key);
    while (kind == KEY_CODE_YES && key == KEY_RESIZE) kind = get_wch(&key);  // of resize(), nobody's key
    if (kind == ERR) return std::nullopt;
    return kind == KEY_CODE_YES ? translated(key) : static_cast<unsigned>(key == L'\r' ? L'\n' : key);
  }

  /// SIGSTOP gives no time to hand the terminal over, as curses does at SIGTSTP: it is done now. The next
  /// refresh() sets its modes again and enters the screen for programs.
  void take_back() override { endwin(); }

  void resize() override {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0)
      resizeterm(size.ws_row, size.ws_col);
    clearok(stdscr, TRUE);
  }

  void draw(const std::vector<LiveLine>& lines) override {
    erase();
    int bottom = getmaxy(stdscr), columns = getmaxx(stdscr);
    for (int y = 0; y < bottom && static_cast<size_t>(y) < lines.size(); ++y) {
      const LiveLine& line = lines[static_cast<size_t>(y)];
      attr_t look = attributes(line.style);
      Drawn drawn = fitting(line.text, columns);
      attron(static_cast<int>(look));
      mvaddnwstr(y, 0, drawn.text, drawn.characters);
      attroff(static_cast<int>(look));
    }
    refresh();
  }

 private:
  [[nodiscard]] attr_t attributes(LineStyle style) const {
    switch (style) {
      case LineStyle::kTitle:
      case LineStyle::kHeader:
        return A_BOLD;
      case LineStyle::kSelected:
        return A_REVERSE;
      case LineStyle::kUp:
        return colors_ ? COLOR_PAIR(kYellow) : A_BOLD;
      case LineStyle::kWarning:
        return A_BOLD | (colors_ ? COLOR_PAIR(kRed) : 0);
      case LineStyle::kDown:
      case LineStyle::kKeys:
        return A_DIM;
      default:
        return A_NORMAL;
    }
  }

  SCREEN* screen_;
  bool colors_ = false;
  bool ascii_ = false;
};

}  // namespace

std::unique_ptr<Screen> Screen::open() {
  const char* terminal = getenv("TERM");
  if (isatty(STDIN_FILENO) == 0 || isatty(STDOUT_FILENO) == 0) return nullptr;
  if (terminal == nullptr || *terminal == 0 || strcmp(terminal, "dumb") == 0) return nullptr;
  setlocale(LC_CTYPE, "");
  SCREEN* screen = newterm(nullptr, stdout, stdin);
  if (screen == nullptr) return nullptr;
  set_term(screen);
  return std::make_unique<CursesScreen>(screen);
}

}  // namespace pctally
