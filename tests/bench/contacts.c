/* Measures how long it takes to find all near pairs among 10^3 to 10^5 balls at constant density. This includes setting
 * the positions of the balls and listing the pairs. Times are nanoseconds per ball and per near pair; one thread is
 * measured in CPU time, two threads in wall-clock time. Balls are in random order. The last column is the time, in
 * nanoseconds, of a query for the balls near one given ball. */
#include "bench.h"
#include "core/threads.h"
#include "run/broad_phase.h"

enum { SIZES = 5, THREADS = 2, QUERIES = 1000 };
static const int sizes[SIZES] = {1000, 3000, 10000, 30000, 100000};

/* The reaches (radii) of the balls are equal, or they range over almost five orders of magnitude with few large
 * ones. */
typedef enum gas_kind { GAS_ALIKE, GAS_SIZES, GAS_KINDS } gas_kind;
static const char *const gas_names[GAS_KINDS] = {"alike", "sizes"};

typedef struct gas {
  int n, k, repetitions, threads;
  double *x, *reach;
  cb_broad *broad;
  size_t pairs;
} gas;

static void all_near(void *self) {
  gas *s = self;
  const cb_near_pair *pair;
  cb_threads_set(s->threads);
  for (int i = 0; i < s->repetitions; i++) {
    check_ok(cb_broad_set(s->broad, s->n, s->x, s->reach));
    check_ok(cb_broad_pairs(s->broad, &pair, &s->pairs));
  }
}

static void near_to_some(void *self) {
  gas *s = self;
  const int *near;
  int count;
  for (int i = 0; i < QUERIES; i++) {
    const size_t c = (size_t)i * 7919 % (size_t)s->n;
    check_ok(cb_broad_around(s->broad, s->x + c * (size_t)s->k, s->reach[c], 0, &near, &count));
  }
}

/* Writes a random point with uniform distribution: in a cube of E3 with volume n, on S3, or in a ball of H3 around the
 * base point with volume n. The radius r of this ball satisfies pi (sinh 2r - 2r) = n. */
static void throw(const cb_space *g, uint64_t *state, int n, double *y) {
  const double curvature = g->factor[0].curvature;
  if (curvature == 0) {
    for (int a = 0; a < 3; a++) y[a] = check_uniform(state, 0, cbrt(n));
    return;
  }
  const int m = curvature > 0 ? 4 : 3;
  check_direction(state, m, y);
  double scale = 1;
  if (curvature < 0) {
    const double volume = check_uniform(state, 0, n) / 3.14159265358979;
    double a = 0.5 * asinh(volume + 1);
    for (int i = 0; i < 40; i++) a = 0.5 * asinh(volume + 2 * a); /* fixed-point iteration */
    scale = sinh(a);
    y[3] = cosh(a);
  }
  for (int a = 0; a < m; a++) y[a] *= scale;
}

static gas open_gas(const cb_space *g, gas_kind kind, int n, int threads) {
  uint64_t state = 7;
  gas s = {.n = n, .k = g->k, .threads = threads, .repetitions = 100000 / n};
  s.x = malloc((size_t)n * (size_t)g->k * sizeof *s.x);
  s.reach = malloc((size_t)n * sizeof *s.reach);
  /* The mean distance of neighbours. The volume per ball is 1 in E3 and H3, and 2 pi^2/n on S3. */
  const double unit = g->factor[0].curvature > 0 ? cbrt(19.739 / n) : 1;
  for (int i = 0; i < n; i++) {
    throw(g, &state, n, s.x + (size_t)i * (size_t)g->k);
    s.reach[i] = 0.4 * unit;
    if (kind == GAS_SIZES) s.reach[i] *= pow(check_uniform(&state, 0, 1) + 1e-6, -0.3) * (i % 2 ? 1 : 1e-3);
  }
  check_ok(cb_broad_create(g, false, &s.broad));
  return s;
}

static void close_gas(gas *s) {
  cb_broad_free(s->broad);
  free(s->x);
  free(s->reach);
}

static void section(bench *b, const char *space, gas_kind kind, int most) {
  cb_space *g;
  gas of[SIZES][THREADS];
  check_ok(cb_space_create(space, NULL, &g));
  b->n = 0;
  for (int i = 0; i < most; i++)
    for (int t = 0; t < THREADS; t++) {
      of[i][t] = open_gas(g, kind, sizes[i], t + 1);
      bench_add(b, space, all_near, &of[i][t], (double)of[i][t].repetitions * sizes[i]);
    }
  for (int i = 0; i < most; i++) bench_add(b, space, near_to_some, &of[i][0], QUERIES);
  bench_go(b, 20);
  double least = INFINITY, slowest = 0;
  for (int i = 0; i < most; i++) {
    const bench_subject *one = &b->subject[THREADS * i], *two = one + 1;
    const double ns = 1e9 * one->cpu, pairs = (double)of[i][0].pairs / sizes[i];
    printf("  %-4s %-8s %8d %10.2f %10.1f %10.1f %10.1f %10.2f %10.1f\n", space, gas_names[kind], sizes[i], pairs, ns,
           ns / pairs, 1e9 * two->wall, one->wall / two->wall, 1e9 * b->subject[THREADS * most + i].cpu);
    least = fmin(least, ns);
    slowest = fmax(slowest, ns);
  }
  char line[128];
  snprintf(line, sizeof line, "near pairs, %s, %s: slowest size", space, gas_names[kind]);
  if (kind == GAS_ALIKE) bench_judge(b, line, slowest, "<=", 300, "ns a ball");
  snprintf(line, sizeof line, "near pairs, %s, %s: slowest/fastest size", space, gas_names[kind]);
  if (kind == GAS_ALIKE) bench_judge(b, line, slowest / least, "<=", 1.5, "");
  for (int i = 0; i < most; i++)
    for (int t = 0; t < THREADS; t++) close_gas(&of[i][t]);
  cb_space_free(g);
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "contacts: nanoseconds a ball of finding all near pairs, constant density");
  const int most = b.quick ? 2 : SIZES;
  printf("  %-4s %-8s %8s %10s %10s %10s %10s %10s %10s\n", "", "reaches", "balls", "pairs/ball", "1 thread", "a pair",
         "2 threads", "speed-up", "a query");
  static const char *const spaces[] = {"e3", "s3", "h3"};
  for (int kind = 0; kind < GAS_KINDS; kind++)
    for (int i = 0; i < 3; i++) section(&b, spaces[i], (gas_kind)kind, most);
  return b.missed > 0;
}
