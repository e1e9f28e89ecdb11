/* Classes of pair potentials U(d): potentials of the distance d of two points, in any space.
 *
 *   V = f U(d),   f = 1, m1 m2 or q1 q2: the factor by which a pair counts
 *
 * m1, m2, q1 and q2 are the masses and charges of the two points; a fixed centre has m2 = q2 = 1. The same class serves
 * `interactions` (between particles) and `potentials: central` (of a centre). All quantities are in the units of the
 * scenario.
 * For authors: a class is one object, in a file of src/dynamics/pair_potentials/ or in a plugin. Its author writes U
 * once, on jets; the derivatives U' and U'' follow. A closed form is optional; it is faster.
 */
#ifndef CURVEBODY_PAIR_POTENTIAL_H
#define CURVEBODY_PAIR_POTENTIAL_H

#include <curvebody/jet.h>
#include <curvebody/param.h>
#include <stdbool.h>

CB_API_BEGIN

/* What U may depend on besides d: the time, the two points, and the curvature of the space (0 in a product). */
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

/* Of `potential`, `closed`, `green` and `expression` at least one is not NULL; the last one of these is used. */
typedef struct cb_pair_potential_class {
  const char *name, *title, *doc;
  const cb_param *params; /* only numbers, choices and texts; NULL: no parameters */
  size_t params_size;
  cb_pair_factor factor;
  bool uses_time; /* U depends on t, so that the energy is not conserved */
  /* Returns U(d), without the factor. */
  cb_jet (*potential)(const void *params, const cb_pair *pair, const cb_jet *d);
  /* As `potential`, with the derivatives in closed form. */
  cb_pair_value (*closed)(const void *params, const cb_pair *pair, double d);
  /* Returns a, if U is a multiple of the Green's function of the Laplacian (in three dimensions),
   *   U = -a C(d)/S(d),  S(d) = sin(r d)/r | d | sinh(r d)/r,  C = S',  r = sqrt|K|,
   * for curvature K > 0 | = 0 | < 0. The sum over many partners is then computed by vector instructions. */
  double (*green)(const void *params);
  /* Returns the text of U, an expression of d, t, m1, m2, q1, q2 (of a centre: d, t, m, q). */
  const char *(*expression)(const void *params);
  /* Checks what the table cannot say; NULL: nothing. */
  cb_status (*check)(const void *params);
} cb_pair_potential_class;

/* The parameters of the built-in classes, for cb_builder_interaction and cb_builder_central. `strength` and `length`
 * have the meaning that the class documents; classes without a length, or with an expression, ignore the others. */
typedef struct cb_pair_parameters {
  double strength, length;
  const char *expression;
} cb_pair_parameters;

/* All classes: the built-in ones, then those of plugins; the list ends with NULL. */
extern const cb_pair_potential_class *const *const cb_pair_potential_classes;

CB_API_END
#endif
