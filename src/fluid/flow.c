/* Flows: what kinds have in common, and those that are linear in place. See flow.h. */
#include "core/threads.h"
#include "fluid/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    return cb_fail(CB_STEP_NOT_FINITE, "flow at (%g, %g, %g), t = %g: velocity (%g, %g, %g)%s", x[0], x[1], x[2], k->t,
                   p.u[0], p.u[1], p.u[2], is_finite(&p, false) ? ", its derivatives are not finite" : "");
  memcpy(k->u[i], p.u, sizeof p.u);
  if (k->gradient) memcpy(k->gradient[i], p.gradient, sizeof p.gradient);
  if (k->rate) memcpy(k->rate[i], p.rate, sizeof p.rate);
  return CB_OK;
}

/* n points from `first` on by blocks, where the flow has them; false: one is not finite, or it has none. */
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
    if (!isfinite(u[i])) return cb_fail(CB_ERROR_ARGUMENT, "flow: velocity %c is %g", "xyz"[i], u[i]);
    for (int j = 0; j < 3; j++) {
      uniform &= gradient[i][j] == 0;
      if (!isfinite(gradient[i][j]))
        return cb_fail(CB_ERROR_ARGUMENT, "flow: du_%c/d%c is %g", "xyz"[i], "xyz"[j], gradient[i][j]);
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
