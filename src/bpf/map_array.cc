#include "bpf/map_array.h"

#include <bpf/libbpf.h>
#include <unistd.h>

namespace pctally {

Result<MappedFile> map_array(const bpf_object* object, const char* name) {
  const bpf_map* map = bpf_object__find_map_by_name(object, name);
  size_t value = (bpf_map__value_size(map) + 7) & ~size_t{7}, page = static_cast<size_t>(getpagesize());
  size_t bytes = (value * bpf_map__max_entries(map) + page - 1) / page * page;
  return MappedFile::map(bpf_map__fd(map), bytes, true);
}

}  // namespace pctally
