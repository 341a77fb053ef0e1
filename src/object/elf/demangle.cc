#include "object/elf/demangle.h"

#define HAVE_DECL_BASENAME 1  // libiberty declares its own otherwise, unlike string.h
#include <libiberty/demangle.h>

#include <csetjmp>
#include <cstring>

namespace pctally {
namespace {

/// Collects what the demangler prints. A few hundred bytes of back references can ask for terabytes of
/// output, and the only way to stop the demangler is not to return to it. It holds no memory then but
/// one decoded identifier.
struct Output {
  char text[kLongestName];
  size_t length = 0;
  jmp_buf full;
};

void append(const char* text, size_t length, void* opaque) {
  auto* output = static_cast<Output*>(opaque);
  if (length > kLongestName - output->length) longjmp(output->full, 1);
  memcpy(output->text + output->length, text, length);
  output->length += length;
}

/// REQUIRES: no object with a destructor in this frame or above it up to the demangler.
bool print(const char* symbol, Output* output) {
  if (setjmp(output->full) != 0) return false;
  // Legacy Rust names are valid C++ names too, so Rust is asked first.
  if (rust_demangle_callback(symbol, DMGL_PARAMS, append, output) != 0) return true;
  output->length = 0;
  return cplus_demangle_v3_callback(symbol, DMGL_PARAMS | DMGL_ANSI, append, output) != 0;
}

bool is_mangled(std::string_view symbol) { return symbol.starts_with("_Z") || symbol.starts_with("_R"); }

}  // namespace

std::string demangle(std::string_view symbol) {
  const std::string name(symbol.substr(0, kLongestName));
  if (!is_mangled(name) || symbol.size() > kLongestName) return name;
  Output output;
  return print(name.c_str(), &output) ? std::string(output.text, output.length) : name;
}

}  // namespace pctally
