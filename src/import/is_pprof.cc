#include <exception>
#include <protozero/pbf_reader.hpp>

#include "import/formats.h"

namespace pctally {

/// Whether it can be one: fields 1 to 15, each with the wire type it has in profile.proto, to the end of the
/// bytes or of the first few.
bool is_pprof(ImportedBytes bytes) {
  constexpr int kFirstFields = 32;
  constexpr uint32_t kMessages = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 11;
  try {
    protozero::pbf_reader message(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    int seen = 0;
    for (; seen < kFirstFields && message.next(); ++seen) {
      const uint32_t tag = message.tag();
      const bool length = message.wire_type() == protozero::pbf_wire_type::length_delimited;
      if (tag > 15 || (!length && message.wire_type() != protozero::pbf_wire_type::varint)) return false;
      if (length != ((kMessages >> tag & 1) != 0) && tag != 13) return false;
      message.skip();
    }
    return seen >= 2;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace pctally
