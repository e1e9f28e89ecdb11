/* Three methods search the optimal gait of Purcell's swimmer for the displacement X = .03. They start from the same
 * loops, which are small ellipses or random loops.
 *
 *   direct    uses the Newton steps of optimum/direct.h in 16 harmonics.
 *   SLSQP     is that of NLopt, in the same harmonics with the same cost, holonomy and gradients (tests/slsqp.h).
 *   shooting  integrates Wong's equations by Dormand-Prince steps of order 8, and finds their initial values by
 *             Powell's hybrid method; GSL provides both methods. The unknowns are the shape r and the momentum p at
 *             the start, and the multipliers lambda.
 *
 * Let v be the velocity of the loop at its start, and x, y and theta the displacement and rotation after one cycle. The
 * conditions of shooting are: r and the component of p perpendicular to v return to their start (the component along v
 * then follows from the energy). |(x, y)| = X and theta = 0. (lambda_x, lambda_y) is parallel to (x, y). At the start,
 * r is on the line through the start of the loop that is perpendicular to v.
 *
 * The column `settle` is the number of starts that converge according to the method, and `least` the number of these
 * that reach the minimum cost to 1e-9. `steps` is the mean over the starts that converge: the number of Newton steps,
 * evaluations with gradients, or iterations of the hybrid method. The hybrid method needs seven more integrations for
 * its first Jacobian. */
#include "bench.h"
#include "core/threads.h"
#include "models.h"
#include "optimum/find.h"
#include "optimum/extremal.h"
#include "slsqp.h"

#include <curvebody/holonomy.h>
#include <gsl/gsl_multiroots.h>
#include <gsl/gsl_odeiv2.h>

enum { HARMONICS = 16, STARTS = 24 };

static const double least = .118182747176183; /* the minimum cost for the displacement .03 */

typedef struct contest {
  cb_optimum_problem p;
  int count;
  struct {
    cb_gait *gait;
    double lambda[CB_GROUP_DIM];
  } start[STARTS];
} contest;

typedef struct entry {
  const contest *c;
  bool (*method)(const cb_optimum_problem *p, const cb_gait *start, const double *lambda, double *cost, int *steps);
  int settled, best, steps; /* number of searches that converge, of those that reach `least`, and of all their steps */
} entry;

static void enter(void *self) {
  entry *e = self;
  e->settled = e->best = e->steps = 0;
  for (int k = 0; k < e->c->count; k++) {
    double cost;
    int steps;
    if (!e->method(&e->c->p, e->c->start[k].gait, e->c->start[k].lambda, &cost, &steps)) continue;
    e->settled++;
    e->steps += steps;
    e->best += fabs(cost - least) <= 1e-9 * least;
  }
}

static bool direct(const cb_optimum_problem *p, const cb_gait *start, const double *lambda, double *cost, int *steps) {
  (void)lambda;
  cb_direct *d;
  check_ok(cb_direct_create(p, HARMONICS, &d));
  check_ok(cb_direct_from(d, start));
  const bool settled = !cb_direct_solve(d, 100);
  *cost = d->v->cost;
  *steps = d->iterations;
  cb_direct_free(d);
  return settled;
}

#ifdef CB_NLOPT
static bool by_slsqp(const cb_optimum_problem *p, const cb_gait *start, const double *lambda, double *cost,
                     int *steps) {
  (void)lambda;
  cb_direct *d;
  slsqp s;
  check_ok(cb_direct_create(p, HARMONICS, &d));
  check_ok(cb_direct_from(d, start));
  const bool settled = slsqp_solve(&s, d, 1e-12, 3000);
  *cost = d->v->cost;
  *steps = s.evaluations;
  cb_direct_free(d);
  return settled;
}
#endif

/* --- shooting --- */

typedef struct shot {
  cb_wong w;
  double amount, v[2];  /* the displacement of the target, and the velocity of the loop at its start */
  double x[7], size[7]; /* (r, p, lambda) where the search starts, and scales of their changes */
} shot;

static int rates(double t, const double *x, double *f, void *self) {
  const shot *s = self;
  double xi[3];
  const cb_wong_rates out = {.f = f, .xi = xi};
  (void)t;
  if (cb_wong_at(&s->w, 0, x, &out)) return GSL_EBADFUNC;
  f[7] = cos(x[9]) * xi[0] - sin(x[9]) * xi[1];
  f[8] = sin(x[9]) * xi[0] + cos(x[9]) * xi[1];
  f[9] = xi[2];
  return GSL_SUCCESS;
}

/* Computes x = (r, p, lambda) from the unknowns z, which are all 1 where the search starts. The unknowns must not be
 * near 0, because GSL uses difference steps proportional to z. */
static void begin(const shot *s, const gsl_vector *z, double *x) {
  for (size_t k = 0; k < 7; k++) x[k] = s->x[k] + s->size[k] * (gsl_vector_get(z, k) - 1);
}

static int miss(const gsl_vector *z, void *self, gsl_vector *out) {
  const shot *s = self;
  double from[7], x[10] = {0}, t = 0;
  begin(s, z, from);
  memcpy(x, from, sizeof from);
  gsl_odeiv2_system system = {rates, NULL, 10, self};
  gsl_odeiv2_driver *d = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rk8pd, 1e-3, 1e-12, 1e-12);
  gsl_odeiv2_driver_set_nmax(d, 2000);
  const int status = gsl_odeiv2_driver_apply(d, &t, 1, x);
  gsl_odeiv2_driver_free(d);
  if (status) return GSL_EBADFUNC;
  const double row[7] = {x[0] - from[0],
                         x[1] - from[1],
                         (s->v[0] * (x[3] - from[3]) - s->v[1] * (x[2] - from[2])) / hypot(s->v[0], s->v[1]),
                         s->v[0] * (from[0] - s->x[0]) + s->v[1] * (from[1] - s->x[1]),
                         hypot(x[7], x[8]) - s->amount,
                         from[4] * x[8] - from[5] * x[7],
                         x[9]};
  for (size_t k = 0; k < 7; k++) gsl_vector_set(out, k, row[k]);
  return GSL_SUCCESS;
}

static bool shooting(const cb_optimum_problem *p, const cb_gait *start, const double *lambda, double *cost,
                     int *steps) {
  shot s = {.amount = p->target.value};
  double x[7], H = 0;
  cb_wong_init(&s.w, p->bundle);
  cb_gait_at(start, 0, s.x, s.v);
  check_ok(cb_wong_momentum(&s.w, s.x, s.v, lambda, s.x + 2));
  memcpy(s.x + 4, lambda, 3 * sizeof *s.x);
  for (int k = 0; k < 7; k++)
    s.size[k] = k < 2   ? hypot(s.v[0], s.v[1]) / (2 * M_PI)
                : k < 4 ? hypot(s.x[2], s.x[3])
                        : hypot(lambda[0], lambda[1]);
  gsl_multiroot_function f = {miss, 7, &s};
  gsl_vector *z = gsl_vector_alloc(7);
  gsl_vector_set_all(z, 1);
  gsl_multiroot_fsolver *solver = gsl_multiroot_fsolver_alloc(gsl_multiroot_fsolver_hybrids, 7);
  int status = gsl_multiroot_fsolver_set(solver, &f, z);
  bool settled = false;
  for (*steps = 0; !status && !settled && *steps < 200; ++*steps) {
    status = gsl_multiroot_fsolver_iterate(solver);
    settled = !status && gsl_multiroot_test_residual(solver->f, 1e-11) == GSL_SUCCESS;
  }
  const cb_wong_rates out = {.H = &H};
  begin(&s, solver->x, x);
  if (settled) check_ok(cb_wong_at(&s.w, 0, x, &out));
  *cost = 2 * H;
  gsl_multiroot_fsolver_free(solver);
  gsl_vector_free(z);
  return settled;
}

/* --- the starts --- */

/* Makes the starts from small ellipses, with the multipliers lambda of each ellipse. */
static void ellipses(contest *c) {
  cb_ellipse found[CB_ELLIPSES_MAX];
  c->count = cb_ellipses_find(&c->p, found);
  for (int k = 0; k < c->count; k++) {
    double g[CB_GROUP_SIZE], *lambda = c->start[k].lambda;
    check_ok(cb_ellipse_gait(&c->p, &found[k], &c->start[k].gait));
    check_ok(cb_holonomy(c->p.bundle, c->start[k].gait, 0, g, NULL, NULL));
    const double way = g[0] * found[k].lambda[0] + g[1] * found[k].lambda[1] < 0 ? -1 : 1;
    for (int a = 0; a < 3; a++) lambda[a] = way * found[k].lambda[a];
  }
}

/* Makes the starts from random loops. For a loop with the cost E, lambda is E/(2X) along its displacement, as if the
 * cost were proportional to the displacement. */
static void loops(contest *c) {
  cb_gait **gait;
  int count;
  check_ok(cb_start_gaits(&c->p, &count, &gait));
  const int others = count - c->p.starts;
  for (int k = 0; k < count; k++) {
    if (k < others) {
      cb_gait_free(gait[k]);
      continue;
    }
    double g[CB_GROUP_SIZE], cost, *lambda = c->start[c->count].lambda;
    check_ok(cb_holonomy(c->p.bundle, gait[k], 0, g, NULL, &cost));
    for (int a = 0; a < 2; a++) lambda[a] = cost / (2 * c->p.target.value) * g[a] / hypot(g[0], g[1]);
    c->start[c->count++].gait = gait[k];
  }
  free(gait);
}

static void compare(bench *b, const char *what, contest *c) {
  static const struct {
    const char *name;
    bool (*method)(const cb_optimum_problem *, const cb_gait *, const double *, double *, int *);
  } row[] = {{"direct", direct},
#ifdef CB_NLOPT
             {"SLSQP", by_slsqp},
#endif
             {"shooting", shooting}};
  enum { ROWS = sizeof row / sizeof *row };
  entry e[ROWS];
  b->n = 0;
  for (int k = 0; k < ROWS; k++) {
    e[k] = (entry){.c = c, .method = row[k].method};
    bench_add(b, row[k].name, enter, &e[k], c->count);
  }
  bench_go(b, 3);
  printf("\nfrom %d %s\n  %-10s %8s %8s %8s %10s %8s\n", c->count, what, "", "settle", "least", "steps", "ms", "ratio");
  for (int k = 0; k < ROWS; k++)
    printf("  %-10s %8d %8d %8.1f %10.2f %8.2f\n", row[k].name, e[k].settled, e[k].best,
           e[k].settled ? (double)e[k].steps / e[k].settled : 0, 1e3 * b->subject[k].cpu,
           b->subject[k].cpu / b->subject[0].cpu);
  char text[96];
  snprintf(text, sizeof text, "direct search from %s settles", what);
  bench_judge(b, text, (double)e[0].settled / c->count, ">=", 1, "of them");
  snprintf(text, sizeof text, "%s beside it from %s", row[1].name, what);
  if (ROWS == 3) bench_judge(b, text, b->subject[1].cpu / b->subject[0].cpu, ">=", 2, "of its time");
  for (int k = 0; k < c->count; k++) cb_gait_free(c->start[k].gait);
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "searches: one gait by three methods, one thread");
  cb_threads_set(1);
  gsl_set_error_handler_off();
  cb_bundle *bundle = model("purcell", "");
  contest c = {
      .p = {
          .bundle = bundle, .target = {.kind = CB_GAIT_MOVE, .value = .03}, .starts = b.quick ? 1 : STARTS, .seed = 1}};
  ellipses(&c);
  compare(&b, "small ellipses", &c);
  c.count = 0;
  loops(&c);
  compare(&b, "random loops", &c);
  cb_bundle_free(bundle);
  return b.missed > 0;
}
