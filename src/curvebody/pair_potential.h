/* Classes of pair potentials U(d): potentials of the distance d of two points, in any space.
 *
 *   V = f U(d)
 *
 * V is the potential energy of the pair, and the factor f is 1, m1 m2 or q1 q2. Here m1, m2, q1 and q2 are the masses
 * and charges of the two points; a fixed centre has m2 = q2 = 1. A scenario uses the same classes in `interactions`,
 * between particles, and in `potentials: central`, for a fixed centre. All quantities are in the units of the scenario.
 * For authors: a class is one object, in a file of src/dynamics/pair_potentials/ or in a plugin. Its author writes U
 * once, on jets (curvebody/jet.h), from which the derivatives U' and U'' follow. A closed form is optional and faster.
 */
#ifndef CURVEBODY_PAIR_POTENTIAL_H
#define CURVEBODY_PAIR_POTENTIAL_H

#include <curvebody/jet.h>
#include <curvebody/param.h>
#include <stdbool.h>

CB_API_BEGIN

/* The quantities on which U may depend besides d: the time t, the masses and charges of the two points, and the
 * curvature of the space in units of 1/length^2 (0 in a product of spaces). */
typedef struct cb_pair {
  double t, m1, m2, q1, q2, curvature;
} cb_pair;

typedef struct cb_pair_value {
  double u, du, ddu;
} cb_pair_value; /* U, U', U'' */

typedef enum cb_pair_factor {
  CB_PAIR_FACTOR_ONE,   /* f = 1 */
  CB_PAIR_FACTOR_MASS,  /* f = m1 m2 */
  CB_PAIR_FACTOR_CHARGE /* f = q1 q2 */
} cb_pair_factor;

/* A class has at least one of the members `potential`, `closed`, `green` and `expression`; the others are NULL. If it
 * has several, `green` is used, otherwise `expression`, otherwise `closed`. */
typedef struct cb_pair_potential_class {
  const char *name, *title, *doc;
  const cb_param *params; /* only numbers, choices and texts; NULL: no parameters */
  size_t params_size;     /* bytes of the struct that `params` fills, to which `params` of the functions points */
  cb_pair_factor factor;
  bool uses_time; /* U depends on t, so that the energy is not conserved */
  /* Returns U(d), without the factor f. */
  cb_jet (*potential)(const void *params, const cb_pair *pair, const cb_jet *d);
  /* Does the same as `potential`, with the derivatives in closed form. */
  cb_pair_value (*closed)(const void *params, const cb_pair *pair, double d);
  /* Returns the factor a for a potential
   *   U = -a C(d)/S(d),
   * a multiple of the Green's function of the Laplacian in three dimensions. In a space of curvature K, with
   * r = sqrt|K|, S(d) is sin(r d)/r if K > 0, d if K = 0 and sinh(r d)/r if K < 0; C is the derivative of S. The sum of
   * such a potential over many particles is computed by vector instructions. */
  double (*green)(const void *params);
  /* Returns the text of U, an expression of d, t, m1, m2, q1 and q2. For a centre it is an expression of d, t, m and q,
   * with the mass m and the charge q of the particle. The text must last as long as params. */
  const char *(*expression)(const void *params);
  /* Checks conditions on the parameters that the table `params` cannot express; NULL: there are none. */
  cb_status (*check)(const void *params);
} cb_pair_potential_class;

/* The parameters of the built-in classes, for cb_builder_interaction and cb_builder_central. The documentation of a
 * class says what `strength` and `length` mean. A class ignores the members that it does not have as parameters. */
typedef struct cb_pair_parameters {
  double strength, length;
  const char *expression;
} cb_pair_parameters;

/* All classes: the built-in ones, then those of plugins; the list ends with NULL. */
extern const cb_pair_potential_class *const *const cb_pair_potential_classes;

CB_API_END
#endif
