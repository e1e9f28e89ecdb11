/* Pair potentials of a system: objects of the classes of curvebody/pair_potential.h, and their derivatives in the
 * coordinates of two points.
 *
 * On a quadric of curvature K, with r = sqrt|K|, the squared chord of two points x and y at the distance d is w = c^2 =
 * <x-y, x-y> = (4/K) sin^2(r d/2) (for K > 0). It is a better variable than d, since with I = diag(form)
 *   dU/dx = phi(w) I (x - y),  phi = U'(d) / (c q),  q^2 = 1 - K w/4,  S(d)^2 = w q^2,  C(d) = 1 - K w/2.
 * S(d) = sin(r d)/r and C(d) = cos(r d), with sinh and cosh for K < 0. A Green's function of strength a then needs no
 * inverse function: phi = f a / (w q^2)^(3/2), with the factor f of the pair. Where the points coincide U is smooth if
 * U'(0) = 0: phi = U''(0), and dphi/dw has no effect, because x - y = 0.
 */
#pragma once

#include <curvebody/expression.h>
#include <curvebody/pair_potential.h>
#include <curvebody/system.h>

typedef struct cb_pair_potential {
  const cb_pair_potential_class *class_;
  const void *params;
  double green;     /* the strength a, if the class is a Green's function */
  double curvature; /* the curvature K of the space */
  /* an expression of the variables cb_pair_names; NULL if the class has no expression */
  const cb_expression *expression;
} cb_pair_potential;

/* The values of one pair of points: the time, masses, charges and curvature on which the potential may depend, and the
 * factor f of the file header: 1, the product of the masses, or the product of the charges. */
typedef struct cb_pair_values {
  cb_pair pair;
  double factor;
} cb_pair_values;

typedef struct cb_pair_potential_chord {
  double u, phi, dphi;
} cb_pair_potential_chord; /* the potential U, phi of the file header, and dphi/dw */

/* Finds a class by its name; NULL: there is none. */
const cb_pair_potential_class *cb_pair_potential_find(const char *name);

/* The names of the variables in the expression of a pair potential: for two particles, and for a particle and a centre.
 * "" is a variable without a name. */
enum { CB_PAIR_VARIABLES = 6 };
extern const char *const cb_pair_names[CB_PAIR_VARIABLES], *const cb_pair_centre_names[CB_PAIR_VARIABLES];

/* Returns whether the potential depends on t. */
bool cb_pair_potential_is_timed(const cb_pair_potential *pair_potential);

cb_pair_values cb_pair_values_of(const cb_pair_potential *pair_potential, double t, double m1, double m2, double q1,
                                 double q2);
cb_pair_values cb_pair_values_of_centre(const cb_pair_potential *pair_potential, double t, double m, double q);

cb_pair_value cb_pair_potential_at(const cb_pair_potential *pair_potential, const cb_pair_values *pair, double d);
/* Does the same as cb_pair_potential_at, as a function of the squared chord w, in a space of curvature k. */
cb_pair_potential_chord cb_pair_potential_at_chord(const cb_pair_potential *pair_potential, const cb_pair_values *pair,
                                                   double k, double w);

/* A pair potential between two points of any space: its value and its ordinary partial derivatives in the coordinates
 * (x, y).
 *
 * V = U(d(x, y)). On one quadric it is computed from the squared chord w = <x-y, x-y>:
 *   V_x = phi I(x - y) = -V_y,   V_xx = phi I + 2 phi' I(x-y) (x-y)I,   phi' = dphi/dw,   I = diag(form);
 * in products and in spaces with a chart from the derivatives of the distance:
 *   V_a = U' d_a,   V_ab = U'' d_a d_b + U' d_ab.
 * The derivatives are those of V as a function on the embedding (or of the coordinates of the chart). */

enum { CB_PAIR_MAX = 2 * CB_COORD_MAX };

/* Returns whether the space is one quadric or flat factor in its embedding, where the chord determines the distance. */
static inline int cb_pair_by_chord(const cb_space *g) { return !g->chart && g->n_factors == 1; }

/* Returns the curvature that a pair potential uses: the curvature of the space if it has one factor, otherwise 0. */
static inline double cb_pair_curvature(const cb_space *g) { return g->n_factors == 1 ? g->factor[0].curvature : 0; }

/* Returns w = <x-y, x-y>, and sets e = x - y, in a space of one factor. */
static inline double cb_pair_chord(const cb_space *g, const double *x, const double *y, double *e) {
  double w = 0;
  for (int a = 0; a < g->k; a++) {
    e[a] = x[a] - y[a];
    w += g->form[a] * e[a] * e[a];
  }
  return w;
}

/* Computes the distance d of x and y, with gradient[2k] and hessian[(2k)^2] in (x, y), which may be NULL. Returns
 * CB_STEP_DOMAIN if the derivatives do not exist. */
cb_status cb_pair_distance(const cb_space *g, const double *x, const double *y, double *d, double *gradient,
                           double *hessian);

/* Computes V = U(d(x, y)), with gradient[2k] and hessian[(2k)^2] in (x, y), which may be NULL. Returns CB_STEP_DOMAIN
 * if V or a derivative does not exist. */
cb_status cb_pair_potential_between(const cb_space *g, const cb_pair_potential *pair_potential,
                                    const cb_pair_values *pair, const double *x, const double *y, double *v,
                                    double *gradient, double *hessian);
