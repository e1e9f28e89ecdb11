/* The fixed-point iteration of Radau IIA: rates as they are, multipliers corrected with one Gram matrix for all stages.
 *
 *   E_i = h sum_j a_ij (F_j/m - W G_j^T lambda_j),   D_i = h sum_j a_ij (v0 + E_j + W G_j^T mu_j)
 * and then, with g_i and rate_i carried to that point by G_i, and S = G W G^T of the middle of the step,
 *   ggl           h S A d(lambda) = rate,      S d(mu) = rate - (1/h) A^-1 g
 *   position      h^2 S A^2 d(lambda) = g
 *   velocity      h^2 S (b A) d(lambda) = g_s,   h S b d(lambda) = rate_s
 *   acceleration  these and   S d(lambda_s) = d(rate_s)/dt
 * It contracts by about h times the speed with which S changes, or h^2 dF/dx: Newton's method for short steps.
 */
#include "integrators/radau.h"

#include <math.h>

/* What the rows ask of S d(lambda) and S d(mu), from g, rate and the accelerations. */
static void conditions(cb_radau *m) {
  const int s = m->s, last = s - 1;
  const double h = m->h;
  if (m->index == CB_RADAU_ACCELERATION) {
    double *second = cb_radau_row(m, m->z, last); /* there is no mu to correct */
    cb_radau_along(m, last, cb_radau_rate(m, last), second);
    for (int r = 0; r < m->R; r++) second[r] += m->gamma[r];
  }
  for (int r = 0; r < m->R; r++) {
    double g[CB_RADAU_MAX], rate[CB_RADAU_MAX], asked[CB_RADAU_MAX];
    for (int i = 0; i < s; i++) {
      g[i] = cb_radau_row(m, m->g_rows, i)[r] / h;
      rate[i] = cb_radau_row(m, m->rate, i)[r];
    }
    const bool own_velocity = m->rows->velocity[r];
    const bool by_stage = own_velocity || m->index == CB_RADAU_GGL;
    for (int i = 0; i < s; i++) asked[i] = by_stage ? rate[i] / h : g[i] / h;
    if (!by_stage && m->index != CB_RADAU_POSITION) {
      asked[0] = g[last] / h;
      asked[1] = rate[last] / h;
      if (m->index == CB_RADAU_ACCELERATION) asked[2] = cb_radau_row(m, m->z, last)[r];
    }
    for (int i = 0; i < s; i++) {
      const double *weight = by_stage ? m->inverse_a[i] : m->from_rows[i];
      double lambda = 0, mu = rate[i];
      for (int j = 0; j < s; j++) {
        lambda += weight[j] * asked[j];
        mu -= m->inverse_a[i][j] * g[j];
      }
      cb_radau_row(m, m->y, i)[r] = lambda;
      if (m->mu && !own_velocity) cb_radau_row(m, m->z, i)[r] = mu;
    }
  }
}

/* E and D of all stages from the rates and the drift. */
static void moves(const cb_radau *m, double *E, double *D) {
  const size_t count = m->count;
  for (int i = 0; i < m->s; i++)
    cb_radau_sum(m, m->tableau.a[i], m->rates, count + (size_t)m->R, cb_radau_of(m, E, i));
  for (int i = 0; i < m->s; i++) {
    double *to = cb_radau_of(m, D, i);
    const double whole = m->h * m->tableau.c[i];
    cb_radau_sum(m, m->tableau.a[i], E, count, to);
    for (size_t e = 0; e < count; e++) to[e] += whole * m->v0[e];
    if (!m->mu) continue;
    cb_radau_sum(m, m->tableau.a[i], m->drift, count, m->lift);
    for (size_t e = 0; e < count; e++) to[e] += m->lift[e];
  }
}

static void correct_multipliers(cb_radau *m, const double *E, const double *D) {
  const int s = m->s;
  double *carried = cb_radau_row(m, m->y, 0);
  for (int i = 0; i < s; i++) {
    double *g = cb_radau_row(m, m->g_rows, i), *rate = cb_radau_row(m, m->rate, i);
    for (int part = 0; part < 2; part++) {
      const double *to = cb_radau_of(m, (double *)(part ? E : D), i), *from = cb_radau_of(m, part ? m->E : m->D, i);
      for (size_t e = 0; e < m->count; e++) m->lift[e] = to[e] - from[e];
      cb_radau_along(m, i, m->lift, carried);
      for (int r = 0; r < m->R; r++) (part ? rate : g)[r] += carried[r];
    }
    if (!m->mu) continue;
    /* Rows of velocity keep a W G^T mu = 0, so that positions move along them too. */
    cb_radau_along(m, i, cb_radau_of(m, m->drift, i), carried);
    for (int r = 0; r < m->R; r++)
      if (m->rows->velocity[r]) cb_radau_row(m, m->z, i)[r] = -carried[r];
  }
  conditions(m);
  for (int i = 0; i < s; i++) {
    double *y = cb_radau_row(m, m->y, i), *lambda = cb_radau_lambda(m, i), *rate = cb_radau_rate(m, i);
    cb_gram_solve(m->gram, y);
    cb_radau_lift(m, i, y, m->lift);
    for (size_t e = 0; e < m->count; e++) rate[e] -= m->lift[e];
    for (int r = 0; r < m->R; r++) lambda[r] += y[r];
    if (!m->mu) continue;
    double *z = cb_radau_row(m, m->z, i), *mu = cb_radau_row(m, m->mu, i), *drift = cb_radau_of(m, m->drift, i);
    cb_gram_solve(m->gram, z);
    cb_radau_lift(m, i, z, m->lift);
    for (size_t e = 0; e < m->count; e++) drift[e] += m->lift[e];
    for (int r = 0; r < m->R; r++) mu[r] += z[r];
  }
}

static cb_status factor(cb_radau *m) {
  if (!m->R) return CB_OK;
  const int middle = (m->s - 1) / 2;
  return cb_radau_status(
      cb_gram_factor(m->gram, cb_radau_of(m, m->X, middle), m->G + (size_t)middle * m->entries, NULL));
}

cb_status cb_radau_sweep(cb_radau *m, bool first, cb_stage_change *c) {
  const size_t all = (size_t)m->s * m->count;
  double *E = m->next, *D = m->next + all;
  cb_status status = cb_radau_evaluate(m);
  if (!status && first) status = factor(m);
  if (status) return status;
  moves(m, E, D);
  if (m->R) {
    correct_multipliers(m, E, D);
    moves(m, E, D);
  }
  double total = 0;
  for (size_t e = 0; e < all; e++) {
    const double change = fmax(fabs(D[e] - m->D[e]), fabs(m->h * (E[e] - m->E[e])));
    total += change + (D[e] - D[e]);
    c->change = fmax(c->change, change);
    c->size = fmax(c->size, fabs(D[e]));
    m->D[e] = D[e];
    m->E[e] = E[e];
  }
  if (!(total < INFINITY)) c->change = NAN;
  for (size_t e = 0; e < m->count; e++) c->position = fmax(c->position, fabs(m->start->x[e]));
  return CB_OK;
}
