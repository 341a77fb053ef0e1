// A new profile file in a directory of its own, and its processes as a reader finds them. For tests only.
#pragma once
#include <gtest/gtest.h>
#include <string.h>

#include <filesystem>
#include <map>
#include <string>

#include "histfile/profile_file.h"

namespace pctally {

class FreshFile {
 public:
  /// All of the settings but the path.
  explicit FreshFile(ProfileFile::Settings settings = {}) : directory_(testing::TempDir() + "fresh_XXXXXX") {
    EXPECT_NE(mkdtemp(directory_.data()), nullptr);
    path_ = beside("fresh.pct");
    settings.path = path_.c_str();
    file_ = std::move(ProfileFile::create(settings).value());
    EXPECT_TRUE(file_.place());
  }
  FreshFile(const FreshFile&) = delete;
  FreshFile& operator=(const FreshFile&) = delete;
  ~FreshFile() { std::filesystem::remove_all(directory_); }

  ProfileFile& file() { return file_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string beside(const char* name) const { return directory_ + "/" + name; }

  /// The newest with this number, or null.
  [[nodiscard]] const ProcessRecord* process(int32_t pid) const {
    const ProcessRecord* record = newest_process();
    while (record != nullptr && record->pid != pid) record = process_before(*record);
    return record;
  }

  /// Ticks by process name.
  [[nodiscard]] std::map<std::string, uint64_t> by_comm() const {
    std::map<std::string, uint64_t> ticks;
    for (const auto* record = newest_process(); record != nullptr; record = process_before(*record))
      ticks[std::string(record->comm, strnlen(record->comm, sizeof record->comm))] += record->ticks;
    return ticks;
  }

 private:
  [[nodiscard]] const ProcessRecord* process_at(uint32_t unit) const {
    return unit == 0 ? nullptr : pool_at<ProcessRecord>(file_.pool(), unit);
  }
  [[nodiscard]] const ProcessRecord* newest_process() const { return process_at(file_.header().processes); }
  [[nodiscard]] const ProcessRecord* process_before(const ProcessRecord& record) const {
    return process_at(record.next);
  }

  std::string directory_, path_;
  ProfileFile file_;
};

}  // namespace pctally
