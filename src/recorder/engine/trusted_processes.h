// Decides whose /proc the recorder reads on the word of a file that programs write.
//
// A program may start with the recorder's rights and give them up later: it keeps the file, and may then
// claim any process number there. The recorder must not read for it what the program could not read itself.
#pragma once
#include <sys/types.h>

#include <vector>

namespace pctally {

class TrustedProcesses {
 public:
  /// `root`: the command's process. A privileged recorder trusts only those of its tree, and none at all from
  /// the moment on that one of the tree was seen with a user of its own. Any other recorder has no rights
  /// that its command lacks: the kernel decides.
  explicit TrustedProcesses(pid_t root);

  /// Call it after the claims were copied out of the file: then a process that gave up its rights before it
  /// made a claim is seen.
  void refresh();

  /// True if what everybody may know of `pid` may be read. A privileged recorder reads it only of processes
  /// that were in the command's tree at the last refresh(); for any other recorder the kernel decides.
  [[nodiscard]] bool in_tree(pid_t pid) const;

  /// True if the mappings of `pid` may be read for a claim made before the last refresh().
  [[nodiscard]] bool holds(pid_t pid) const;

 private:
  pid_t root_;
  bool privileged_;
  bool mixed_ = false;  ///< a process of the tree has had another user
  std::vector<pid_t> tree_;
};

/// True if all four users of a process are this one's, or it is gone.
[[nodiscard]] bool has_our_user(pid_t pid);

}  // namespace pctally
