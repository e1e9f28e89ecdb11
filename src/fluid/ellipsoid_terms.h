/* Forces of a fluid on an ellipsoid of semi-axes r, in its axes about its centre, as terms with their derivatives.
 *
 *   (w, v): angular velocity, velocity relative to the fluid;  s_i = r_j r_k,  q = s^2∘v,  D = q.q,  N = q.v
 *   added mass   f = p × w,  g = p × v + L × w,  p = rho m∘v,  L = rho I∘w       what ad*_Y K Y is
 *   magnus       f = C rho (W∘w) × v,  W_i = V, or by area times chord (4 pi/3) r_i max(r_j, r_k)^2
 *   kutta        f = C rho pi (N/D)^(1/2)/|v| (N v - |v|^2 q)
 *   drag         f = -rho (C_b A + C_s (A_max - A)) |v| v,  A = pi (D/N)^(1/2), the section, or the shadow pi N^(1/2)/|v|
 *                g = -rho |k∘w| w,  k_i = C_a I_i + C_s (I_max - I_i),  I_i = (8 pi/15) r_i max(r_j, r_k)^4
 *   viscous      f = -6 pi mu r_D v,  g = -8 pi mu r_D^3 w,  r_D the mean of r
 * Source: MuJoCo's documentation, "Fluid forces", as its code has it (3.14); of 2.2 with its floors of 1e-15 in `kutta`,
 * `drag`. All of density 1. F, dF (NULL: not wanted) in the order (angular, linear), added to.
 */
#pragma once

#include "fluid/ellipsoid.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stddef.h>

enum { CB_TERM_ADDED_MASS, CB_TERM_MAGNUS, CB_TERM_KUTTA, CB_TERM_DRAG, CB_TERM_VISCOUS, CB_ELLIPSOID_TERMS };

static const char *const cb_ellipsoid_term_names[] = {"added_mass", "magnus", "kutta", "drag", "viscous", NULL};

typedef struct cb_ellipsoid_kind {
  double viscosity;
  double floor;      /* of denominators, MuJoCo's before 3.14; 0: none */
  bool shadow;       /* the drag's area */
  bool chord;        /* of magnus: area times chord, for the volume */
  bool slender_spin; /* slender drag in torque too */
  bool inertia;      /* no term of added mass: it is in the inertia */
} cb_ellipsoid_kind;

/* F += k (a × b), and the derivative: da/dV = c_a at offset i of V, db/dV = 1 at offset j: a = c_a∘V_i. */
static inline void cb_add_cross(const double a[3], const double b[3], double *F) {
  F[0] += a[1] * b[2] - a[2] * b[1];
  F[1] += a[2] * b[0] - a[0] * b[2];
  F[2] += a[0] * b[1] - a[1] * b[0];
}

/* Adds d(a × b) at rows `row`: a = c∘V[i..], b = V[j..]. */
static inline void cb_add_cross_slopes(const double a[3], const double b[3], const double c[3], int row, int i, int j,
                                       double (*dF)[6]) {
  static const int next[5] = {0, 1, 2, 0, 1};
  for (int k = 0; k < 3; k++) {
    const int l = next[k + 1], m = next[k + 2]; /* row k: a_l b_m - a_m b_l */
    dF[row + k][i + l] += c[l] * b[m];
    dF[row + k][i + m] -= c[m] * b[l];
    dF[row + k][j + m] += a[l];
    dF[row + k][j + l] -= a[m];
  }
}

static inline void cb_ellipsoid_added_mass(const cb_ellipsoid *e, double rho, const double V[6], double *F,
                                           double (*dF)[6]) {
  double m[3], I[3], p[3], L[3];
  for (int k = 0; k < 3; k++) {
    m[k] = rho * e->mass[k], I[k] = rho * e->inertia[k];
    L[k] = I[k] * V[k], p[k] = m[k] * V[3 + k];
  }
  cb_add_cross(p, V + 3, F);
  cb_add_cross(L, V, F);
  cb_add_cross(p, V, F + 3);
  if (!dF) return;
  cb_add_cross_slopes(p, V + 3, m, 0, 3, 3, dF);
  cb_add_cross_slopes(L, V, I, 0, 0, 0, dF);
  cb_add_cross_slopes(p, V, m, 3, 3, 0, dF);
}

static inline void cb_ellipsoid_magnus(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind, double rho,
                                       const double V[6], double *F, double (*dF)[6]) {
  double c[3], a[3];
  for (int k = 0; k < 3; k++) {
    c[k] = e->coefficient[CB_ELLIPSOID_MAGNUS] * rho * (kind->chord ? e->chord[k] : e->volume);
    a[k] = c[k] * V[k];
  }
  cb_add_cross(a, V + 3, F + 3);
  if (dF) cb_add_cross_slopes(a, V + 3, c, 3, 0, 3, dF);
}

/* What kutta and drag share: of a velocity that is not 0. */
typedef struct cb_ellipsoid_stream {
  double s2[3], q[3], speed, D, N, low, section; /* low: max(f, N) */
  double of_D[3], of_N[3], of_speed[3];          /* slopes of log D^(1/2), log N^(1/2) and log |v| */
} cb_ellipsoid_stream;

static inline bool cb_ellipsoid_stream_of(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind, const double v[3],
                                          bool slopes, cb_ellipsoid_stream *s) {
  const double square = cb_dot3(v, v);
  for (int k = 0; k < 3; k++) s->s2[k] = e->side2[k], s->q[k] = s->s2[k] * v[k];
  s->D = cb_dot3(s->q, s->q);
  s->N = cb_dot3(s->q, v);
  if (!(s->N > 0 && s->D > 0)) return false;
  s->speed = sqrt(square);
  s->low = s->N > kind->floor ? s->N : kind->floor;
  s->section = M_PI * sqrt(s->D / s->low);
  if (!slopes) return true;
  const double by_D = 1 / s->D, by_N = 1 / s->N, by_square = 1 / square;
  for (int k = 0; k < 3; k++) {
    s->of_D[k] = s->s2[k] * s->q[k] * by_D;
    s->of_N[k] = s->q[k] * by_N;
    s->of_speed[k] = v[k] * by_square;
  }
  return true;
}

/* With z = C rho pi (D/max(f, N))^(1/2) N/max(f, |v| D): f = z (N v - |v|^2 q). */
static inline void cb_ellipsoid_kutta(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind,
                                      const cb_ellipsoid_stream *s, double rho, const double v[3], double *F,
                                      double (*dF)[6]) {
  const double steep = s->speed * s->D, bottom = steep > kind->floor ? steep : kind->floor,
               square = s->speed * s->speed, z = e->coefficient[CB_ELLIPSOID_KUTTA] * rho * s->section * s->N / bottom;
  double lift[3];
  for (int k = 0; k < 3; k++) lift[k] = s->N * v[k] - square * s->q[k], F[3 + k] += z * lift[k];
  if (!dF) return;
  for (int j = 0; j < 3; j++) {
    const double dN = 2 * s->q[j];
    double slope = s->of_D[j] + 2 * s->of_N[j]; /* of log z */
    if (s->low > kind->floor) slope -= s->of_N[j];
    if (bottom > kind->floor) slope -= s->of_speed[j] + 2 * s->of_D[j];
    for (int k = 0; k < 3; k++)
      dF[3 + k][3 + j] +=
          z * (slope * lift[k] + dN * v[k] - 2 * v[j] * s->q[k] + (k == j ? s->N - square * s->s2[k] : 0));
  }
}

/* The area A |v| rho C_b .. as c(v): f = -c v. */
static inline void cb_ellipsoid_drag(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind, const cb_ellipsoid_stream *s,
                                     double rho, const double v[3], double *F, double (*dF)[6]) {
  const double blunt = e->coefficient[CB_ELLIPSOID_BLUNT], slender = e->coefficient[CB_ELLIPSOID_SLENDER],
               area = kind->shadow ? M_PI * sqrt(s->N) / s->speed : s->section,
               c = rho * (blunt * area + slender * (e->greatest - area)) * s->speed;
  for (int k = 0; k < 3; k++) F[3 + k] -= c * v[k];
  if (!dF) return;
  for (int j = 0; j < 3; j++) {
    const double slope =
                     kind->shadow ? s->of_N[j] - s->of_speed[j] : s->of_D[j] - (s->low > kind->floor ? s->of_N[j] : 0),
                 dc = rho * (blunt - slender) * area * slope * s->speed + c * s->of_speed[j];
    for (int k = 0; k < 3; k++) dF[3 + k][3 + j] -= dc * v[k] + (k == j ? c : 0);
  }
}

static inline void cb_ellipsoid_spin(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind, double rho,
                                     const double w[3], double *F, double (*dF)[6]) {
  const double own = e->coefficient[CB_ELLIPSOID_ANGULAR],
               slender = kind->slender_spin ? e->coefficient[CB_ELLIPSOID_SLENDER] : 0;
  double k2[3], sum = 0;
  for (int k = 0; k < 3; k++) {
    const double c = own * e->spin[k] + slender * (e->spun - e->spin[k]);
    k2[k] = c * c;
    sum += k2[k] * w[k] * w[k];
  }
  const double size = sqrt(sum);
  for (int k = 0; k < 3; k++) F[k] -= rho * size * w[k];
  for (int k = 0; dF && k < 3; k++) {
    dF[k][k] -= rho * size;
    for (int j = 0; j < 3 && size > 0; j++) dF[k][j] -= rho * w[k] * k2[j] * w[j] / size;
  }
}

static inline void cb_ellipsoid_viscous(const cb_ellipsoid *e, double viscosity, const double V[6], double *F,
                                        double (*dF)[6]) {
  const double r = e->stokes, c[2] = {8 * M_PI * viscosity * r * r * r, 6 * M_PI * viscosity * r};
  for (int k = 0; k < 6; k++) {
    F[k] -= c[k / 3] * V[k];
    if (dF) dF[k][k] -= c[k / 3];
  }
}

/* All terms F[CB_ELLIPSOID_TERMS] on an ellipsoid whose centre moves with V, in the body's axes. */
static inline void cb_ellipsoid_terms(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind, double rho,
                                      const double twist[6], double (*F)[6], double (*dF)[6][6]) {
  cb_ellipsoid_stream stream;
  double turned[6];
  if (e->turned) cb_ellipsoid_turn(e, twist, turned);
  const double *V = e->turned ? turned : twist;
#define CB_SLOPES(term) (dF ? dF[CB_TERM_##term] : NULL)
  if (!kind->inertia) cb_ellipsoid_added_mass(e, rho, V, F[CB_TERM_ADDED_MASS], CB_SLOPES(ADDED_MASS));
  cb_ellipsoid_magnus(e, kind, rho, V, F[CB_TERM_MAGNUS], CB_SLOPES(MAGNUS));
  if (cb_ellipsoid_stream_of(e, kind, V + 3, dF != NULL, &stream)) {
    cb_ellipsoid_kutta(e, kind, &stream, rho, V + 3, F[CB_TERM_KUTTA], CB_SLOPES(KUTTA));
    cb_ellipsoid_drag(e, kind, &stream, rho, V + 3, F[CB_TERM_DRAG], CB_SLOPES(DRAG));
  }
  cb_ellipsoid_spin(e, kind, rho, V, F[CB_TERM_DRAG], CB_SLOPES(DRAG));
  cb_ellipsoid_viscous(e, kind->viscosity, V, F[CB_TERM_VISCOUS], CB_SLOPES(VISCOUS));
#undef CB_SLOPES
  for (int k = 0; e->turned && k < CB_ELLIPSOID_TERMS; k++) cb_ellipsoid_turn_back(e, F[k], dF ? dF[k] : NULL);
}
