/* The ellipsoids that replace a body in some fluid models, and the added mass of one ellipsoid.
 *
 *   kappa_i = r_x r_y r_z int_0^inf dl/((r_i^2 + l) sqrt((r_x^2 + l)(r_y^2 + l)(r_z^2 + l))),  sum kappa_i = 2
 *   m_i = V kappa_i/(2 - kappa_i),
 *   I_i = (V/5)(r_j^2 - r_k^2)^2 (kappa_k - kappa_j)/(2 (r_j^2 - r_k^2) + (r_j^2 + r_k^2)(kappa_j - kappa_k))
 *
 * r_i are the semi-axes, (i, j, k) is (x, y, z) or a cyclic permutation of it, and V is the volume. m_i is the added
 * mass along axis i and I_i the added inertia about it, for a fluid of density 1 (I_i = 0 if r_j = r_k). Source: Lamb,
 * Hydrodynamics (1932), articles 114 and 115.
 *
 * The integral over l is 2/3 of Carlson's function R_D. It can also be evaluated as in MuJoCo 3.14: by Kronrod's rule
 * of 15 points in x, where l = (r_i^3 r_j r_k)^(2/5) x^3/(1 - x)^2, with nodes and weights rounded to 8 decimals. SI
 * units.
 */
#pragma once

#include "numerics/vec3.h"
#include <curvebody/fluid_model.h>

#include <math.h>
#include <stddef.h>

enum {
  CB_ELLIPSOID_BLUNT,
  CB_ELLIPSOID_SLENDER,
  CB_ELLIPSOID_ANGULAR,
  CB_ELLIPSOID_KUTTA,
  CB_ELLIPSOID_MAGNUS,
  CB_ELLIPSOID_COEFFICIENTS
};
typedef enum cb_ellipsoid_rule { CB_ELLIPSOID_EXACT, CB_ELLIPSOID_MUJOCO } cb_ellipsoid_rule;

typedef struct cb_ellipsoid {
  double r[3];                 /* semi-axes */
  double place[3], axes[3][3]; /* centre and axes in the body frame; the columns of `axes` are the axes */
  bool turned;                 /* `axes` is not the identity */
  double coefficient[CB_ELLIPSOID_COEFFICIENTS];
  /* The volume of the ellipsoid. `mass` is its added mass along each axis and `inertia` its added inertia, for density
   * 1. */
  double volume, mass[3], inertia[3];
  /* greatest: pi r_max r_mid; spun: (8 pi/15) r_mid r_max^4; stokes: the mean of r. r_max and r_mid are the largest and
   * the middle semi-axis. */
  double greatest, spun, stokes;
  /* For each axis i, with the other axes j and k: side2 = (r_j r_k)^2, chord = (4 pi/3) r_i max(r_j, r_k)^2,
   * spin = (8 pi/15) r_i max(r_j, r_k)^4. */
  double side2[3], chord[3], spin[3];
} cb_ellipsoid;

typedef struct cb_ellipsoids {
  int n;
  cb_ellipsoid *of;
  double (*place)[3];    /* [n]: the centre of each ellipsoid in the body frame */
  int *part;             /* [n]: the part of the surface with which each ellipsoid moves, or -1 */
  const cb_node **named; /* [n]: the node that names the part of each ellipsoid, or NULL */
} cb_ellipsoids;

void cb_ellipsoid_kappa(const double r[3], cb_ellipsoid_rule rule, double kappa[3]);
/* Computes the members that follow from the semi-axes r, which are `volume` and all members after it. */
void cb_ellipsoid_finish(cb_ellipsoid *e, cb_ellipsoid_rule rule);

/* Reads a list of {type: .., size: [..], position: [..], quaternion: [..], part: .., coefficients: [..]}. If the list
 * is NULL, there is one ellipsoid, whose semi-axes are half the sides of the surface's box. If moves[parts] (may be
 * NULL) is true for some of several parts, there is one ellipsoid for each of these parts, and one for all other parts
 * together. `coefficient` holds the default coefficients; if `coefficient` is NULL, the list must not give
 * coefficients. Returns CB_ERROR_INPUT for an invalid list, or for a flat surface without a list. The caller frees
 * *out. */
cb_status cb_ellipsoids_read(const cb_node *list, const cb_surface *surface, const bool *moves,
                             const double coefficient[CB_ELLIPSOID_COEFFICIENTS], cb_ellipsoid_rule rule,
                             cb_ellipsoids **out);
/* Reads the axes from `node`, a quaternion [w, x, y, z]; if node is NULL, they are the body's axes. The columns of
 * `axes` are the axes. *turned becomes true if they are not the body's axes. Messages begin with `what`, the name of
 * the list that has the quaternion. */
cb_status cb_axes_read(const cb_node *node, const char *what, double axes[3][3], bool *turned);
/* Reads the name of a part of the surface; *part is -1 if node is NULL. */
cb_status cb_part_read(const cb_node *node, const cb_surface *surface, int *part);
void cb_ellipsoids_free(cb_ellipsoids *e);
/* The first function adds to K the added mass of one ellipsoid about its centre, for density 1 and in the body's axes.
 * The second one adds the added mass of all ellipsoids about the body's origin. */
void cb_ellipsoid_mass(const cb_ellipsoid *e, double K[6][6]);
void cb_ellipsoids_add_mass(const cb_ellipsoids *e, double K[6][6]);

/* --- for classes whose `body` is a cb_ellipsoids --- */
/* Rows of a parameter table for the members `viscosity`, `coefficient` and `geoms` of a struct `type`, with the default
 * values of the coefficients. */
#define CB_ELLIPSOID_ROW(type, name, index, fallback, doc) \
  { name, CB_PARAM_REAL, offsetof(type, coefficient) + (index) * sizeof(double), fallback, "", ">= 0", NULL, doc }
#define CB_ELLIPSOID_ROWS(type, blunt, slender, angular, kutta, magnus)                                         \
  {"viscosity", CB_PARAM_REAL, offsetof(type, viscosity), "0", "Pa s", ">= 0", NULL, "viscosity of the fluid"}, \
      CB_ELLIPSOID_ROW(type, "blunt", CB_ELLIPSOID_BLUNT, blunt,                                                \
                       "drag coefficient of the area normal to the velocity"),                                  \
      CB_ELLIPSOID_ROW(type, "slender", CB_ELLIPSOID_SLENDER, slender,                                          \
                       "drag coefficient of the largest section minus the area normal to the velocity"),        \
      CB_ELLIPSOID_ROW(type, "angular", CB_ELLIPSOID_ANGULAR, angular, "drag coefficient of rotation"),         \
      CB_ELLIPSOID_ROW(type, "kutta", CB_ELLIPSOID_KUTTA, kutta, "lift coefficient at an angle of attack"),     \
      CB_ELLIPSOID_ROW(type, "magnus", CB_ELLIPSOID_MAGNUS, magnus, "lift coefficient of rotation"),            \
      CB_ELLIPSOID_GEOMS(type, ", coefficients: [blunt, slender, angular, kutta, magnus]")
#define CB_ELLIPSOID_GEOMS(type, more)                                                                        \
  {                                                                                                           \
    "geoms", CB_PARAM_NODE, offsetof(type, geoms), "", "", "", NULL,                                          \
        "list of {type: sphere|capsule|cylinder|ellipsoid|box|mesh, size: [..], position: [..], "             \
        "quaternion: [..], part: NAME" more                                                                   \
        "}; part: the part of the surface with which it moves; default: "                                     \
        "one ellipsoid whose semi-axes are half the sides of the body's box, or one for each part that moves" \
  }
int cb_ellipsoids_places(const cb_fluid_model *m, const void *body, const double (**at)[3]);
int cb_ellipsoids_part_of(const cb_fluid_model *m, const void *body, int place, const cb_node **named);
/* The first function rotates a twist into the ellipsoid's axes. The second one rotates a wrench and its derivative
 * (NULL: none) back into the body's axes. */
void cb_ellipsoid_turn(const cb_ellipsoid *e, const double V[6], double out[6]);
void cb_ellipsoid_turn_back(const cb_ellipsoid *e, double F[6], double (*dF)[6]);
void cb_ellipsoids_release(const cb_fluid_model *m, void *body);

/* Forces of a fluid on an ellipsoid with the semi-axes r, in its axes and about its centre. The functions below compute
 * each term with its derivative.
 *
 *   f, g: force, torque;  (w, v): angular velocity, velocity relative to the fluid;  a∘b: product by components
 *   s_i = r_j r_k,  q = s^2∘v,  D = q.q,  N = q.v;  m, I, K: added masses, inertias and their matrix, for density 1
 *   added mass   f = p × w,  g = p × v + L × w,  p = rho m∘v,  L = rho I∘w       which is ad*_Y (rho K Y), Y = (w, v)
 *   magnus       f = C rho (W∘w) × v,  W_i = volume, or area times chord (4 pi/3) r_i max(r_j, r_k)^2
 *   kutta        f = C rho pi (N/D)^(1/2)/|v| (N v - |v|^2 q)
 *   drag         f = -rho (C_b A + C_s (A_max - A)) |v| v,  A = pi (D/N)^(1/2) (section) or pi N^(1/2)/|v| (shadow),
 *                A_max = pi r_max r_mid
 *                g = -rho |k∘w| w,  k_i = C_a B_i + C_s (B_max - B_i) (C_s = 0 here without slender_spin),
 *                B_i = (8 pi/15) r_i max(r_j, r_k)^4,  B_max = (8 pi/15) r_mid r_max^4
 *   viscous      f = -6 pi mu r_D v,  g = -8 pi mu r_D^3 w,  r_D the mean of r
 *
 * rho and mu are the density and the viscosity of the fluid. C is the coefficient of the term, and C_b, C_s, C_a are
 * `blunt`, `slender`, `angular`. r_max and r_mid are the largest and the middle semi-axis. The section is normal to q:
 * its border is the outline of the ellipsoid as seen along v. The functions add to F and to dF (NULL: not wanted) in
 * the order (angular, linear).
 *
 * Source: MuJoCo's documentation, "Fluid forces", and its code (3.14). For version 2.2 the terms `kutta` and `drag` use
 * the lower bounds of 1e-15 that its code has.
 */

enum { CB_TERM_ADDED_MASS, CB_TERM_MAGNUS, CB_TERM_KUTTA, CB_TERM_DRAG, CB_TERM_VISCOUS, CB_ELLIPSOID_TERMS };

static const char *const cb_ellipsoid_term_names[] = {"added_mass", "magnus", "kutta", "drag", "viscous", NULL};

typedef struct cb_ellipsoid_kind {
  double viscosity;
  double floor;      /* lower bound of denominators as in MuJoCo 2.2; 0: none */
  bool shadow;       /* the area A of the drag is the shadow of the ellipsoid; otherwise the section (see above) */
  bool chord;        /* W_i of the term magnus is area times chord; otherwise the volume */
  bool slender_spin; /* the coefficient C_s also acts on the torque of the drag */
  bool inertia;      /* the term of added mass is left out, because the added mass is part of the inertia */
} cb_ellipsoid_kind;

/* Adds a × b to the three numbers of F. */
static inline void cb_add_cross(const double a[3], const double b[3], double *F) {
  F[0] += a[1] * b[2] - a[2] * b[1];
  F[1] += a[2] * b[0] - a[0] * b[2];
  F[2] += a[0] * b[1] - a[1] * b[0];
}

/* Adds the derivative of a × b in V to the three rows of dF from `row` on. The vectors are a = c∘(V_i, V_i+1, V_i+2),
 * with the product ∘ by components, and b = (V_j, V_j+1, V_j+2). */
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
    m[k] = rho * e->mass[k];
    I[k] = rho * e->inertia[k];
    L[k] = I[k] * V[k];
    p[k] = m[k] * V[3 + k];
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

/* The quantities that the terms kutta and drag share (equations above), for a velocity that is not 0. */
typedef struct cb_ellipsoid_stream {
  double s2[3], q[3], speed, D, N, low, section; /* low: max(kind->floor, N); section: pi (D/low)^(1/2) */
  double of_D[3], of_N[3], of_speed[3];          /* derivatives of log D^(1/2), log N^(1/2) and log |v| */
} cb_ellipsoid_stream;

static inline bool cb_ellipsoid_stream_of(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind, const double v[3],
                                          bool slopes, cb_ellipsoid_stream *s) {
  const double square = cb_dot3(v, v);
  for (int k = 0; k < 3; k++) {
    s->s2[k] = e->side2[k];
    s->q[k] = s->s2[k] * v[k];
  }
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

/* Adds the term kutta, the force z (N v - |v|^2 q), and its derivative. With floor = kind->floor and the symbols above,
 * z = C rho pi (D/max(floor, N))^(1/2) N/max(floor, |v| D). */
static inline void cb_ellipsoid_kutta(const cb_ellipsoid *e, const cb_ellipsoid_kind *kind,
                                      const cb_ellipsoid_stream *s, double rho, const double v[3], double *F,
                                      double (*dF)[6]) {
  const double steep = s->speed * s->D, bottom = steep > kind->floor ? steep : kind->floor,
               square = s->speed * s->speed, z = e->coefficient[CB_ELLIPSOID_KUTTA] * rho * s->section * s->N / bottom;
  double lift[3];
  for (int k = 0; k < 3; k++) {
    lift[k] = s->N * v[k] - square * s->q[k];
    F[3 + k] += z * lift[k];
  }
  if (!dF) return;
  for (int j = 0; j < 3; j++) {
    const double dN = 2 * s->q[j];
    double slope = s->of_D[j] + 2 * s->of_N[j]; /* derivative of log z */
    if (s->low > kind->floor) slope -= s->of_N[j];
    if (bottom > kind->floor) slope -= s->of_speed[j] + 2 * s->of_D[j];
    for (int k = 0; k < 3; k++)
      dF[3 + k][3 + j] +=
          z * (slope * lift[k] + dN * v[k] - 2 * v[j] * s->q[k] + (k == j ? s->N - square * s->s2[k] : 0));
  }
}

/* Adds the force of the term drag, f = -c v with c = rho (C_b A + C_s (A_max - A)) |v|, and its derivative. A is the
 * area of the shadow or of the section (equations above). */
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

/* Adds all terms to F[CB_ELLIPSOID_TERMS] and dF (NULL: not wanted), for an ellipsoid whose centre moves with `twist`
 * relative to the fluid. twist, F and dF are in the body's axes. */
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
