/* Potentials given as expressions of the coordinates of a chart: V = sum_i V(t, q(x_i), m_i, q_i), x_i in the world.
 *
 * With y the world point, brought to the space along its own ray, q its coordinates, J = dx/dq and I = diag(form):
 *   u = J g^-1 dV/dq,  g = J^T I J      the gradient, a tangent vector; in the embedding u = I^-1 dV/dx as it stands
 *   D = (du/dq) g^-1 J^T I              its derivative along tangent vectors
 * and for a component at x = M^-1 y the force is -M^-1 u and its derivative -M^-1 D M; in a chart space, with J that of
 * the space's own chart, -J^T I u and -(J^T I D J + (dJ)^T I u). Second derivatives of x(q) are differences of J of
 * fourth order (error about 1e-12): they enter Newton matrices alone.
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

/* V with its gradient and, if wanted, Hessian in the coordinates of the expression. */
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
static cb_status second_derivatives(const cb_geometry *g, const cb_chart *chart, const double *q,
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
static cb_status inverse_metric(const cb_geometry *g, const double *jacobian, double *inverse) {
  const int n = g->dim;
  double m[DIM * DIM], l[DIM * DIM];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double sum = 0;
      for (int a = 0; a < g->embedding; a++) sum += g->form[a] * jacobian[a * n + i] * jacobian[a * n + j];
      m[i * n + j] = sum;
    }
  if (!cb_cholesky(n, m, 0, l)) return cb_fail(CB_STEP_DOMAIN, "a potential at a singular point of its chart");
  cb_cholesky_whole_inverse(n, l, inverse);
  return CB_OK;
}

/* Along its ray from the centre to the quadric of each curved factor. */
static void onto_space(const cb_geometry *g, double *y) {
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

/* u = J g^-1 dV and, where D is not NULL, D = (du/dq) g^-1 J^T I with
 *   du/dq_l = J_l g^-1 dV + J g^-1 (d_l dV - g_l g^-1 dV),  g_l = J_l^T I J + J^T I J_l. */
static cb_status gradient_by_chart(const cb_forces *f, const cb_potential_field *field, double t, int i, double *y,
                                   double *v, double *u, double *D) {
  const cb_geometry *g = f->system->space;
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

/* The gradient field u at the world point y, and its derivative D. */
static cb_status gradient(const cb_forces *f, const cb_potential_field *field, double t, int i, double *y, double *v,
                          double *u, double *D) {
  const cb_geometry *g = f->system->space;
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

/* force[k] and block[k*k] (may be NULL) of particle i in an embedding. */
static cb_status in_embedding(const cb_forces *f, const cb_potential_field *field, double t, int i, const double *x,
                              double *v, double *force, double *block) {
  const cb_geometry *g = f->system->space;
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

/* Derivatives in y = m x + b to those in x. */
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

/* The same in a static chart: straight from the expression if it is in that chart, else through the embedding. */
static cb_status in_chart(const cb_forces *f, const cb_potential_field *field, double t, int i, const double *q,
                          double *v, double *force, double *block) {
  const cb_geometry *g = f->system->space;
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
