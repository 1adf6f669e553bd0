/* Fails one chosen call that changes a file of a bank. Loaded before the C library; see test_faults.py. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static long calls, chosen;
static int error_number;

void arm(long call, int number) { calls = 0; chosen = call; error_number = number; }
long counted(void) { return calls; }

static int of_a_bank(const char *path) { return path != NULL && strstr(path, "faulty.bank") != NULL; }

static int fails_at(const char *path) {
    if (chosen == 0 || !of_a_bank(path) || ++calls != chosen) return 0;
    errno = error_number;
    return 1;
}

static int fails(int descriptor) {
    char link[64], path[4096];
    if (chosen == 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return fails_at(path);
}

#define REAL(type, name, ...) static type (*real)(__VA_ARGS__); if (!real) real = dlsym(RTLD_NEXT, #name)

ssize_t write(int d, const void *b, size_t n) { REAL(ssize_t, write, int, const void *, size_t); return fails(d) ? -1 : real(d, b, n); }
ssize_t pwrite(int d, const void *b, size_t n, off_t o) { REAL(ssize_t, pwrite, int, const void *, size_t, off_t); return fails(d) ? -1 : real(d, b, n, o); }
ssize_t pwrite64(int d, const void *b, size_t n, off64_t o) { REAL(ssize_t, pwrite64, int, const void *, size_t, off64_t); return fails(d) ? -1 : real(d, b, n, o); }
int fsync(int d) { REAL(int, fsync, int); return fails(d) ? -1 : real(d); }
int fdatasync(int d) { REAL(int, fdatasync, int); return fails(d) ? -1 : real(d); }
int ftruncate(int d, off_t n) { REAL(int, ftruncate, int, off_t); return fails(d) ? -1 : real(d, n); }
int ftruncate64(int d, off64_t n) { REAL(int, ftruncate64, int, off64_t); return fails(d) ? -1 : real(d, n); }
int unlink(const char *p) { REAL(int, unlink, const char *); return fails_at(p) ? -1 : real(p); }
int rename(const char *a, const char *b) { REAL(int, rename, const char *, const char *); return fails_at(b) ? -1 : real(a, b); }
int link(const char *a, const char *b) { REAL(int, link, const char *, const char *); return fails_at(b) ? -1 : real(a, b); }
