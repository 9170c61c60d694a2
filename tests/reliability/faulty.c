/* Stands between a program and the files below one directory, and makes a disk of it that fails.
 *
 * Preloaded (LD_PRELOAD). Every call that changes such a file or makes it last is a point, counted from 1.
 *
 *   FAULTY_BELOW  the directory, an absolute path without a slash at its end
 *   FAULTY_LOG    a file that gets a line per point; with FAULTY_DATA=1 also what was written
 *   FAULTY_AT     the point at which something happens; none where unset
 *   FAULTY_KIND   eio     that call fails once with EIO
 *                 full    writes fail with ENOSPC from there on; syncs and removals go on
 *                 before  the process dies before the call
 *                 torn    half of what it writes is written, then the process dies
 *                 after   the process dies after the call
 *
 * Linux with glibc. Not for more than one thread that writes at once: points are counted in the order of
 * the calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char below[PATH_MAX];
static size_t below_len;
static int log_fd = -1;
static int with_data;
static long at;
static char kind[8];
static atomic_long points;

__attribute__((constructor)) static void begin(void) {
    const char *directory = getenv("FAULTY_BELOW");
    if (directory == NULL) return;
    below_len = strlen(directory);
    if (below_len >= sizeof below) abort();
    memcpy(below, directory, below_len + 1);
    const char *text = getenv("FAULTY_AT");
    at = text ? atol(text) : 0;
    text = getenv("FAULTY_KIND");
    strncpy(kind, text ? text : "", sizeof kind - 1);
    with_data = getenv("FAULTY_DATA") != NULL;
    text = getenv("FAULTY_LOG");
    if (text) log_fd = syscall(SYS_openat, AT_FDCWD, text, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_below(const char *path) {
    return below_len && strncmp(path, below, below_len) == 0 && (path[below_len] == '/' || path[below_len] == 0);
}

/* The file of a descriptor, where it lies below the directory. */
static int file_of(int fd, char *path) {
    char link[64];
    if (!below_len) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, PATH_MAX - 1);
    if (len <= 0) return 0;
    path[len] = 0;
    return is_below(path);
}

/* A path as it is given to a call, made absolute by the directory that it is relative to. */
static int path_of(int directory, const char *given, char *path) {
    if (!below_len || given == NULL) return 0;
    if (given[0] == '/') {
        snprintf(path, PATH_MAX, "%s", given);
        return is_below(path);
    }
    char base[PATH_MAX], link[64];
    if (directory == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
    else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
    ssize_t len = readlink(link, base, sizeof base - 1);
    if (len <= 0) return 0;
    base[len] = 0;
    if (snprintf(path, PATH_MAX, "%s/%s", base, given) >= PATH_MAX) return 0;
    return is_below(path);
}

static void tell(char what, const char *path, const char *other, off_t offset, const void *data, size_t len) {
    if (log_fd < 0) return;
    char head[2 * PATH_MAX + 64];
    int size = snprintf(head, sizeof head, "%c\t%s\t%s\t%lld\t%zu\n", what, path, other, (long long)offset, len);
    syscall(SYS_write, log_fd, head, size);
    if (with_data && data) {
        syscall(SYS_write, log_fd, data, len);
        syscall(SYS_write, log_fd, "\n", 1);
    }
}

enum verdict { GO, FAIL, HALF, DIE_AFTER };

/* What is to happen at this point. A call that gives back room never fails for want of it. */
static enum verdict point(int takes_room) {
    long now = atomic_fetch_add(&points, 1) + 1;
    if (!at || now < at) return GO;
    if (strcmp(kind, "full") == 0) {
        errno = ENOSPC;
        return takes_room ? FAIL : GO;
    }
    if (now != at) return GO;
    if (strcmp(kind, "eio") == 0) {
        errno = EIO;
        return FAIL;
    }
    if (strcmp(kind, "before") == 0) kill(getpid(), SIGKILL);
    if (strcmp(kind, "torn") == 0) return HALF;
    return DIE_AFTER;
}

#define DIE() do { kill(getpid(), SIGKILL); pause(); } while (0)
#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* A call that is not a write: it is made, or fails, or the process dies around it. */
#define AROUND(result, call, room)                          \
    switch (point(room)) {                                  \
    case FAIL: return -1;                                   \
    case HALF: DIE(); return -1;                            \
    case DIE_AFTER: call; DIE(); return -1;                 \
    case GO: break;                                         \
    }                                                       \
    return call

static ssize_t written(int fd, const void *data, size_t len, off_t offset, int placed) {
    ssize_t done;
    switch (point(1)) {
    case FAIL: return -1;
    case HALF: len /= 2; /* fall through */
    case DIE_AFTER:
        done = placed ? syscall(SYS_pwrite64, fd, data, len, offset) : syscall(SYS_write, fd, data, len);
        (void)done;
        DIE();
        return -1;
    case GO: break;
    }
    return placed ? syscall(SYS_pwrite64, fd, data, len, offset) : syscall(SYS_write, fd, data, len);
}

ssize_t pwrite64(int fd, const void *data, size_t len, off_t offset) {
    char path[PATH_MAX];
    if (!file_of(fd, path)) return syscall(SYS_pwrite64, fd, data, len, offset);
    tell('w', path, "", offset, data, len);
    return written(fd, data, len, offset, 1);
}
ssize_t pwrite(int fd, const void *data, size_t len, off_t offset) { return pwrite64(fd, data, len, offset); }

ssize_t write(int fd, const void *data, size_t len) {
    char path[PATH_MAX];
    if (!file_of(fd, path)) return syscall(SYS_write, fd, data, len);
    off_t here = lseek(fd, 0, SEEK_CUR);
    int flags = fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_APPEND)) here = lseek(fd, 0, SEEK_END);
    tell('w', path, "", here, data, len);
    return written(fd, data, len, 0, 0);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    if (!file_of(fd, path)) return syscall(SYS_writev, fd, parts, count);
    for (int i = 0; i < count; i++)
        if (parts[i].iov_len) return write(fd, parts[i].iov_base, parts[i].iov_len);
    return 0;
}

int fsync(int fd) {
    char path[PATH_MAX];
    if (!file_of(fd, path)) return syscall(SYS_fsync, fd);
    tell('s', path, "", 0, NULL, 0);
    AROUND(int, syscall(SYS_fsync, fd), 0);
}
int fdatasync(int fd) {
    char path[PATH_MAX];
    if (!file_of(fd, path)) return syscall(SYS_fdatasync, fd);
    tell('s', path, "", 0, NULL, 0);
    AROUND(int, syscall(SYS_fdatasync, fd), 0);
}

int ftruncate64(int fd, off_t len) {
    char path[PATH_MAX];
    if (!file_of(fd, path)) return syscall(SYS_ftruncate, fd, len);
    struct stat now;
    int grows = fstat(fd, &now) == 0 && now.st_size < len;
    tell('t', path, "", len, NULL, 0);
    AROUND(int, syscall(SYS_ftruncate, fd, len), grows);
}
int ftruncate(int fd, off_t len) { return ftruncate64(fd, len); }

int unlinkat(int directory, const char *given, int flags) {
    char path[PATH_MAX];
    if (!path_of(directory, given, path)) return syscall(SYS_unlinkat, directory, given, flags);
    tell('u', path, "", 0, NULL, 0);
    AROUND(int, syscall(SYS_unlinkat, directory, given, flags), 0);
}
int unlink(const char *given) { return unlinkat(AT_FDCWD, given, 0); }
int rmdir(const char *given) { return unlinkat(AT_FDCWD, given, AT_REMOVEDIR); }

int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    char before[PATH_MAX], after[PATH_MAX];
    int known = path_of(to, new, after);
    if (!known) return syscall(SYS_renameat2, from, old, to, new, flags);
    if (!path_of(from, old, before)) before[0] = 0;
    tell('r', before, after, 0, NULL, 0);
    AROUND(int, syscall(SYS_renameat2, from, old, to, new, flags), 0);
}
int renameat(int from, const char *old, int to, const char *new) { return renameat2(from, old, to, new, 0); }
int rename(const char *old, const char *new) { return renameat2(AT_FDCWD, old, AT_FDCWD, new, 0); }

int linkat(int from, const char *old, int to, const char *new, int flags) {
    char before[PATH_MAX], after[PATH_MAX];
    if (!path_of(to, new, after)) return syscall(SYS_linkat, from, old, to, new, flags);
    if (!path_of(from, old, before)) before[0] = 0;
    tell('l', before, after, 0, NULL, 0);
    AROUND(int, syscall(SYS_linkat, from, old, to, new, flags), 1);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }

int mkdirat(int directory, const char *given, mode_t mode) {
    char path[PATH_MAX];
    if (!path_of(directory, given, path)) return syscall(SYS_mkdirat, directory, given, mode);
    tell('m', path, "", 0, NULL, 0);
    AROUND(int, syscall(SYS_mkdirat, directory, given, mode), 1);
}
int mkdir(const char *given, mode_t mode) { return mkdirat(AT_FDCWD, given, mode); }

/* Opening is a point only where it makes a file. */
static int opened(int directory, const char *given, int flags, mode_t mode) {
    char path[PATH_MAX];
    struct stat there;
    if (!(flags & O_CREAT) || !path_of(directory, given, path) || stat(path, &there) == 0)
        return syscall(SYS_openat, directory, given, flags, mode);
    tell('c', path, "", 0, NULL, 0);
    AROUND(int, syscall(SYS_openat, directory, given, flags, mode), 1);
}
#define MODE(flags, mode)                                     \
    mode_t mode = 0;                                          \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                    \
        va_list rest;                                         \
        va_start(rest, flags);                                \
        mode = va_arg(rest, mode_t);                          \
        va_end(rest);                                         \
    }
int open(const char *given, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, given, flags, mode); }
int open64(const char *given, int flags, ...) { MODE(flags, mode) return opened(AT_FDCWD, given, flags, mode); }
int openat(int directory, const char *given, int flags, ...) { MODE(flags, mode) return opened(directory, given, flags, mode); }
int openat64(int directory, const char *given, int flags, ...) { MODE(flags, mode) return opened(directory, given, flags, mode); }
