/* hanging_files DIRECTORY PROGRAM STOP [USER]: mounts a file system at DIRECTORY whose one file, `program`,
   is PROGRAM. Once a file STOP exists it answers nothing any more, as a dead server. Says "mounted"; 77: may
   not mount.
   With USER it is that one's, and nobody else may look into it, not even root. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { kRoot = 1, kProgram = 2, kMost = 1 << 20 };

static char g_request[kMost], g_answer[kMost];
static char* g_program;
static size_t g_bytes;

static struct fuse_attr attributes_of(uint64_t node) {
  struct fuse_attr attributes = {.ino = node, .nlink = 1, .mode = S_IFDIR | 0755};
  if (node == kProgram) attributes.mode = S_IFREG | 0755, attributes.size = g_bytes;
  return attributes;
}

/* Bytes of the answer in `out`, or an error below 0. */
static long answer_to(const struct fuse_in_header* header, const char* in, char* out) {
  switch (header->opcode) {
    case FUSE_INIT: {
      struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = 4096};
      memcpy(out, &init, sizeof init);
      return sizeof init;
    }
    case FUSE_LOOKUP: {
      struct fuse_entry_out entry = {.nodeid = kProgram, .attr = attributes_of(kProgram)};
      if (strcmp(in, "program") != 0) return -ENOENT;
      memcpy(out, &entry, sizeof entry);
      return sizeof entry;
    }
    case FUSE_GETATTR: {
      struct fuse_attr_out attributes = {.attr = attributes_of(header->nodeid)};
      memcpy(out, &attributes, sizeof attributes);
      return sizeof attributes;
    }
    case FUSE_OPEN: {
      struct fuse_open_out opened = {.fh = 0};
      memcpy(out, &opened, sizeof opened);
      return sizeof opened;
    }
    case FUSE_READ: {
      struct fuse_read_in wanted;
      memcpy(&wanted, in, sizeof wanted);
      size_t left = wanted.offset < g_bytes ? g_bytes - wanted.offset : 0;
      size_t bytes = left < wanted.size ? left : wanted.size;
      memcpy(out, g_program + wanted.offset, bytes);
      return (long)bytes;
    }
    case FUSE_ACCESS:
    case FUSE_FLUSH:
    case FUSE_RELEASE:
      return 0;
    default:
      return -ENOSYS;
  }
}

static void serve(int fd, const char* stop) {
  for (;;) {
    ssize_t got = read(fd, g_request, sizeof g_request);
    if (got < 0 && errno == ENODEV) return; /* unmounted */
    if (got < (ssize_t)sizeof(struct fuse_in_header) || access(stop, F_OK) == 0) continue;
    struct fuse_in_header header;
    memcpy(&header, g_request, sizeof header);
    if (header.opcode == FUSE_FORGET || header.opcode == FUSE_BATCH_FORGET) continue;
    struct fuse_out_header out = {.unique = header.unique};
    long bytes = answer_to(&header, g_request + sizeof header, g_answer + sizeof out);
    out.error = bytes < 0 ? (int)bytes : 0;
    out.len = (uint32_t)(sizeof out + (bytes < 0 ? 0 : (size_t)bytes));
    memcpy(g_answer, &out, sizeof out);
    if (write(fd, g_answer, out.len) < 0) continue;
  }
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  int program = open(argv[2], O_RDONLY);
  struct stat status;
  if (program < 0 || fstat(program, &status) != 0) return 1;
  g_bytes = (size_t)status.st_size;
  g_program = malloc(g_bytes);
  if (g_program == NULL || g_bytes > kMost || read(program, g_program, g_bytes) != status.st_size) return 1;
  int fd = open("/dev/fuse", O_RDWR);
  char options[100];
  int user = argc > 4 ? atoi(argv[4]) : 0;
  snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,group_id=%d%s", fd, user, user,
           argc > 4 ? "" : ",allow_other");
  if (fd < 0 || mount("hanging_files", argv[1], "fuse", 0, options) != 0) return 77;
  puts("mounted");
  fflush(stdout);
  serve(fd, argv[3]);
  return 0;
}
