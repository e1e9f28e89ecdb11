/* Flows (see curvebody/flow.h): evaluation, linear flows, the check of the divergence, and flows given by
 * expressions. */
#include "core/threads.h"
#include "fluid/flow_divergence.h"
#include "numerics/random.h"
#include <curvebody/expression.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <stdint.h>

void *cb_flow_new(size_t size) {
  void *f = calloc(1, size);
  if (!f) cb_fail(CB_ERROR_MEMORY, "no memory for a flow");
  return f;
}

void cb_flow_free(cb_flow *f) {
  if (!f) return;
  if (f->release) f->release(f);
  free(f);
}

bool cb_flow_is_uniform(const cb_flow *f) { return f->uniform; }
bool cb_flow_is_even(const cb_flow *f) { return f->even; }
bool cb_flow_is_steady(const cb_flow *f) { return f->steady; }
double cb_flow_slope(const cb_flow *f) { return f->slope; }

static bool is_finite(const cb_flow_point *p, bool slopes) {
  double sum = p->u[0] + p->u[1] + p->u[2];
  for (int i = 0; slopes && i < 3; i++) sum += p->gradient[i][0] + p->gradient[i][1] + p->gradient[i][2] + p->rate[i];
  return isfinite(sum);
}

typedef struct task {
  const cb_flow *f;
  double t;
  int n;
  const double (*x)[3];
  double (*u)[3], (*gradient)[3][3], (*rate)[3];
  atomic_int failed;
} task;

static cb_status point(const task *k, int i) {
  const double *x = k->x[i];
  const bool slopes = k->gradient || k->rate;
  cb_flow_point p;
  k->f->at(k->f, k->t, x, slopes, &p);
  if (!is_finite(&p, slopes))
    return cb_fail(CB_STEP_NOT_FINITE, "flow at (%g, %g, %g), t = %g: velocity (%g, %g, %g)%s: expected finite numbers",
                   x[0], x[1], x[2], k->t, p.u[0], p.u[1], p.u[2],
                   is_finite(&p, false) ? ", its derivatives are not finite" : "");
  memcpy(k->u[i], p.u, sizeof p.u);
  if (k->gradient) memcpy(k->gradient[i], p.gradient, sizeof p.gradient);
  if (k->rate) memcpy(k->rate[i], p.rate, sizeof p.rate);
  return CB_OK;
}

/* Evaluates n points from `first` on by blocks, if the flow can. Returns false if a value is not finite, or if the flow
 * has no blocks. */
static bool together(const task *k, int first, int n) {
  cb_flow_block b;
  if (!k->f->block) return false;
  for (int p = 0; p < n; p++)
    for (int i = 0; i < 3; i++) b.x[i][p] = k->x[first + p][i];
  if (!k->f->block(k->f, k->t, n, k->gradient || k->rate, k->rate, &b)) return false;
  for (int p = 0; p < n; p++)
    for (int i = 0; i < 3; i++) k->u[first + p][i] = b.u[i][p];
  for (int p = 0; k->gradient && p < n; p++)
    for (int i = 0; i < 9; i++) k->gradient[first + p][i / 3][i % 3] = b.gradient[i / 3][i % 3][p];
  for (int p = 0; k->rate && p < n; p++)
    for (int i = 0; i < 3; i++) k->rate[first + p][i] = b.rate[i][p];
  return true;
}

static void blocks(void *context, int begin, int end) {
  task *k = context;
  for (int j = begin; j < end; j++) {
    const int first = j * CB_FLOW_BLOCK, last = k->n - first < CB_FLOW_BLOCK ? k->n : first + CB_FLOW_BLOCK;
    if (together(k, first, last - first)) continue;
    for (int i = first; i < last; i++)
      if (point(k, i)) {
        cb_threads_least(&k->failed, i);
        return;
      }
  }
}

cb_status cb_flow_at(const cb_flow *f, double t, int n, const double (*x)[3], double (*u)[3], double (*gradient)[3][3],
                     double (*rate)[3]) {
  task k = {f, t, n, x, u, gradient, rate, n};
  cb_threads_range(cb_threads_for((size_t)n), (n + CB_FLOW_BLOCK - 1) / CB_FLOW_BLOCK, blocks, &k);
  return k.failed < n ? point(&k, k.failed) : CB_OK;
}

/* --- u + G x --- */

typedef struct linear {
  cb_flow flow;
  double u[3], G[3][3];
} linear;

static void linear_at(const cb_flow *f, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const linear *l = (const linear *)f;
  (void)t;
  for (int i = 0; i < 3; i++) p->u[i] = l->u[i] + (f->uniform ? 0 : cb_dot3(l->G[i], x));
  if (!slopes) return;
  memcpy(p->gradient, l->G, sizeof l->G);
  memset(p->rate, 0, sizeof p->rate);
}

static bool linear_block(const cb_flow *f, double t, int n, bool slopes, bool rate, cb_flow_block *b) {
  const linear *l = (const linear *)f;
  double sum = 0;
  (void)t;
  for (int i = 0; i < 3; i++)
    for (int p = 0; p < n; p++) {
      b->u[i][p] = l->u[i] + (l->G[i][0] * b->x[0][p] + l->G[i][1] * b->x[1][p] + l->G[i][2] * b->x[2][p]);
      sum += b->u[i][p];
    }
  for (int i = 0; slopes && i < 9; i++)
    for (int p = 0; p < n; p++) b->gradient[i / 3][i % 3][p] = l->G[i / 3][i % 3];
  for (int i = 0; rate && i < 3; i++) memset(b->rate[i], 0, (size_t)n * sizeof b->rate[i][0]);
  return isfinite(sum);
}

cb_status cb_flow_shear(const double u[3], const double gradient[3][3], cb_flow **out) {
  bool uniform = true;
  for (int i = 0; i < 3; i++) {
    if (!isfinite(u[i]))
      return cb_fail(CB_ERROR_ARGUMENT, "flow: velocity %c is %g: expected a finite number", "xyz"[i], u[i]);
    for (int j = 0; j < 3; j++) {
      uniform &= gradient[i][j] == 0;
      if (!isfinite(gradient[i][j]))
        return cb_fail(CB_ERROR_ARGUMENT, "flow: du_%c/d%c is %g: expected a finite number", "xyz"[i], "xyz"[j],
                       gradient[i][j]);
    }
  }
  linear *l = cb_flow_new(sizeof *l);
  if (!l) return CB_ERROR_MEMORY;
  l->flow = (cb_flow){.at = linear_at, .even = uniform, .uniform = uniform, .steady = true};
  if (!uniform) l->flow.block = linear_block;
  memcpy(l->u, u, sizeof l->u);
  memcpy(l->G, gradient, sizeof l->G);
  *out = &l->flow;
  return CB_OK;
}

cb_status cb_flow_uniform(const double u[3], cb_flow **out) { return cb_flow_shear(u, (const double[3][3]){{0}}, out); }

/* Checks whether a flow is incompressible. The check uses its gradient at the origin and at fixed random places and
 * times, at all scales from a hundredth to a hundred. */

/* A divergence that should be 0 has this size, relative to the gradient, if numbers are given with six digits. */
static const double small = 1e-6;

static double some_size(uint64_t *state) { return pow(100, 2 * cb_uniform(state) - 1); }

double cb_flow_divergence(int n, const double (*gradient)[3][3], double *size) {
  double traces = 0, squares = 0;
  for (int p = 0; p < n; p++) {
    const double *g = gradient[p][0], trace = g[0] + g[4] + g[8];
    traces += trace * trace;
    for (int i = 0; i < 9; i++) squares += g[i] * g[i];
  }
  *size = sqrt(squares / n);
  return sqrt(traces / n);
}

cb_status cb_flow_check_divergence(const cb_flow *f) {
  enum { PLACES = 64 };
  uint64_t state = 1;
  double first[3] = {0}, when = 0, found = 0, beside = 0;
  bool any = false;
  for (int p = 0; p < PLACES; p++) {
    double x[1][3] = {{0}}, u[1][3], G[1][3][3], size, t = 0;
    for (int i = 0; p && i < 3; i++) x[0][i] = (cb_uniform(&state) < 0.5 ? -1 : 1) * some_size(&state);
    if (p) t = some_size(&state);
    /* A flow may have no value at a place, for instance on the axis of a vortex. */
    if (cb_flow_at(f, t, 1, (const double(*)[3])x, u, G, NULL)) continue;
    const double divergence = cb_flow_divergence(1, (const double(*)[3][3])G, &size);
    if (!(size > 0)) continue;
    /* One place without divergence is enough: a divergence that is not 0 everywhere is 0 at a random place only by
     * chance. */
    if (divergence <= small * size) return CB_OK;
    if (any) continue;
    any = true;
    for (int i = 0; i < 3; i++) first[i] = x[0][i];
    when = t;
    found = G[0][0][0] + G[0][1][1] + G[0][2][2];
    beside = size;
  }
  if (!any) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "the fluid is incompressible: expected a flow without divergence, found %.3g/s at (%.3g, %.3g, %.3g), "
                 "t = %.3g, with a gradient of %.3g/s",
                 found, first[0], first[1], first[2], when, beside);
}

/* A flow given by three expressions of place and time, with their exact derivatives. */

static const char *const variables[] = {"x", "y", "z", "t"};
enum { VARIABLES = 4, TIME = 3 };

typedef struct expressions {
  cb_flow flow;
  cb_expression *e[3];
} expressions;

static void expressions_at(const cb_flow *f, double t, const double x[3], bool slopes, cb_flow_point *p) {
  const expressions *v = (const expressions *)f;
  const double at[VARIABLES] = {x[0], x[1], x[2], t};
  for (int i = 0; i < 3; i++) {
    double g[VARIABLES];
    p->u[i] = slopes ? cb_expression_gradient(v->e[i], at, VARIABLES, g) : cb_expression_value(v->e[i], at);
    if (!slopes) continue;
    memcpy(p->gradient[i], g, sizeof p->gradient[i]);
    p->rate[i] = g[TIME];
  }
}

static bool expressions_block(const cb_flow *f, double t, int n, bool slopes, bool rate, cb_flow_block *b) {
  const expressions *v = (const expressions *)f;
  const double *const x[VARIABLES] = {b->x[0], b->x[1], b->x[2], &t};
  const _Bool fixed[VARIABLES] = {[TIME] = 1};
  bool finite = true;
  for (int i = 0; i < 3; i++) {
    bool known = false;
    for (size_t k = 0; slopes && k < VARIABLES; k++) {
      double *slope = k < TIME ? b->gradient[i][k] : b->rate[i];
      if (k == TIME && !rate) continue;
      if (!cb_expression_uses(v->e[i], k))
        memset(slope, 0, (size_t)n * sizeof *slope);
      else {
        finite &= cb_expression_values(v->e[i], n, x, fixed, k, b->u[i], slope);
        known = true;
      }
    }
    if (!known) finite &= cb_expression_values(v->e[i], n, x, fixed, 0, b->u[i], NULL);
  }
  return finite;
}

static void release(cb_flow *f) {
  for (int i = 0; i < 3; i++) cb_expression_free(((expressions *)f)->e[i]);
}

cb_status cb_flow_expressions(const char *const text[3], size_t n, const char *const *names, const double *values,
                              size_t *which, size_t *at, cb_flow **out) {
  const cb_expression_scope scope = {variables, VARIABLES, names, values, n};
  expressions *v = cb_flow_new(sizeof *v);
  if (!v) return CB_ERROR_MEMORY;
  v->flow = (cb_flow){expressions_at, expressions_block, release, .even = true, .steady = true};
  for (size_t i = 0; i < 3; i++) {
    const cb_status status = cb_expression_parse_in(text[i], &scope, at, &v->e[i]);
    if (status) {
      if (which) *which = i;
      cb_flow_free(&v->flow);
      return status;
    }
    for (size_t k = 0; k < TIME; k++) v->flow.even &= !cb_expression_uses(v->e[i], k);
    v->flow.steady &= !cb_expression_uses(v->e[i], TIME);
  }
  v->flow.uniform = v->flow.even && v->flow.steady;
  *out = &v->flow;
  return CB_OK;
}
