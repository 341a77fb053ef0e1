#include "tool/record/add_names.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/unique_fd.h"
#include "histread/file_builder_for_test.h"
#include "histread/names_bytes.h"
#include "names/names_section.h"
#include "profile/load.h"

namespace pctally {
namespace {

class Function : public Symbolizer {
 public:
  [[nodiscard]] const std::string& object_name() const override { return name_; }
  [[nodiscard]] const std::string& problem() const override { return name_; }
  std::vector<NamedRange> find_names(std::span<const uint64_t> positions) override {
    return std::vector<NamedRange>(positions.size(), {"function", 4096, 8192});
  }
  std::vector<std::vector<Frame>> find_frames(std::span<const uint64_t> positions) override {
    return std::vector<std::vector<Frame>>(positions.size());
  }

 private:
  std::string name_;
};

class AddNames : public testing::Test {
 protected:
  AddNames() {
    FileBuilder file;
    file.count(file.segment(file.object("/a", "id"), 4096, 1 << 20), 4100, 7);
    const std::vector<unsigned char> bytes = file.bytes();
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    size_ = bytes.size();
    sigset_t ending;
    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigprocmask(SIG_BLOCK, &ending, nullptr);
  }
  ~AddNames() override { unlink(path_.c_str()); }

  [[nodiscard]] std::vector<unsigned char> section() const {
    const UniqueFd fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    return read_names_bytes(fd.get()).value();
  }
  [[nodiscard]] size_t size() const {
    struct stat status {};
    return stat(path_.c_str(), &status) == 0 ? static_cast<size_t>(status.st_size) : 0;
  }
  void expect_unchanged() const {
    EXPECT_TRUE(section().empty());
    EXPECT_EQ(size(), size_);
    const Result<Profile> profile = load_profile(path_.c_str());
    ASSERT_TRUE(profile);
    EXPECT_TRUE(profile->closed && profile->damage.empty());
  }

  std::string path_ = testing::TempDir() + "add_names." + std::to_string(getpid()) + ".pct";
  size_t size_ = 0;
};

TEST_F(AddNames, PutsThemIntoTheFile) {
  add_names({path_, path_}, load_profile(path_.c_str()).value(),
            [](const ExecutableIdentity&) { return std::make_unique<Function>(); });
  const auto names = NamesSection::parse(section());
  ASSERT_TRUE(names);
  ASSERT_EQ(names->ranges(0).size(), 1u);
  EXPECT_EQ(names->text(names->ranges(0)[0].name), "function");
  EXPECT_TRUE(load_profile(path_.c_str())->damage.empty());
}

TEST_F(AddNames, GivesUpOnAnExecutableThatTakesTooLong) {
  add_names({path_, path_}, load_profile(path_.c_str()).value(),
            [](const ExecutableIdentity&) -> std::unique_ptr<Symbolizer> {
              for (;;) pause();
            });
  expect_unchanged();
}

TEST_F(AddNames, EndsWithASecondInterrupt) {
  kill(getpid(), SIGINT);  // the first, which has ended the recording
  add_names({path_, path_}, load_profile(path_.c_str()).value(),
            [](const ExecutableIdentity&) -> std::unique_ptr<Symbolizer> {
              kill(getppid(), SIGINT);
              for (;;) pause();
            });
  expect_unchanged();
  sigset_t waiting;
  sigpending(&waiting);
  EXPECT_EQ(sigismember(&waiting, SIGINT), 0);
}

TEST_F(AddNames, SurvivesAnExecutableThatKillsItsReader) {
  add_names({path_, path_}, load_profile(path_.c_str()).value(),
            [](const ExecutableIdentity&) -> std::unique_ptr<Symbolizer> {
              raise(SIGSEGV);
              return nullptr;
            });
  expect_unchanged();
}

}  // namespace
}  // namespace pctally
