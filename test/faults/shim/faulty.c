/*
 * Preloaded into a runtime. Below the folder FAULTY_ROOT it counts and refuses calls, writes down what reaches the disk,
 * and it steps the wall clock. A page of memory shared with the test says what to do while the process runs:
 *   refuse: which calls (bit mask), from which one on, how many, with which errno; step: seconds added to the wall clock.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

struct control {
  int64_t mask, from, count, error, seen, refused, step;
};
enum { WRITES = 1, OPENS = 2, SYNCS = 4, NAMES = 8, READS = 16 };

static struct control *control;
static const char *root;
static size_t root_length;
static int trace = -1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

__attribute__((constructor)) static void start(void) {
  const char *page = getenv("FAULTY_PAGE"), *log = getenv("FAULTY_TRACE");
  root = getenv("FAULTY_ROOT");
  root_length = root ? strlen(root) : 0;
  if (page) {
    int fd = REAL(open)(page, O_RDWR | O_CLOEXEC);
    void *found = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (found != MAP_FAILED) control = found;
    close(fd);
  }
  if (log) trace = REAL(open)(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  /* What the runtime starts is not part of it. */
  unsetenv("LD_PRELOAD");
}

static int below(const char *path) {
  return root && path && strncmp(path, root, root_length) == 0;
}

static int path_of(int fd, char *into, size_t size) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, into, size - 1);
  if (length < 0) return 0;
  into[length] = 0;
  return below(into);
}

/* Files are also named through the handle of their folder; what is written down is their real name. */
static const char *named(const char *path, char *into, size_t size) {
  int fd, length = 0;
  if (!path || sscanf(path, "/proc/self/fd/%d/%n", &fd, &length) != 1 || length == 0) return path;
  if (!path_of(fd, into, size)) return path;
  size_t end = strlen(into);
  snprintf(into + end, size - end, "/%s", path + length);
  return into;
}

static int refused(int kind) {
  if (!control || !(control->mask & kind)) return 0;
  int64_t turn = __atomic_add_fetch(&control->seen, 1, __ATOMIC_SEQ_CST);
  if (turn < control->from || turn >= control->from + control->count) return 0;
  __atomic_add_fetch(&control->refused, 1, __ATOMIC_SEQ_CST);
  errno = (int)control->error;
  return 1;
}

/* One line: operation, path, offset or second path, length; then that many bytes. */
static void note(const char *what, const char *path, const char *more, const void *data, size_t length) {
  if (trace < 0) return;
  char head[9000];
  int size = snprintf(head, sizeof head, "%s\t%s\t%s\t%zu\n", what, path, more, length);
  pthread_mutex_lock(&lock);
  struct iovec parts[] = {{head, size}, {(void *)data, length}};
  (void)!REAL(writev)(trace, parts, 2);
  pthread_mutex_unlock(&lock);
}

static void note_write(int fd, const char *path, int64_t offset, const void *data, ssize_t length) {
  static int64_t turns;
  char text[32];
  if (trace < 0 || length <= 0) return;
  snprintf(text, sizeof text, "%lld", (long long)offset);
  note("write", path, text, data, length);
  if (!(fcntl(fd, F_GETFL) & O_DSYNC)) return;
  /* Opened so that each write is on the disk when it returns. */
  snprintf(text, sizeof text, "o_sync-%lld", (long long)__atomic_add_fetch(&turns, 1, __ATOMIC_SEQ_CST));
  note("sync", path, text, "", 0);
  note("synced", path, text, "", 0);
}

static void note_flat(int fd, const char *path, int64_t offset, const struct iovec *parts, int count, ssize_t length) {
  if (trace < 0 || length <= 0) return;
  char *flat = malloc(length);
  ssize_t done = 0;
  for (int i = 0; i < count && done < length; i++) {
    ssize_t some = (ssize_t)parts[i].iov_len < length - done ? (ssize_t)parts[i].iov_len : length - done;
    memcpy(flat + done, parts[i].iov_base, some);
    done += some;
  }
  note_write(fd, path, offset, flat, done);
  free(flat);
}

#define PATH char path[4096]; int ours = path_of(fd, path, sizeof path)

ssize_t write(int fd, const void *data, size_t size) {
  if (fd == 1 && trace >= 0) {
    note("said", "", "", data, size);
    return REAL(write)(fd, data, size);
  }
  PATH;
  if (ours && refused(WRITES)) return -1;
  ssize_t done = REAL(write)(fd, data, size);
  if (ours) note_write(fd, path, lseek(fd, 0, SEEK_CUR) - done, data, done);
  return done;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
  PATH;
  if (ours && refused(WRITES)) return -1;
  ssize_t done = REAL(writev)(fd, parts, count);
  if (ours) note_flat(fd, path, lseek(fd, 0, SEEK_CUR) - done, parts, count, done);
  return done;
}
#define PWRITE(name) \
  ssize_t name(int fd, const void *data, size_t size, off64_t offset) { \
    PATH; \
    if (ours && refused(WRITES)) return -1; \
    ssize_t done = REAL(name)(fd, data, size, offset); \
    if (ours) note_write(fd, path, offset, data, done); \
    return done; \
  }
PWRITE(pwrite)
PWRITE(pwrite64)
#define PWRITEV(name) \
  ssize_t name(int fd, const struct iovec *parts, int count, off64_t offset) { \
    PATH; \
    if (ours && refused(WRITES)) return -1; \
    ssize_t done = REAL(name)(fd, parts, count, offset); \
    if (ours) note_flat(fd, path, offset, parts, count, done); \
    return done; \
  }
PWRITEV(pwritev)
PWRITEV(pwritev64)
#define TRUNCATE(name) \
  int name(int fd, off64_t size) { \
    PATH; \
    char at[32]; \
    if (ours && refused(WRITES)) return -1; \
    int done = REAL(name)(fd, size); \
    snprintf(at, sizeof at, "%lld", (long long)size); \
    if (ours && done == 0) note("truncate", path, at, "", 0); \
    return done; \
  }
TRUNCATE(ftruncate)
TRUNCATE(ftruncate64)
#define PREAD(name) \
  ssize_t name(int fd, void *data, size_t size, off64_t offset) { \
    PATH; \
    if (ours && refused(READS)) return -1; \
    return REAL(name)(fd, data, size, offset); \
  }
PREAD(pread)
PREAD(pread64)
/* Begun and ended: a sync promises only what was written before it began, and only once it has ended. */
#define SYNC(name) \
  int name(int fd) { \
    PATH; \
    if (ours && refused(SYNCS)) return -1; \
    char turn[64]; \
    static int64_t turns; \
    snprintf(turn, sizeof turn, #name "-%lld", (long long)__atomic_add_fetch(&turns, 1, __ATOMIC_SEQ_CST)); \
    if (ours) note("sync", path, turn, "", 0); \
    int done = REAL(name)(fd); \
    if (ours && done == 0) note("synced", path, turn, "", 0); \
    return done; \
  }
SYNC(fsync)
SYNC(fdatasync)
#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, int); \
    va_end(rest); \
    char room[4096]; \
    path = named(path, room, sizeof room); \
    int ours = below(path); \
    if (ours && refused(OPENS)) return -1; \
    int is_new = ours && trace >= 0 && (flags & O_CREAT) && access(path, F_OK) != 0; \
    int fd = REAL(name)(path, flags, mode); \
    if (is_new && fd >= 0) note("create", path, "", "", 0); \
    else if (ours && fd >= 0 && (flags & O_TRUNC)) note("truncate", path, "0", "", 0); \
    return fd; \
  }
OPEN(open)
OPEN(open64)
#define TWO(name) \
  int name(const char *from, const char *to) { \
    char room[4096], other[4096]; \
    from = named(from, room, sizeof room); \
    to = named(to, other, sizeof other); \
    int ours = below(from) || below(to); \
    if (ours && refused(NAMES)) return -1; \
    int done = REAL(name)(from, to); \
    if (ours && done == 0) note(#name, from, to, "", 0); \
    return done; \
  }
TWO(rename)
TWO(link)
int unlink(const char *path) {
  char room[4096];
  path = named(path, room, sizeof room);
  if (below(path) && refused(NAMES)) return -1;
  int done = REAL(unlink)(path);
  if (below(path) && done == 0) note("unlink", path, "", "", 0);
  return done;
}
int mkdir(const char *path, mode_t mode) {
  char room[4096];
  path = named(path, room, sizeof room);
  if (below(path) && refused(NAMES)) return -1;
  int done = REAL(mkdir)(path, mode);
  if (below(path) && done == 0) note("mkdir", path, "", "", 0);
  return done;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  static __typeof__(&clock_gettime) real;
  if (!real) real = REAL(clock_gettime);
  int done = real(clock, now);
  if (control && done == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += control->step;
  return done;
}
int gettimeofday(struct timeval *now, void *zone) {
  static __typeof__(&gettimeofday) real;
  if (!real) real = REAL(gettimeofday);
  int done = real(now, zone);
  if (control && done == 0) now->tv_sec += control->step;
  return done;
}
time_t time(time_t *into) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (into) *into = now.tv_sec;
  return now.tv_sec;
}
