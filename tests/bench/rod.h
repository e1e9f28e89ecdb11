/* A generic elastic rod, masses 1 and 2.7, in S3 or H3, as an ordinary differential equation in the embedding:
 *
 *   x' = v,   v' = F/m - (<F/m,x> + <v,v>)/<x,x> x,   F = -k (d - D) grad d,   k = D = 1,
 *
 * z = (x_1, x_2, v_1, v_2), in double precision and in long double. d is the distance of the particles, m the mass of a
 * particle, <,> the form of the embedding, and K the curvature. With a division by <x,x> in place of a
 * multiplication by K, <x,v> is also constant outside the quadric, and an error perpendicular to the quadric grows like
 * t; otherwise it grows exponentially. The total momentum of the boosts vanishes in H3, so the rod drifts only slowly,
 * and a moving origin is needed only beyond t = 100. (The rod of the thesis is not a useful test: mirror-symmetric data
 * are unstable, a difference grows like exp(t), and integrators that solve linear systems cause one.)
 */
#pragma once

#include "dynamics/springs_series.h"
#include "integrate.h"

enum { ROD = 16 };
typedef long double wide;

typedef struct rod {
  double K, last, mass[2]; /* curvature; sign of the last coordinate in the form; masses */
  double start[ROD];
} rod;

/* Opens body_case c with the rod, and writes the curvature, the masses and the start of the rod to r. */
static inline void rod_open(rod *r, body_case *c, const char *space) {
  static const double place[2][3] = {{0.4, 0.1, -0.2}, {-0.3, 0.2, 0.1}}, speed[3] = {0.3, 0.5, 0.2};
  open_space(c, space);
  *r = (rod){.K = c->g->factor[0].curvature, .last = c->g->form[3], .mass = {1, 2.7}};
  double *x = r->start, *v = r->start + 8;
  for (int a = 0; a < 2; a++) {
    double base[4], u[4] = {place[a][0], place[a][1], place[a][2], 0};
    cb_space_base_point(c->g, base);
    cb_exp(c->g, base, u, x + 4 * a, NULL);
  }
  /* v_2 from sum m (w v - last x v_w) = 0, the momentum of the boosts, with the last coordinate w and its velocity
   * v_w = -last x.v/w. */
  double sum[3], xx = 0, xs = 0;
  v[3] = 0;
  for (int e = 0; e < 3; e++) {
    v[e] = speed[e];
    v[3] -= r->last * x[e] * v[e] / x[3];
  }
  for (int e = 0; e < 3; e++) sum[e] = -(r->mass[0] / r->mass[1]) * (x[3] * v[e] - r->last * x[e] * v[3]) / x[7];
  /* v + x (x.v)/w^2 = sum */
  for (int e = 0; e < 3; e++) {
    xx += x[4 + e] * x[4 + e] / (x[7] * x[7]);
    xs += x[4 + e] * sum[e] / (x[7] * x[7]);
  }
  v[7] = 0;
  for (int e = 0; e < 3; e++) {
    v[4 + e] = sum[e] - x[4 + e] * xs / (1 + xx);
    v[7] -= r->last * x[4 + e] * v[4 + e] / x[7];
  }
  for (int a = 0; a < 2; a++) add_particle(c, r->mass[a], x + 4 * a, v + 4 * a);
  check_ok(cb_builder_spring(c->builder, 0, 1, 1, 1, 0));
  finish_system(c);
}

/* The force's factor g, F_1 = -g (x_1 - x_2) = -F_2. It uses the series of this library, which is faster than asin, so
 * that every method has the fastest evaluation. */
static inline double rod_pull(double K, double q) {
  const double t = 0.25 * K * q;
  return cb_psi(t) - 1 / sqrt(q - q * t);
}

static inline wide rod_pull_wide(wide K, wide q) {
  const wide t = K * q / 4, c = sqrtl(q), d = K > 0 ? 2 * asinl(c / 2) : 2 * asinhl(c / 2);
  return (d - 1) / (c * sqrtl(1 - t));
}

#define ROD_RHS(name, real, pull)                                                                 \
  static inline void name(const rod *r, const real *z, real *dz) {                                \
    const real K = r->K, last = r->last;                                                          \
    real delta[4], q = 0;                                                                         \
    for (int e = 0; e < 4; e++) delta[e] = z[e] - z[4 + e];                                       \
    for (int e = 0; e < 4; e++) q += (e < 3 ? 1 : last) * delta[e] * delta[e];                    \
    const real g = pull(K, q);                                                                    \
    for (int a = 0; a < 2; a++) {                                                                 \
      const real *x = z + 4 * a, *v = z + 8 + 4 * a, scale = (a ? g : -g) / r->mass[a];           \
      real normal = 0, square = 0, F[4];                                                          \
      for (int e = 0; e < 4; e++) F[e] = scale * delta[e];                                        \
      for (int e = 0; e < 4; e++) normal += (e < 3 ? 1 : last) * (F[e] * x[e] + v[e] * v[e]);     \
      for (int e = 0; e < 4; e++) square += (e < 3 ? 1 : last) * x[e] * x[e];                     \
      normal /= square;                                                                           \
      for (int e = 0; e < 4; e++) dz[4 * a + e] = v[e], dz[8 + 4 * a + e] = F[e] - normal * x[e]; \
    }                                                                                             \
  }

ROD_RHS(rod_rhs, double, rod_pull)
ROD_RHS(rod_rhs_wide, wide, rod_pull_wide)

static inline double rod_separation(const rod *r, const double *z) {
  double q = 0;
  for (int e = 0; e < 4; e++) q += (e < 3 ? 1 : r->last) * (z[e] - z[4 + e]) * (z[e] - z[4 + e]);
  return r->K > 0 ? 2 * asin(sqrt(q) / 2) : 2 * asinh(sqrt(q) / 2);
}

static inline double rod_energy(const rod *r, const double *z) {
  const double d = rod_separation(r, z) - 1;
  double sum = d * d / 2;
  for (int e = 0; e < 8; e++) sum += r->mass[e / 4] * (e % 4 < 3 ? 1 : r->last) * z[8 + e] * z[8 + e] / 2;
  return sum;
}

/* --- the reference: Gauss collocation with 8 stages, order 16, in long double --- */

enum { STAGES = 8 };

/* c: the zeros of the Legendre polynomial of degree 8 in 2c - 1; A and b from sum_j a_ij c_j^(k-1) = c_i^k / k, by
 * elimination. */
static inline void gauss_tableau(wide *c, wide A[STAGES][STAGES], wide *b) {
  wide w[STAGES][2 * STAGES + 1];
  for (int i = 0; i < STAGES; i++) {
    wide x = -cosl(acosl(-1) * (i + 0.75L) / (STAGES + 0.5L));
    for (int newton = 0; newton < 20; newton++) {
      wide p = 1, before = 0;
      for (int n = 1; n <= STAGES; n++) {
        const wide next = ((2 * n - 1) * x * p - (n - 1) * before) / n;
        before = p;
        p = next;
      }
      x -= p * (x * x - 1) / (STAGES * (x * p - before));
    }
    c[i] = (1 + x) / 2;
  }
  for (int k = 0; k < STAGES; k++) {
    for (int j = 0; j < STAGES; j++) {
      w[k][j] = powl(c[j], k);
      w[k][STAGES + j] = powl(c[j], k + 1) / (k + 1);
    }
    w[k][2 * STAGES] = 1.0L / (k + 1);
  }
  for (int i = 0; i < STAGES; i++) {
    int pivot = i;
    for (int r = i + 1; r < STAGES; r++)
      if (fabsl(w[r][i]) > fabsl(w[pivot][i])) pivot = r;
    for (int j = 0; j <= 2 * STAGES; j++) {
      const wide swap = w[i][j];
      w[i][j] = w[pivot][j];
      w[pivot][j] = swap;
    }
    for (int r = 0; r < STAGES; r++) {
      if (r == i) continue;
      const wide factor = w[r][i] / w[i][i];
      for (int j = i; j <= 2 * STAGES; j++) w[r][j] -= factor * w[i][j];
    }
  }
  for (int j = 0; j < STAGES; j++) {
    for (int i = 0; i < STAGES; i++) A[i][j] = w[j][STAGES + i] / w[j][j];
    b[j] = w[j][2 * STAGES] / w[j][j];
  }
}

/* Separation at time t after `steps` steps; 500 steps to t = 100 give it to a few 1e-15 (compared with other numbers of
 * steps and with __float128). */
static inline double rod_reference(const rod *r, double t, int steps) {
  wide c[STAGES], A[STAGES][STAGES], b[STAGES], z[ROD], Y[ROD], f[STAGES][ROD] = {{0}}, next[ROD];
  const wide h = (wide)t / steps;
  gauss_tableau(c, A, b);
  for (int e = 0; e < ROD; e++) z[e] = r->start[e];
  for (int i = 0; i < STAGES; i++) rod_rhs_wide(r, z, f[i]);
  for (int step = 0; step < steps; step++) {
    wide change = 1, before = 2;
    /* until the iteration no longer contracts because of round-off */
    for (int it = 0; it < 100 && change < before; it++) {
      before = it > 3 ? change : 1;
      change = 0;
      for (int i = 0; i < STAGES; i++) {
        for (int e = 0; e < ROD; e++) {
          Y[e] = z[e];
          for (int j = 0; j < STAGES; j++) Y[e] += h * A[i][j] * f[j][e];
        }
        rod_rhs_wide(r, Y, next);
        for (int e = 0; e < ROD; e++) {
          change = fmaxl(change, fabsl(h * (next[e] - f[i][e])));
          f[i][e] = next[e];
        }
      }
    }
    for (int e = 0; e < ROD; e++)
      for (int i = 0; i < STAGES; i++) z[e] += h * b[i] * f[i][e];
  }
  wide q = 0;
  for (int e = 0; e < 4; e++) q += (e < 3 ? 1 : r->last) * (z[e] - z[4 + e]) * (z[e] - z[4 + e]);
  return (double)(r->K > 0 ? 2 * asinl(sqrtl(q) / 2) : 2 * asinhl(sqrtl(q) / 2));
}
