/* peak FILE CMD ARGS...: runs CMD and writes its peak resident size in KiB to FILE. Small itself, because a
 * process inherits the peak of the one it was forked from. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  int status = 0;
  struct rusage usage;
  if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) return 1;
  FILE* file = fopen(argv[1], "w");
  if (file == NULL || fprintf(file, "%ld\n", usage.ru_maxrss) < 0 || fclose(file) != 0) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
