#include "process/maps_line.h"

namespace pctally {
namespace {

/// A number in base 16 or 10 at *text, which moves behind it and one separator.
uint64_t number(const char** text, unsigned base) noexcept {
  uint64_t value = 0;
  const char* at = *text;
  for (;; ++at) {
    unsigned digit = *at >= '0' && *at <= '9'   ? static_cast<unsigned>(*at - '0')
                     : *at >= 'a' && *at <= 'f' ? static_cast<unsigned>(*at - 'a') + 10
                                                : base;
    if (digit >= base) break;
    value = value * base + digit;
  }
  *text = *at == '\0' ? at : at + 1;
  return value;
}

}  // namespace

MapsLine parse_maps_line(const char* line) noexcept {
  MapsLine fields;
  fields.start = number(&line, 16);
  fields.end = number(&line, 16);
  fields.executable = line[0] != '\0' && line[1] != '\0' && line[2] == 'x';
  while (*line != '\0' && *line != ' ') ++line;
  while (*line == ' ') ++line;
  fields.offset = number(&line, 16);
  fields.device = number(&line, 16) << 32;
  fields.device |= number(&line, 16);
  fields.inode = number(&line, 10);
  while (*line == ' ') ++line;
  fields.path = line;
  return fields;
}

}  // namespace pctally
