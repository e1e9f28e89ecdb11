/* Newton's method for Gauss collocation in a fixed chart, in the unknowns z_i = q_i - q0.
 *
 *   u_i = (1/h) sum_j A^-1_ij z_j,   R_i = sum_j A^-1_ij (w(q_j, u_j) - w0) - h W(q_i, u_i, F_i) = 0
 *   dR_i/dz_l = A^-1_il w_q,l + (1/h) sum_j A^-1_ij A^-1_jl w_u,j
 *               - h d_il (W_q + W_F F_q)_i - A^-1_il (W_u + W_F F_u)_i
 */
#include "integrators/gauss_chart.h"

#include <math.h>
#include <string.h>

static double inverse_a(const cb_gauss *m, int i, int j) {
  return (&((const cb_gauss_chart *)m->self)->inverse_a[0][0])[i * m->s + j];
}

cb_status cb_gauss_chart_prepare_newton(cb_gauss *m) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim, B = s * d;
  f->jet = cb_chart_jets(m->arena, d, (size_t)s * (size_t)m->n);
  cb_arena_doubles(m->arena, (size_t)(B * B), &f->block);
  bool *mask = cb_arena_alloc(m->arena, (size_t)(B * B), sizeof *mask);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for Newton's method");
  for (int i = 0; i < s; i++)
    for (int l = 0; l < s; l++) {
      double square = 0;
      for (int j = 0; j < s; j++) square += inverse_a(m, i, j) * inverse_a(m, j, l);
      for (int a = 0; a < d; a++) {
        f->block[(i * d + a) * B + l * d + a] = square;
        for (int b = 0; b < d; b++) mask[(i * d + a) * B + l * d + b] = i == l || m->damped;
      }
    }
  return cb_gauss_make_matrix(m, mask, f->block);
}

cb_status cb_gauss_chart_residual(cb_gauss *m, double *r, double *norm) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim;
  const size_t count = f->count;
  for (int i = 0; i < s; i++) {
    double *u = cb_gauss_chart_u(m, i);
    memset(u, 0, count * sizeof(double));
    for (int j = 0; j < s; j++) {
      const double factor = inverse_a(m, i, j) / m->h, *z = f->z + (size_t)j * count;
      for (size_t e = 0; e < count; e++) u[e] += factor * z[e];
    }
  }
  cb_status status = cb_gauss_chart_forces(m);
  if (status) return status;
  double scale = 0;
  for (int i = 0; i < s; i++)
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)a * (size_t)d, in_stage = (size_t)i * count + at;
      const double *u = cb_gauss_chart_u(m, i) + at;
      double *W = cb_gauss_chart_rate(m, i) + at;
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric x = cb_chart_metric_in(d, room);
      if ((status = cb_chart_metric_at(m->g, f->q + in_stage, 1, &x))) {
        m->integrator->worst = a;
        return cb_gauss_stage_status(status);
      }
      if (m->canonical)
        cb_chart_momentum_of(d, &x, m->mass[a], u, f->w + in_stage);
      else
        memcpy(f->w + in_stage, u, (size_t)d * sizeof(double));
      f->rate(d, &x, m->mass[a], u, f->F + in_stage, W);
      for (int j = 0; j < d; j++) scale = fmax(scale, fmax(fabs(f->w[in_stage + (size_t)j]), fabs(m->h * W[j])));
    }
  double largest = 0, total = 0;
  for (int a = 0; a < m->n; a++)
    for (int c = 0; c < d; c++) {
      const size_t e = (size_t)(a * d + c);
      double *to = r + (size_t)a * (size_t)(s * d) + c;
      for (int i = 0; i < s; i++) {
        double sum = -m->h * cb_gauss_chart_rate(m, i)[e];
        for (int j = 0; j < s; j++) sum += inverse_a(m, i, j) * (f->w[(size_t)j * count + e] - f->w0[e]);
        to[i * d] = sum;
      }
      for (int i = 0; i < s; i++) {
        double defect = 0;
        for (int j = 0; j < s; j++) defect += m->tableau.a[i][j] * to[j * d];
        largest = fmax(largest, fabs(defect));
        total += defect;
      }
    }
  *norm = total - total != 0 ? NAN : largest > 0 ? largest / scale : 0;
  return CB_OK;
}

cb_status cb_gauss_chart_matrix(cb_gauss *m, cb_stage_matrix *matrix) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim, B = s * d;
  const cb_pattern *pattern = cb_forces_pattern(m->forces);
  const size_t per_stage = (size_t)pattern->start[m->n] * (size_t)(d * d);
  cb_status status;
  for (int i = 0; i < s; i++) {
    status = cb_forces_jacobian(m->forces, m->start->t + m->tableau.c[i] * m->h, f->q + (size_t)i * f->count,
                                cb_gauss_chart_u(m, i), m->jacobian_x + (size_t)i * per_stage,
                                m->damped ? m->jacobian_v + (size_t)i * per_stage : NULL);
    if (status) return cb_gauss_stage_status(status);
    for (int a = 0; a < m->n; a++) {
      const size_t at = (size_t)(a * d), in_stage = (size_t)i * f->count + at;
      double room[CB_CHART_METRIC_ROOM];
      const cb_chart_metric x = cb_chart_metric_in(d, room);
      if ((status = cb_chart_metric_at(m->g, f->q + in_stage, 2, &x))) return cb_gauss_stage_status(status);
      f->derivatives(d, &x, m->mass[a], cb_gauss_chart_u(m, i) + at, f->F + in_stage, f->jet + i * m->n + a);
    }
  }
  double *block = f->block;
  for (int a = 0; a < m->n; a++)
    for (int e = pattern->start[a]; e < pattern->start[a + 1]; e++) {
      memset(block, 0, (size_t)(B * B) * sizeof(double));
      const bool diagonal = pattern->column[e] == a;
      for (int i = 0; i < s; i++)
        for (int l = 0; l < s; l++) {
          const double w = inverse_a(m, i, l);
          const cb_chart_jet *ji = f->jet + i * m->n + a, *jl = f->jet + l * m->n + a;
          const double *Fx = m->jacobian_x + (size_t)i * per_stage + (size_t)e * (size_t)(d * d);
          const double *Fv = m->damped ? m->jacobian_v + (size_t)i * per_stage + (size_t)e * (size_t)(d * d) : NULL;
          for (int r = 0; r < d; r++)
            for (int c = 0; c < d; c++) {
              double sum = 0;
              for (int k = 0; k < d; k++) {
                if (i == l) sum -= m->h * ji->W_F[r * d + k] * Fx[k * d + c];
                if (Fv) sum -= w * ji->W_F[r * d + k] * Fv[k * d + c];
              }
              if (diagonal) {
                sum += w * (jl->w_q[r * d + c] - ji->W_u[r * d + c]);
                if (i == l) sum -= m->h * ji->W_q[r * d + c];
                for (int j = 0; j < s; j++)
                  sum += inverse_a(m, i, j) * inverse_a(m, j, l) / m->h * f->jet[j * m->n + a].w_u[r * d + c];
              }
              block[(i * d + r) * B + l * d + c] = sum;
            }
        }
      cb_stage_matrix_set(matrix, a, e, block);
    }
  return CB_OK;
}

cb_status cb_gauss_chart_correct(cb_gauss *m, const double *step, cb_stage_change *change) {
  cb_gauss_chart *f = m->self;
  const int s = m->s, d = m->dim;
  for (int a = 0; a < m->n; a++)
    for (int i = 0; i < s; i++)
      for (int c = 0; c < d; c++) {
        const size_t e = (size_t)(a * d + c);
        const double by = step[(size_t)a * (size_t)(s * d) + (size_t)(i * d + c)];
        double *z = f->z + (size_t)i * f->count + e;
        *z -= by;
        change->change = fmax(change->change, fabs(by));
        change->size = fmax(change->size, fabs(*z));
        change->position = fmax(change->position, fabs(m->start->x[e]));
      }
  return CB_OK;
}
