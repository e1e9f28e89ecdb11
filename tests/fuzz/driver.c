/* A main function for the fuzz targets that does not need libFuzzer: it mutates the files of a corpus and calls the
 * target with them. The calls have numbers from `first` to `executions` - 1. Each input depends only on the corpus, the
 * seed and the number of the call. The calls are made in a child process. If a call ends the child or takes more than
 * LIMIT seconds of CPU time, its number is printed, its input is written to FOLDER_FOR_FINDINGS if this is given, and a
 * new child continues with the next call. On SIGTERM or SIGINT the program prints the number of a call, which another
 * run can take as `first` to continue.
 *
 *   fuzz_NAME CORPUS_FOLDER [executions (default 10000) [seed (default 1) [FOLDER_FOR_FINDINGS [first (default 0)]]]]
 *   fuzz_NAME FILE...                one call for each file, to repeat a finding
 *
 * Random numbers: splitmix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195). */
#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 4096, MOST_SEEDS = 1024, MOST_FINDINGS = 200, LIMIT = 10 /* seconds of CPU time */ };

typedef struct text {
  uint8_t *data;
  size_t size;
} text;

static text seeds[MOST_SEEDS];
static size_t n_seeds;
static uint64_t state;

static uint64_t next(void) {
  uint64_t z = (state += UINT64_C(0x9e3779b97f4a7c15));
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static size_t below(size_t n) { return n ? (size_t)(next() % n) : 0; }

static text read_file(const char *path) {
  text t = {malloc(LONGEST), 0};
  FILE *file = fopen(path, "rb");
  if (!file || !t.data) exit(2);
  t.size = fread(t.data, 1, LONGEST, file);
  fclose(file);
  return t;
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static void read_corpus(const char *folder) {
  static char *paths[MOST_SEEDS];
  size_t n = 0;
  DIR *dir = opendir(folder);
  if (!dir) exit(2);
  for (struct dirent *entry; (entry = readdir(dir)) && n < MOST_SEEDS;) {
    char path[4096];
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    paths[n++] = strdup(path);
  }
  closedir(dir);
  qsort(paths, n, sizeof *paths, by_name); /* the order of files in a folder differs between machines */
  for (size_t i = 0; i < n; i++) {
    seeds[n_seeds++] = read_file(paths[i]);
    free(paths[i]);
  }
  if (!n_seeds) exit(2);
}

/* In the n bytes `to`, replaces `cut` bytes from byte number `at` on by the `size` bytes `from`, or by as many of these
 * as fit into LONGEST bytes. Returns the new length. */
static size_t splice(uint8_t *to, size_t n, size_t at, size_t cut, const uint8_t *from, size_t size) {
  if (size > LONGEST - (n - cut)) size = LONGEST - (n - cut);
  memmove(to + at + size, to + at + cut, n - at - cut);
  if (size) memcpy(to + at, from, size);
  return n - cut + size;
}

static size_t mutate(uint8_t *to, size_t n) {
  static const char *const words[] = {"-1",
                                      "0",
                                      "1e999",
                                      "nan",
                                      "1/0",
                                      "2147483648",
                                      "9223372036854775807",
                                      "-",
                                      ".",
                                      ":",
                                      ": ",
                                      "\n",
                                      "  ",
                                      "{",
                                      "}",
                                      "[",
                                      "]",
                                      "[]",
                                      "{}",
                                      ",",
                                      "\"",
                                      "'",
                                      "#",
                                      "&a ",
                                      "*a",
                                      "!t ",
                                      "|",
                                      ">",
                                      "~",
                                      "null",
                                      "true",
                                      "- ",
                                      "\t",
                                      "\xff",
                                      "\0",
                                      "é",
                                      "1e-300",
                                      "1e300",
                                      "pi",
                                      "(",
                                      ")",
                                      "^",
                                      "0x1",
                                      "<<",
                                      "sqrt(",
                                      "%",
                                      "@",
                                      "end_header\n",
                                      "ply\n"};
  const size_t at = below(n + 1), left = n - at;
  switch (below(9)) {
    case 0:
      if (left) to[at] ^= (uint8_t)(1u << below(8));
      return n;
    case 1:
      if (left) to[at] = (uint8_t)next();
      return n;
    case 2: return splice(to, n, at, below(left < 16 ? left + 1 : 17), NULL, 0);
    case 3:
    case 4: {
      const char *word = words[below(sizeof words / sizeof *words)];
      return splice(to, n, at, below(3) ? 0 : below(left < 8 ? left + 1 : 9), (const uint8_t *)word,
                    strlen(word) + (*word == 0));
    }
    case 5: { /* a piece of this or another input */
      const text *s = &seeds[below(n_seeds)];
      const size_t from = below(s->size + 1), size = below(s->size - from < 64 ? s->size - from + 1 : 65);
      return splice(to, n, at, below(2) ? 0 : below(left < 32 ? left + 1 : 33), s->data + from, size);
    }
    case 6: { /* repeats or removes a line */
      size_t begin = at, end = at;
      while (begin && to[begin - 1] != '\n') begin--;
      while (end < n && to[end] != '\n') end++;
      end += end < n;
      uint8_t line[LONGEST];
      memcpy(line, to + begin, end - begin);
      return below(2) ? splice(to, n, begin, end - begin, NULL, 0) : splice(to, n, begin, 0, line, end - begin);
    }
    case 7: /* changes a digit */
      for (size_t i = at; i < n; i++)
        if (to[i] >= '0' && to[i] <= '9') {
          to[i] = (uint8_t)('0' + below(10));
          return n;
        }
      return n;
    default: return below(8) ? n : at; /* truncates in one of eight cases, or changes nothing */
  }
}

typedef unsigned long long number;

static size_t make(number seed, number i, uint8_t *input) {
  state = seed + (i << 32);
  state = next();
  const text *s = &seeds[i < n_seeds ? i : below(n_seeds)];
  size_t n = s->size;
  memcpy(input, s->data, n);
  for (size_t m = i < n_seeds ? 0 : 1 + below(6); m > 0; m--) n = mutate(input, n);
  return n;
}

static void free_seeds(void) {
  for (size_t i = 0; i < n_seeds; i++) free(seeds[i].data);
}

/* Makes the calls with numbers from *at to `executions` - 1. *at is always the number of the running call. */
static void run(number seed, number executions, volatile number *at) {
  static uint8_t input[LONGEST];
  const struct itimerval limit = {.it_value.tv_sec = LIMIT};
  for (; *at < executions; ++*at) {
    const size_t n = make(seed, *at, input);
    setitimer(ITIMER_PROF, &limit, NULL);
    LLVMFuzzerTestOneInput(input, n);
  }
  setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
  free_seeds();
}

static void tell(number seed, number i, int how, const char *folder) {
  static uint8_t input[LONGEST];
  char path[4096];
  const size_t n = make(seed, i, input);
  if (WIFSIGNALED(how))
    printf("execution %llu: signal %d%s\n", i, WTERMSIG(how), WTERMSIG(how) == SIGPROF ? " (hangs)" : "");
  else
    printf("execution %llu: exit status %d\n", i, WEXITSTATUS(how));
  fflush(stdout);
  if (!folder) return;
  snprintf(path, sizeof path, "%s/%llu-%llu", folder, seed, i);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(input, 1, n, file) != n) exit(2);
  fclose(file);
}

static volatile sig_atomic_t stopped;
static void stop(int signal) {
  (void)signal;
  stopped = true;
}

static void listen_for(void (*handler)(int)) {
  const struct sigaction action = {.sa_handler = handler};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGINT, &action, NULL);
}

int main(int argc, char **argv) {
  struct stat info;
  if (argc < 2 || stat(argv[1], &info) < 0) {
    fprintf(stderr, "usage: %s CORPUS_FOLDER [executions [seed [FOLDER [first]]]] | FILE...\n", argv[0]);
    return 2;
  }
  if (!S_ISDIR(info.st_mode)) {
    for (int i = 1; i < argc; i++) {
      const text t = read_file(argv[i]);
      LLVMFuzzerTestOneInput(t.data, t.size);
      free(t.data);
    }
    return 0;
  }
  read_corpus(argv[1]);
  const number executions = argc > 2 ? strtoull(argv[2], NULL, 0) : 10000,
               seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
  volatile number *at = mmap(NULL, sizeof *at, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return 2;
  *at = argc > 5 ? strtoull(argv[5], NULL, 0) : 0;
  printf("%zu seeds, %llu executions, seed %llu\n", n_seeds, executions, seed);
  int findings = 0;
  listen_for(stop);
  for (bool on = true; on; ++*at) {
    int how = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child < 0) return 2;
    if (child == 0) {
      listen_for(SIG_DFL);
      run(seed, executions, at);
      return 0;
    }
    while (waitpid(child, &how, 0) < 0) kill(child, SIGTERM);
    if (stopped) break;
    if (how) tell(seed, *at, how, argc > 4 ? argv[4] : NULL);
    findings += how != 0;
    on = how && *at < executions && findings < MOST_FINDINGS;
  }
  if (stopped) printf("stopped before execution %llu\n", *at);
  printf("%d findings\n", findings);
  free_seeds();
  return findings > 0;
}
