/* Laws U(d) of the distance between two points, with two derivatives.
 *
 *   harmonic       U = (a/2) (d - b)^2
 *   gravity        U = -s a C(d)/S(d),  S(d) = sin(r d)/r | d | sinh(r d)/r,  C = S',  r = sqrt|K|
 *                  (-a cot d, -a/d, -a coth d for curvature K = 1, 0, -1: the Green's functions of the Laplacian)
 *   Coulomb        the same with the opposite sign
 *   Lennard-Jones  U = 4 a ((b/d)^12 - (b/d)^6)
 *   expression     text in d and what belongs to the pair
 * s is what the pair multiplies the law by: m1 m2 for gravity, q1 q2 for Coulomb, otherwise 1.
 *
 * On a quadric of curvature K the chord w = c^2 = <x-y, x-y> = (4/K) sin^2(r d/2) serves better than d, since
 *   dU/dx = phi(w) (x - y),  phi = U'(d) / (c q),  q^2 = 1 - K w/4,  S(d)^2 = w q^2,  C(d) = 1 - K w/2.
 * Gravity then needs no inverse function: phi = s a / (w q^2)^(3/2).
 *
 * Source of the curved Kepler law: Serret (1860); Borisov & Mamaev, Regular and Chaotic Dynamics 11 (2006),
 * doi:10.1070/RD2006v011n01ABEH000331. Units of the scenario.
 */
#pragma once

#include <curvebody/expression.h>
#include <curvebody/system.h>

typedef struct cb_law {
  cb_law_kind kind;
  double a, b;
  double curvature;                /* of gravity and Coulomb */
  const cb_expression *expression; /* CB_LAW_EXPRESSION: variables d, t, then those of the pair */
} cb_law;

enum { CB_LAW_VARIABLES = 6 }; /* d t m1 m2 q1 q2 | d t m q */

/* What a pair brings to a law. variable[0] is for d and set by the law. */
typedef struct cb_law_pair {
  double scale;
  double variable[CB_LAW_VARIABLES];
} cb_law_pair;

typedef struct cb_law_value {
  double u, du, ddu;
} cb_law_value; /* U, U', U'' */
typedef struct cb_law_chord {
  double u, phi, dphi;
} cb_law_chord; /* U, phi, dphi/dw */

cb_law_pair cb_law_pair_of(const cb_law *law, double t, double m1, double m2, double q1, double q2);
cb_law_pair cb_law_pair_of_centre(const cb_law *law, double t, double m, double q);

cb_law_value cb_law_at(const cb_law *law, const cb_law_pair *pair, double d);
/* The same by the chord of a space of curvature k. */
cb_law_chord cb_law_at_chord(const cb_law *law, const cb_law_pair *pair, double k, double w);

/* Names of the variables of an expression between two particles (6) and about a centre (4). */
extern const char *const cb_law_names_pair[6];
extern const char *const cb_law_names_centre[4];
