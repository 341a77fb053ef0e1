/* lent_memory SIGNAL: a child of vfork(2) gives the signal its default action and then another handler,
 * ignores it, and executes a program; says whether the parent's own handler, on an alternate stack that has
 * no room for much, is called afterwards. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int handled;

static void on_signal(int signal) { handled += signal; }
static void on_other(int signal) { _exit(signal); }

int main(int count, char** words) {
  if (count != 2) return 2;
  const int number = atoi(words[1]);
  stack_t stack = {.ss_size = 8192};
  stack.ss_sp = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK}, found;
  const struct sigaction other = {.sa_handler = on_other, .sa_flags = SA_ONSTACK};
  if (stack.ss_sp == MAP_FAILED || sigaltstack(&stack, NULL) != 0 || sigaction(number, &action, NULL) != 0)
    return 1;
  const pid_t child = vfork();
  if (child == 0) {
    if (signal(number, SIG_DFL) != on_signal) _exit(3);
    if (sigaction(number, &other, NULL) != 0) _exit(4);
    if (signal(number, SIG_IGN) != on_other) _exit(5);
    execl("/bin/true", "true", NULL);
    _exit(6);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) printf("child: %d\n", WEXITSTATUS(status));
  raise(number);
  if (sigaction(number, NULL, &found) != 0 || found.sa_handler != on_signal) puts("another handler");
  puts(handled == number ? "handled" : "not handled");
  return 0;
}
