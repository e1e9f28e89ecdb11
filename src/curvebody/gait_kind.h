/* Kinds of gaits: the keys NAME of `gait: {NAME: VALUE}` in a scenario, such as `polygon`.
 *
 * A gait is a path r(t), t in [0, 1], of the n shape variables of a bundle (curvebody/gait.h).
 *
 * For authors: a class is one file src/bundle/gaits/gait_kind_NAME.c with one const object cb_gait_kind_NAME, or an
 * object of a plugin. There are two ways to write a class. It may read its value into an array of numbers, and compute
 * r(t) and the rate r'(t) from these numbers. Or it only reads its value, and makes its gaits with the functions of
 * curvebody/gait.h. The numbers r have the units of the shape variables, and t has no unit. A gait copies its numbers;
 * the caller frees it.
 */
#ifndef CURVEBODY_GAIT_KIND_H
#define CURVEBODY_GAIT_KIND_H

#include <curvebody/gait.h>

CB_API_BEGIN

typedef struct cb_gait_kind_class {
  const char *name, *title, *doc;
  const cb_param *params; /* the keys of the map VALUE; NULL: `read` reads VALUE, which need not be a map */
  const cb_param *beside; /* keys next to NAME that only this kind has; NULL: none */
  size_t params_size;     /* size of the struct that both tables fill */
  /* Makes a gait in the shape space of b, with cb_gait_create or with a function of curvebody/gait.h. params: the
   * struct that was filled from the tables. If the message of a failure has no place, the library adds the place of
   * `value`. */
  cb_status (*read)(const cb_bundle *b, const cb_node *value, const void *params, cb_gait **out);
  /* Computes r[n] and rate[n] = r' (either may be NULL) at t in [0, 1], from cb_gait_numbers. It is called from any
   * thread. If the member is NULL, `read` makes gaits of other kinds. */
  void (*at)(const cb_gait *g, double t, double *r, double *rate);
  const struct cb_gait_basis *basis; /* for the two kinds of gaits that `optimum` makes; NULL in all other classes */
} cb_gait_kind_class;

/* All kinds: the built-in ones, then those of plugins; the list ends with NULL. */
extern const cb_gait_kind_class *const *const cb_gait_kind_classes;

/* Creates a gait of n shape variables from the numbers x[numbers], from which kind->at computes r(t). breaks and at: as
 * for cb_gait_expressions. CB_ERROR_ARGUMENT if n is not in [1, CB_SHAPE_MAX], if the breaks do not ascend in [0, 1),
 * or if r is not finite at one of 65 times. */
cb_status cb_gait_create(const cb_gait_kind_class *kind, int n, int breaks, const double *at, size_t numbers,
                         const double *x, cb_gait **out);
/* Returns the numbers x from which the gait was created, borrowed from the gait. */
const double *cb_gait_numbers(const cb_gait *g);

CB_API_END
#endif
