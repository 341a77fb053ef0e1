// A demangled C++ or Rust name without what a reader skips: return type, arguments, template arguments,
// inline namespaces, ABI tags, clone suffixes, Rust's impl paths.
//
// Refuses to guess: a name that it cannot take apart stays as it is.
#pragma once
#include <string>
#include <string_view>

namespace pctally {

/// How much of a name is kept, least first. Each level is for names that look alike at the one before it.
enum class NameDetail {
  kBare,       ///< "ns::put"
  kClone,      ///< "ns::put.cold"
  kArguments,  ///< "ns::put(int).cold"
  kTemplates,  ///< "ns::put<int>.cold"; arguments that the standard library has as defaults are left out
  kBoth,       ///< "ns::put<int>(int).cold"
  kFull,       ///< the name as it is
};

/// `full` is what the demangler made of a mangled symbol (or that with "@plt" behind).
std::string short_name(std::string_view full, NameDetail detail = NameDetail::kBare);

/// A name that was not mangled, as C has them: kBare is without clone suffixes, all else the name as it is.
std::string short_c_name(std::string_view name, NameDetail detail = NameDetail::kBare);

/// " [0x1170]" of "work [0x1170]", as exports call one of several functions of a name; else empty.
std::string_view start_in(std::string_view name);

/// Whether `linkage` is a symbol: of inlined functions it may be the last part of the full name.
bool is_symbol(std::string_view full, std::string_view linkage);

/// The short name of a function of symbols or debug information: `linkage` is its symbol, empty if
/// that is `full`.
std::string short_function_name(std::string_view full, std::string_view linkage,
                                NameDetail detail = NameDetail::kBare);

/// `name` without what compilers append to copies of a function: ".isra.0", ".constprop.1", ".part.2",
/// ".cold", ".lto_priv.0", ".llvm.123", " [clone .isra.0]".
std::string without_clone_suffix(std::string name);

}  // namespace pctally
