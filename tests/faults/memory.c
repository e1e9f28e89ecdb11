/* For LD_PRELOAD: simulates lack of memory. Requests of the selected kind are counted from 1 from the start of main.
 * Request number FAIL_AT fails. With FAIL_STAYS all later requests fail, too. Without FAIL_AT requests are only
 * counted.
 *
 *   FAIL_ON=own       requests of the program and of libcurvebody
 *   FAIL_ON=library   requests of other libraries, including the C library
 *   FAIL_ON=all       both
 *   FAIL_ON=thread    starting threads
 *   FAIL_ON=map       mapping pages
 *   FAIL_ON=TEXT      requests of the libraries whose names contain any other text, such as libhdf5
 *
 * FAIL_TOLD is a file to which lines are appended. `failed N OBJECT FUNCTION+OFFSET` is the place from which the failed
 * request N was called. After a signal that ends the program, `signal N` is its number, and one line `at OBJECT
 * FUNCTION+OFFSET` follows for each call on the stack. Without FAIL_AT, the last line is `count N`, the number of
 * requests.
 *
 * The caller is found by the return address. Requests of the loader before main never fail, because the program would
 * not start.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define SHOWN __attribute__((visibility("default")))
#define CALLER __builtin_return_address(0)

extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *piece, size_t n);
extern void *__libc_memalign(size_t alignment, size_t n);

/* --- the caller of a request --- */

enum { OBJECTS = 256, NAME = 64, DEPTH = 48, STACK = 1 << 16 };
typedef struct object {
  uintptr_t from, to;
  char name[NAME];
  bool own, asked;
} object;
static object objects[OBJECTS];
static int n_objects;

static bool counting, of_pieces, of_threads, of_maps;
static size_t fail_at;
static bool stays;
static const char *told;
static atomic_size_t requests;

static int note_object(struct dl_phdr_info *info, size_t size, void *on) {
  (void)size;
  uintptr_t from = UINTPTR_MAX, to = 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    if (info->dlpi_addr + part->p_vaddr < from) from = info->dlpi_addr + part->p_vaddr;
    if (info->dlpi_addr + part->p_vaddr + part->p_memsz > to) to = info->dlpi_addr + part->p_vaddr + part->p_memsz;
  }
  if (n_objects == OBJECTS || to <= from) return 0;
  object *o = &objects[n_objects];
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = slash ? slash + 1 : info->dlpi_name;
  if (strstr(name, "fault_memory")) return 0;
  *o = (object){from, to, "", n_objects == 0 || strstr(name, "libcurvebody"), false};
  snprintf(o->name, sizeof o->name, "%s", n_objects ? name : "program");
  o->asked = !strcmp(on, "all") || (!strcmp(on, "own")       ? o->own
                                    : !strcmp(on, "library") ? !o->own
                                                             : !!strstr(name, on));
  n_objects++;
  return 0;
}

static const object *object_of(const void *place) {
  for (int i = 0; i < n_objects; i++)
    if ((uintptr_t)place >= objects[i].from && (uintptr_t)place < objects[i].to) return &objects[i];
  return NULL;
}

/* --- reports, which must not allocate memory --- */

static void tell(const char *text) {
  const int fd = told ? open(told, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
  if (fd < 0) return;
  if (write(fd, text, strlen(text)) < 0) _exit(99);
  close(fd);
}

static void tell_place(const char *what, const void *place) {
  char line[300];
  Dl_info info = {0};
  const object *o = object_of(place);
  const char *name = dladdr(place, &info) && info.dli_sname ? info.dli_sname : "";
  const uintptr_t from = *name ? (uintptr_t)info.dli_saddr : (uintptr_t)info.dli_fbase;
  snprintf(line, sizeof line, "%s %s %s+0x%zx\n", what, o ? o->name : "?", name, (size_t)((uintptr_t)place - from));
  tell(line);
}

typedef void handler(int number, siginfo_t *info, void *context);
static handler *next[NSIG]; /* the handlers that the program has set; told_signal calls them */

static void told_signal(int number, siginfo_t *info, void *context) {
  void *place[DEPTH];
  char line[40];
  counting = false;
  snprintf(line, sizeof line, "signal %d\n", number);
  tell(line);
  const int depth = backtrace(place, DEPTH);
  for (int i = 1; i < depth; i++)
    if (object_of(place[i])) tell_place("at", place[i]);
  if (next[number]) next[number](number, info, context);
  signal(number, SIG_DFL);
  raise(number);
}

static const int ends[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};

/* While requests are counted, a handler that the program sets for a signal in `ends` is only stored. told_signal calls
 * it after the report. */
SHOWN int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  for (size_t i = 0; counting && action && i < sizeof ends / sizeof *ends; i++)
    if (number == ends[i]) {
      next[number] = action->sa_sigaction;
      return 0;
    }
  return NEXT(sigaction)(number, action, old);
}

static void tell_count(void) {
  char line[40];
  snprintf(line, sizeof line, "count %zu\n", (size_t)requests);
  if (!fail_at) tell(line);
}

/* --- failures --- */

static bool fails_now(const void *caller) {
  const size_t request = atomic_fetch_add(&requests, 1) + 1;
  if (!fail_at || request < fail_at || (request > fail_at && !stays)) return false;
  if (request == fail_at) {
    char what[40];
    snprintf(what, sizeof what, "failed %zu", request);
    tell_place(what, caller);
  }
  errno = ENOMEM;
  return true;
}

static bool fails(const void *caller) {
  if (!counting || !of_pieces) return false;
  const object *o = object_of(caller);
  return o && o->asked && fails_now(caller);
}

SHOWN void *malloc(size_t n) { return fails(CALLER) ? NULL : __libc_malloc(n); }
SHOWN void *calloc(size_t n, size_t size) { return fails(CALLER) ? NULL : __libc_calloc(n, size); }
SHOWN void *realloc(void *piece, size_t n) { return fails(CALLER) ? NULL : __libc_realloc(piece, n); }
SHOWN void *memalign(size_t alignment, size_t n) { return fails(CALLER) ? NULL : __libc_memalign(alignment, n); }
SHOWN void *aligned_alloc(size_t alignment, size_t n) { return fails(CALLER) ? NULL : __libc_memalign(alignment, n); }

SHOWN int posix_memalign(void **out, size_t alignment, size_t n) {
  void *piece = fails(CALLER) ? NULL : __libc_memalign(alignment, n);
  if (!piece) return ENOMEM;
  *out = piece;
  return 0;
}

static char *copy(const char *text, size_t length, const void *caller) {
  char *piece = fails(caller) ? NULL : __libc_malloc(length + 1);
  if (!piece) return NULL;
  piece[length] = 0;
  return memcpy(piece, text, length);
}

SHOWN char *strdup(const char *text) { return copy(text, strlen(text), CALLER); }
SHOWN char *__strdup(const char *text) { return copy(text, strlen(text), CALLER); }
SHOWN char *strndup(const char *text, size_t most) { return copy(text, strnlen(text, most), CALLER); }

/* A library may recurse until its stack is full, so each thread has a separate stack on which told_signal makes the
 * report. */
static void take_stack(void *room) { sigaltstack(&(stack_t){.ss_sp = room, .ss_size = STACK}, NULL); }

typedef struct start {
  void *(*function)(void *);
  void *user;
  char room[STACK];
} start;

static void *begin(void *self) {
  start *s = self;
  take_stack(s->room);
  return s->function(s->user);
}

SHOWN int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *user) {
  if (counting && of_threads && fails_now(CALLER)) return EAGAIN;
  start *s = counting ? __libc_malloc(sizeof *s) : NULL; /* never freed */
  if (!s) return NEXT(pthread_create)(thread, how, function, user);
  s->function = function;
  s->user = user;
  return NEXT(pthread_create)(thread, how, begin, s);
}

SHOWN void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
  if (counting && of_maps && fails_now(CALLER)) return MAP_FAILED;
  return NEXT(mmap)(at, n, protection, flags, fd, offset);
}

/* --- main, where counting begins --- */

typedef int main_function(int argc, char **argv, char **environment);
static main_function *program;

static int counted_main(int argc, char **argv, char **environment) {
  void *place[2];
  const char *on = getenv("FAIL_ON"), *at = getenv("FAIL_AT");
  told = getenv("FAIL_TOLD");
  if (!on) return program(argc, argv, environment);
  backtrace(place, 2); /* the first call loads libgcc, which needs memory */
  static char room[STACK];
  const struct sigaction action = {.sa_sigaction = told_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  take_stack(room);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) sigaction(ends[i], &action, NULL);
  fail_at = at ? strtoull(at, NULL, 10) : 0;
  stays = getenv("FAIL_STAYS") != NULL;
  of_threads = !strcmp(on, "thread");
  of_maps = !strcmp(on, "map");
  of_pieces = !of_threads && !of_maps;
  dl_iterate_phdr(note_object, (void *)on);
  counting = true;
  return program(argc, argv, environment);
}

typedef int start_function(main_function *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

SHOWN int __libc_start_main(main_function *main, int argc, char **argv, void (*begin)(void), void (*end)(void),
                            void (*unload)(void), void *stack) {
  program = main;
  return ((start_function *)dlsym(RTLD_NEXT, "__libc_start_main"))(counted_main, argc, argv, begin, end, unload, stack);
}

/* Runs after the functions that were given to atexit, because HDF5 also allocates in such a function. */
__attribute__((destructor)) static void over(void) { tell_count(); }
