/* An elastic rod with masses 1 and 2.7 in S3 or H3, as an ordinary differential equation in the embedding:
 *
 *   x' = v,   v' = F/m - (<F/m,x> + <v,v>)/<x,x> x,   F = -(d - 1) grad d
 *
 * for each particle with position x, velocity v and mass m. d is the distance of the two particles, <,> the form of the
 * embedding; stiffness and rest length are 1. The state is z = (x_1, x_2, v_1, v_2), in double or long double.
 *
 * On the space, 1/<x,x> is the curvature K. With the division by <x,x>, <x,v> is constant even if round-off moves x off
 * the space, and such an error grows like t. With a multiplication by K, it would grow exponentially.
 *
 * In H3 the rod drifts only slowly, because of its initial velocities (rod_open), and a moving origin is needed only
 * beyond t = 100. The mirror-symmetric rod of scenarios.h is not a useful test: this symmetry is unstable, so that
 * round-off that breaks it grows like exp(t). */
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
  /* The velocity of particle 2 follows from the equation sum m (w v - last x v_w) = 0 for both particles. Here x and v
   * are the first three components of position and velocity, w is the last coordinate, and v_w = -last x.v/w is the
   * last component of the velocity. `last` is the sign of the last coordinate in the form of the embedding. */
  double sum[3], xx = 0, xs = 0;
  v[3] = 0;
  for (int e = 0; e < 3; e++) {
    v[e] = speed[e];
    v[3] -= r->last * x[e] * v[e] / x[3];
  }
  for (int e = 0; e < 3; e++) sum[e] = -(r->mass[0] / r->mass[1]) * (x[3] * v[e] - r->last * x[e] * v[3]) / x[7];
  /* Solves v + x (x.v)/w^2 = sum for the velocity v of particle 2, where (x, w) are its coordinates. */
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

/* Returns the factor g of the force F_1 = -g (x_1 - x_2) on particle 1, where q = <x_1 - x_2, x_1 - x_2>. All methods
 * use cb_psi of this project, which is faster than asin. */
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

/* Computes the nodes c, the matrix A and the weights b of Gauss's method with 8 stages. The nodes are the zeros of the
 * Legendre polynomial of degree 8 in 2c - 1. A and b solve sum_j a_ij c_j^(k-1) = c_i^k/k and
 * sum_j b_j c_j^(k-1) = 1/k, k = 1 to 8, by elimination. */
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

/* Returns the separation at time t after `steps` steps. With 500 steps to t = 100, its error is a few 1e-15; this is
 * known from other numbers of steps and from __float128. */
static inline double rod_reference(const rod *r, double t, int steps) {
  wide c[STAGES], A[STAGES][STAGES], b[STAGES], z[ROD], Y[ROD], f[STAGES][ROD] = {{0}}, next[ROD];
  const wide h = (wide)t / steps;
  gauss_tableau(c, A, b);
  for (int e = 0; e < ROD; e++) z[e] = r->start[e];
  for (int i = 0; i < STAGES; i++) rod_rhs_wide(r, z, f[i]);
  for (int step = 0; step < steps; step++) {
    wide change = 1, before = 2;
    /* Iterates until round-off prevents further contraction. */
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
