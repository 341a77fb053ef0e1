// Are the return addresses of recorded call paths behind call instructions? return_addresses PROFILE...
//
// Independent of the recorder's own look, which reads bytes backwards: a disassembler goes from the start
// of the function that the unwind table has there up to the return address, and has to meet a call that
// ends there. Prints "checked N wrong N doubtful N without-file N frames": ticks × return addresses; then
// the wrong ones.
#include <Zydis/Zydis.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/kernel/device_number.h"
#include "base/unique_fd.h"
#include "path/object_frames.h"
#include "profile/load.h"

namespace {

using namespace pctally;

/// The code of one file.
class Code {
 public:
  explicit Code(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    struct stat status {};
    if (!fd_.valid() || fstat(fd_.get(), &status) != 0) return;
    ObjectIdentity identity;
    identity.path = path;
    identity.inode = status.st_ino;
    identity.device = device_number(status.st_dev);
    frames_ = ObjectFrames::open(identity);
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  /// False if there is no table at the call's last byte.
  bool knows(uint64_t position) const {
    CfiFunction function;
    return frames_ != nullptr && frames_->find(position, &function);
  }

  /// True if a call instruction ends at `position`, the first of the function disassembled from its start.
  bool ends_call(uint64_t position) const {
    CfiFunction function;
    if (!frames_->find(position - 1, &function)) return false;
    std::vector<unsigned char> bytes(position - function.start);
    if (pread(fd_.get(), bytes.data(), bytes.size(), static_cast<off_t>(function.start)) !=
        static_cast<ssize_t>(bytes.size()))
      return false;
    for (size_t at = 0; at < bytes.size();) {
      ZydisDecodedInstruction instruction;
      if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder_, nullptr, bytes.data() + at,
                                                      bytes.size() - at, &instruction)))
        return false;
      at += instruction.length;
      if (at == bytes.size()) return instruction.mnemonic == ZYDIS_MNEMONIC_CALL;
    }
    return false;
  }

 private:
  UniqueFd fd_;
  std::unique_ptr<ObjectFrames> frames_;
  ZydisDecoder decoder_{};
};

struct Sum {
  uint64_t checked = 0, wrong = 0, doubtful = 0, without_file = 0;
  std::map<std::string, uint64_t> wrong_ones;
};

class Checked {
 public:
  explicit Checked(const Profile& profile) : profile_(profile), tree_(profile.paths.context) {
    below_.resize(tree_.size());
    calls_.resize(tree_.size());
    for (size_t i = tree_.size(); i-- != 0;) {  // a parent stands before its children
      below_[i] += tree_[i].self + tree_[i].folded;
      if (tree_[i].parent != PathTreeNode::kNoParent) add_to_parent(i);
    }
  }

  void add_to(Sum* sum) {
    for (size_t i = 0; i < tree_.size(); ++i) {
      const PathTreeNode& node = tree_[i];
      if (node.kind == PathNodeKind::kCut && node.position == static_cast<uint64_t>(PathEnd::kDoubtful))
        sum->doubtful += below_[i];
      if (node.kind == PathNodeKind::kCode && (calls_[i] || node.folded != 0)) add(node, below_[i], sum);
    }
  }

 private:
  /// A node calls if another place of the program is below it. What entered the kernel did not.
  void add_to_parent(size_t i) {
    below_[tree_[i].parent] += below_[i];
    calls_[tree_[i].parent] =
        calls_[tree_[i].parent] || (tree_[i].kind == PathNodeKind::kCode && !is_kernel(tree_[i]));
  }
  [[nodiscard]] bool is_kernel(const PathTreeNode& node) const {
    return profile_.executables[node.executable].kind == ExecutableKind::kKernel;
  }

  void add(const PathTreeNode& node, uint64_t ticks, Sum* sum) {
    const Executable& executable = profile_.executables[node.executable];
    if (executable.kind == ExecutableKind::kKernel) return;
    const bool is_file = executable.kind == ExecutableKind::kFile;
    Code* code = is_file ? code_of(executable.path) : nullptr;
    if (code == nullptr || !code->knows(node.position)) {
      sum->without_file += ticks;
      return;
    }
    sum->checked += ticks;
    auto [known, fresh] = known_.try_emplace({node.executable, node.position}, false);
    if (fresh) known->second = code->ends_call(node.position + 1);
    if (known->second) return;
    sum->wrong += ticks;
    char text[32];
    snprintf(text, sizeof text, "+%#lx", static_cast<unsigned long>(node.position));
    sum->wrong_ones[executable.path + text] += ticks;
  }
  Code* code_of(const std::string& path) {
    auto& code = codes_[path];
    if (code == nullptr) code = std::make_unique<Code>(path);
    return code.get();
  }

  const Profile& profile_;
  const PathTree& tree_;
  std::vector<uint64_t> below_;  ///< ticks of a node and of all below it
  std::vector<bool> calls_;
  std::map<std::string, std::unique_ptr<Code>> codes_;
  std::map<std::pair<uint32_t, uint64_t>, bool> known_;
};

}  // namespace

int main(int count, char** words) {
  Sum sum;
  for (int i = 1; i < count; ++i) {
    auto profile = load_profile(words[i]);
    if (!profile) {
      fprintf(stderr, "%s\n", profile.error().text);
      return 1;
    }
    Checked(*profile).add_to(&sum);
  }
  printf("checked %lu wrong %lu doubtful %lu without-file %lu\n", static_cast<unsigned long>(sum.checked),
         static_cast<unsigned long>(sum.wrong), static_cast<unsigned long>(sum.doubtful),
         static_cast<unsigned long>(sum.without_file));
  for (const auto& [place, ticks] : sum.wrong_ones)
    printf("%lu %s\n", static_cast<unsigned long>(ticks), place.c_str());
  return 0;
}
