/* Measures gases of 10^3 to 10^5 spheres, or of rods with two spheres each, that collide. The times are nanoseconds per
 * sphere and step, and microseconds per contact, for everything that a run does. S3 has no walls. In E3 and H3, the gas
 * is in a ball, and each sphere or rod has a separate moving origin.
 *
 * The spheres fill the fraction FILLING of the space and have unit speed and random directions. With n spheres of
 * radius r per unit volume, the mean free path is 1/(sqrt(2) n pi (2r)^2). A run makes STEPS steps of a tenth of this
 * path, so there are about as many contacts as spheres. One thread is measured in CPU time, two threads in wall-clock
 * time; the results of both must be identical. */
#include "bench.h"
#include "core/threads.h"
#include <curvebody/constraint.h>
#include <curvebody/contact.h>
#include <curvebody/run.h>
#include <sys/resource.h>

enum { SIZES = 3, THREADS = 2, STEPS = 20 };
static const int sizes[SIZES] = {1000, 10000, 100000};
static const double FILLING = 0.05;
/* The radii of the balls that contain the gas are so large that spheres get separate origins. */
static const double FLAT_ROOM = 10, HYPERBOLIC_ROOM = 3;

/* --- Positions are drawn one after another. Each is compared with those in neighbouring cells, so that no spheres
 * overlap. --- */

typedef struct places {
  const cb_space *g;
  double cell;
  int buckets, n, *first, *next;
  double *x; /* the positions of n spheres, with k numbers each */
} places;

static uint64_t cell_hash(const int64_t *c) {
  uint64_t h = 0;
  for (int a = 0; a < 4; a++) {
    h = (h ^ (uint64_t)(c[a] + 4096)) * UINT64_C(0x9e3779b97f4a7c15);
    h ^= h >> 29;
  }
  return h;
}

/* Returns the number of coordinates that determine the cell of a point in the grid `places`. In H3, the last coordinate
 * follows from the others. */
static int cell_axes(const cb_space *g) { return g->factor[0].curvature > 0 ? 4 : 3; }

static bool clear_of(const places *p, const double *x, double least) {
  int64_t c[4] = {0}, at[4] = {0};
  const int axes = cell_axes(p->g), around = axes == 4 ? 81 : 27;
  for (int a = 0; a < axes; a++) c[a] = (int64_t)floor(x[a] / p->cell);
  for (int m = 0; m < around; m++) {
    for (int a = 0, rest = m; a < axes; a++, rest /= 3) at[a] = c[a] + rest % 3 - 1;
    for (int i = p->first[cell_hash(at) % (uint64_t)p->buckets]; i >= 0; i = p->next[i])
      if (cb_distance(p->g, x, p->x + (size_t)i * (size_t)p->g->k) < least) return false;
  }
  return true;
}

static void take_place(places *p, const double *x) {
  int64_t c[4] = {0};
  for (int a = 0; a < cell_axes(p->g); a++) c[a] = (int64_t)floor(x[a] / p->cell);
  int *bucket = &p->first[cell_hash(c) % (uint64_t)p->buckets];
  memcpy(p->x + (size_t)p->n * (size_t)p->g->k, x, (size_t)p->g->k * sizeof *x);
  p->next[p->n] = *bucket;
  *bucket = p->n++;
}

/* Draws a point with uniform distribution on S3, or in the ball of radius `most` around the base point of E3 or H3. */
static void anywhere(const cb_space *g, uint64_t *seed, double most, double *x) {
  const double curvature = g->factor[0].curvature;
  if (curvature > 0) {
    check_direction(seed, 4, x);
    return;
  }
  double a, area; /* a is random; its density is proportional to the area of the sphere of radius a */
  do {
    a = check_uniform(seed, 0, most);
    area = curvature < 0 ? sinh(a) / sinh(most) : a / most;
  } while (check_uniform(seed, 0, 1) > area * area);
  check_direction(seed, 3, x);
  for (int e = 0; e < 3; e++) x[e] *= curvature < 0 ? sinh(a) : a;
  if (curvature < 0) x[3] = cosh(a);
}

/* --- a gas --- */

static double room_of(const cb_space *g) { return g->factor[0].curvature < 0 ? HYPERBOLIC_ROOM : FLAT_ROOM; }

/* Rods have two spheres each, at a distance of three radii. */
typedef enum gas_kind { GAS_SPHERES, GAS_ELASTIC_RODS, GAS_RIGID_RODS, GAS_KINDS } gas_kind;
static const char *const gas_names[GAS_KINDS] = {"spheres", "elastic rods", "rigid rods"};

typedef struct gas {
  const char *space;
  gas_kind kind;
  int n, threads, contacts;
  bool all_pairs;
  double h, sum; /* sum: a checksum of the times of contacts and the numbers of their particles */
  cb_space *g;
  cb_system *system;
  cb_integrator *integrator;
  cb_run *run;
  cb_sink sink;
} gas;

static cb_status no_row(void *self, const void *const *data) {
  (void)self;
  (void)data;
  return CB_OK;
}
static cb_status no_checkpoint(void *self, const cb_blob *state, size_t n) {
  (void)self;
  (void)state;
  (void)n;
  return CB_OK;
}
static cb_status count_contact(void *self, const cb_event_row *event) {
  gas *s = self;
  s->contacts += event->kind == 0;
  s->sum += event->time * (1 + event->particle + 3.7 * event->other);
  return CB_OK;
}

static double volume_of(const cb_space *g) {
  const double pi = 3.14159265358979, curvature = g->factor[0].curvature, room = room_of(g);
  if (curvature > 0) return 2 * pi * pi;
  return curvature < 0 ? pi * (sinh(2 * room) - 2 * room) : 4 / 3.0 * pi * room * room * room;
}

/* Draws the position and velocity of one sphere (ends = 1), or of the two spheres of a rod (ends = 2). The velocity of
 * the second sphere is that of the first, parallel transported along the rod. Returns false if a sphere would overlap
 * another one. */
static bool throw_body(const gas *s, const places *p, uint64_t *seed, double room, double r, int ends, double x[2][4],
                       double v[2][4]) {
  const cb_space *g = s->g;
  double along[4];
  anywhere(g, seed, room - (ends == 1 ? 1.001 : 4.002) * r, x[0]);
  check_direction(seed, g->k, v[0]);
  cb_space_project_tangent(g, x[0], v[0]);
  check_direction(seed, g->k, along);
  cb_space_project_tangent(g, x[0], along);
  const double speed = sqrt(cb_inner(g, v[0], v[0])), length = sqrt(cb_inner(g, along, along));
  for (int e = 0; e < g->k; e++) {
    v[0][e] /= speed;
    along[e] *= 3 * r / length;
  }
  cb_exp(g, x[0], along, x[1], NULL);
  check_ok(cb_transport(g, x[0], x[1], v[0], v[1]));
  for (int i = 0; i < ends; i++)
    if (!clear_of(p, x[i], 2.001 * r)) return false;
  return true;
}

static void make_system(gas *s, double r) {
  uint64_t seed = 11;
  int body;
  cb_builder *b;
  const size_t n = (size_t)s->n, k = (size_t)s->g->k;
  const double origin[4] = {0, 0, 0, 1}, room = room_of(s->g), stretch = s->g->factor[0].curvature < 0 ? cosh(room) : 1;
  places p = {.g = s->g, .cell = 2.001 * r * stretch, .buckets = 2 * s->n + 1};
  p.first = malloc((size_t)p.buckets * sizeof *p.first);
  p.next = malloc(n * sizeof *p.next);
  p.x = malloc(n * k * sizeof *p.x);
  for (int i = 0; i < p.buckets; i++) p.first[i] = -1;
  check_ok(cb_builder_create(s->g, &b));
  check_ok(cb_builder_body(b, "gas", &body));
  while (p.n < s->n) {
    double x[2][4], v[2][4];
    const int first = p.n, ends = s->kind == GAS_SPHERES ? 1 : 2;
    if (!throw_body(s, &p, &seed, room, r, ends, x, v)) continue;
    for (int i = 0; i < ends; i++) {
      take_place(&p, x[i]);
      check_ok(cb_builder_particle(b, NULL, check_uniform(&seed, 1, 2), 0, r, x[i], v[i], NULL));
    }
    if (s->kind == GAS_ELASTIC_RODS) check_ok(cb_builder_spring(b, first, first + 1, 10 / (r * r), -1, 0));
    if (s->kind == GAS_RIGID_RODS) check_ok(cb_builder_rod(b, NULL, first, first + 1, (cb_target){.value = 3 * r}));
  }
  check_ok(cb_builder_contacts(b, &(cb_contact_options){.restitution = 1, .all_pairs = s->all_pairs}));
  check_ok(cb_builder_contact_bodies(b, body, body, true));
  if (s->g->factor[0].curvature <= 0) check_ok(cb_builder_wall_ball(b, "room", -1, origin, room, true, 1));
  check_ok(cb_builder_finish(b, &s->system));
  cb_builder_free(b);
  free(p.first);
  free(p.next);
  free(p.x);
}

/* Creates a new run, before each repetition. */
static void ready(void *self) {
  static const char *const nothing[] = {NULL};
  gas *s = self;
  cb_run_free(s->run);
  cb_integrator_free(s->integrator);
  s->contacts = 0;
  s->sum = 0;
  cb_threads_set(s->threads);
  check_ok(cb_integrator_create("lobatto", NULL, s->system, &s->integrator));
  const cb_run_options options = {.end = STEPS * s->h, .step = s->h, .every = STEPS, .observables = nothing};
  check_ok(cb_run_create(s->system, s->integrator, &options, &s->run));
  s->sink = (cb_sink){.self = s, .row = no_row, .event = count_contact, .checkpoint = no_checkpoint};
}

static void go(void *self) {
  gas *s = self;
  check_ok(cb_run_go(s->run, &s->sink, NULL, NULL, NULL));
}

static void open_gas(gas *s, const char *space, gas_kind kind, int n, int threads, bool all_pairs) {
  *s = (gas){.space = space, .kind = kind, .n = n, .threads = threads, .all_pairs = all_pairs};
  check_ok(cb_space_create(space, NULL, &s->g));
  const double pi = 3.14159265358979, density = n / volume_of(s->g), r = cbrt(FILLING / density / (4 / 3.0 * pi));
  s->h = 0.1 / (sqrt(2) * density * pi * 4 * r * r);
  make_system(s, r);
}

static void close_gas(gas *s) {
  cb_run_free(s->run);
  cb_integrator_free(s->integrator);
  cb_system_free(s->system);
  cb_space_free(s->g);
}

static bool same_bytes(const gas *a, const gas *b) {
  const cb_state *s = cb_run_current(a->run), *t = cb_run_current(b->run);
  const size_t bytes = (size_t)s->n * (size_t)s->k * sizeof(double);
  return a->contacts == b->contacts && a->sum == b->sum && !memcmp(s->x, t->x, bytes) && !memcmp(s->p, t->p, bytes) &&
         !memcmp(s->x_low, t->x_low, bytes) && !memcmp(s->p_low, t->p_low, bytes);
}

/* Returns whether a run that tests every pair has the same contacts and results as a run that uses cells. */
static bool same_by_all_pairs(const char *space, gas_kind kind, int n) {
  gas of[2];
  for (int i = 0; i < 2; i++) {
    open_gas(&of[i], space, kind, n, 1, i == 1);
    ready(&of[i]);
    go(&of[i]);
  }
  const bool same = same_bytes(&of[0], &of[1]);
  for (int i = 0; i < 2; i++) close_gas(&of[i]);
  return same;
}

/* Measures a gas with each of the first `most` numbers of spheres. */
static void section(bench *b, const char *space, gas_kind kind, int most) {
  gas of[SIZES][THREADS];
  double least = INFINITY, slowest = 0, least_contact = INFINITY, slowest_contact = 0, seconds = 0;
  bool same = true;
  for (int i = 0; i < most; i++) {
    b->n = 0;
    for (int t = 0; t < THREADS; t++) {
      open_gas(&of[i][t], space, kind, sizes[i], t + 1, false);
      bench_add(b, space, go, &of[i][t], (double)sizes[i] * STEPS)->ready = ready;
    }
    bench_go(b, sizes[i] < 100000 ? 4 : 1);
    const bench_subject *one = &b->subject[0], *two = one + 1;
    const double ns = 1e9 * one->cpu, us = 1e6 * one->cpu * one->units / of[i][0].contacts;
    same = same && same_bytes(&of[i][0], &of[i][1]);
    seconds = two->wall * two->units;
    printf("  %-4s %-13s %8d %10d %10.0f %12.2f %10.2f %10.2f\n", space, gas_names[kind], sizes[i], of[i][0].contacts,
           ns, us, one->wall * one->units, seconds);
    least = fmin(least, ns);
    slowest = fmax(slowest, ns);
    least_contact = fmin(least_contact, us);
    slowest_contact = fmax(slowest_contact, us);
    for (int t = 0; t < THREADS; t++) close_gas(&of[i][t]);
  }
  char what[64], line[128];
  snprintf(what, sizeof what, "gas, %s, %s", space, gas_names[kind]);
  snprintf(line, sizeof line, "%s: a sphere and step, slowest/fastest size", what);
  bench_judge(b, line, slowest / least, "<=", 1.5, "");
  snprintf(line, sizeof line, "%s: a contact, slowest/fastest size", what);
  /* In a ball, the fraction of contacts with the wall decreases with the number of spheres. This changes the mean time
   * of a contact. */
  if (!strcmp(space, "s3")) bench_judge(b, line, slowest_contact / least_contact, "<=", 1.5, "");
  snprintf(line, sizeof line, "%s: 10^5, about 10^5 contacts", what);
  if (most == SIZES) bench_judge(b, line, seconds, "<=", 120, "s");
  snprintf(line, sizeof line, "%s: same bytes on two threads", what);
  bench_judge(b, line, same, ">=", 1, "");
  snprintf(line, sizeof line, "%s: 2000, the same bytes by all pairs", what);
  bench_judge(b, line, same_by_all_pairs(space, kind, b->quick ? 1000 : 2000), ">=", 1, "");
}

int main(int argc, char **argv) {
  bench b =
      bench_begin(argc, argv, "gas: spheres that collide, lobatto with 4 stages, a tenth of a mean free path a step");
  printf("  %-4s %-13s %8s %10s %10s %12s %10s %10s\n", "", "", "spheres", "contacts", "ns/step", "us/contact",
         "s, 1 thread", "2 threads");
  static const char *const spaces[] = {"s3", "e3", "h3"};
  for (int i = 0; i < 3; i++)
    for (int kind = 0; kind < GAS_KINDS; kind++)
      section(&b, spaces[i], (gas_kind)kind, b.quick ? 1 : kind == GAS_SPHERES ? SIZES : SIZES - 1);
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  bench_judge(&b, "gas: most memory of all", (double)usage.ru_maxrss / 1024, "<=", 2000, "MB");
  return b.missed > 0;
}
