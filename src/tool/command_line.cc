#include "tool/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/file/new_file.h"
#include "base/file/write_all.h"
#include "base/unique_fd.h"
#include "report/print/ascii.h"
#include "report/print/escape.h"
#include "tool/command.h"
#include "tool/foreign_options.h"
#include "tool/load_profiles.h"
#include "tool/terminal/message.h"
#include "tool/terminal/progress_line.h"
#include "tool/terminal/suggest.h"

namespace pctally {
namespace {

constexpr size_t kRoomForWords = 95;  ///< of a message of one line, behind the name of its option

Error cannot_write(const std::string& path) {
  return fail(errno, "cannot write %s: %s", path.c_str(), strerror(errno)).error();
}

/// What is at `path` loses its bytes at once: for devices, pipes, links.
Error write_into(const std::string& path, const std::string& bytes) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  const bool written =
      fd.valid() && write_all(fd.get(), bytes.data(), bytes.size()) && close(fd.release()) == 0;
  return written ? Error{} : cannot_write(path);
}

mode_t mode_of_new_files() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

/// A file that has the name stays as it is until the new one is whole, which takes its owner and mode.
Error replace_file(const std::string& path, const struct stat* old, const std::string& bytes) {
  auto file =
      NewFile::create({.path = path.c_str(), .overwrite = true, .may_replace = [](int) { return true; }});
  if (!file) return file.error();
  if (old != nullptr) (void)!fchown(file->fd(), old->st_uid, old->st_gid);
  const mode_t mode = old != nullptr ? old->st_mode & 07777 : mode_of_new_files();
  Error error;
  if (!write_all(file->fd(), bytes.data(), bytes.size()) || fchmod(file->fd(), mode) != 0)
    error = cannot_write(path);
  else if (auto placed = file->place(); !placed)
    error = placed.error();
  if (error.code != 0) file->discard();
  file->close();
  return error;
}

/// Says what is wrong, if something is.
int status_after(const Error& error) {
  if (error.code == 0) return 0;
  complain("{}", error.text);
  return kExitFailed;
}

/// As the library reads it: behind a leading 0 it takes digits for octal ones.
bool is_whole_number(const std::string& word) {
  constexpr size_t kDigits = 18;  // that always fit in 64 bits
  return is_number(word) && word.size() <= kDigits && (word == "0" || word[0] != '0');
}

}  // namespace

bool is_number(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}

WordCheck number_from_to(double low, double high) {
  return [low, high](const std::string& text) -> std::string {
    char* end = nullptr;
    double value = strtod(text.c_str(), &end);
    bool number = end != text.c_str() && *end == '\0';
    if (number && value >= low && value <= high) return "";
    return fmt::format("{}: not a number from {} to {}", text, low, high);
  };
}

WordCheck whole_number_from_to(uint64_t low, uint64_t high) {
  return [low, high](const std::string& word) -> std::string {
    if (is_whole_number(word) && std::stoull(word) >= low && std::stoull(word) <= high) return "";
    return fmt::format("{}: not a whole number from {} to {}", word, low, high);
  };
}

uint64_t bytes_of(const std::string& text) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit = text.substr(digits);
  double bytes = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, bytes);
  if (error != std::errc() || end != text.data() + digits) return 0;
  const std::vector<std::string> units = {"", "K", "M", "G"};
  const auto known = std::ranges::find(units, unit);
  if (known == units.end()) return 0;
  bytes = std::ldexp(bytes, 10 * static_cast<int>(known - units.begin()));
  return bytes < 0x1p64 ? static_cast<uint64_t>(bytes) : 0;
}

std::string number_of_rows(const std::string& word) {
  return is_whole_number(word) ? "" : word + ": not a number of rows; write 20, or 0 for all";
}

void add_names_option(OptionParser& app, std::string& names) {
  app.add_option("--names", names)->check(one_of({"short", "full", "linkage"}));
}

void add_by_option(OptionParser& app, std::string& by) {
  app.add_option("--by", by)->check(one_of({"function", "object", "line", "process", "command", "program"}));
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += before + words[i];
  }
  return text;
}

std::string profile_to_write(const std::string& path) {
  struct stat status;
  const bool link = lstat(path.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
  const bool special = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
  if (link && !special) return path + ": a link, which a profile does not replace; name the file itself";
  if (path != "-" && !special) return {};
  return path + ": a profile must be a regular file; write one, as -o work.pct, then pctally export";
}

WordCheck one_of(std::vector<std::string> words) {
  return [words = std::move(words)](const std::string& text) -> std::string {
    for (const std::string& word : words)
      if (text == word) return "";
    std::string near = own_word(text);
    if (std::find(words.begin(), words.end(), near) == words.end()) near = nearest(text, words);
    if (near.empty()) return fmt::format("{}: choose {}", text, listed(words));
    const std::string meant = fmt::format("{}: did you mean {}?", text, near), all = listed(words);
    return meant.size() + all.size() <= kRoomForWords ? fmt::format("{} (choose {})", meant, all) : meant;
  };
}

void let_writes_fail() {
  for (int writing : {SIGPIPE, SIGXFSZ}) signal(writing, SIG_IGN);
}

void let_writes_kill() {
  for (int writing : {SIGPIPE, SIGXFSZ}) signal(writing, SIG_DFL);
}

bool wants_color(const std::string& when) {
  if (when != "auto") return when == "always";
  auto is_set = [](const char* name) { return getenv(name) != nullptr && *getenv(name) != 0; };
  if (is_set("NO_COLOR")) return false;
  if (is_set("CLICOLOR_FORCE") && strcmp(getenv("CLICOLOR_FORCE"), "0") != 0) return true;
  return isatty(STDOUT_FILENO) != 0 && is_set("TERM") && strcmp(getenv("TERM"), "dumb") != 0;
}

std::string of_objects(const std::string& object) {
  return object.empty() ? "" : " in objects of --object " + object;
}

void say_part(const std::string& which, const std::string& asked, const std::string& found) {
  constexpr size_t kLeast = 20;  ///< of a name
  const std::string start = escaped(fmt::format("no function {} is called {}; only ", which, asked)),
                    end = " has that in its name";
  const size_t used = width_of(start) + width_of(end);
  const size_t room = used + kLeast < kLongestMessage ? kLongestMessage - used : kLeast;
  say_line(start + elided_name(escaped(found), room) + end, Importance::kNormal);
}

void name_damage(const std::vector<std::string>& damage, const std::string& file) {
  if (!damage.empty()) complain("{} is damaged: {}; what follows is incomplete", file, damage.front());
}

int exit_code_of(bool is_damaged, int code) { return code == 0 && is_damaged ? kExitInput : code; }

size_t terminal_width() {
  struct winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string in_locale(std::string text) { return locale_is_utf8() ? std::move(text) : in_ascii(text); }

int write_out(std::string_view text) {
  ProgressLine::show("");
  if (write_all(STDOUT_FILENO, text.data(), text.size())) return 0;
  // Whoever reads may have seen enough.
  if (errno != EPIPE) complain("cannot write to standard output: {}", strerror(errno));
  return kExitFailed;
}

int write_file(const std::string& path, const std::string& bytes) {
  if (is_source_of_profiles(path)) {
    complain("{} is a profile, which is not replaced; name another file", path);
    return kExitFailed;
  }
  ProgressLine::show("writing " + path);
  struct stat old;
  const bool exists = lstat(path.c_str(), &old) == 0;
  Error error;
  if (!exists || S_ISREG(old.st_mode)) {
    error = replace_file(path, exists ? &old : nullptr, bytes);
    // No new file can be made beside it, or it is mounted by itself.
    if (!exists || (error.code != EACCES && error.code != EBUSY)) return status_after(error);
  }
  return status_after(write_into(path, bytes));
}

}  // namespace pctally
