/* Constraints given as expressions in the coordinates q of a chart of the world.
 *
 *   surface   g = f(q, t):   g_a = f_c q^c_a,  g_ab = f_cd q^c_a q^d_b + f_c q^c_ab
 *   velocity  sum_p A_pc(q, t) dq^c_p/dt = b(q, t), p the particles:   a_pa = A_pc q^c_a,
 *             da_pa/dx_rb = (dA_pc/dq^d_r) q^d_b q^c_a + A_pc q^c_ab [r = p]
 * with q^c_a and q^c_ab as in constraint_charts.h. In a chart space whose own chart this is, q is what it stands at.
 */
#include "dynamics/constraint_charts.h"
#include <math.h>
#include <string.h>

enum { K = CB_Q_MAX, PARTICLES = CB_ELEMENT_PARTICLES };

/* Coordinates of a point: those it stands at, or through the embedding. */
static cb_status coordinates(const cb_constraints *c, const cb_constraint *row, bool own, const double *x, int order,
                             cb_coordinates *out) {
  const cb_geometry *g = c->space;
  if (!own || cb_origin_moves(g)) return cb_coordinates_at(g, row->chart, &c->world[row->world].world, x, order, out);
  out->size = g->dim;
  memcpy(out->q, x, (size_t)g->dim * sizeof *x);
  for (int i = 0; i < g->dim; i++)
    for (int a = 0; a < g->dim; a++) {
      out->first[i][a] = i == a;
      memset(out->second[i][a], 0, (size_t)g->dim * sizeof *out->second[i][a]);
    }
  return CB_OK;
}

/* Are a value and n derivatives of an expression finite? */
static cb_status check_finite(double value, int n, const double *derivative, const char *what) {
  bool all = isfinite(value);
  for (int i = 0; i < n; i++) all = all && isfinite(derivative[i]);
  return all ? CB_OK : cb_fail(CB_STEP_DOMAIN, "%s of a constraint is not finite", what);
}

static cb_status surface_at(const cb_constraints *c, const cb_constraint *row, bool own, double t, const double *x,
                            int order, cb_element *out) {
  const int k = own ? c->space->dim : c->space->embedding;
  cb_coordinates q;
  cb_status status = coordinates(c, row, own, x, order, &q);
  if (status) return status;
  const int n = q.size;
  double at[K + 1], first[K + 1];
  memcpy(at, q.q, (size_t)n * sizeof *at);
  at[n] = t;
  if (order < 2) {
    out->value = cb_expression_gradient(row->expression, at, n + 1, first);
    out->t1 = first[n];
    status = check_finite(out->value, order ? n + 1 : 0, first, "the function");
    if (status) return status;
    for (int a = 0; order && a < k; a++)
      for (int i = 0; i < n; i++) out->gradient[a] += first[i] * q.first[i][a];
    return CB_OK;
  }
  const cb_jet jet = cb_expression_jet(row->expression, at, n + 1);
  status = check_finite(jet.v, n + 1, jet.g, "the function");
  if (status) return status;
  out->value = jet.v;
  out->t1 = jet.g[n];
  out->t2 = jet.h[cb_jet_packed(n, n)];
  for (int a = 0; a < k; a++)
    for (int i = 0; i < n; i++) {
      out->gradient[a] += jet.g[i] * q.first[i][a];
      out->tx[a] += jet.h[cb_jet_packed(n, i)] * q.first[i][a];
      for (int b = 0; b < k; b++) {
        double sum = jet.g[i] * q.second[i][a][b];
        for (int j = 0; j < n; j++) sum += jet.h[cb_jet_packed(i, j)] * q.first[i][a] * q.first[j][b];
        out->hessian[a * k + b] += sum;
      }
    }
  return CB_OK;
}

/* Value and first derivatives of an expression in all coordinates of a row's particles and t: first[particle][c]. */
static cb_status differentiate(const cb_expression *e, int count, const cb_coordinates *q, double t, const char *what,
                               double *value, double first[PARTICLES][K], double *first_t) {
  const int n = q[0].size;
  double at[CB_ELEMENT_MAX + 1], gradient[CB_ELEMENT_MAX + 1];
  for (int p = 0; p < count; p++) memcpy(at + p * n, q[p].q, (size_t)n * sizeof *at);
  at[count * n] = t;
  *value = cb_expression_gradient(e, at, count * n + 1, gradient);
  for (int p = 0; p < count; p++) memcpy(first[p], gradient + p * n, (size_t)n * sizeof *gradient);
  *first_t = gradient[count * n];
  return check_finite(*value, count * n + 1, gradient, what);
}

static cb_status velocity_at(const cb_constraints *c, const cb_constraint *row, bool own, double t,
                             const double *const *x, int order, cb_element *out) {
  const int k = own ? c->space->dim : c->space->embedding, count = row->width, size = count * k;
  cb_coordinates q[PARTICLES];
  q[0].size = 0;
  double first[PARTICLES][K], first_t;
  for (int p = 0; p < count; p++) {
    cb_status status = coordinates(c, row, own, x[p], order, &q[p]);
    if (status) return status;
  }
  const int n = q[0].size;
  if (row->expression) {
    double b;
    cb_status status = differentiate(row->expression, count, q, t, "the right side", &b, first, &first_t);
    if (status) return status;
    out->value = -b;
    out->t1 = -first_t;
    for (int p = 0; order > 1 && p < count; p++)
      for (int a = 0; a < k; a++)
        for (int i = 0; i < n; i++) out->b_x[p * k + a] -= first[p][i] * q[p].first[i][a];
  }
  for (int p = 0; order && p < count; p++)
    for (int i = 0; i < n; i++) {
      const cb_expression *coefficient = row->coefficient[p * n + i];
      if (!coefficient) continue;
      double A;
      cb_status status = differentiate(coefficient, count, q, t, "a coefficient", &A, first, &first_t);
      if (status) return status;
      for (int a = 0; a < k; a++) out->gradient[p * k + a] += A * q[p].first[i][a];
      if (order < 2) continue;
      for (int a = 0; a < k; a++) {
        double *line = out->hessian + (p * k + a) * size;
        out->tx[p * k + a] += first_t * q[p].first[i][a];
        for (int b = 0; b < k; b++) line[p * k + b] += A * q[p].second[i][a][b];
        for (int r = 0; r < count; r++)
          for (int b = 0; b < k; b++)
            for (int j = 0; j < n; j++) line[r * k + b] += first[r][j] * q[r].first[j][b] * q[p].first[i][a];
      }
    }
  return CB_OK;
}

/* --- the kinds --- */

static cb_status surface_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                      const double *const *x, int order, cb_element *out) {
  (void)element;
  return surface_at(c, row, false, t, x[0], order, out);
}

static cb_status velocity_in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                       const double *const *x, int order, cb_element *out) {
  (void)element;
  return velocity_at(c, row, false, t, x, order, out);
}

static bool own_chart(const cb_constraints *c, const cb_constraint *row) {
  return c->space->chart && row->chart == c->space->chart;
}

static cb_status surface(const cb_constraints *c, const cb_constraint *row, int element, double t,
                         const double *const *x, int order, cb_element *out) {
  if (own_chart(c, row)) return surface_at(c, row, true, t, x[0], order, out);
  return cb_element_by_embedding(surface_in_embedding, c, row, element, t, x, order, out);
}

static cb_status velocity(const cb_constraints *c, const cb_constraint *row, int element, double t,
                          const double *const *x, int order, cb_element *out) {
  if (own_chart(c, row)) return velocity_at(c, row, true, t, x, order, out);
  return cb_element_by_embedding(velocity_in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_kind cb_constraint_surface = {
    .name = "surface", .element = surface, .timed = true, .per_world = true};
const cb_constraint_kind cb_constraint_velocity = {
    .name = "velocity", .element = velocity, .velocity = true, .timed = true, .per_world = true};
