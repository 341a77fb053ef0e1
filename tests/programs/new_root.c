/* new_root DIRECTORY [again] PROGRAM [ARGUMENT...]: makes DIRECTORY the root of a new mount namespace, by
 * pivot_root(2) as sandboxes do, and executes PROGRAM there. again: and then makes the old root the root
 * again, before it executes. 77: the system does not allow it. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int again = strcmp(argv[2], "again") == 0;
  if (geteuid() != 0 && unshare(CLONE_NEWUSER) != 0) return 77;
  if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) return 77;
  if (mount(argv[1], argv[1], NULL, MS_BIND | MS_REC, NULL) != 0 || chdir(argv[1]) != 0) return 77;
  if ((mkdir("old", 0755) != 0 && errno != EEXIST) || syscall(SYS_pivot_root, ".", "old") != 0) return 77;
  if (!again && umount2("/old", MNT_DETACH) != 0) return 77;
  if (again &&
      (chdir("/old") != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0))
    return 77;
  if (chdir("/") != 0) return 77;
  execv(argv[2 + again], argv + 2 + again);
  return 1;
}
