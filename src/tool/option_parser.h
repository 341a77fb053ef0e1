// The options of a subcommand: their names, where their values go, and the parsing of a command line.
//
// The library that parses is seen by option_parser.cc alone: a file that includes it takes ten
// seconds to compile.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): the library's
class App;
class Option;
}  // namespace CLI

namespace pctally {

/// An empty string for a word that an option takes, or what is wrong with it.
using WordCheck = std::function<std::string(const std::string& word)>;

/// What a subcommand knows better than the parser.
struct CommandLineHints {
  std::string surplus;                         ///< about a word too many, after it
  std::map<std::string, std::string> unknown;  ///< options it does not have, and what to say of them
  std::map<std::string, std::string> missing;  ///< options without their value: "--pid" and what to say
  std::map<std::string, std::string> twice{};  ///< options given twice: "--pid" and what to write instead
};

/// Hints about -p LIST, which record and top have: it is missing, or given twice.
inline constexpr char kNoProcess[] =
    "-p needs a process id or name and got none; is the program running? ($(pidof NAME) was empty)";
inline constexpr char kOneList[] = "-p PID,PID";

/// One option; its parser owns it.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}
  Option* check(const WordCheck& check);
  Option* excludes(const Option* other);
  /// One value each time it is given, even if it collects several.
  Option* one_value_each();
  /// No help page names it.
  Option* hide();

 private:
  CLI::Option* option_;
};

class OptionParser {
 public:
  /// `name` with the program's: "pctally report".
  explicit OptionParser(const std::string& name);
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  /// An option with a value, or a word without a dash. `names`: "-o,--output". Types: the explicit
  /// instantiations at the end of option_parser.cc.
  template <class T>
  Option* add_option(const std::string& names, T& value);
  /// An option without a value. "!--no-callers" is its opposite.
  template <class T>
  Option* add_flag(const std::string& names, T& value);

  /// `text` is the whole help page.
  void help_page(const char* text);
  void set_help_flag(const std::string& names);
  /// The first word that is no option ends the options: see remaining().
  void prefix_command();

  /// An exit code if the command line ends here: help was asked for, or it is wrong and a line says so.
  std::optional<int> parse(int argc, char** argv, const CommandLineHints& hints = {});
  /// Whether `option` was given, and `other` not after it.
  [[nodiscard]] bool is_last(const std::string& option, const std::string& other) const;
  /// The words that are no options.
  [[nodiscard]] std::vector<std::string> remaining() const;
  /// Says that there is no such option, and which one was probably meant. The exit code.
  int complain_of_option(const std::string& word, const CommandLineHints& hints) const;

 private:
  Option* keep(CLI::Option* option);
  [[nodiscard]] std::string both_names(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> long_options() const;
  [[nodiscard]] std::string needs_value(const std::string& name, const CommandLineHints& hints) const;
  [[nodiscard]] std::string mismatch(const std::string& what, const CommandLineHints& hints) const;
  int complain_of_extras(const CommandLineHints& hints) const;
  [[nodiscard]] bool takes_value(const std::string& name) const;
  [[nodiscard]] bool is_flag(const std::string& name) const;
  /// The first option word for which `name_if_wanted` has a name, and that name; else empty.
  using NameIfWanted = std::function<std::string(const std::string& word)>;
  [[nodiscard]] std::string first_option(int argc, char** argv, const NameIfWanted& name_if_wanted) const;
  [[nodiscard]] std::string name_before_nothing(int argc, char** argv) const;
  [[nodiscard]] std::string flag_before_value(int argc, char** argv) const;
  [[nodiscard]] std::optional<int> refuse_empty_values(const CommandLineHints& hints) const;

  std::unique_ptr<CLI::App> app_;
  std::vector<std::unique_ptr<Option>> options_;
};

}  // namespace pctally
