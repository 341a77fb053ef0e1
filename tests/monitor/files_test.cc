// The files of one monitor over several objects.
#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "tests/monitor/monitor_calls.h"

namespace pctally::manual {
namespace {

/// Copies of one small library, each loaded on its own; ascending by address.
class Plugins {
 public:
  explicit Plugins(size_t copies = 3) : copies_(copies) {
    void* original = dlopen("libdl.so.2", RTLD_NOW);
    if (original == nullptr) return;
    const std::filesystem::path library = map_of(original)->l_name;
    for (size_t i = 0; i < copies; ++i) {
      const std::string folder = std::to_string(i);
      std::filesystem::create_directory(folder);
      const std::filesystem::path copy = std::filesystem::absolute(folder) / "plugin.so";
      std::filesystem::copy_file(library, copy);
      loaded_.push_back(dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL));
      if (loaded_.back() == nullptr) loaded_.pop_back();
    }
    std::ranges::sort(loaded_, {}, [](void* one) { return map_of(one)->l_addr; });
  }
  ~Plugins() {
    for (size_t i = 0; i < loaded_.size(); ++i) unload(i);
  }
  Plugins(const Plugins&) = delete;
  Plugins& operator=(const Plugins&) = delete;

  [[nodiscard]] bool all() const { return loaded_.size() == copies_; }
  [[nodiscard]] uintptr_t text(size_t i) const { return map_of(loaded_[i])->l_addr; }
  void unload(size_t i) {
    if (loaded_[i] != nullptr) dlclose(loaded_[i]);
    loaded_[i] = nullptr;
  }

 private:
  static link_map* map_of(void* library) {
    link_map* map = nullptr;
    dlinfo(library, RTLD_DI_LINKMAP, static_cast<void*>(&map));
    return map;
  }
  size_t copies_;
  std::vector<void*> loaded_;
};

/// A profile of the beginning of each of them and of the program: 1, 2, 3 and 9 ticks.
void profile(const Plugins& plugins, unsigned (&counts)[4 * 16]) {
  const uintptr_t program = getauxval(AT_PHDR) & ~uintptr_t{4095};
  pctally_hpux_text_region regions[] = {{program, program + 64, nullptr},
                                        {plugins.text(0), plugins.text(0) + 64, nullptr},
                                        {plugins.text(1), plugins.text(1) + 64, nullptr},
                                        {plugins.text(2), plugins.text(2) + 64, nullptr}};
  std::ranges::sort(regions, {}, &pctally_hpux_text_region::text_start);
  pctally_hpux_smonitor(regions, 4, counts, sizeof counts, 0, PCTALLY_HPUX_UINT);
  for (size_t i = 0; i < 3; ++i) tick_at(plugins.text(i) + 4, i + 1);
  tick_at(program + 4, 9);
}

// "Regions of a library go to a file of their own", also where another one has the same name.
TEST_F(MonitorCalls, libraries_of_one_name_have_a_file_each) {
  static unsigned counts[4 * 16];
  Plugins plugins;
  if (!plugins.all()) GTEST_SKIP() << "libdl.so.2 cannot be loaded three times";
  auto last_counter = [](const char* name) {
    const std::string bytes = bytes_of(name);
    return bytes.size() < 2 ? -1 : bytes[bytes.size() - 2] + 256 * bytes[bytes.size() - 1];
  };
  profile(plugins, counts);
  pctally_hpux_smonitor(nullptr, 0, nullptr, 0, 0, 0);
  EXPECT_EQ(last_counter("gmon.out"), 9);
  EXPECT_EQ(last_counter("gmon.out.plugin.so"), 1);
  EXPECT_EQ(last_counter("gmon.out.plugin.so-2"), 2);
  EXPECT_EQ(last_counter("gmon.out.plugin.so-3"), 3);
  profile(plugins, counts);
  plugins.unload(0), plugins.unload(2);
  pctally_hpux_smonitor(nullptr, 0, nullptr, 0, 0, 0);
  EXPECT_EQ(last_counter("gmon.out.unknown"), 1);
  EXPECT_EQ(last_counter("gmon.out.plugin.so"), 2);
  EXPECT_EQ(last_counter("gmon.out.unknown-2"), 3);
  EXPECT_EQ(last_counter("gmon.out"), 9);
}

// "all code of the program and its libraries, 64 ranges at most"
TEST_F(MonitorCalls, tru64_monstartup_of_everything_with_too_many_libraries_changes_nothing) {
  Plugins plugins(64);
  if (!plugins.all()) GTEST_SKIP() << "libdl.so.2 cannot be loaded 64 times";
  ASSERT_EQ(pctally_tru64_monstartup(text(0), text(64)), 0);
  EXPECT_EQ(error_of([] { EXPECT_EQ(pctally_tru64_monstartup(nullptr, nullptr), -1); }), EINVAL);
  EXPECT_EQ(pctally_tru64_moncontrol(1), 1);
  EXPECT_FALSE(exists("gmon.out"));
}

}  // namespace
}  // namespace pctally::manual
