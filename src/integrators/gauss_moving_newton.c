/* Newton's method for Gauss collocation in moving charts, in the unknowns u_i = d xi_i/dt.
 *
 *   xi_i = h sum_l aq_il u_l,  e = h sum_l beta_l u_l,  pi_i = m u_i/(1+s_i)^2,
 *   R_i = pi_i - anchor - h sum_j ap_ij g_j = 0,   g_j = f_j - (K m/2)|u_j|^2/(1+s_j)^3 xi_j
 * with f_j = -dV_j, the coefficients aq, ap, beta and the anchor of gauss.h, and the other symbols of gauss_moving.c.
 * The matrix is exact. With the Jacobian of the forces,
 *   df_j = A_j dxi_j + B_j de + C_j du_j = sum_l T_jl du_l
 * for each pair of particles, the part of dR_i from this pair is -sum_j L_ij T_jl du_l, L_ij = h ap_ij + h b_j c
 * M(e)^-1 M(xi_j). c = 1/2 in the symmetric form with corrected momenta, 1 in the other form with corrected momenta,
 * and 0 without correction.
 */
#include "integrators/gauss.h"

#include <string.h>

enum { D = CB_DIM_MAX, KMAX = CB_COORD_MAX };

/* Derivatives for one particle at one stage. f: the force in the chart, differentiated with the force in the embedding
 * kept constant; x: the point; v: the velocity. _xi and _e: the derivatives by xi and e. */
typedef struct stage_jet {
  double f_xi[D][D], f_e[D][D];
  double x_xi[KMAX][D], x_e[KMAX][D], v_xi[KMAX][D], v_e[KMAX][D];
} stage_jet;

struct cb_moving_newton {
  double *pi, *pulled; /* values at the stages: pi: momenta in the chart; pulled: the forces -dV/dxi in the chart */
  stage_jet *jet;      /* [s][n]: derivatives for each stage and particle */
  double *block;
};

typedef double small[D][D];

cb_status cb_gauss_moving_prepare_newton(cb_gauss *m) {
  cb_gauss_moving *w = m->self;
  const int B = m->s * m->dim;
  struct cb_moving_newton *q = w->newton = cb_arena_alloc(m->arena, 1, sizeof *q);
  if (!q) return cb_fail(CB_ERROR_MEMORY, "no memory for Newton's method");
  q->jet = cb_arena_alloc(m->arena, (size_t)m->s * (size_t)m->n, sizeof *q->jet);
  cb_arena_doubles(m->arena, (size_t)m->s * w->count, &q->pi, &q->pulled);
  cb_arena_doubles(m->arena, (size_t)(B * B), &q->block);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for Newton's method");
  for (int i = 0; i < B; i++) q->block[i * B + i] = 1;
  return cb_gauss_make_matrix(m, NULL, q->block);
}

/* Computes the residual r of one unit; returns the largest |s| of its stages and of e. *largest becomes the largest |r|
 * if that is larger, and *scale becomes the largest term if that is larger. */
static double residual_unit(const cb_gauss *m, int a, int unit, double *r, double *largest, double *scale) {
  const cb_gauss_moving *w = m->self;
  const cb_moving_factor *f = &w->factor[unit];
  const int s = m->s, d = f->d;
  const size_t at = (size_t)(a * m->dim + f->at_d);
  const double K = f->K, mass = m->mass[a], *e = w->e + at;
  const cb_moving_centre c = cb_gauss_moving_centre(m, f, e);
  double g[CB_STAGES_MAX][D], W[D] = {0}, G[D] = {0}, anchor[D], reach = fabs(K) * cb_dot(d, e, e) / 4;
  for (int i = 0; i < s; i++) {
    const double *xi = w->xi + (size_t)i * w->count + at, *u = w->u + (size_t)i * w->count + at;
    double *pi = w->newton->pi + (size_t)i * w->count + at, *pulled = w->newton->pulled + (size_t)i * w->count + at,
           carried[D];
    const double f0 = w->f0[(size_t)((i * m->n + a) * w->n_factors + unit)];
    cb_moving_pull(d, K, f0, w->f + (size_t)i * w->count + at, &c, xi, pulled);
    cb_moving_carry(d, K, xi, pulled, carried);
    const double si = K * cb_dot(d, xi, xi) / 4, grow = 1 + si;
    reach = fmax(reach, fabs(si));
    const double b = m->h * m->tableau.b[i], low = m->h * m->tableau.b_low[i];
    for (int j = 0; j < d; j++) {
      pi[j] = mass * u[j] / (grow * grow);
      g[i][j] = pulled[j] - K / 2 * mass * cb_dot(d, u, u) / (grow * grow * grow) * xi[j];
      W[j] += b * carried[j] + low * carried[j];
      G[j] += b * g[i][j] + low * g[i][j];
      *scale = fmax(*scale, fmax(fabs(pi[j]), fabs(m->h * g[i][j])));
    }
  }
  cb_gauss_moving_anchor(d, K, m->symmetric, m->balance, e, w->P0 + at, W, G, anchor, w->dP + at);
  for (int i = 0; i < s; i++)
    for (int j = 0; j < d; j++) {
      double sum = 0;
      for (int l = 0; l < s; l++) sum += w->ap[i][l] * g[l][j];
      const double R = w->newton->pi[(size_t)i * w->count + at + (size_t)j] - anchor[j] - m->h * sum;
      r[i * m->dim + f->at_d + j] = R;
      *largest = R != R ? NAN : fmax(*largest, fabs(R));
    }
  return reach;
}

cb_status cb_gauss_moving_residual(cb_gauss *m, double *r, double *norm) {
  const cb_gauss_moving *w = m->self;
  const cb_status status = cb_gauss_moving_forces(m);
  if (status) return status;
  double scale = 0, total = 0, worst = 0;
  for (int a = 0; a < m->n; a++)
    for (int j = 0; j < w->n_factors; j++) {
      double largest = 0;
      const double reach = residual_unit(m, a, j, r + (size_t)a * (size_t)(m->s * m->dim), &largest, &scale);
      if (reach > CB_GAUSS_MOVING_REACH) return cb_gauss_moving_too_far(m, a);
      total += largest;
      worst = fmax(worst, largest);
    }
  *norm = !(total < INFINITY) ? NAN : worst > 0 ? worst / scale : 0;
  return CB_OK;
}

static void make_jet(const cb_gauss *m, int i, int a, stage_jet *out) {
  const cb_gauss_moving *w = m->self;
  memset(out, 0, sizeof *out);
  for (int j = 0; j < w->n_factors; j++) {
    const cb_moving_factor *f = &w->factor[j];
    const int d = f->d, k = f->k;
    const size_t at = (size_t)(a * m->dim + f->at_d), at_k = (size_t)(a * m->k + f->at_k);
    const double *E = w->E + (size_t)a * (size_t)w->frame + f->at_frame, *x0 = m->start->x + at_k;
    const double *xi = w->xi + (size_t)i * w->count + at, *u = w->u + (size_t)i * w->count + at;
    const cb_moving_centre c = cb_gauss_moving_centre(m, f, w->e + at);
    const double still = m->symmetric; /* 1 if the centre of the chart moves with e, otherwise 0 */
    cb_moving_jet jet;
    double comp[D];
    const double f0 = w->f0[(size_t)((i * m->n + a) * w->n_factors + j)];
    cb_moving_jet_of(d, f->K, f0, w->f + (size_t)i * w->count + at, &c, xi, &jet);
    for (int p = 0; p < d; p++)
      for (int q = 0; q < d; q++) {
        out->f_xi[f->at_d + p][f->at_d + q] = jet.xi_xi[p][q];
        out->f_e[f->at_d + p][f->at_d + q] = still * jet.xi_e[p][q];
      }
    for (int b = 0; b < k; b++) {
      for (int l = 0; l < d; l++) comp[l] = E[l * k + b];
      cb_moving_jet_of(d, f->K, x0[b], comp, &c, xi, &jet);
      for (int q = 0; q < d; q++) {
        double v_xi = 0, v_e = 0;
        for (int p = 0; p < d; p++) {
          v_xi += u[p] * jet.xi_xi[p][q];
          v_e += u[p] * jet.xi_e[p][q];
        }
        out->x_xi[f->at_k + b][f->at_d + q] = jet.xi[q];
        out->x_e[f->at_k + b][f->at_d + q] = still * jet.e[q];
        out->v_xi[f->at_k + b][f->at_d + q] = v_xi;
        out->v_e[f->at_k + b][f->at_d + q] = still * v_e;
      }
    }
  }
}

/* Computes the matrices L_ij of particle a. */
static void make_l(const cb_gauss *m, int a, small L[CB_STAGES_MAX][CB_STAGES_MAX]) {
  const cb_gauss_moving *w = m->self;
  const double c = !m->balance ? 0 : m->symmetric ? 0.5 : 1;
  for (int j = 0; j < m->s; j++) {
    small carry = {{0}}; /* c h b_j M(e)^-1 M(xi_j) */
    for (int f = 0; f < w->n_factors; f++) {
      const cb_moving_factor *to = &w->factor[f];
      const size_t at = (size_t)(a * m->dim + to->at_d);
      for (int q = 0; q < to->d; q++) {
        double unit[D] = {0}, once[D], both[D];
        unit[q] = c * m->h * m->tableau.b[j];
        cb_moving_carry(to->d, to->K, w->xi + (size_t)j * w->count + at, unit, once);
        cb_moving_carry_back(to->d, to->K, w->e + at, once, both);
        for (int p = 0; p < to->d; p++) carry[to->at_d + p][to->at_d + q] = both[p];
      }
    }
    for (int i = 0; i < m->s; i++)
      for (int p = 0; p < m->dim; p++)
        for (int q = 0; q < m->dim; q++) L[i][j][p][q] = carry[p][q] + (p == q ? m->h * w->ap[i][j] : 0);
  }
}

/* Adds x^T diag(form) y z to out, for x[k][d], y[k][k] and z[k][d]. */
static void sandwich(const cb_space *g, int d, const double x[KMAX][D], const double *y, const double z[KMAX][D],
                     small out) {
  const int k = g->k;
  for (int q = 0; q < d; q++) {
    double yz[KMAX];
    for (int b = 0; b < k; b++) {
      double sum = 0;
      for (int c = 0; c < k; c++) sum += y[b * k + c] * z[c][q];
      yz[b] = g->form[b] * sum;
    }
    for (int p = 0; p < d; p++)
      for (int b = 0; b < k; b++) out[p][q] += x[b][p] * yz[b];
  }
}

/* Computes -sum_j L_ij T_jl, the part of the block that comes from the derivatives of the forces. */
static void force_block(const cb_gauss *m, int a, int b, int e, small L[CB_STAGES_MAX][CB_STAGES_MAX], double *block) {
  const cb_gauss_moving *w = m->self;
  const int s = m->s, d = m->dim, B = s * d;
  const size_t kk = (size_t)(m->k * m->k), per_stage = (size_t)cb_forces_pattern(m->forces)->start[m->n] * kk;
  for (int j = 0; j < s; j++) {
    const stage_jet *ja = w->newton->jet + j * m->n + a, *jb = w->newton->jet + j * m->n + b;
    const double *Fx = m->jacobian_x + (size_t)j * per_stage + (size_t)e * kk;
    const double *Fv = m->damped ? m->jacobian_v + (size_t)j * per_stage + (size_t)e * kk : NULL;
    small f_xi = {{0}}, f_e = {{0}}, f_u = {{0}};
    if (a == b) {
      memcpy(f_xi, ja->f_xi, sizeof f_xi);
      memcpy(f_e, ja->f_e, sizeof f_e);
    }
    sandwich(m->g, d, ja->x_xi, Fx, jb->x_xi, f_xi);
    sandwich(m->g, d, ja->x_xi, Fx, jb->x_e, f_e);
    if (Fv) {
      sandwich(m->g, d, ja->x_xi, Fv, jb->v_xi, f_xi);
      sandwich(m->g, d, ja->x_xi, Fv, jb->v_e, f_e);
      sandwich(m->g, d, ja->x_xi, Fv, jb->x_xi, f_u);
    }
    for (int l = 0; l < s; l++) {
      small T;
      for (int p = 0; p < d; p++)
        for (int q = 0; q < d; q++)
          T[p][q] = m->h * (w->aq[j][l] * f_xi[p][q] + w->beta[l] * f_e[p][q]) + (j == l ? f_u[p][q] : 0);
      for (int i = 0; i < s; i++)
        for (int p = 0; p < d; p++)
          for (int q = 0; q < d; q++) {
            double sum = 0;
            for (int c = 0; c < d; c++) sum += L[i][j][p][c] * T[c][q];
            block[(i * d + p) * B + l * d + q] -= sum;
          }
    }
  }
}

/* Computes out[p][q], the derivative of component p of M(e)^-1 y by e_q. */
static void carry_back_derivative(int d, double K, const double *e, const double *y, small out) {
  const double s = K * cb_dot(d, e, e) / 4, ey = cb_dot(d, e, y), both = 1 - s * s, half = K / 2;
  for (int p = 0; p < d; p++)
    for (int q = 0; q < d; q++)
      out[p][q] = half * (y[p] * e[q] / ((1 - s) * (1 - s)) - (y[q] * e[p] + (p == q ? ey : 0)) / both -
                          ey * e[p] * 2 * s * half * e[q] / (both * both));
}

/* Adds to a block on the diagonal the terms of one particle in one factor of the space that force_block does not give:
 * kinetic terms, and derivatives of the anchor (gauss_moving.c) by the coordinates xi of the stages and e of the
 * chart's centre. */
static void kinetic_block(const cb_gauss *m, int a, const cb_moving_factor *f, double *block) {
  const cb_gauss_moving *w = m->self;
  const int s = m->s, d = f->d, B = s * m->dim;
  const size_t at = (size_t)(a * m->dim + f->at_d);
  const double K = f->K, half = K / 2, mass = m->mass[a], h = m->h, *e = w->e + at, *P0 = w->P0 + at;
  const double c = !m->balance ? 0 : m->symmetric ? 0.5 : 1;
  small kin_u[CB_STAGES_MAX], kin_xi[CB_STAGES_MAX], anchor_xi[CB_STAGES_MAX], anchor_e = {{0}};
  double y[D];
  for (int p = 0; p < d; p++) y[p] = m->symmetric ? 0 : P0[p];
  for (int j = 0; j < s; j++) {
    const double *xi = w->xi + (size_t)j * w->count + at, *u = w->u + (size_t)j * w->count + at;
    const double *pulled = w->newton->pulled + (size_t)j * w->count + at, D1 = 1 / (1 + K * cb_dot(d, xi, xi) / 4),
                 D3 = D1 * D1 * D1;
    const double uu = cb_dot(d, u, u), xf = cb_dot(d, xi, pulled), b = h * m->tableau.b[j];
    double carried[D];
    cb_moving_carry(d, K, xi, pulled, carried);
    for (int p = 0; p < d; p++) y[p] += b * carried[p];
    for (int q = 0; q < d; q++) {
      double column[D], back[D];
      for (int p = 0; p < d; p++) {
        kin_u[j][p][q] = -2 * half * mass * D3 * xi[p] * u[q];
        kin_xi[j][p][q] = -half * mass * uu * D3 * ((p == q) - 3 * half * D1 * xi[p] * xi[q]);
        column[p] = c * b * half * (-pulled[p] * xi[q] + pulled[q] * xi[p] + (p == q ? xf : 0));
      }
      cb_moving_carry_back(d, K, e, column, back);
      for (int p = 0; p < d; p++) anchor_xi[j][p][q] = back[p];
    }
  }
  if (m->balance) carry_back_derivative(d, K, e, y, anchor_e);
  const double De = 1 / (1 + K * cb_dot(d, e, e) / 4);
  for (int p = 0; p < d; p++)
    for (int q = 0; q < d; q++) {
      anchor_e[p][q] *= c;
      if (m->symmetric) anchor_e[p][q] -= P0[p] * half * e[q] * De * De;
    }
  for (int i = 0; i < s; i++) {
    const double *xi = w->xi + (size_t)i * w->count + at, *u = w->u + (size_t)i * w->count + at;
    const double D1 = 1 / (1 + K * cb_dot(d, xi, xi) / 4);
    for (int l = 0; l < s; l++)
      for (int p = 0; p < d; p++)
        for (int q = 0; q < d; q++) {
          double sum =
              (i == l && p == q ? mass * D1 * D1 : 0) - K * mass * D1 * D1 * D1 * u[p] * xi[q] * h * w->aq[i][l];
          sum -= anchor_e[p][q] * h * w->beta[l];
          for (int j = 0; j < s; j++)
            sum -= h * w->ap[i][j] * ((j == l ? kin_u[j][p][q] : 0) + kin_xi[j][p][q] * h * w->aq[j][l]) +
                   anchor_xi[j][p][q] * h * w->aq[j][l];
          block[(i * m->dim + f->at_d + p) * B + l * m->dim + f->at_d + q] += sum;
        }
  }
}

cb_status cb_gauss_moving_matrix(cb_gauss *m, cb_stage_matrix *matrix) {
  const cb_gauss_moving *w = m->self;
  const int s = m->s, B = s * m->dim;
  const cb_pattern *pattern = cb_forces_pattern(m->forces);
  const size_t per_stage = (size_t)pattern->start[m->n] * (size_t)(m->k * m->k);
  for (int i = 0; i < s; i++) {
    const cb_status status =
        cb_forces_jacobian(m->forces, m->start->t + m->tableau.c[i] * m->h, w->x + (size_t)i * w->points,
                           m->damped ? w->v + (size_t)i * w->points : NULL, m->jacobian_x + (size_t)i * per_stage,
                           m->damped ? m->jacobian_v + (size_t)i * per_stage : NULL);
    if (status) return cb_gauss_stage_status(status);
    for (int a = 0; a < m->n; a++) make_jet(m, i, a, w->newton->jet + i * m->n + a);
  }
  small L[CB_STAGES_MAX][CB_STAGES_MAX];
  for (int a = 0; a < m->n; a++) {
    make_l(m, a, L);
    for (int e = pattern->start[a]; e < pattern->start[a + 1]; e++) {
      const int b = pattern->column[e];
      double *block = w->newton->block;
      memset(block, 0, (size_t)(B * B) * sizeof(double));
      force_block(m, a, b, e, L, block);
      for (int f = 0; a == b && f < w->n_factors; f++) kinetic_block(m, a, &w->factor[f], block);
      cb_stage_matrix_set(matrix, a, e, block);
    }
  }
  return CB_OK;
}

cb_status cb_gauss_moving_correct(cb_gauss *m, const double *step, cb_stage_change *change) {
  cb_gauss_moving *w = m->self;
  const int s = m->s, d = m->dim;
  for (int a = 0; a < m->n; a++)
    for (int i = 0; i < s; i++)
      for (int c = 0; c < d; c++)
        w->u[(size_t)i * w->count + (size_t)(a * d + c)] -= step[(size_t)(a * s + i) * (size_t)d + (size_t)c];
  for (size_t at = 0; at < w->count; at++)
    for (int i = 0; i <= s; i++) {
      double *to = i < s ? w->xi + (size_t)i * w->count + at : w->e + at, sum = 0;
      const double *weight = i < s ? w->aq[i] : w->beta;
      for (int l = 0; l < s; l++) sum += weight[l] * w->u[(size_t)l * w->count + at];
      if (i == s)
        for (int l = 0; l < s; l++) sum += w->beta_low[l] * w->u[(size_t)l * w->count + at];
      sum *= m->h;
      change->change = fmax(change->change, fabs(sum - *to));
      change->size = fmax(change->size, fabs(sum));
      *to = sum;
    }
  change->position = w->position;
  return CB_OK;
}
