/* Up to CB_SPRINGS_FEW undamped springs between a handful of particles in a space of one factor: one by one, where
 * vectors of eight would be mostly empty. Formulas and series as in springs_kernel.h, without its instruction sets.
 *
 *   q = <x-y, x-y>,  t = K q/4,  S^2 = q (1 - t),   force on x:  -(k psi(t) - k D/S) (x - y)
 */
#ifndef CB_DYNAMICS_SPRINGS_FEW_H
#define CB_DYNAMICS_SPRINGS_FEW_H

#include "dynamics/springs_series.h"
#include <curvebody/geometry.h>
#include <math.h>

enum { CB_SPRINGS_FEW = 2 };

/* What the loop needs, in the order it is read. */
typedef struct cb_springs_few {
  int n, m;       /* particles, springs */
  double quarter; /* K/4 */
  double last;    /* form of the last coordinate */
  struct {
    int i, j;
    double stiffness, tension;
  } spring[CB_SPRINGS_FEW]; /* k and k D */
} cb_springs_few;

/* P(s) of degree 20 in four interleaved parts, which a processor can do side by side. */
static inline double cb_few_polynomial(const double *c, double s) {
  double s2 = s * s, s4 = s2 * s2, p0 = c[20], p1 = c[17], p2 = c[18], p3 = c[19];
  for (int i = 16; i >= 4; i -= 4) {
    p0 = p0 * s4 + c[i];
    p3 = p3 * s4 + c[i - 1];
    p2 = p2 * s4 + c[i - 2];
    p1 = p1 * s4 + c[i - 3];
  }
  p0 = p0 * s4 + c[0];
  return (p0 + p1 * s) + (p2 + p3 * s) * s2;
}

static inline double cb_few_psi(double t) {
  double cosine = 1;
  while (t > 0.5 || t < -1) { /* by half the angle */
    double c = sqrt(1 - t);
    t /= 2 * (1 + c);
    cosine *= c;
  }
  double p = t > 0 ? cb_few_polynomial(cb_series_sphere, t - 0.25) : cb_few_polynomial(cb_series_hyperboloid, t + 0.5);
  return (1 + t * p) / cosine;
}

/* Sets force[n*k] at x[n*k]. */
static inline __attribute__((always_inline)) void cb_few_force(int k, const cb_springs_few *few, const double *x,
                                                               double *force) {
  for (int a = 0; a < few->n * k; a++) force[a] = 0;
  for (int e = 0; e < few->m; e++) {
    const double *x_i = x + few->spring[e].i, *x_j = x + few->spring[e].j;
    double *f_i = force + few->spring[e].i, *f_j = force + few->spring[e].j, delta[CB_COORD_MAX], q = 0;
    for (int a = 0; a < k; a++) delta[a] = x_i[a] - x_j[a];
    for (int a = 0; a < k - 1; a++) q += delta[a] * delta[a];
    q += few->last * delta[k - 1] * delta[k - 1];
    double t = few->quarter * q, y = q - q * t + CB_CHORD_TINY;
    double g = few->spring[e].stiffness * (few->quarter == 0 ? 1 : cb_few_psi(t)) - few->spring[e].tension / sqrt(y);
    for (int a = 0; a < k; a++) {
      f_i[a] -= g * delta[a];
      f_j[a] += g * delta[a];
    }
  }
}

#endif
