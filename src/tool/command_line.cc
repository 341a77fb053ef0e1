#include "tool/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "base/write_all.h"
#include "tool/command.h"
#include "tool/message.h"
#include "tool/suggest.h"

namespace pctally {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

/// "--frequency (-F)"
std::string both_names(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  if (option == nullptr || option->get_snames().empty() || name[1] != '-') return name;
  return fmt::format("{} (-{})", name, option->get_snames()[0]);
}

std::vector<std::string> long_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// The library's "--limit: many: not a number" as "--limit many: not a number".
std::string without_colon(std::string text) {
  size_t colon = text.find(": ");
  if (colon != std::string::npos) text.erase(colon, 1);
  return text;
}

std::string needs_value(const CLI::App& app, const std::string& what, const CommandLineHints& hints) {
  std::string name = what.substr(0, what.find(':'));
  if (auto hint = hints.missing.find(name); hint != hints.missing.end()) return hint->second;
  if (what.find("missing") == std::string::npos) return name + " was given twice";
  return fmt::format("{} needs a value; see {} --help", both_names(app, name), app.get_name());
}

int complain_of_extras(const CLI::App& app, const CommandLineHints& hints) {
  std::vector<std::string> extras = app.remaining();
  for (const std::string& word : extras)
    if (is_option(word)) return complain_of_option(app, word, hints);
  std::string word = extras.empty() ? "" : extras[0];
  if (hints.surplus.empty())
    complain("{} is one word too many; see {} --help", word, app.get_name());
  else
    complain("{}", fmt::format(fmt::runtime(hints.surplus), word));
  return kExitUsage;
}

}  // namespace

std::optional<int> parse_command_line(CLI::App& app, int argc, char** argv, const CommandLineHints& hints) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return write_out(app.help());
  } catch (const CLI::ExtrasError&) {
    return complain_of_extras(app, hints);
  } catch (const CLI::ArgumentMismatch& error) {
    complain("{}", needs_value(app, error.what(), hints));
    return kExitUsage;
  } catch (const CLI::ValidationError& error) {
    complain("{}", without_colon(error.what()));
    return kExitUsage;
  } catch (const CLI::ParseError& error) {
    complain("{}; see {} --help", error.what(), app.get_name());
    return kExitUsage;
  }
  return std::nullopt;
}

int complain_of_option(const CLI::App& app, const std::string& word, const CommandLineHints& hints) {
  std::string name = word.substr(0, word.find('='));
  std::string near = name.size() > 2 ? nearest(name, long_options(app)) : "";
  if (auto hint = hints.unknown.find(name); hint != hints.unknown.end())
    complain("{}: {}", name, hint->second);
  else if (!near.empty())
    complain("no option {}; did you mean {}?", name, both_names(app, near));
  else
    complain("no option {}; see {} --help", name, app.get_name());
  return kExitUsage;
}

CLI::Validator number_from_to(double low, double high) {
  auto wrong = [low, high](const std::string& text) -> std::string {
    char* end = nullptr;
    double value = strtod(text.c_str(), &end);
    bool number = end != text.c_str() && *end == '\0';
    if (number && value >= low && value <= high) return "";
    return fmt::format("{}: not a number from {} to {}", text, low, high);
  };
  return {wrong, ""};
}

void add_names_option(CLI::App& app, std::string& names) {
  app.add_option("--names", names, "How functions are called: short (default), full, or linkage (the symbol)")
      ->check(one_of({"short", "full", "linkage"}))
      ->option_text("STYLE");
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    const char* before = i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += before + words[i];
  }
  return text;
}

CLI::Validator one_of(std::vector<std::string> words) {
  auto wrong = [words = std::move(words)](const std::string& text) -> std::string {
    for (const std::string& word : words)
      if (text == word) return "";
    std::string near = nearest(text, words);
    if (near.empty()) return fmt::format("{}: choose {}", text, listed(words));
    return fmt::format("{}: did you mean {}? (choose {})", text, near, listed(words));
  };
  return {wrong, ""};
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

size_t terminal_width() {
  struct winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int write_out(std::string_view text) {
  if (write_all(STDOUT_FILENO, text.data(), text.size())) return 0;
  complain("cannot write to standard output: {}", strerror(errno));
  return kExitFailed;
}

int write_file(const std::string& path, const std::string& bytes) {
  UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (fd.valid() && write_all(fd.get(), bytes.data(), bytes.size()) && close(fd.release()) == 0) return 0;
  complain("cannot write {}: {}", path, strerror(errno));
  return kExitFailed;
}

}  // namespace pctally
