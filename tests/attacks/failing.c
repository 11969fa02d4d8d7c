/* Preloaded before a server: lets what it writes below one folder fail, and steps its clock.
 *
 * LAB_CONTROL names a file of 16 bytes that is mapped: an offset of the clock in seconds (64 bits), an
 * error number (32 bits, 0: nothing fails) and of how many writes one fails (32 bits). LAB_FOLDER is
 * the folder. Monotonic clocks are left as they are.
 *
 *     cc -O2 -shared -fPIC -o failing.so failing.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

struct control {
  volatile int64_t clock_offset;
  volatile int32_t error;
  volatile int32_t one_in;
};

static const struct control nothing;
static const struct control *control = &nothing;
static const char *folder;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("LAB_CONTROL");
  folder = getenv("LAB_FOLDER");
  int file = path && folder ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0)
    return;
  void *mapped = mmap(NULL, sizeof(struct control), PROT_READ, MAP_SHARED, file, 0);
  close(file);
  if (mapped != MAP_FAILED)
    control = mapped;
}

/* Whether this call on this file is to fail; sets errno. */
static int fails(int file) {
  static __thread uint32_t calls;
  int error = control->error;
  if (!error || (control->one_in > 1 && ++calls % (uint32_t)control->one_in))
    return 0;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0)
    return 0;
  path[length] = 0;
  if (strncmp(path, folder, strlen(folder)))
    return 0;
  errno = error;
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAILING(type, name, parameters, arguments)                                                 \
  type name parameters {                                                                           \
    static __typeof__(&name) next;                                                                 \
    if (!next)                                                                                     \
      next = NEXT(name);                                                                           \
    return fails(file) ? -1 : next arguments;                                                      \
  }

FAILING(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count))
FAILING(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at))
FAILING(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at))
FAILING(int, ftruncate, (int file, off_t length), (file, length))
FAILING(int, ftruncate64, (int file, off64_t length), (file, length))
FAILING(int, fallocate64, (int file, int mode, off64_t at, off64_t length), (file, mode, at, length))
FAILING(int, fsync, (int file), (file))
FAILING(int, fdatasync, (int file), (file))

int clock_gettime(clockid_t clock, struct timespec *time) {
  static __typeof__(&clock_gettime) next;
  if (!next)
    next = NEXT(clock_gettime);
  int result = next(clock, time);
  if (!result && clock == CLOCK_REALTIME)
    time->tv_sec += control->clock_offset;
  return result;
}
