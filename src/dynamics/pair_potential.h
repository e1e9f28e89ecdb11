/* Potentials U(d) of the distance between two points, with two derivatives.
 *
 *   harmonic       U = (a/2) (d - b)^2
 *   gravity        U = -s a C(d)/S(d),  S(d) = sin(r d)/r | d | sinh(r d)/r,  C = S',  r = sqrt|K|
 *                  (-a cot d, -a/d, -a coth d for curvature K = 1, 0, -1: the Green's functions of the Laplacian)
 *   Coulomb        the same with the opposite sign
 *   Lennard-Jones  U = 4 a ((b/d)^12 - (b/d)^6)
 *   expression     a text in d and the variables of the pair
 * d is the distance, a the strength, b a length and K the curvature of the space. The factor s belongs to the pair: m1
 * m2 for gravity, q1 q2 for Coulomb (m and q for a centre), otherwise 1.
 *
 * On a quadric of curvature K the squared chord w = c^2 = <x-y, x-y> = (4/K) sin^2(r d/2) (K > 0) is a better variable
 * than d, since
 *   dU/dx = phi(w) (x - y),  phi = U'(d) / (c q),  q^2 = 1 - K w/4,  S(d)^2 = w q^2,  C(d) = 1 - K w/2.
 * Gravity then needs no inverse function: phi = s a / (w q^2)^(3/2).
 *
 * Source of the curved Kepler potential: Serret (1860); Borisov & Mamaev, Regular and Chaotic Dynamics 11 (2006),
 * doi:10.1070/RD2006v011n01ABEH000331. All quantities are in the units of the scenario.
 */
#pragma once

#include <curvebody/expression.h>
#include <curvebody/system.h>

typedef struct cb_pair_potential {
  cb_pair_potential_kind kind;
  double a, b;
  double curvature;                /* the curvature K of the space, for gravity and Coulomb */
  const cb_expression *expression; /* CB_PAIR_POTENTIAL_EXPRESSION: its variables are d, t and those of the pair */
} cb_pair_potential;

enum { CB_PAIR_POTENTIAL_VARIABLES = 6 }; /* for two particles d, t, m1, m2, q1, q2; for a centre d, t, m, q */

/* The values that a pair contributes to a potential. variable[0] is d; the potential sets it. */
typedef struct cb_pair_values {
  double scale;
  double variable[CB_PAIR_POTENTIAL_VARIABLES];
} cb_pair_values;

typedef struct cb_pair_potential_value {
  double u, du, ddu;
} cb_pair_potential_value; /* U, U', U'' */
typedef struct cb_pair_potential_chord {
  double u, phi, dphi;
} cb_pair_potential_chord; /* U, phi, dphi/dw */

cb_pair_values cb_pair_values_of(const cb_pair_potential *pair_potential, double t, double m1, double m2, double q1,
                                 double q2);
cb_pair_values cb_pair_values_of_centre(const cb_pair_potential *pair_potential, double t, double m, double q);

cb_pair_potential_value cb_pair_potential_at(const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                                             double d);
/* As cb_pair_potential_at, as a function of the squared chord w, in a space of curvature k. */
cb_pair_potential_chord cb_pair_potential_at_chord(const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                                                   double k, double w);

/* Names of the variables of an expression for two particles (6 names) and for a centre (4 names). */
extern const char *const cb_pair_potential_names_pair[6];
extern const char *const cb_pair_potential_names_centre[4];

/* A pair potential between two points of any space: its value and its ordinary partial derivatives in the coordinates
 * (x, y).
 *
 * V = U(d(x, y)). On one quadric it is computed from the squared chord w = <x-y, x-y>:
 *   V_x = phi I(x - y) = -V_y,   V_xx = phi I + 2 phi' I(x-y) (x-y)I,   phi' = dphi/dw,   I = diag(form);
 * in products and in spaces with a chart from the derivatives of the distance:
 *   V_a = U' d_a,   V_ab = U'' d_a d_b + U' d_ab.
 * The derivatives are those of V as a function on the embedding (or of the coordinates of the chart). */

enum { CB_PAIR_MAX = 2 * CB_COORD_MAX };

/* Is the space one quadric or flat factor in its embedding, where the chord determines the distance? */
static inline int cb_pair_by_chord(const cb_space *g) { return !g->chart && g->n_factors == 1; }

/* The curvature that gravity and Coulomb use: the curvature of the space if it has one factor, otherwise 0. */
static inline double cb_pair_curvature(const cb_space *g) { return g->n_factors == 1 ? g->factor[0].curvature : 0; }

/* w = <x-y, x-y> and e = x - y in a space of one factor. */
static inline double cb_pair_chord(const cb_space *g, const double *x, const double *y, double *e) {
  double w = 0;
  for (int a = 0; a < g->k; a++) {
    e[a] = x[a] - y[a];
    w += g->form[a] * e[a] * e[a];
  }
  return w;
}

/* d with gradient[2k] and hessian[(2k)^2] in (x, y). The last two may be NULL. CB_STEP_DOMAIN if they do not exist.
 */
cb_status cb_pair_distance(const cb_space *g, const double *x, const double *y, double *d, double *gradient,
                           double *hessian);

/* V = U(d(x, y)) with gradient[2k] and hessian[(2k)^2]. The last two may be NULL. CB_STEP_DOMAIN if V or a derivative
 * does not exist. */
cb_status cb_pair_potential_between(const cb_space *g, const cb_pair_potential *pair_potential,
                                    const cb_pair_values *pair, const double *x, const double *y, double *v,
                                    double *gradient, double *hessian);
