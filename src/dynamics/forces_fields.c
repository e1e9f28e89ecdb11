/* Forces that are given as expressions of the coordinates q of a chart of the world, of particle i with the mass m and
 * the charge e: potentials V(q, t, m, e), and forces F(q, q', t, m, e) that need not have one.
 *
 * Let y be the world point, moved along its ray onto the space, q its coordinates, J = dy/dq, I = diag(form), w the
 * velocity of y and q' = g^-1 J^T I w. A potential has the covector F = -dV/dq. Then
 *   u = J g^-1 F,  g = J^T I J          the force, a tangent vector
 *   D = (du/dq) g^-1 J^T I              its derivative by y, along tangent vectors, with w constant
 *   E = J g^-1 (dF/dq') g^-1 J^T I      its derivative by w
 * In coordinates of the embedding u = -I^-1 dV/dy, or u = F, which is then a vector; its normal part is kept. For a
 * component whose origin has the isometry M, with local points x = M^-1 y, the force is M^-1 u and its derivatives are
 * M^-1 D M and M^-1 E M. In a space with a chart, with J of the space's own chart, the force and its derivatives are
 * J^T I u, J^T I (D J + E (dJ) q') + (dJ)^T I u and J^T I E J, where dJ is the derivative of J. The second derivatives
 * of y(q) are differences of J of fourth order (error about 1e-12); only the Jacobians of Newton iterations use these.
 * Source of forces as covectors: Arnold, Mathematical Methods of Classical Mechanics, 2nd ed. (1989), section 12.
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

/* The value of a field at a particle: the potential (0 if there is none), the force, and, if `second` is true, its
 * derivatives by position and (if it uses velocities) by velocity. */
typedef struct field_value {
  bool second;
  double v, force[K], by_x[K * K], by_v[K * K];
} field_value;

/* The potential v and the force F of a field in the coordinates q that its expressions use, with F_q = dF/dq and F_u =
 * dF/dq'. F_u is valid only for a field that uses velocities. */
typedef struct components {
  int n; /* the number of coordinates */
  double v, F[K], F_q[K][K], F_u[K][K];
} components;

static void differentiate(const cb_expression *potential, int n, const double *x, bool second, components *out) {
  double g[K];
  if (!second) {
    out->v = cb_expression_gradient(potential, x, n, g);
    for (int a = 0; a < n; a++) out->F[a] = -g[a];
    return;
  }
  cb_jet jet = cb_expression_jet(potential, x, n);
  out->v = jet.v;
  for (int a = 0; a < n; a++) {
    out->F[a] = -jet.g[a];
    for (int b = 0; b < n; b++) out->F_q[a][b] = -jet.h[cb_jet_packed(a, b)];
  }
}

static cb_status not_finite(const cb_forces *f, const cb_force_field *field, int a) {
  const cb_chart *chart = field->chart ? field->chart : cb_chart_find(f->system->space, "embedding");
  return cb_fail(CB_STEP_DOMAIN, "the force along coordinate %s is not finite: use a smaller `step` or another start",
                 chart->coordinates[a]);
}

/* Computes the components of a field at q with the velocity u, which is read only if the field uses it. */
static cb_status evaluate(const cb_forces *f, const cb_force_field *field, const double *q, const double *u, double t,
                          int i, bool second, components *out) {
  const int n = out->n;
  double x[2 * K + 3], gradient[2 * K];
  const int coordinates = field->potential ? n : 2 * n;
  for (int a = 0; a < n; a++) x[a] = q[a];
  for (int a = n; a < coordinates; a++) x[a] = field->uses_velocity ? u[a - n] : 0;
  x[coordinates] = t;
  x[coordinates + 1] = f->system->mass[i];
  x[coordinates + 2] = f->system->charge[i];
  if (field->potential) {
    differentiate(field->potential, n, x, second, out);
    return CB_OK;
  }
  out->v = 0;
  for (int a = 0; a < n; a++) {
    const cb_expression *e = field->force[a];
    out->F[a] = !e ? 0 : second ? cb_expression_gradient(e, x, 2 * n, gradient) : cb_expression_value(e, x);
    if (!isfinite(out->F[a])) return not_finite(f, field, a);
    for (int b = 0; second && b < n; b++) {
      out->F_q[a][b] = e ? gradient[b] : 0;
      out->F_u[a][b] = e ? gradient[n + b] : 0;
    }
  }
  return CB_OK;
}

/* Computes second[l][a*dim + i] = d^2 x_a / dq_l dq_i for the point x(q) of a chart. */
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

/* Computes the inverse of the metric g = J^T I J of a chart, with the Jacobian J and I = diag(form). */
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

/* A point q of the chart of a field. J is the Jacobian of the point of the embedding, and inverse = g^-1 the inverse
 * metric. lower = g^-1 J^T I and the velocity rate = q' are set only where they are needed. */
typedef struct chart_point {
  double q[DIM], rate[DIM], J[K * DIM], inverse[DIM * DIM], lower[DIM][K];
} chart_point;

static cb_status chart_point_at(const cb_space *g, const cb_force_field *field, double *y, const double *w, bool second,
                                chart_point *p) {
  int n = g->dim, k = g->embedding;
  double x[K];
  onto_space(g, y);
  cb_status status = field->chart->from_point(g, y, p->q);
  if (!status) status = field->chart->to_point(g, p->q, x, p->J);
  if (!status) status = inverse_metric(g, p->J, p->inverse);
  if (status) return step_status(status);
  for (int a = 0; (second || field->uses_velocity) && a < n; a++) {
    p->rate[a] = 0;
    for (int b = 0; b < k; b++) {
      p->lower[a][b] = 0;
      for (int c = 0; c < n; c++) p->lower[a][b] += p->inverse[a * n + c] * p->J[b * n + c] * g->form[b];
      if (field->uses_velocity) p->rate[a] += p->lower[a][b] * w[b];
    }
  }
  return CB_OK;
}

/* Computes D and E of the file header. up = g^-1 F, J_l and g_l = J_l^T I J + J^T I J_l are the derivatives of J and g
 * by q_l, F_q and F_u those of F by q and q', and e_l is the unit vector l:
 *   du/dq_l = J_l g^-1 F + J g^-1 (d_l F - g_l g^-1 F),   d_l F = F_q e_l + F_u g^-1 (J_l^T I w - g_l q').
 */
static cb_status chart_derivatives(const cb_space *g, const cb_force_field *field, const chart_point *p,
                                   const double *w, const components *F, const double *up, field_value *out) {
  int n = g->dim, k = g->embedding;
  double second[DIM][K * DIM], *D = out->by_x, *E = out->by_v;
  const double *J = p->J;
  cb_status status = second_derivatives(g, field->chart, p->q, second);
  if (status) return step_status(status);
  memset(D, 0, (size_t)(k * k) * sizeof *D);
  memset(E, 0, (size_t)(k * k) * sizeof *E);
  for (int l = 0; l < n; l++) {
    const double *J_l = second[l];
    double r[DIM], change[DIM] = {0}, du[K];
    for (int c = 0; c < n; c++) {
      r[c] = F->F_q[c][l];
      for (int a = 0; a < k; a++) {
        for (int b = 0; b < n; b++)
          r[c] -= g->form[a] * (J_l[a * n + c] * J[a * n + b] + J[a * n + c] * J_l[a * n + b]) * up[b];
        if (!field->uses_velocity) continue;
        change[c] += g->form[a] * J_l[a * n + c] * w[a];
        for (int b = 0; b < n; b++)
          change[c] -= g->form[a] * (J_l[a * n + c] * J[a * n + b] + J[a * n + c] * J_l[a * n + b]) * p->rate[b];
      }
    }
    for (int c = 0; field->uses_velocity && c < n; c++)
      for (int b = 0; b < n; b++)
        for (int e = 0; e < n; e++) r[c] += F->F_u[c][b] * p->inverse[b * n + e] * change[e];
    for (int a = 0; a < k; a++) {
      du[a] = 0;
      for (int b = 0; b < n; b++) {
        du[a] += J_l[a * n + b] * up[b];
        for (int c = 0; c < n; c++) du[a] += J[a * n + b] * p->inverse[b * n + c] * r[c];
      }
      for (int b = 0; b < k; b++) D[a * k + b] += du[a] * p->lower[l][b];
    }
  }
  for (int a = 0; field->uses_velocity && a < k; a++)
    for (int c = 0; c < n; c++) {
      double up_J = 0; /* (J g^-1) F_u, column c */
      for (int b = 0; b < n; b++)
        for (int e = 0; e < n; e++) up_J += J[a * n + b] * p->inverse[b * n + e] * F->F_u[e][c];
      for (int b = 0; b < k; b++) E[a * k + b] += up_J * p->lower[c][b];
    }
  return CB_OK;
}

static cb_status vector_by_chart(const cb_forces *f, const cb_force_field *field, double t, int i, double *y,
                                 const double *w, field_value *out) {
  const cb_space *g = f->system->space;
  int n = g->dim, k = g->embedding;
  double up[DIM] = {0};
  chart_point p;
  components F;
  F.n = n;
  cb_status status = chart_point_at(g, field, y, w, out->second, &p);
  if (!status) status = evaluate(f, field, p.q, p.rate, t, i, out->second, &F);
  if (status) return status;
  out->v = F.v;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) up[a] += p.inverse[a * n + b] * F.F[b];
  for (int a = 0; a < k; a++) {
    out->force[a] = 0;
    for (int b = 0; b < n; b++) out->force[a] += p.J[a * n + b] * up[b];
  }
  return out->second ? chart_derivatives(g, field, &p, w, &F, up, out) : CB_OK;
}

/* Computes the force as a vector at the world point y with the velocity w. */
static cb_status vector_at(const cb_forces *f, const cb_force_field *field, double t, int i, double *y, const double *w,
                           field_value *out) {
  const cb_space *g = f->system->space;
  if (field->chart) return vector_by_chart(f, field, t, i, y, w, out);
  int k = g->embedding;
  components F;
  F.n = k;
  const cb_status status = evaluate(f, field, y, w, t, i, out->second, &F);
  if (status) return status;
  out->v = F.v;
  for (int a = 0; a < k; a++) {
    const double form = field->potential ? g->form[a] : 1;
    out->force[a] = F.F[a] / form;
    for (int b = 0; out->second && b < k; b++) {
      out->by_x[a * k + b] = F.F_q[a][b] / form;
      if (field->uses_velocity) out->by_v[a * k + b] = F.F_u[a][b];
    }
  }
  return CB_OK;
}

/* Replaces the derivative D of a vector in the world by the derivative in local coordinates, M^-1 D M, where M is the
 * isometry `world`. */
static void derivative_to_local(const cb_space *g, const cb_isometry *world, const cb_isometry *local, double *D) {
  const int k = g->k;
  double moved[K * K];
  for (int b = 0; b < k; b++) {
    double column[K], back[K];
    for (int a = 0; a < k; a++) {
      column[a] = 0;
      for (int e = 0; e < k; e++) column[a] += D[a * k + e] * world->m[e][b];
    }
    cb_isometry_vector(g, local, column, back);
    for (int a = 0; a < k; a++) moved[a * k + b] = back[a];
  }
  memcpy(D, moved, (size_t)(k * k) * sizeof *D);
}

static cb_status in_embedding(const cb_forces *f, const cb_force_field *field, double t, int i, const double *x,
                              const double *v, field_value *out) {
  const cb_space *g = f->system->space;
  const int c = f->system->component[i];
  const cb_isometry *world = &f->world[c], *local = &f->local[c];
  double y[K], w[K] = {0}, back[K];
  cb_isometry_point(g, world, x, y);
  if (field->uses_velocity) cb_isometry_vector(g, world, v, w);
  cb_status status = vector_at(f, field, t, i, y, w, out);
  if (status) return status;
  cb_isometry_vector(g, local, out->force, back);
  for (int a = 0; a < g->k; a++) out->force[a] = back[a];
  if (!out->second) return CB_OK;
  derivative_to_local(g, world, local, out->by_x);
  if (field->uses_velocity) derivative_to_local(g, world, local, out->by_v);
  return CB_OK;
}

/* Converts a covector and its derivatives in y = m x + b to those in x, where `world` is the isometry x -> m x + b. */
static void pull_back(int n, const cb_isometry *world, bool second, bool uses_velocity, components *V) {
  components at = {.n = n, .v = V->v};
  for (int a = 0; a < n; a++)
    for (int c = 0; c < n; c++) {
      at.F[a] += world->m[c][a] * V->F[c];
      for (int b = 0; second && b < n; b++)
        for (int d = 0; d < n; d++) {
          at.F_q[a][b] += world->m[c][a] * V->F_q[c][d] * world->m[d][b];
          if (uses_velocity) at.F_u[a][b] += world->m[c][a] * V->F_u[c][d] * world->m[d][b];
        }
    }
  *V = at;
}

/* Evaluates a field in a space with a chart, if the expressions use this chart. */
static cb_status in_own_chart(const cb_forces *f, const cb_force_field *field, double t, int i, const double *q,
                              const double *u, field_value *out) {
  const cb_space *g = f->system->space;
  const int n = g->dim;
  const bool moves = cb_origin_moves(g);
  const cb_isometry *world = moves ? &f->world[f->system->component[i]] : NULL;
  double y[K], w[K];
  components V;
  V.n = n;
  if (moves) cb_isometry_point(g, world, q, y);
  if (moves && field->uses_velocity) cb_isometry_vector(g, world, u, w);
  cb_status status = evaluate(f, field, moves ? y : q, moves ? w : u, t, i, out->second, &V);
  if (status) return status;
  if (moves) pull_back(n, world, out->second, field->uses_velocity, &V);
  out->v = V.v;
  for (int a = 0; a < n; a++) {
    out->force[a] = V.F[a];
    for (int b = 0; out->second && b < n; b++) {
      out->by_x[a * n + b] = V.F_q[a][b];
      if (field->uses_velocity) out->by_v[a * n + b] = V.F_u[a][b];
    }
  }
  return CB_OK;
}

/* Converts the derivatives `vector` in the embedding to `out` in the coordinates of the space; second[b] = dJ/dq_b. */
static void derivatives_to_chart(const cb_space *g, const cb_force_field *field, const double *J,
                                 const double second[DIM][K * DIM], const double *u, const field_value *vector,
                                 field_value *out) {
  const int n = g->dim, k = g->embedding;
  for (int a = 0; a < n; a++)
    for (int b = 0; b < n; b++) {
      double by_x = 0, by_v = 0;
      for (int e = 0; e < k; e++) {
        double Du = 0, Eu = 0;
        for (int c = 0; c < k; c++) {
          Du += vector->by_x[e * k + c] * J[c * n + b];
          if (!field->uses_velocity) continue;
          Eu += vector->by_v[e * k + c] * J[c * n + b];
          for (int d = 0; d < n; d++) Du += vector->by_v[e * k + c] * second[b][c * n + d] * u[d];
        }
        by_x += g->form[e] * (J[e * n + a] * Du + second[b][e * n + a] * vector->force[e]);
        by_v += g->form[e] * J[e * n + a] * Eu;
      }
      out->by_x[a * n + b] = by_x;
      out->by_v[a * n + b] = by_v;
    }
}

/* Evaluates a field in a space with a chart, if the expressions use another chart: by way of the embedding. */
static cb_status in_other_chart(const cb_forces *f, const cb_force_field *field, double t, int i, const double *q,
                                const double *u, field_value *out) {
  const cb_space *g = f->system->space;
  const int n = g->dim, k = g->embedding;
  double y[K], w[K] = {0}, J[K * DIM], second[DIM][K * DIM];
  field_value vector;
  vector.second = out->second;
  cb_status status = g->chart->to_point(g, q, y, J);
  if (!status && out->second) status = second_derivatives(g, g->chart, q, second);
  for (int a = 0; !status && field->uses_velocity && a < k; a++)
    for (int b = 0; b < n; b++) w[a] += J[a * n + b] * u[b];
  if (!status) status = vector_at(f, field, t, i, y, w, &vector);
  if (status) return step_status(status);
  out->v = vector.v;
  for (int a = 0; a < n; a++) {
    out->force[a] = 0;
    for (int e = 0; e < k; e++) out->force[a] += J[e * n + a] * g->form[e] * vector.force[e];
  }
  if (out->second) derivatives_to_chart(g, field, J, second, u, &vector, out);
  return CB_OK;
}

/* Evaluates a field at particle i. v may be NULL if no field uses the velocity. */
static cb_status at(const cb_forces *f, const cb_force_field *field, double t, int i, const double *x, const double *v,
                    field_value *out) {
  const cb_space *g = f->system->space;
  const double *x_i = x + i * f->system->k, *v_i = v ? v + i * f->system->k : NULL;
  if (!g->chart) return in_embedding(f, field, t, i, x_i, v_i, out);
  return field->chart == g->chart ? in_own_chart(f, field, t, i, x_i, v_i, out)
                                  : in_other_chart(f, field, t, i, x_i, v_i, out);
}

cb_status cb_fields_add(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  field_value one;
  one.second = false;
  for (int n = 0; n < s->n_fields; n++)
    for (int m = 0; m < s->field[n].group.n; m++) {
      int i = s->field[n].group.particle[m];
      cb_status status = at(f, &s->field[n], t, i, x, v, &one);
      if (status) return status;
      for (int a = 0; a < s->k; a++) force[i * s->k + a] += one.force[a];
    }
  return CB_OK;
}

cb_status cb_fields_potential(cb_forces *f, double t, const double *x, double *potential) {
  const cb_system *s = f->system;
  field_value one;
  one.second = false;
  double sum = 0;
  for (int n = 0; n < s->n_fields; n++)
    for (int m = 0; s->field[n].potential && m < s->field[n].group.n; m++) {
      cb_status status = at(f, &s->field[n], t, s->field[n].group.particle[m], x, NULL, &one);
      if (status) return status;
      sum += one.v;
    }
  *potential += sum;
  return CB_OK;
}

cb_status cb_fields_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv) {
  const cb_system *s = f->system;
  const int k = s->k;
  field_value one;
  one.second = true;
  for (int n = 0; n < s->n_fields; n++)
    for (int m = 0; m < s->field[n].group.n; m++) {
      int i = s->field[n].group.particle[m];
      cb_status status = at(f, &s->field[n], t, i, x, v, &one);
      if (status) return status;
      const size_t block = (size_t)cb_pattern_find(&f->pattern, i, i) * (size_t)(k * k);
      for (int e = 0; e < k * k; e++) dx[block + (size_t)e] += one.by_x[e];
      for (int e = 0; dv && s->field[n].uses_velocity && e < k * k; e++) dv[block + (size_t)e] += one.by_v[e];
    }
  return CB_OK;
}
