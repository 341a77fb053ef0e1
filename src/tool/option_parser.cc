#include "tool/option_parser.h"

#include <fmt/format.h>
#include <string.h>

#include <CLI/CLI.hpp>

#include "tool/command.h"
#include "tool/command_line.h"
#include "tool/terminal/message.h"
#include "tool/terminal/suggest.h"

namespace pctally {
namespace {

bool is_option(const std::string& word) { return word.size() > 1 && word[0] == '-' && word != "--"; }

/// "-http=:8080", which asks for no help; null: there is none.
const char* one_word_with_h(int argc, char** argv) {
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i)
    if (strncmp(argv[i], "-h", 2) == 0 && argv[i][2] != '\0') return argv[i];
  return nullptr;
}

/// The library's "--limit: many: not a number" as "--limit many: not a number".
std::string without_colon(std::string text) {
  size_t colon = text.find(": ");
  if (colon != std::string::npos) text.erase(colon, 1);
  return text;
}

}  // namespace

Option* Option::check(const WordCheck& check) {
  option_->check(check);
  return this;
}

Option* Option::excludes(const Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::one_value_each() {
  option_->allow_extra_args(false);
  return this;
}

Option* Option::hide() {
  option_->group("");
  return this;
}

OptionParser::OptionParser(const std::string& name) : app_(std::make_unique<CLI::App>("", name)) {}

OptionParser::~OptionParser() = default;

Option* OptionParser::keep(CLI::Option* option) {
  options_.push_back(std::make_unique<Option>(option));
  return options_.back().get();
}

template <class T>
Option* OptionParser::add_option(const std::string& names, T& value) {
  return keep(app_->add_option(names, value));
}

template <class T>
Option* OptionParser::add_flag(const std::string& names, T& value) {
  return keep(app_->add_flag(names, value));
}

void OptionParser::help_page(const char* text) {
  app_->formatter_fn(
      [text](const CLI::App*, const std::string&, CLI::AppFormatMode) { return std::string(text); });
}

void OptionParser::set_help_flag(const std::string& names) { app_->set_help_flag(names); }

void OptionParser::prefix_command() { app_->prefix_command(); }

std::optional<int> OptionParser::parse(int argc, char** argv, const CommandLineHints& hints) {
  if (const std::string name = name_before_nothing(argc, argv); !name.empty()) {
    complain("{}", needs_value(name, hints));
    return kExitUsage;
  }
  if (const std::string name = flag_before_value(argc, argv); !name.empty()) {
    complain("{0} takes no value; write {0} alone", name);
    return kExitUsage;
  }
  try {
    app_->parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    if (const char* word = one_word_with_h(argc, argv)) return complain_of_option(word, hints);
    return write_out(app_->help());
  } catch (const CLI::ExtrasError&) {
    return complain_of_extras(hints);
  } catch (const CLI::ArgumentMismatch& error) {
    complain("{}", mismatch(error.what(), hints));
    return kExitUsage;
  } catch (const CLI::ValidationError& error) {
    complain("{}", without_colon(error.what()));
    return kExitUsage;
  } catch (const CLI::ParseError& error) {
    complain("{}; see {} --help", error.what(), app_->get_name());
    return kExitUsage;
  }
  return refuse_empty_values(hints);
}

bool OptionParser::takes_value(const std::string& name) const {
  const CLI::Option* option = name.size() > 1 && name[0] == '-' ? app_->get_option_no_throw(name) : nullptr;
  return option != nullptr && option->get_items_expected_min() > 0;
}

bool OptionParser::is_flag(const std::string& name) const {
  const CLI::Option* option = app_->get_option_no_throw(name);
  return option != nullptr && option->get_items_expected_max() == 0;
}

std::string OptionParser::first_option(int argc, char** argv, const NameIfWanted& name_if_wanted) const {
  bool is_value = false;
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    const std::string word = argv[i];
    if (!is_value && !is_option(word) && app_->get_prefix_command()) break;
    if (std::string name = is_value || !is_option(word) ? "" : name_if_wanted(word); !name.empty())
      return name;
    is_value = !is_value && takes_value(word);
  }
  return "";
}

/// "--budget" of "--budget=", for which the library would take the next word; empty: there is none.
std::string OptionParser::name_before_nothing(int argc, char** argv) const {
  return first_option(argc, argv, [this](const std::string& word) {
    const std::string name = word.substr(0, word.size() - 1);
    return word.ends_with('=') && takes_value(name) ? name : "";
  });
}

/// "-g" of "-g=dwarf", for which the library would complain of "-"; empty: there is none.
std::string OptionParser::flag_before_value(int argc, char** argv) const {
  return first_option(argc, argv, [this](const std::string& word) {
    const std::string name = word.substr(0, 2);
    return word.find('=') == 2 && is_flag(name) ? name : "";
  });
}

/// A variable of a script that is not set would else mean that the option was not given.
std::optional<int> OptionParser::refuse_empty_values(const CommandLineHints& hints) const {
  for (const CLI::Option* option : app_->parse_order()) {
    const std::vector<std::string>& values = option->results();
    if (std::find(values.begin(), values.end(), "") == values.end()) continue;
    const std::string name = option->get_name();
    if (option->get_positional())
      complain("an empty word stands where {} is expected; see {} --help", name, app_->get_name());
    else
      complain("{}", needs_value(name, hints));
    return kExitUsage;
  }
  return std::nullopt;
}

bool OptionParser::is_last(const std::string& option, const std::string& other) const {
  bool last = false;
  for (const CLI::Option* parsed : app_->parse_order()) {
    if (parsed == app_->get_option_no_throw(option)) last = true;
    if (parsed == app_->get_option_no_throw(other)) last = false;
  }
  return last;
}

std::vector<std::string> OptionParser::remaining() const { return app_->remaining(); }

int OptionParser::complain_of_option(const std::string& word, const CommandLineHints& hints) const {
  std::string name = word.substr(0, word.find('='));
  std::string near = name.size() > 2 ? nearest(name, long_options()) : "";
  if (auto hint = hints.unknown.find(name); hint != hints.unknown.end())
    complain("{}: {}", name, hint->second);
  else if (!near.empty())
    complain("no option {}; did you mean {}?", name, both_names(near));
  else
    complain("no option {}; see {} --help", name, app_->get_name());
  return kExitUsage;
}

/// "--frequency (-F)"
std::string OptionParser::both_names(const std::string& name) const {
  const CLI::Option* option = app_->get_option_no_throw(name);
  if (option == nullptr || option->get_snames().empty() || name[1] != '-') return name;
  return fmt::format("{} (-{})", name, option->get_snames()[0]);
}

std::vector<std::string> OptionParser::long_options() const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

std::string OptionParser::needs_value(const std::string& name, const CommandLineHints& hints) const {
  if (auto hint = hints.missing.find(name); hint != hints.missing.end()) return hint->second;
  return fmt::format("{} needs a value; see {} --help", both_names(name), app_->get_name());
}

/// The library's "--limit: 1 required INT missing", or "--limit: At Most 1 required but received 2".
std::string OptionParser::mismatch(const std::string& what, const CommandLineHints& hints) const {
  const std::string name = what.substr(0, what.find(':'));
  const bool twice = what.find("received") != std::string::npos;
  if (!twice) return needs_value(name, hints);
  const auto hint = hints.twice.find(name);
  return name + " was given twice" + (hint == hints.twice.end() ? "" : "; write " + hint->second);
}

int OptionParser::complain_of_extras(const CommandLineHints& hints) const {
  std::vector<std::string> extras = app_->remaining();
  for (const std::string& word : extras)
    if (is_option(word)) return complain_of_option(word, hints);
  std::string word = extras.empty() ? "" : extras[0];
  if (hints.surplus.empty())
    complain("{} is one word too many; see {} --help", word, app_->get_name());
  else
    complain("{}", fmt::format(fmt::runtime(hints.surplus), word));
  return kExitUsage;
}

template Option* OptionParser::add_flag(const std::string&, bool&);
template Option* OptionParser::add_flag(const std::string&, std::string&);
template Option* OptionParser::add_option(const std::string&, std::string&);
template Option* OptionParser::add_option(const std::string&, std::vector<std::string>&);
template Option* OptionParser::add_option(const std::string&, int&);
template Option* OptionParser::add_option(const std::string&, size_t&);
template Option* OptionParser::add_option(const std::string&, double&);
template Option* OptionParser::add_option(const std::string&, std::optional<std::string>&);
template Option* OptionParser::add_option(const std::string&, std::optional<size_t>&);
template Option* OptionParser::add_option(const std::string&, std::optional<double>&);

}  // namespace pctally
