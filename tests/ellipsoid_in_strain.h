/* A perfect fluid around a fixed ellipsoid with the half axes a_i along the axes of coordinates, in the irrotational
 * flow u + E x, in closed form.
 *
 *   alpha_i = a_1 a_2 a_3 int_0^inf ds/((a_i^2 + s) Delta),   J_jk = (alpha_j - alpha_k)/(a_k^2 - a_j^2)
 *   D_ij = alpha_i - a_j^2 J_ij (i != j),  D_ii = -sum_j D_ij
 *   phi = sum_i alpha_i/(2 - alpha_i) u_i x_i - sum_jk P_jk x_j x_k            on the surface
 *   P_jk = -(a_j^2 + a_k^2) E_jk J_jk/(2 (2 - (a_j^2 + a_k^2) J_jk)) (j != k), P_ii = -(D s)_i/4, -(1 + D/2) s = diag E
 *
 * Delta = prod (a_i^2 + s)^(1/2); the axes differ. phi is the potential of the disturbance. The terms for u and j != k
 * are those of Lamb, Hydrodynamics (1932), articles 114 and 115. For the diagonal of E, phi is the change of the
 * potential of a solid ellipsoid, c - sum alpha_i x_i^2/4, when its axes change by a_i s_i. The pressure is
 * -|u + E x + grad phi|^2/2 for density 1, because the fluid does not cross the surface. */
#pragma once

#include "fluid/ellipsoid.h"
#include "immersed.h"
#include "numerics/small.h"
#include "numerics/vec3.h"

typedef struct strained_ellipsoid {
  double a[3], alpha[3], J[3][3], D[3][3], volume;
} strained_ellipsoid;

static inline strained_ellipsoid oracle_of(double a, double b, double c) {
  strained_ellipsoid o = {.a = {a, b, c}, .volume = 4 * M_PI / 3 * a * b * c};
  cb_ellipsoid_kappa(o.a, CB_ELLIPSOID_EXACT, o.alpha);
  for (int i = 0; i < 3; i++)
    for (int k = 1; k < 3; k++) {
      const int j = (i + k) % 3;
      o.J[i][j] = (o.alpha[i] - o.alpha[j]) / (o.a[j] * o.a[j] - o.a[i] * o.a[i]);
      o.D[i][j] = o.alpha[i] - o.a[j] * o.a[j] * o.J[i][j];
      o.D[i][i] -= o.D[i][j];
    }
  return o;
}

/* Computes the matrix P for the strain E. Ds becomes the vector D s; NULL: it is not needed. */
static inline void strain_potential(const strained_ellipsoid *o, const double E[3][3], double P[3][3], double Ds[3]) {
  double m[9], s[3];
  int pivot[3];
  for (int i = 0; i < 9; i++) {
    const int j = i / 3, k = i % 3;
    const double squares = o->a[j] * o->a[j] + o->a[k] * o->a[k];
    m[i] = -(j == k) - o->D[j][k] / 2;
    if (j == k)
      s[j] = E[j][j];
    else
      P[j][k] = -squares * E[j][k] * o->J[j][k] / (2 * (2 - squares * o->J[j][k]));
  }
  check_ok(cb_dense_factor(3, m, pivot));
  cb_dense_solve(3, m, pivot, s);
  for (int i = 0; i < 3; i++) {
    const double value = cb_dot3(o->D[i], s);
    P[i][i] = -value / 4;
    if (Ds) Ds[i] = value;
  }
}

/* Returns -int phi_A w_B dA over the surface, where phi_A is the potential if the surface moves with the velocity A x,
 * and w_B is the normal component of B x. For A = B this is twice the kinetic energy of the fluid. Both matrices are
 * symmetric and have the trace 0. */
static inline double strain_energy(const strained_ellipsoid *o, const double A[3][3], const double B[3][3]) {
  double P[3][3], Ds[3], sum = 0;
  strain_potential(o, A, P, Ds);
  for (int j = 0; j < 3; j++) {
    const int k = (j + 1) % 3;
    sum += o->volume / 10 * B[j][j] * o->a[j] * o->a[j] * Ds[j];
    sum -= 2 * o->volume / 5 * B[j][k] * (o->a[j] * o->a[j] + o->a[k] * o->a[k]) * P[j][k];
  }
  return sum;
}

/* Returns -int phi_A w dA with the potential phi_A of strain_energy, where w is the normal velocity of the surface if
 * it rotates about axis i. */
static inline double strain_spin(const strained_ellipsoid *o, const double A[3][3], int i) {
  const int j = (i + 1) % 3, k = (i + 2) % 3;
  double P[3][3];
  strain_potential(o, A, P, NULL);
  return -2 * o->volume / 5 * P[j][k] * (o->a[j] * o->a[j] - o->a[k] * o->a[k]);
}

enum { ORACLE_NODES = 60 }; /* the quadrature is exact to round-off for half axes up to 3:1 */

static inline void gauss_node(int n, int i, double *x, double *w) {
  double slope = 1;
  *x = cos(M_PI * (i + 0.75) / (n + 0.5));
  for (int round = 0; round < 20; round++) {
    double before = 1, p = *x;
    for (int k = 2; k <= n; k++) {
      const double next = ((2 * k - 1) * *x * p - (k - 1) * before) / k;
      before = p;
      p = next;
    }
    slope = n * (*x * p - before) / (*x * *x - 1);
    *x -= p / slope;
  }
  *w = 2 / ((1 - *x * *x) * slope * slope);
}

/* Computes F, the torque about the centre and the force that the pressure exerts on the ellipsoid, for density 1. */
static inline void oracle_wrench(const strained_ellipsoid *o, const double u[3], const double E[3][3], double F[6]) {
  double P[3][3];
  strain_potential(o, E, P, NULL);
  memset(F, 0, 6 * sizeof *F);
  for (int i = 0; i < 2 * ORACLE_NODES * ORACLE_NODES; i++) {
    double z, w, x[3], n[3], q[3], torque[3];
    gauss_node(ORACLE_NODES, i % ORACLE_NODES, &z, &w);
    const double angle = M_PI * (i / ORACLE_NODES) / ORACLE_NODES, r = sqrt(1 - z * z),
                 on[3] = {r * cos(angle), r * sin(angle), z};
    for (int k = 0; k < 3; k++) {
      x[k] = o->a[k] * on[k];
      n[k] = on[k] / o->a[k] * o->a[0] * o->a[1] * o->a[2]; /* n dA of the ellipsoid per area of the unit sphere */
    }
    for (int k = 0; k < 3; k++)
      q[k] = u[k] * (1 + o->alpha[k] / (2 - o->alpha[k])) + cb_dot3(E[k], x) - 2 * cb_dot3(P[k], x);
    const double across = cb_dot3(q, n) / cb_dot3(n, n);
    for (int k = 0; k < 3; k++) q[k] -= across * n[k];
    const double push = cb_dot3(q, q) / 2 * w * M_PI / ORACLE_NODES;
    cb_cross3(x, n, torque);
    for (int k = 0; k < 3; k++) {
      F[k] += push * torque[k];
      F[3 + k] += push * n[k];
    }
  }
}

/* Computes the torque and the force that the pressure of the undisturbed flow exerts: int (x × a, a) dV, where
 * a = E (u + E x) is the acceleration of the fluid. */
static inline void oracle_pressure(const strained_ellipsoid *o, const double u[3], const double E[3][3], double F[6]) {
  double S[3][3] = {{0}};
  for (int i = 0; i < 27; i++)
    S[i / 9][i % 3] += E[i / 9][i / 3 % 3] * E[i / 3 % 3][i % 3] * o->volume / 5 * o->a[i % 3] * o->a[i % 3];
  for (int k = 0; k < 3; k++) {
    F[k] = S[(k + 2) % 3][(k + 1) % 3] - S[(k + 1) % 3][(k + 2) % 3];
    F[3 + k] = o->volume * cb_dot3(E[k], u);
  }
}
