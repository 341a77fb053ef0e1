#include "engine/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <string>

#include "base/unique_fd.h"

namespace pctally {
namespace {

/// "12 34 56 ": the children one thread has started.
void add_children(const std::string& path, std::vector<pid_t>* tree) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(65536, '\0');
  ssize_t bytes = fd.valid() ? read(fd.get(), text.data(), text.size() - 1) : 0;
  const char* at = text.c_str();
  for (char* end = nullptr; bytes > 0; at = end) {
    long pid = strtol(at, &end, 10);
    if (end == at) return;
    tree->push_back(static_cast<pid_t>(pid));
  }
}

void add_children_of_all_threads(pid_t pid, std::vector<pid_t>* tree) {
  std::string tasks = "/proc/" + std::to_string(pid) + "/task";
  DIR* directory = opendir(tasks.c_str());
  if (directory == nullptr) return;
  while (const dirent* entry = readdir(directory))
    if (entry->d_name[0] != '.') add_children(tasks + "/" + entry->d_name + "/children", tree);
  closedir(directory);
}

}  // namespace

std::vector<pid_t> process_tree(pid_t root) {
  std::vector<pid_t> tree;
  if (access(("/proc/" + std::to_string(root)).c_str(), F_OK) != 0) return tree;
  tree.push_back(root);
  for (size_t i = 0; i < tree.size(); ++i) {
    pid_t parent = tree[i];
    add_children_of_all_threads(parent, &tree);
  }
  return tree;
}

}  // namespace pctally
