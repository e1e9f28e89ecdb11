/* Kinds of gaits: the keys NAME of `gait: {NAME: VALUE}` in a scenario, such as `polygon`.
 *
 * For authors: a class is one file src/bundle/gaits/gait_kind_NAME.c with one const object cb_gait_kind_NAME, or an object of a
 * plugin. It reads its value into an array of numbers, and computes r(t) and r'(t) from them; or it only reads, and
 * makes its gaits with the functions of curvebody/gait.h. Units are those of the shape variables. A gait copies its
 * numbers; the caller frees it.
 */
#ifndef CURVEBODY_GAIT_KIND_H
#define CURVEBODY_GAIT_KIND_H

#include <curvebody/gait.h>

CB_API_BEGIN

typedef struct cb_gait_kind_class {
  const char *name, *title, *doc;
  const cb_param *params; /* the keys of VALUE; NULL: VALUE has no keys of its own, and `read` reads it */
  const cb_param *beside; /* keys next to NAME that only this kind has; NULL: none */
  size_t params_size;     /* size of the struct that both tables fill */
  /* Makes a gait in the shape space of b, with cb_gait_create or with any function of this header. A failure without a
   * place gets the place of the value. */
  cb_status (*read)(const cb_bundle *b, const cb_node *value, const void *params, cb_gait **out);
  /* Computes r and r' (either may be NULL) at t in [0, 1], from cb_gait_numbers. NULL: `read` makes gaits of other
   * kinds. It is called from any thread. */
  void (*at)(const cb_gait *g, double t, double *r, double *rate);
  const struct cb_gait_basis *basis; /* NULL, except for the kinds that the search for optimal gaits uses */
} cb_gait_kind_class;

/* All kinds: the built-in ones, then those of plugins; the list ends with NULL. */
extern const cb_gait_kind_class *const *const cb_gait_kind_classes;

/* Creates a gait of n shape variables from x[numbers], which its kind evaluates; breaks: as for cb_gait_expressions.
 * CB_ERROR_ARGUMENT if r(t) is not finite. */
cb_status cb_gait_create(const cb_gait_kind_class *kind, int n, int breaks, const double *at, size_t numbers,
                         const double *x, cb_gait **out);
/* Returns the numbers from which the gait was created; borrowed. */
const double *cb_gait_numbers(const cb_gait *g);

CB_API_END
#endif
