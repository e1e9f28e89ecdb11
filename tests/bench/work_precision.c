/* Measures error and time of solutions for the elastic rod of rod.h on the interval [0, 100]. The error is that of the
 * separation at the end, compared with a reference in extended precision. This project's integrators use fixed steps;
 * CVODE, ARKODE and GSL use tolerances in the embedding, and one method each of GSL and ARKODE also uses fixed steps.
 * A second table shows the error of the energy up to t = 10^4: its maximum in the first and in the last tenth of the
 * time. There, fixed steps are 0.1. */
#include "bench.h"
#include "foreign.h"
#include <gsl/gsl_version.h>

enum { SETTINGS = 24 };
static const double end_ = 100, wanted = 1e-10;

typedef struct entry {
  rod *r;
  body_case *c;
  cb_state *start;
  const foreign *solver; /* NULL if the project's `integrator` is used */
  cb_integrator *integrator;
  double setting, error, seconds;
  long steps;
  bool good;
} entry;

typedef struct method {
  const char *name, *ours;
  const foreign *solver;
  entry *entry[SETTINGS];
  int n;
} method;

static void solve_foreign(void *self) {
  entry *e = self;
  double z[ROD];
  e->good = e->solver->solve(e->r, e->solver->kind, e->setting, end_, 1, NULL, NULL, z, &e->steps);
  e->error = e->good ? fabs(rod_separation(e->r, z) - e->error) : INFINITY;
}

static void restart(void *self) {
  entry *e = self;
  if (!e->integrator) return;
  cb_state_copy(e->c->state, e->start);
  check_ok(cb_forces_set_origins(e->integrator->forces, e->start->origin));
  cb_integrator_reset(e->integrator);
}

static void solve_ours(void *self) {
  entry *e = self;
  e->good = true;
  e->steps = lround(end_ / e->setting);
  e->c->integrator = e->integrator;
  for (long i = 0; e->good && i < e->steps; i++) {
    e->good = cb_integrator_step(e->integrator, e->c->state, e->setting) == CB_OK;
    recentre(e->c);
  }
  e->c->integrator = NULL;
}

static const struct {
  const char *name, *text;
  double first, factor;
  int n;
} ours[] = {{"lobatto, 3 stages", "lobatto {stages: 3}", 5e-2, 1.6, 8},
            {"lobatto, 4 stages", "lobatto {stages: 4}", 2e-1, 1.3, 12},
            {"lobatto, 5 stages", "lobatto {stages: 5}", 4e-1, 1.25, 12},
            {"gauss, 2 stages", "gauss {stages: 2}", 5e-2, 1.6, 8},
            {"gauss, 3 stages", "gauss {stages: 3}", 2e-1, 1.3, 12}};
enum { OURS = sizeof ours / sizeof *ours, METHODS = OURS + FOREIGN };

static entry *new_entry(method *m, rod *r, body_case *c, cb_state *start, double setting) {
  entry *e = calloc(1, sizeof *e);
  *e = (entry){.r = r, .c = c, .start = start, .solver = m->solver, .setting = setting};
  m->entry[m->n++] = e;
  return e;
}

static cb_integrator *our_integrator(const body_case *c, const char *text) {
  char name[32] = "";
  cb_integrator *made;
  sscanf(text, "%31s", name);
  cb_tree *tree = read_text(strchr(text, '{'));
  check_ok(cb_integrator_create(name, cb_tree_root(tree), c->system, &made));
  cb_tree_free(tree);
  check_ok(cb_forces_set_origins(made->forces, c->state->origin));
  return made;
}

static void make_methods(method *m, rod *r, body_case *c, cb_state *start, bool quick) {
  for (int i = 0; i < OURS; i++) {
    m[i] = (method){.name = ours[i].name, .ours = ours[i].text};
    double h = ours[i].first;
    for (int k = 0; k < (quick ? 2 : ours[i].n); k++, h /= ours[i].factor) {
      entry *e = new_entry(&m[i], r, c, start, end_ / round(end_ / h));
      e->integrator = our_integrator(c, m[i].ours);
    }
  }
  for (int i = 0; i < FOREIGN; i++) {
    method *f = &m[OURS + i];
    *f = (method){.name = foreign_solvers[i].name, .solver = &foreign_solvers[i]};
    double setting = f->solver->fixed_step ? 0.4 : 1e-6;
    for (int k = 0; k < (quick                   ? 2
                         : f->solver->fixed_step ? 10
                                                 : 18);
         k++, setting /= f->solver->fixed_step ? 1.25 : sqrt(10))
      new_entry(f, r, c, start, f->solver->fixed_step ? end_ / round(end_ / setting) : setting);
  }
}

/* Returns the time at the error `wanted`. It is interpolated in logarithms between the last setting whose error is
 * larger and the next setting, whose error is not. Returns nan if there are no such settings. */
static double time_at(const method *m) {
  double found = NAN;
  for (int k = 0; k + 1 < m->n; k++) {
    const entry *a = m->entry[k], *b = m->entry[k + 1];
    if (a->error <= wanted || b->error > wanted) continue;
    const double part = isinf(a->error) ? 1 : log(a->error / wanted) / log(a->error / fmax(b->error, 1e-17));
    found = exp(log(a->seconds) + part * (log(b->seconds) - log(a->seconds)));
  }
  return found;
}

static void print_method(const method *m) {
  printf("  %s%s", m->name, m->solver && !m->solver->fixed_step ? " (tolerance)" : " (step)");
  for (int k = 0, shown = 0; k < m->n; k++) {
    const entry *e = m->entry[k];
    if (e->good)
      printf("%s%8.2e: %7.1e %8.3f %6ld", shown++ % 3 ? "   " : "\n    ", e->setting, e->error, 1e3 * e->seconds,
             e->steps);
  }
  printf("\n");
}

/* Returns the minimum time at the error `wanted` over the methods whose names begin with `name`. */
static double least_time(const method *m, const char *name) {
  double least = INFINITY;
  for (int i = 0; i < METHODS; i++)
    if (!strncmp(m[i].name, name, strlen(name))) least = fmin(least, time_at(&m[i]));
  return least;
}

static void judge(bench *b, const char *space, const method *m) {
  const double best = fmin(least_time(m, "lobatto"), least_time(m, "gauss"));
  printf("\n%s: milliseconds at error %g\n", space, wanted);
  for (int i = 0; i < METHODS; i++) {
    const double time = time_at(&m[i]);
    printf("  %-34s %9.3f %8.2f times our best\n", m[i].name, 1e3 * time, time / best);
  }
  char what[96];
  snprintf(what, sizeof what, "%s, rod, error 1e-10 at t = 100: faster than CVODE by", space);
  bench_judge(b, what, least_time(m, "CVODE") / best, ">=", 10, "times");
  snprintf(what, sizeof what, "%s, rod, error 1e-10 at t = 100: faster than ARKODE by", space);
  bench_judge(b, what, least_time(m, "ARKODE") / best, ">=", 10, "times");
  snprintf(what, sizeof what, "%s, rod, error 1e-10 at t = 100: time over GSL's rk8pd", space);
  bench_judge(b, what, best / least_time(m, "GSL rk8pd"), "<=", 1.5, "times");
}

static void compare(bench *b, const char *space) {
  body_case c;
  rod r;
  method m[METHODS];
  rod_open(&r, &c, space);
  cb_state *start = clone_state(&c);
  const double exact = rod_reference(&r, end_, 500);
  make_methods(m, &r, &c, start, b->quick);
  for (int turn = 0; turn < bench_turns(b, 12); turn++)
    for (int i = 0; i < METHODS; i++)
      for (int k = 0; k < m[i].n; k++) {
        entry *e = m[i].entry[k];
        restart(e);
        e->error = exact;
        const double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
        (e->integrator ? solve_ours : solve_foreign)(e);
        const double seconds = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
        e->seconds = turn ? fmin(e->seconds, seconds) : seconds;
        if (e->integrator) e->error = e->good ? fabs(separation(&c, 0, 1) - exact) : INFINITY;
      }

  printf("\n%s: separation at t = %g is %.17g; setting: error, milliseconds, steps\n", space, end_, exact);
  for (int i = 0; i < METHODS; i++) print_method(&m[i]);
  judge(b, space, m);
  for (int i = 0; i < METHODS; i++)
    for (int k = 0; k < m[i].n; k++) {
      cb_integrator_free(m[i].entry[k]->integrator);
      free(m[i].entry[k]);
    }
  cb_state_free(start);
  close_case(&c);
}

/* --- energy over a long time --- */

enum { TENTHS = 10 };

typedef struct energies {
  const rod *r;
  const cb_space *g;
  double start, t, worst[TENTHS];
  cb_origin origin;
} energies;

/* Keeps the maximum relative error of the energy in each tenth of the time. If the rod is farther than 1 from its
 * origin, moves the origin to the rod and returns true. */
static bool watch_energy(void *user, double t, double *z) {
  energies *w = user;
  const int tenth = (int)fmin(TENTHS - 1, floor(TENTHS * (t - 1e-9) / w->t));
  w->worst[tenth] = fmax(w->worst[tenth], fabs(rod_energy(w->r, z) / w->start - 1));
  double base[4], mean[4], low[ROD] = {0};
  if (!cb_origin_moves(w->g)) return false;
  for (int e = 0; e < 4; e++) mean[e] = (z[e] + z[4 + e]) / 2;
  cb_space_base_point(w->g, base);
  cb_space_project_point(w->g, mean);
  if (!(cb_distance(w->g, base, mean) > 1)) return false;
  return cb_origin_recentre(w->g, &w->origin, mean, &(cb_local_points){2, z, low, z + 8, low + 8}, NULL) == CB_OK;
}

static energies watched(const rod *r, const cb_space *g, double t) {
  energies w = {.r = r, .g = g, .start = rod_energy(r, r->start), .t = t};
  for (int i = 0; i < 3; i++) w.origin.rotation[4 * i] = 1;
  return w;
}

static void print_energy(const char *name, const energies *w, double seconds, double steps) {
  printf("  %-34s %10.1e %10.1e %8.2f %10.1f %10.0f\n", name, w->worst[0], w->worst[TENTHS - 1],
         w->worst[TENTHS - 1] / w->worst[0], 1e3 * seconds, steps);
}

static void drift(bench *b, const char *space) {
  static const char *const methods[][2] = {{"lobatto, 3 stages", "lobatto {stages: 3}"},
                                           {"lobatto, 4 stages", "lobatto {stages: 4}"},
                                           {"lobatto, 5 stages", "lobatto {stages: 5}"},
                                           {"gauss, 2 stages", "gauss {stages: 2}"},
                                           {"gauss, 3 stages", "gauss {stages: 3}"}};
  const double t = b->quick ? 100 : 1e4, h = 0.1;
  body_case c;
  rod r;
  rod_open(&r, &c, space);
  cb_state *start = clone_state(&c);
  printf(
      "\n%s: relative error of the energy to t = %g; fixed steps 0.1, others a tolerance of 1e-10\n  %-34s %10s %10s "
      "%8s %10s %10s\n",
      space, t, "", "first", "last tenth", "ratio", "ms", "steps");
  for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
    cb_state_copy(c.state, start);
    c.integrator = our_integrator(&c, methods[i][1]);
    energies w = watched(&r, c.g, t);
    double seconds = 0;
    const int steps = (int)lround(t / h);
    for (int s = 1; s <= steps; s++) {
      const double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
      check_ok(cb_integrator_step(c.integrator, c.state, h));
      recentre(&c);
      seconds += bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
      double z[ROD];
      if (s % 10) continue;
      for (int e = 0; e < 8; e++) {
        const int place = cb_system_index(c.system, e / 4);
        z[e] = c.state->x[4 * place + e % 4];
        z[8 + e] = c.state->p[4 * place + e % 4] / r.mass[e / 4];
      }
      watch_energy(&w, s * h, z);
    }
    print_energy(methods[i][0], &w, seconds, steps);
    char what[96];
    snprintf(what, sizeof what, "%s, h = 0.1, t = 10^4, %s: energy error, last over first tenth", space, methods[i][0]);
    bench_judge(b, what, w.worst[TENTHS - 1] / w.worst[0], "<=", 1.5, "");
    cb_integrator_free(c.integrator);
    c.integrator = NULL;
  }
  for (int i = 0; i < FOREIGN; i++) {
    const foreign *f = &foreign_solvers[i];
    energies w = watched(&r, c.g, t);
    double z[ROD];
    long steps = 0;
    const double begin = bench_clock(CLOCK_PROCESS_CPUTIME_ID);
    const bool good = f->solve(&r, f->kind, f->fixed_step ? h : 1e-10, t, (int)t, watch_energy, &w, z, &steps);
    const double seconds = bench_clock(CLOCK_PROCESS_CPUTIME_ID) - begin;
    if (good)
      print_energy(f->name, &w, seconds, (double)steps);
    else
      printf("  %-34s gave up\n", f->name);
  }
  cb_state_free(start);
  close_case(&c);
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "work and precision: a generic elastic rod, masses 1 and 2.7, one thread");
  printf(
      "  our methods: default tolerances; others: relative and absolute tolerance alike, in the embedding; "
      "SUNDIALS " SUNDIALS_VERSION ", GSL " GSL_VERSION "\n");
  static const char *const spaces[] = {"s3", "h3"};
  for (int i = 0; i < 2; i++) compare(&b, spaces[i]);
  for (int i = 0; i < 2; i++) drift(&b, spaces[i]);
  return b.missed > 0;
}
