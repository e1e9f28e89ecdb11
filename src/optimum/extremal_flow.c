/* One step of collocation from a point of an extremal, with its derivatives; what is between nodes, to round-off. */
#include "optimum/extremal_private.h"

#include "bundle/gait_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int one = 1;

cb_status flow_create(const cb_wong *w, flow **out) {
  const cb_group *G = w->bundle->group;
  flow *f = calloc(1, sizeof *f);
  if (!f) return cb_fail(CB_ERROR_MEMORY, "no memory for an extremal");
  f->p = (problem){.G = G, .wong = *w, .n = w->n, .dim = w->dim, .size = w->size};
  cb_status status = cb_tableau_gauss(CB_STAGES, &f->p.gauss);
  if (!status) status = mesh_create(&f->p, 1, &one, NULL, &f->m);
  if (status) {
    flow_free(f);
    return status;
  }
  *out = f;
  return CB_OK;
}

void flow_free(flow *f) {
  if (f) mesh_free(f->m);
  free(f);
}

/* Stages of at along the tangent at x, or along a panel of an extremal of which h is a part. */
static cb_status guess(flow *f, unsigned held, double h, const double *x, const double *stage, double part) {
  extremal_mesh *m = f->m;
  const int size = f->p.size;
  double rate[CB_WONG_MAX];
  memcpy(m->at.x, x, (size_t)size * sizeof *x);
  for (int j = 0; stage && j <= CB_STAGES; j++) {
    const double c = j < CB_STAGES ? f->p.gauss.c[j] : 1;
    mesh_interpolate(&f->p.gauss, size, x, stage, c * part, j < CB_STAGES ? m->at.stage + j * size : m->at.x + size);
  }
  if (stage) return CB_OK;
  const cb_status status = cb_wong_at(&f->p.wong, held, x, &(cb_wong_rates){.f = rate});
  if (status) return status;
  for (int c = 0; c < size; c++) {
    m->at.x[size + c] = x[c] + h * rate[c];
    for (int j = 0; j < CB_STAGES; j++) m->at.stage[j * size + c] = x[c] + f->p.gauss.c[j] * h * rate[c];
  }
  return CB_OK;
}

cb_status flow_step(flow *f, unsigned held, double h, const double *x, const double *stage, double part,
                    double settled) {
  enum { ROUNDS = 25 };
  extremal_mesh *m = f->m;
  const int size = f->p.size;
  double z[CB_WONG_MAX + 1] = {0}, before = INFINITY;
  m->held[0] = held;
  m->at.duration[0] = h;
  cb_status status = guess(f, held, h, x, stage, part);
  for (int round = 0; !status && round < ROUNDS; round++) {
    double change = 0, most = 1e-300;
    status = panels_evaluate(m, &m->at, true);
    if (!status) status = panels_condense(m);
    if (status) return status;
    panels_expand(m, z);
    for (int c = 0; c < size; c++) {
      most = fmax(most, fabs(m->at.x[size + c]));
      m->at.x[size + c] += m->step.x[size + c];
    }
    for (int i = 0; i < CB_STAGES * size; i++) {
      most = fmax(most, fabs(m->at.stage[i]));
      change = fmax(change, fabs(m->step.stage[i]));
      m->at.stage[i] += m->step.stage[i];
    }
    if (change <= settled * most || (change <= 1e-12 * most && change >= before / 2)) return CB_OK;
    before = change;
  }
  return status ? status : cb_fail(CB_STEP_NO_CONVERGENCE, "a step of %.3g along an extremal does not converge", h);
}

cb_status cb_extremal_at(const cb_extremal *e, double t, double *x, double *v) {
  flow *f = NULL;
  cb_status status = flow_create(&e->wong, &f);
  if (!status) status = flow_at(f, e, t, x, v);
  flow_free(f);
  return status;
}

/* At the part c of panel k by the polynomials of its stages. */
static void between(const flow *f, const cb_extremal *e, int k, double c, double *x, double *v) {
  const int n = e->wong.n, size = e->wong.size;
  mesh_interpolate(&f->p.gauss, size, e->x + k * size, e->stage + k * CB_STAGES * size, c, x);
  if (v) mesh_interpolate(&f->p.gauss, n, NULL, e->rate + k * CB_STAGES * n, c, v);
}

cb_status flow_at(flow *f, const cb_extremal *e, double t, double *x, double *v) {
  const int size = e->wong.size;
  int k = 0, a = 0;
  if (!(t >= 0 && t <= 1)) return cb_fail(CB_ERROR_ARGUMENT, "an extremal at t = %.9g, expected within [0, 1]", t);
  while (k + 1 < e->panels && t >= e->time[k + 1]) k++;
  while (a + 1 < e->arcs && e->time[k] >= e->end[a + 1]) a++;
  const double *from = e->x + k * size, *to = from + size;
  cb_status status = CB_OK;
  if (e->rate) return between(f, e, k, (t - e->time[k]) / (e->time[k + 1] - e->time[k]), x, v), CB_OK;
  if (t == e->time[k] || t == 1) {
    memcpy(x, t == 1 ? to : from, (size_t)size * sizeof *x);
  } else {
    status = flow_step(f, e->held[a], t - e->time[k], from, e->stage + k * CB_STAGES * size,
                       (t - e->time[k]) / (e->time[k + 1] - e->time[k]), 1e-8); /* its square is what is left */
    if (!status) memcpy(x, f->m->at.x + size, (size_t)size * sizeof *x);
  }
  return status || !v ? status : cb_wong_at(&e->wong, e->held[a], x, &(cb_wong_rates){.v = v});
}

/* r - gap t at the Chebyshev-Lobatto points of each arc, values[arcs][degree + 1][n]; halved: those of half the degree are
 * there already. */
static cb_status points(flow *f, const cb_extremal *e, int degree, bool halved, double *values) {
  const int n = e->wong.n;
  double x[CB_WONG_MAX];
  for (int a = 0; halved && a < e->arcs; a++) {
    const int arc = e->arcs - 1 - a; /* from behind: rows move apart */
    for (int j = degree; j >= 0; j -= 2)
      memmove(values + (arc * (degree + 1) + j) * n, values + (arc * (degree / 2 + 1) + j / 2) * n,
              (size_t)n * sizeof *values);
  }
  for (int a = 0; a < e->arcs; a++)
    for (int j = halved; j <= degree; j += 1 + halved) {
      const double u = (1 - cos(M_PI * j / degree)) / 2, t = e->end[a] + u * (e->end[a + 1] - e->end[a]);
      double *r = values + (a * (degree + 1) + j) * n;
      if (j == degree && a + 1 == e->arcs) { /* closed to the last bit */
        memcpy(r, e->r, (size_t)n * sizeof *r);
        continue;
      }
      const cb_status status = flow_at(f, e, fmin(t, 1), x, NULL);
      if (status) return status;
      for (int i = 0; i < n; i++) r[i] = x[i] - e->gap[i] * t;
    }
  return CB_OK;
}

static bool goes_round(const cb_extremal *e) {
  bool any = false;
  for (int i = 0; i < e->wong.n; i++) any |= e->gap[i] != 0;
  return any;
}

/* The largest of the last two Chebyshev coefficients of each arc, against the largest of all values' ranges. */
static double tail(const cb_extremal *e, int degree, const double *values) {
  const int n = e->wong.n;
  double most = 0, wide = 1e-300;
  for (int a = 0; a < e->arcs; a++)
    for (int i = 0; i < n; i++) {
      const double *r = values + a * (degree + 1) * n + i;
      double last[2] = {0, 0};
      for (int j = 0; j <= degree; j++) {
        const double weight = (j == 0 || j == degree ? 1. : 2.) / degree;
        last[0] += weight * r[j * n] * (j % 2 ? -1 : 1) / 2;
        last[1] += weight * r[j * n] * cos(M_PI * j * (degree - 1.) / degree);
        wide = fmax(wide, fabs(r[j * n] - r[0]));
      }
      most = fmax(most, fmax(fabs(last[0]), fabs(last[1])));
    }
  return most / wide;
}

cb_status cb_extremal_gait(const cb_extremal *e, cb_gait **out) {
  enum { LEAST = 24, MOST = 384 };
  const size_t n = (size_t)e->wong.n;
  flow *f = NULL;
  double *values = calloc((size_t)e->arcs * (MOST + 1) * n, sizeof *values);
  cb_status status = values ? flow_create(&e->wong, &f) : cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  int degree = LEAST;
  for (; !status; degree *= 2) {
    status = points(f, e, degree, degree > LEAST, values);
    if (status || degree * 2 > MOST || tail(e, degree, values) < 1e-14) break;
  }
  cb_gait *loop = NULL;
  if (!status) status = cb_gait_arcs(e->wong.n, e->arcs, e->end, degree, values, &loop);
  if (!status && goes_round(e)) {
    status = cb_gait_drifting(loop, e->gap, out);
    cb_gait_free(loop);
  } else if (!status) {
    *out = loop;
  }
  flow_free(f);
  free(values);
  return status;
}
