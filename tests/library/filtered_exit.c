/* A program that is linked with the library installs a seccomp filter that kills for all but the writing of
   its output and the end, and ends by exit(3). Whether or not it has used the library, it lives. */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pctally/bsd.h>
#include <pctally/n64.h>
#include <pctally/pctally.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSkipped = 77 };

#define ALLOW(number, left) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, left, 0)

static int install_filter(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      ALLOW(SYS_exit_group, 3),
      ALLOW(SYS_write, 2),
      ALLOW(SYS_rt_sigreturn, 1), /* of a tick */
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void nothing(void) { pctally_version(); }

static void recording(void) {
  struct pctally_options options = PCTALLY_OPTIONS_INIT;
  options.path = "filtered_exit.pct";
  options.flags = PCTALLY_OVERWRITE;
  if (pctally_start(&options) != 0) _exit(2);
  unlink(options.path);
}

static void monitor(void) { pctally_bsd_monstartup(0x400000, 0x400080); }

static void n64(void) {
  static uint16_t counters[32];
  uint32_t* text = (uint32_t*)(size_t)0x400000;
  struct pctally_n64_prof section = {counters, 32, text, text + 32};
  osProfileInit(&section, 1);
}

static const struct {
  const char* name;
  void (*use)(void);
} uses[] = {
    {"nothing", nothing}, {"pctally_start", recording}, {"monstartup", monitor}, {"osProfileInit", n64}};

int main(void) {
  int result = 0;
  setenv("PROFDIR", "", 1);
  for (size_t i = 0; i < sizeof uses / sizeof *uses; ++i) {
    pid_t child = fork();
    if (child == 0) {
      uses[i].use();
      exit(install_filter() == 0 ? 0 : kSkipped);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kSkipped) return kSkipped;
    if (status == 0) continue;
    printf("%s, and the end behind a filter: status %#x\n", uses[i].name, (unsigned)status);
    result = 1;
  }
  return result;
}
