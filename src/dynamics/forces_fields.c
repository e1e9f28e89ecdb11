/* Forces that are given as expressions: potentials V = sum_i V(t, q(x_i), m_i, e_i) in the coordinates q of a chart of
 * the world, with the mass m_i and the charge e_i of particle i, and generalised forces.
 *
 * Let y be the world point, moved along its ray onto the space, q its coordinates, J = dy/dq and I = diag(form):
 *   u = J g^-1 dV/dq,  g = J^T I J      the gradient, a tangent vector; in the embedding simply u = I^-1 dV/dy
 *   D = (du/dq) g^-1 J^T I              its derivative along tangent vectors
 * For a component whose origin has the isometry M, with local points x = M^-1 y, the force is -M^-1 u and its
 * derivative -M^-1 D M. In a chart space, with J of the space's own chart, they are -J^T I u and -(J^T I D J + (dJ)^T I
 * u), where dJ is the derivative of J. The second derivatives of y(q) are differences of J of fourth order (error about
 * 1e-12); only Newton matrices use them.
 */
#include "dynamics/forces_private.h"

#include "numerics/small.h"

#include <math.h>
#include <string.h>

enum { K = CB_Q_MAX, DIM = CB_Q_MAX };

cb_status cb_fields_create(cb_forces *f) {
  const cb_system *s = f->system;
  size_t n = s->n_fields && (!s->space->chart || cb_origin_moves(s->space)) ? (size_t)s->n_components : 0;
  f->world = cb_arena_alloc(f->arena, n, sizeof *f->world);
  f->local = cb_arena_alloc(f->arena, n, sizeof *f->local);
  return f->world && f->local ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d origins", s->n_components);
}

cb_status cb_fields_set_origins(cb_forces *f, const cb_origin *origin) {
  const cb_system *s = f->system;
  if (!s->n_fields || (s->space->chart && !cb_origin_moves(s->space))) return CB_OK;
  for (int c = 0; c < s->n_components; c++) {
    cb_origin_isometry(s->space, &origin[c], &f->world[c]);
    cb_isometry_inverse(s->space, &f->world[c], &f->local[c]);
  }
  return CB_OK;
}

/* V with its gradient and, if wanted, its Hessian in the coordinates of the expression. */
typedef struct derivatives {
  double v, g[K], h[K][K];
} derivatives;

static void differentiate(const cb_forces *f, const cb_potential_field *field, int n, const double *q, double t, int i,
                          bool second, derivatives *out) {
  double x[K + 3];
  memcpy(x, q, (size_t)n * sizeof *q);
  x[n] = t;
  x[n + 1] = f->system->mass[i];
  x[n + 2] = f->system->charge[i];
  if (!second) {
    out->v = cb_expression_gradient(field->expression, x, n, out->g);
    return;
  }
  cb_jet jet = cb_expression_jet(field->expression, x, n);
  out->v = jet.v;
  for (int a = 0; a < n; a++) {
    out->g[a] = jet.g[a];
    for (int b = 0; b < n; b++) out->h[a][b] = jet.h[cb_jet_packed(a, b)];
  }
}

/* second[l][a][i] = d^2 x_a / dq_l dq_i. */
static cb_status second_derivatives(const cb_space *g, const cb_chart *chart, const double *q,
                                    double second[DIM][K * DIM]) {
  static const double weight[2] = {2.0 / 3, -1.0 / 12};
  for (int l = 0; l < g->dim; l++) {
    double h = 1e-3 * fmax(1, fabs(q[l])), x[K], jacobian[K * DIM], at[DIM];
    memset(second[l], 0, sizeof second[l]);
    for (int side = -2; side <= 2; side++) {
      if (!side) continue;
      memcpy(at, q, (size_t)g->dim * sizeof *q);
      at[l] += side * h;
      cb_status status = chart->to_point(g, at, x, jacobian);
      if (status) return status;
      double c = (side > 0 ? 1 : -1) * weight[side * side / 4] / h;
      for (int e = 0; e < g->embedding * g->dim; e++) second[l][e] += c * jacobian[e];
    }
  }
  return CB_OK;
}

/* The inverse of the metric g = J^T I J of a chart. */
static cb_status inverse_metric(const cb_space *g, const double *jacobian, double *inverse) {
  const int n = g->dim;
  double m[DIM * DIM], l[DIM * DIM];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int a = 0; a < g->embedding; a++) sum += g->form[a] * jacobian[a * n + i] * jacobian[a * n + j];
      m[i * n + j] = sum;
    }
  if (!cb_cholesky(n, m, 0, l))
    return cb_fail(CB_STEP_DOMAIN,
                   "a potential is evaluated at a singular point of its chart: use a smaller `step` or another chart");
  cb_cholesky_whole_inverse(n, l, inverse);
  return CB_OK;
}

/* Moves y along its ray from the centre onto the quadric of each curved factor. */
static void onto_space(const cb_space *g, double *y) {
  for (int n = 0; n < g->n_factors; n++) {
    const cb_factor *factor = &g->factor[n];
    double square = 0;
    if (factor->curvature == 0) continue;
    for (int a = factor->offset; a < factor->offset + factor->count; a++) square += g->form[a] * y[a] * y[a];
    double scale = 1 / sqrt(factor->curvature * square);
    for (int a = factor->offset; a < factor->offset + factor->count; a++) y[a] *= scale;
  }
}

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

/* u = J g^-1 dV and, unless D is NULL, D = (du/dq) g^-1 J^T I with
 *   du/dq_l = J_l g^-1 dV + J g^-1 (d_l dV - g_l g^-1 dV),  g_l = J_l^T I J + J^T I J_l.
 */
static cb_status gradient_by_chart(const cb_forces *f, const cb_potential_field *field, double t, int i, double *y,
                                   double *v, double *u, double *D) {
  const cb_space *g = f->system->space;
  int n = g->dim, k = g->embedding;
  double q[DIM], x[K], J[K * DIM], inverse[DIM * DIM], w[DIM] = {0};
  onto_space(g, y);
  cb_status status = field->chart->from_point(g, y, q);
  if (!status) status = field->chart->to_point(g, q, x, J);
  if (!status) status = inverse_metric(g, J, inverse);
  if (status) return step_status(status);
  derivatives V;
  differentiate(f, field, n, q, t, i, D != NULL, &V);
  *v = V.v;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) w[a] += inverse[a * n + b] * V.g[b];
  for (int a = 0; a < k; a++) {
    u[a] = 0;
    for (int b = 0; b < n; b++) u[a] += J[a * n + b] * w[b];
  }
  if (!D) return CB_OK;

  double second[DIM][K * DIM], dq[DIM][K];
  status = second_derivatives(g, field->chart, q, second);
  if (status) return step_status(status);
  for (int a = 0; a < n; a++)
    for (int b = 0; b < k; b++) {
      dq[a][b] = 0;
      for (int c = 0; c < n; c++) dq[a][b] += inverse[a * n + c] * J[b * n + c] * g->form[b];
    }
  memset(D, 0, (size_t)(k * k) * sizeof *D);
  for (int l = 0; l < n; l++) {
    double r[DIM], du[K];
    for (int c = 0; c < n; c++) {
      r[c] = V.h[c][l];
      for (int a = 0; a < k; a++)
        for (int b = 0; b < n; b++)
          r[c] -= g->form[a] * (second[l][a * n + c] * J[a * n + b] + J[a * n + c] * second[l][a * n + b]) * w[b];
    }
    for (int a = 0; a < k; a++) {
      du[a] = 0;
      for (int b = 0; b < n; b++) {
        du[a] += second[l][a * n + b] * w[b];
        for (int c = 0; c < n; c++) du[a] += J[a * n + b] * inverse[b * n + c] * r[c];
      }
      for (int b = 0; b < k; b++) D[a * k + b] += du[a] * dq[l][b];
    }
  }
  return CB_OK;
}

/* The gradient field u at the world point y and its derivative D. */
static cb_status gradient(const cb_forces *f, const cb_potential_field *field, double t, int i, double *y, double *v,
                          double *u, double *D) {
  const cb_space *g = f->system->space;
  if (field->chart) return gradient_by_chart(f, field, t, i, y, v, u, D);
  int k = g->embedding;
  derivatives V;
  differentiate(f, field, k, y, t, i, D != NULL, &V);
  *v = V.v;
  for (int a = 0; a < k; a++) {
    u[a] = V.g[a] / g->form[a];
    if (D)
      for (int b = 0; b < k; b++) D[a * k + b] = V.h[a][b] / g->form[a];
  }
  return CB_OK;
}

/* Sets force[k] and block[k*k] (may be NULL) of particle i in an embedding. */
static cb_status in_embedding(const cb_forces *f, const cb_potential_field *field, double t, int i, const double *x,
                              double *v, double *force, double *block) {
  const cb_space *g = f->system->space;
  int k = g->k, c = f->system->component[i];
  const cb_isometry *world = &f->world[c], *local = &f->local[c];
  double y[K], u[K], D[K * K], back[K];
  cb_isometry_point(g, world, x, y);
  cb_status status = gradient(f, field, t, i, y, v, u, block ? D : NULL);
  if (status) return status;
  cb_isometry_vector(g, local, u, back);
  for (int a = 0; a < k; a++) force[a] = -back[a];
  if (!block) return CB_OK;
  for (int b = 0; b < k; b++) {
    double column[K];
    for (int a = 0; a < k; a++) {
      column[a] = 0;
      for (int e = 0; e < k; e++) column[a] += D[a * k + e] * world->m[e][b];
    }
    cb_isometry_vector(g, local, column, back);
    for (int a = 0; a < k; a++) block[a * k + b] = -back[a];
  }
  return CB_OK;
}

/* Converts derivatives in y = m x + b to those in x. */
static void pull_back(int n, const cb_isometry *world, bool second, derivatives *V) {
  double g[DIM] = {0}, h[DIM][DIM] = {{0}};
  for (int a = 0; a < n; a++)
    for (int c = 0; c < n; c++) {
      g[a] += world->m[c][a] * V->g[c];
      for (int b = 0; second && b < n; b++)
        for (int d = 0; d < n; d++) h[a][b] += world->m[c][a] * V->h[c][d] * world->m[d][b];
    }
  for (int a = 0; a < n; a++) {
    V->g[a] = g[a];
    for (int b = 0; second && b < n; b++) V->h[a][b] = h[a][b];
  }
}

/* As in_embedding, in a space with a chart: directly if the expression is in that chart, otherwise by way of the
 * embedding. */
static cb_status in_chart(const cb_forces *f, const cb_potential_field *field, double t, int i, const double *q,
                          double *v, double *force, double *block) {
  const cb_space *g = f->system->space;
  int n = g->dim, k = g->embedding;
  if (field->chart == g->chart) {
    derivatives V;
    if (cb_origin_moves(g)) {
      const cb_isometry *world = &f->world[f->system->component[i]];
      double y[K];
      cb_isometry_point(g, world, q, y);
      differentiate(f, field, n, y, t, i, block != NULL, &V);
      pull_back(n, world, block != NULL, &V);
    } else {
      differentiate(f, field, n, q, t, i, block != NULL, &V);
    }
    *v = V.v;
    for (int a = 0; a < n; a++) {
      force[a] = -V.g[a];
      if (block)
        for (int b = 0; b < n; b++) block[a * n + b] = -V.h[a][b];
    }
    return CB_OK;
  }
  double y[K], J[K * DIM], u[K], D[K * K], second[DIM][K * DIM];
  cb_status status = g->chart->to_point(g, q, y, J);
  if (!status && block) status = second_derivatives(g, g->chart, q, second);
  if (!status) status = gradient(f, field, t, i, y, v, u, block ? D : NULL);
  if (status) return step_status(status);
  for (int a = 0; a < n; a++) {
    force[a] = 0;
    for (int e = 0; e < k; e++) force[a] -= J[e * n + a] * g->form[e] * u[e];
    if (!block) continue;
    for (int b = 0; b < n; b++) {
      double sum = 0;
      for (int e = 0; e < k; e++) {
        double Du = 0;
        for (int c = 0; c < k; c++) Du += D[e * k + c] * J[c * n + b];
        sum += g->form[e] * (J[e * n + a] * Du + second[b][e * n + a] * u[e]);
      }
      block[a * n + b] = -sum;
    }
  }
  return CB_OK;
}

static cb_status at(const cb_forces *f, const cb_potential_field *field, double t, int i, const double *x, double *v,
                    double *force, double *block) {
  const double *at_i = x + i * f->system->k;
  return f->system->space->chart ? in_chart(f, field, t, i, at_i, v, force, block)
                                 : in_embedding(f, field, t, i, at_i, v, force, block);
}

cb_status cb_fields_add(cb_forces *f, double t, const double *x, double *force) {
  const cb_system *s = f->system;
  for (int n = 0; n < s->n_fields; n++)
    for (int m = 0; m < s->field[n].group.n; m++) {
      int i = s->field[n].group.particle[m];
      double v, one[K];
      cb_status status = at(f, &s->field[n], t, i, x, &v, one, NULL);
      if (status) return status;
      for (int a = 0; a < s->k; a++) force[i * s->k + a] += one[a];
    }
  return CB_OK;
}

cb_status cb_fields_potential(cb_forces *f, double t, const double *x, double *potential) {
  const cb_system *s = f->system;
  double sum = 0;
  for (int n = 0; n < s->n_fields; n++)
    for (int m = 0; m < s->field[n].group.n; m++) {
      double v, one[K];
      cb_status status = at(f, &s->field[n], t, s->field[n].group.particle[m], x, &v, one, NULL);
      if (status) return status;
      sum += v;
    }
  *potential += sum;
  return CB_OK;
}

cb_status cb_fields_jacobian(cb_forces *f, double t, const double *x, double *dx) {
  const cb_system *s = f->system;
  int k = s->k;
  for (int n = 0; n < s->n_fields; n++)
    for (int m = 0; m < s->field[n].group.n; m++) {
      int i = s->field[n].group.particle[m];
      double v, one[K], block[K * K];
      cb_status status = at(f, &s->field[n], t, i, x, &v, one, block);
      if (status) return status;
      double *out = dx + (size_t)cb_pattern_find(&f->pattern, i, i) * (size_t)(k * k);
      for (int e = 0; e < k * k; e++) out[e] += block[e];
    }
  return CB_OK;
}

/* Generalised forces given as expressions, in spaces with a chart: a covector F_a(q, u, t), u = dq/dt.
 *
 *   dp_a/dt = ... + F_a,   with the exact derivatives dF_a/dq_b and dF_a/du_b
 * Source: Arnold, Mathematical Methods of Classical Mechanics, 2nd ed. (1989), section 12. */

enum { D = CB_Q_MAX };

/* Writes the arguments of an expression for particle i to `out`: q, u, t, mass and charge. */
static void arguments(const cb_forces *f, int i, double t, const double *x, const double *v, double *out) {
  const cb_system *s = f->system;
  const int d = s->k;
  memcpy(out, x + i * d, (size_t)d * sizeof *out);
  for (int a = 0; a < d; a++) out[d + a] = v ? v[i * d + a] : 0;
  out[2 * d] = t;
  out[2 * d + 1] = s->mass[i];
  out[2 * d + 2] = s->charge[i];
}

static cb_status check(const cb_forces *f, int a, double value) {
  if (isfinite(value)) return CB_OK;
  return cb_fail(CB_STEP_DOMAIN, "the force along coordinate %s is not finite: use a smaller `step` or another start",
                 f->system->space->chart->coordinates[a]);
}

cb_status cb_generalised_add(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  const int d = s->k;
  for (int n = 0; n < s->n_generalised; n++)
    for (int m = 0; m < s->generalised[n].group.n; m++) {
      const int i = s->generalised[n].group.particle[m];
      double at[2 * D + 3];
      arguments(f, i, t, x, v, at);
      for (int a = 0; a < d; a++) {
        const cb_expression *e = s->generalised[n].force[a];
        const double value = e ? cb_expression_value(e, at) : 0;
        const cb_status status = check(f, a, value);
        if (status) return status;
        force[i * d + a] += value;
      }
    }
  return CB_OK;
}

cb_status cb_generalised_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv) {
  const cb_system *s = f->system;
  const int d = s->k;
  for (int n = 0; n < s->n_generalised; n++)
    for (int m = 0; m < s->generalised[n].group.n; m++) {
      const int i = s->generalised[n].group.particle[m];
      const size_t block = (size_t)cb_pattern_find(&f->pattern, i, i) * (size_t)(d * d);
      double at[2 * D + 3], gradient[2 * D];
      arguments(f, i, t, x, v, at);
      for (int a = 0; a < d; a++) {
        const cb_expression *e = s->generalised[n].force[a];
        if (!e) continue;
        const cb_status status = check(f, a, cb_expression_gradient(e, at, 2 * d, gradient));
        if (status) return status;
        for (int b = 0; b < d; b++) {
          dx[block + (size_t)(a * d + b)] += gradient[b];
          if (dv) dv[block + (size_t)(a * d + b)] += gradient[d + b];
        }
      }
    }
  return CB_OK;
}
