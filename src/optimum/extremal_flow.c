/* This file computes the values of an extremal between its nodes, to round-off, by one step of collocation. It also
 * computes the derivatives of such a step, the gait of an extremal, and the invariants of an extremal. */
#include "optimum/extremal_private.h"

#include "bundle/gait_private.h"

#include <gsl/gsl_eigen.h>
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

/* Guesses the stages and the end of a step in m->at. If `stage` is NULL, the guess lies along the tangent at x.
 * Otherwise `stage` holds the stages of a panel of an extremal, from which the guess is interpolated; h is then the
 * fraction `part` of the length of that panel. */
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
    double change = 0, maximum = 1e-300;
    status = panels_evaluate(m, &m->at, true);
    if (!status) status = panels_condense(m);
    if (status) return status;
    panels_expand(m, z);
    for (int c = 0; c < size; c++) {
      maximum = fmax(maximum, fabs(m->at.x[size + c]));
      m->at.x[size + c] += m->step.x[size + c];
    }
    for (int i = 0; i < CB_STAGES * size; i++) {
      maximum = fmax(maximum, fabs(m->at.stage[i]));
      change = fmax(change, fabs(m->step.stage[i]));
      m->at.stage[i] += m->step.stage[i];
    }
    if (change <= settled * maximum || (change <= 1e-12 * maximum && change >= before / 2)) return CB_OK;
    before = change;
  }
  return status ? status
                : cb_fail(CB_STEP_NO_CONVERGENCE,
                          "a step of %.3g along an extremal does not converge: try a smaller step", h);
}

/* Computes x and v (or NULL) at the fraction c of panel k from the polynomials of its stages. */
static void between(const flow *f, const cb_extremal *e, int k, double c, double *x, double *v) {
  const int n = e->wong.n, size = e->wong.size;
  mesh_interpolate(&f->p.gauss, size, e->x + k * size, e->stage + k * CB_STAGES * size, c, x);
  if (v) mesh_interpolate(&f->p.gauss, n, NULL, e->rate + k * CB_STAGES * n, c, v);
}

static cb_status flow_at(flow *f, const cb_extremal *e, double t, double *x, double *v) {
  const int size = e->wong.size;
  int k = 0, a = 0;
  if (!(t >= 0 && t <= 1)) return cb_fail(CB_ERROR_ARGUMENT, "t = %.9g on an extremal: expected 0 to 1", t);
  while (k + 1 < e->panels && t >= e->time[k + 1]) k++;
  while (a + 1 < e->arcs && e->time[k] >= e->end[a + 1]) a++;
  const double *from = e->x + k * size, *to = from + size;
  cb_status status = CB_OK;
  if (e->rate) {
    between(f, e, k, (t - e->time[k]) / (e->time[k + 1] - e->time[k]), x, v);
    return CB_OK;
  }
  if (t == e->time[k] || t == 1) {
    memcpy(x, t == 1 ? to : from, (size_t)size * sizeof *x);
  } else {
    status = flow_step(f, e->held[a], t - e->time[k], from, e->stage + k * CB_STAGES * size,
                       (t - e->time[k]) / (e->time[k + 1] - e->time[k]),
                       1e-8); /* the error of x is about the square of this tolerance */
    if (!status) memcpy(x, f->m->at.x + size, (size_t)size * sizeof *x);
  }
  return status || !v ? status : cb_wong_at(&e->wong, e->held[a], x, &(cb_wong_rates){.v = v});
}

cb_status cb_extremal_at(const cb_extremal *e, double t, double *x, double *v) {
  flow *f = NULL;
  cb_status status = flow_create(&e->wong, &f);
  if (!status) status = flow_at(f, e, t, x, v);
  flow_free(f);
  return status;
}

/* Computes values[arcs][degree + 1][n] at the Chebyshev-Lobatto points t of each arc. The values are r(t) - gap t,
 * where r is the shape and gap = r(1) - r(0). If `halved` is true, the array already holds the values at the points for
 * half the degree, and only the values at the other points are computed. */
static cb_status points(flow *f, const cb_extremal *e, int degree, bool halved, double *values) {
  const int n = e->wong.n;
  double x[CB_WONG_MAX];
  for (int a = 0; halved && a < e->arcs; a++) {
    /* values are moved arc by arc from the last arc to the first, so that no value is overwritten before it is moved */
    const int arc = e->arcs - 1 - a;
    for (int j = degree; j >= 0; j -= 2)
      memmove(values + (arc * (degree + 1) + j) * n, values + (arc * (degree / 2 + 1) + j / 2) * n,
              (size_t)n * sizeof *values);
  }
  for (int a = 0; a < e->arcs; a++)
    for (int j = halved; j <= degree; j += 1 + halved) {
      const double u = (1 - cos(M_PI * j / degree)) / 2, t = e->end[a] + u * (e->end[a + 1] - e->end[a]);
      double *r = values + (a * (degree + 1) + j) * n;
      /* the last point is set to the first one, so that the gait is closed bit for bit */
      if (j == degree && a + 1 == e->arcs) {
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

/* Returns the largest of the last two Chebyshev coefficients of all arcs, relative to the largest range of values. */
static double tail(const cb_extremal *e, int degree, const double *values) {
  const int n = e->wong.n;
  double maximum = 0, wide = 1e-300;
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
      maximum = fmax(maximum, fmax(fabs(last[0]), fabs(last[1])));
    }
  return maximum / wide;
}

cb_status cb_extremal_gait(const cb_extremal *e, cb_gait **out) {
  enum { LEAST = 24, MAXIMUM = 384 };
  const size_t n = (size_t)e->wong.n;
  flow *f = NULL;
  double *values = calloc((size_t)e->arcs * (MAXIMUM + 1) * n, sizeof *values);
  cb_status status = values ? flow_create(&e->wong, &f) : cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  int degree = LEAST;
  for (; !status; degree *= 2) {
    status = points(f, e, degree, degree > LEAST, values);
    if (status || degree * 2 > MAXIMUM || tail(e, degree, values) < 1e-14) break;
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

/* --- the invariants of an extremal and their drifts: v'Mv, Ad*_{g^-1} lambda, and quadratic Casimir functions of
 * lambda (extremal.h) --- */

enum { FORMS = 6 * 7 / 2 }; /* entries of a symmetric form: groups that are not abelian have dim <= 6 */

/* Computes the Gram matrix of the equations lambda' Q ad*_a lambda = 0 for all elements a of the algebra. The unknowns
 * are the entries Q_kb of the quadratic form Q; Q_kb = Q_bk counts as one unknown. */
static void invariance(const cb_wong *w, int forms, int (*pair)[2], double *gram) {
  double row[FORMS];
  for (int a = 0; a < w->dim; a++)
    for (int i = 0; i < w->dim; i++)
      for (int j = 0; j <= i; j++) {
        memset(row, 0, sizeof row);
        for (int f = 0; f < forms; f++)
          for (int side = 0; side < (pair[f][0] != pair[f][1] ? 2 : 1); side++) {
            const int k = pair[f][side], b = pair[f][1 - side];
            if (k == i) row[f] += w->bracket[a][b][j];
            if (k == j && i != j) row[f] += w->bracket[a][b][i];
          }
        for (int f = 0; f < forms; f++)
          for (int e = 0; e < forms; e++) gram[f * forms + e] += row[f] * row[e];
      }
}

/* Finds the orthonormal quadratic forms Q[*found][dim][dim] that are invariant under ad*. */
static cb_status casimirs(const cb_wong *w, double *Q, int *found) {
  const int dim = w->dim;
  int pair[FORMS][2], forms = 0;
  double gram[FORMS * FORMS] = {0};
  for (int i = 0; i < dim; i++)
    for (int j = 0; j <= i; j++) {
      pair[forms][0] = i;
      pair[forms++][1] = j;
    }
  const size_t N = (size_t)forms;
  double vector[FORMS * FORMS], value[FORMS];
  invariance(w, forms, pair, gram);
  gsl_matrix_view m = gsl_matrix_view_array(gram, N, N), v = gsl_matrix_view_array(vector, N, N);
  gsl_vector_view e = gsl_vector_view_array(value, N);
  gsl_eigen_symmv_workspace *workspace = gsl_eigen_symmv_alloc(N);
  if (!workspace) return cb_fail(CB_ERROR_MEMORY, "no memory for the invariants of %s", w->bundle->group->name);
  gsl_eigen_symmv(&m.matrix, &e.vector, &v.matrix, workspace);
  gsl_eigen_symmv_free(workspace);
  *found = 0;
  for (int f = 0; f < forms; f++) {
    if (!(fabs(value[f]) < 1e-10)) continue;
    double *form = Q + (*found)++ * dim * dim;
    for (int k = 0; k < forms; k++) {
      const int i = pair[k][0], j = pair[k][1];
      form[i * dim + j] = form[j * dim + i] = vector[k * forms + f] / (i == j ? 1 : 2);
    }
  }
  return CB_OK;
}

static double form_value(int dim, const double *Q, const double *lambda) {
  double sum = 0;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) sum += lambda[i] * Q[i * dim + j] * lambda[j];
  return sum;
}

cb_status extremal_invariants(const extremal_mesh *m, cb_extremal *e) {
  const problem *p = m->p;
  const int dim = p->dim, size = p->size;
  double Q[FORMS * 36], H0 = 0, strong = 0;
  int forms = 0;
  cb_status status = p->G->abelian ? CB_OK : casimirs(&p->wong, Q, &forms);
  const double *start = m->at.x + 2 * p->n;
  for (int a = 0; a < dim; a++) strong += start[a] * start[a];
  for (int k = 0; !status && k <= m->panels; k++) {
    const double *x = m->at.x + k * size, *lambda = x + 2 * p->n;
    double H = 0, inverse[CB_GROUP_SIZE], mu[CB_GROUP_DIM];
    if (!p->homogeneous)
      status = cb_wong_at(&p->wong, m->held[arc_of(m, k < m->panels ? k : k - 1)], x, &(cb_wong_rates){.H = &H});
    if (k == 0) H0 = H;
    if (!p->homogeneous) e->speed = fmax(e->speed, fabs(H - H0) / H0);
    p->G->inverse(p->G, m->element + k * p->G->size, inverse);
    cb_group_adjoint_dual(p->G, inverse, lambda, mu);
    for (int a = 0; a < dim && strong > 0; a++) e->momentum = fmax(e->momentum, fabs(mu[a] - start[a]) / sqrt(strong));
    for (int f = 0; f < forms && strong > 0; f++) {
      const double *form = Q + f * dim * dim;
      e->casimir = fmax(e->casimir, fabs(form_value(dim, form, lambda) - form_value(dim, form, start)) / strong);
    }
  }
  for (int k = 0; !status && p->abnormal && k <= m->panels; k++) {
    const double *x = m->at.x + k * size;
    double rest[CB_SHAPE_MAX] = {0}, P[CB_SHAPE_MAX];
    status = cb_wong_momentum(&p->wong, x, rest, x + 2 * p->n, P);
    for (int i = 0; i < p->n; i++) e->speed = fmax(e->speed, fabs(x[p->n + i] - P[i]) / m->pscale[i]);
  }
  for (int s = 0; p->homogeneous && s < m->panels * CB_STAGES; s++)
    e->speed = fmax(e->speed, fabs(m->s[s] / m->at.global[1] - 1));
  return status;
}
