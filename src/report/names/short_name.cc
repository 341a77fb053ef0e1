#include "report/names/short_name.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "report/names/brackets.h"

namespace pctally {
namespace {

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == kNoPlace;
}

/// Namespaces that a compiler adds by itself: std::__cxx11, std::__1, std::_V2, absl::lts_20220623.
bool is_inline_namespace(std::string_view name) {
  if (name == "__cxx11" || name == "__cxx1998") return true;
  for (std::string_view prefix : {"__ndk", "__", "_V", "lts_"})
    if (name.starts_with(prefix) && is_digits(name.substr(prefix.size()))) return true;
  return false;
}

/// A template argument that the standard library fills in.
bool is_usual_argument(std::string_view argument) {
  for (std::string_view usual : {"std::allocator<", "std::char_traits<", "std::less<", "std::default_delete<",
                                 "std::hash<", "std::equal_to<"})
    if (argument.starts_with(usual)) return true;
  return false;
}

/// Takes one name (or type) apart, left to right.
class Shortener {
 public:
  Shortener(std::string_view text, bool arguments, bool templates, unsigned depth)
      : text_(text), arguments_(arguments), templates_(templates), depth_(depth) {}

  /// A function's name; nothing if it cannot be taken apart.
  std::optional<std::string> function() {
    while (at_ < text_.size())
      if (!step()) return {};
    while (out_.ends_with(' ')) out_.pop_back();
    if (out_.empty()) return {};
    return std::move(out_);
  }

  /// A type: blanks and parentheses stay.
  std::string type() {
    is_type_ = true;
    return function().value_or(std::string(text_));
  }

 private:
  static constexpr unsigned kDeepest = 16;

  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }

  std::string shortened_type(std::string_view text) const {
    if (depth_ >= kDeepest) return std::string(text);
    return Shortener(text, true, templates_, depth_ + 1).type();
  }

  bool step() {
    if (starts_operator(text_, at_)) return take_operator();
    switch (text_[at_]) {
      case '<':
        return take_angle();
      case '(':
        return take_parentheses();
      case '[':
        return take_square();
      case '{':
        return take_brace();
      case ' ':
        return take_blank();
      default:
        return take_word();
    }
  }

  bool take_word() {
    size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    std::string_view word = text_.substr(at_, end - at_);
    if (is_inline_namespace(word) && text_.substr(end).starts_with("::") && out_.ends_with("::")) {
      at_ = end + 2;
      return true;
    }
    end = std::max(end, at_ + 1);
    out_ += text_.substr(at_, end - at_);
    at_ = end;
    return true;
  }

  bool take_operator() {
    constexpr size_t kWord = 8;
    size_t length = operator_length(text_, at_);
    out_ += text_.substr(at_, length);
    at_ += length;
    if (length > kWord) {
      if (rest().starts_with(" <")) ++at_;
      return true;
    }
    size_t end = find_outside(rest(), "(");  // "operator std::vector<int>()": a conversion
    if (end == kNoPlace || !rest().starts_with(' ')) return true;
    out_.append(" ").append(shortened_type(rest().substr(1, end - 1)));
    at_ += end;
    return true;
  }

  /// Template arguments, or what Rust has in angle brackets.
  bool take_angle() {
    size_t close = closing(text_, at_);
    if (close == kNoPlace) return false;
    std::string_view inner = text_.substr(at_ + 1, close - at_ - 1);
    bool begins = out_.empty() || out_.ends_with("::");
    if (begins && !is_type_ && (out_.empty() || inner.starts_with("impl "))) {
      if (out_.empty() && !text_.substr(close + 1).starts_with("::")) return false;
      out_ = rust_owner(inner);
    } else if (templates_) {
      out_ += template_arguments(inner);
    } else if (begins && out_.size() >= 2) {
      out_.resize(out_.size() - 2);  // Rust: "f::<T>"
    }
    at_ = close + 1;
    return true;
  }

  std::string template_arguments(std::string_view inner) const {
    std::string text;
    for (std::string_view argument : split_arguments(inner))
      if (!is_usual_argument(argument))
        text.append(text.empty() ? "<" : ", ").append(shortened_type(argument));
    if (!text.empty()) text.append(">");
    return text;
  }

  /// The type in "T as Trait", "impl Trait for T" or "T"; or the trait if the type is nobody's name.
  std::string rust_owner(std::string_view inner) const {
    std::string_view type = inner, trait;
    if (type.starts_with("impl ")) {
      type.remove_prefix(5);
      if (size_t middle = find_outside(type, " for "); middle != kNoPlace) {
        trait = type.substr(0, middle);
        type.remove_prefix(middle + 5);
      }
    } else if (size_t middle = find_outside(type, " as "); middle != kNoPlace) {
      trait = type.substr(middle + 4);
      type = type.substr(0, middle);
    }
    for (std::string_view sign : {"&mut ", "&", "dyn ", "*const ", "*mut "})
      if (type.starts_with(sign)) type.remove_prefix(sign.size());
    bool is_path = find_outside(type, "::") != kNoPlace && is_word(type[0]);
    return shortened_type(is_path || trait.empty() ? type : trait);
  }

  bool take_parentheses() {
    constexpr std::string_view kAnonymous = "(anonymous namespace)";
    if (rest().starts_with(kAnonymous)) {
      out_ += kAnonymous;
      at_ += kAnonymous.size();
      return true;
    }
    size_t close = closing(text_, at_);
    bool returns_pointer = !is_type_ && (rest().starts_with("(*") || rest().starts_with("(&"));
    if (close == kNoPlace || returns_pointer) return false;
    std::string_view inner = text_.substr(at_ + 1, close - at_ - 1);
    if (is_type_ || (arguments_ && !out_.empty())) out_ += argument_list(inner);
    at_ = close + 1;
    after_arguments_ = true;
    return true;
  }

  std::string argument_list(std::string_view inner) const {
    std::string text = "(";
    for (std::string_view argument : split_arguments(inner))
      text.append(text.size() == 1 ? "" : ", ").append(shortened_type(argument));
    return text.append(")");
  }

  bool take_square() {
    size_t close = closing(text_, at_);
    if (close == kNoPlace) return false;
    if (!rest().starts_with("[abi:")) out_ += text_.substr(at_, close + 1 - at_);
    at_ = close + 1;
    return true;
  }

  /// "{lambda(int)#1}" as "{lambda#1}", Rust's "{{closure}}" as it is.
  bool take_brace() {
    size_t close = closing(text_, at_);
    if (close == kNoPlace) return false;
    std::string_view inner = text_.substr(at_, close + 1 - at_);
    size_t open = inner.find('('), end = open == kNoPlace ? kNoPlace : closing(inner, open);
    if (end != kNoPlace && !arguments_)
      out_.append(inner.substr(0, open)).append(inner.substr(end + 1));
    else
      out_ += inner;
    at_ = close + 1;
    return true;
  }

  /// What stands before a blank is a return type, what stands behind one after arguments a qualifier.
  bool take_blank() {
    if (is_type_) {
      if (!rest().starts_with(" >")) out_ += ' ';
      ++at_;
      return true;
    }
    for (std::string_view qualifier : {" const", " volatile", " &&", " &", " noexcept"}) {
      if (!after_arguments_ || !rest().starts_with(qualifier)) continue;
      if (arguments_) out_ += qualifier;
      at_ += qualifier.size();
      return true;
    }
    out_.clear();
    after_arguments_ = false;
    ++at_;
    return true;
  }

  std::string_view text_;
  bool arguments_, templates_;
  unsigned depth_;
  size_t at_ = 0;
  bool is_type_ = false, after_arguments_ = false;
  std::string out_;
};

void replace_all(std::string* text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text->find(from, at)) != std::string::npos; at += to.size())
    text->replace(at, from.size(), to);
}

/// The clones of a name in the form C has them: " [clone .isra.0] [clone .cold]" is ".isra.0.cold".
std::string take_clones(std::string_view* name) {
  std::string clones;
  for (size_t open; name->ends_with(']') && (open = name->rfind(" [clone ")) != kNoPlace;) {
    clones.insert(0, name->substr(open + 8, name->size() - open - 9));
    *name = name->substr(0, open);
  }
  return clones;
}

/// "sort<long int*>", "operator()<int>", as debug information calls functions that have no symbol, and
/// "std::vector<int, std::allocator<int> >::push_back", as perf calls those that have one.
bool is_plain_template(std::string_view name) {
  const size_t open = name.find('<');
  if (open == 0 || open == kNoPlace) return false;
  if (starts_operator(name, 0)) return name.ends_with('>');
  const auto is_scoped = [](char c) { return is_word(c) || c == ':'; };
  if (!std::all_of(name.begin(), name.begin() + static_cast<ptrdiff_t>(open), is_scoped)) return false;
  const size_t close = closing(name, open);
  return close != kNoPlace && (close + 1 == name.size() || name.substr(close + 1).starts_with("::"));
}

/// What follows the type in "int java.util.HashMap.hash(java.lang.Object)", as HotSpot calls its methods in a
/// perf map. In no name of C or C++ is that one word with a dot. Empty if it is no such name.
std::string_view java_method(std::string_view name) {
  const size_t blank = name.find(' '), open = name.find('(');
  if (blank == kNoPlace || open == kNoPlace || blank > open || !name.ends_with(')')) return {};
  const std::string_view method = name.substr(blank + 1, open - blank - 1);
  const bool is_one =
      method.find(' ') == kNoPlace && method.find("::") == kNoPlace && method.find('.') != kNoPlace;
  return is_one ? name.substr(blank + 1) : std::string_view();
}

bool has_arguments(NameDetail detail) {
  return detail == NameDetail::kArguments || detail == NameDetail::kBoth;
}

std::string short_java_name(std::string_view method, NameDetail detail) {
  return std::string(has_arguments(detail) ? method : method.substr(0, method.find('(')));
}

std::string_view without_thunk(std::string_view name) {
  for (std::string_view prefix : {"non-virtual thunk to ", "virtual thunk to ", "covariant return thunk to "})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  return name;
}

}  // namespace

std::string short_name(std::string_view full, NameDetail detail) {
  constexpr std::string_view kStub = "@plt";
  if (detail == NameDetail::kFull || full.starts_with('[')) return std::string(full);
  std::string_view name = full;
  const bool stub = name.ends_with(kStub);
  if (stub) name.remove_suffix(kStub.size());
  const std::string clones = take_clones(&name);
  std::string text(without_thunk(name));
  constexpr std::string_view kString = "basic_string<char, std::char_traits<char>, std::allocator<char> >";
  for (const char* scope : {"std::__cxx11::", "std::"})
    replace_all(&text, std::string(scope).append(kString), "std::string");
  const bool templates = detail == NameDetail::kTemplates || detail == NameDetail::kBoth;
  std::optional<std::string> result = Shortener(text, has_arguments(detail), templates, 0).function();
  if (!result) return std::string(full);
  if (detail != NameDetail::kBare) result->append(clones);
  return stub ? result->append(kStub) : *result;
}

std::string short_c_name(std::string_view name, NameDetail detail) {
  if (detail != NameDetail::kBare || name.starts_with('[')) return std::string(name);
  return without_clone_suffix(std::string(name));
}

std::string_view start_in(std::string_view name) {
  if (!name.ends_with(']')) return {};
  const size_t open = name.rfind(" [0x");
  if (open == kNoPlace || name.find_first_not_of("0123456789abcdef", open + 4) != name.size() - 1) return {};
  return name.substr(open);
}

bool is_symbol(std::string_view full, std::string_view linkage) {
  if (!full.ends_with(linkage)) return true;
  full.remove_suffix(linkage.size());
  return !full.ends_with("::");
}

std::string short_function_name(std::string_view full, std::string_view linkage, NameDetail detail) {
  const std::string_view start = start_in(full), name = full.substr(0, full.size() - start.size());
  if (!linkage.empty() || is_plain_template(name)) return short_name(name, detail).append(start);
  const std::string_view method = detail == NameDetail::kFull ? std::string_view() : java_method(name);
  return (method.empty() ? short_c_name(name, detail) : short_java_name(method, detail)).append(start);
}

std::string without_clone_suffix(std::string name) {
  constexpr std::string_view kSuffixes[] = {".isra", ".constprop", ".part", ".cold", ".lto_priv", ".llvm"};
  for (bool cut = true; cut;) {
    size_t clone = name.ends_with(']') ? name.rfind(" [clone .") : std::string::npos;
    cut = clone != std::string::npos;
    if (cut) name.resize(clone);
    size_t end = name.find_last_not_of("0123456789");
    size_t body = end != std::string::npos && end + 1 < name.size() && name[end] == '.' ? end : name.size();
    for (std::string_view suffix : kSuffixes) {
      if (body <= suffix.size() || !std::string_view(name).substr(0, body).ends_with(suffix)) continue;
      name.resize(body - suffix.size());
      cut = true;
      break;
    }
  }
  return name;
}

}  // namespace pctally
