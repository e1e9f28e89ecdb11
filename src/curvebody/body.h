/* Bodies: recipes that add particles and springs to a builder.
 * A class of bodies is one file bodies/KIND.c with one const object cb_body_KIND.
 * For authors of bodies, who write a class, and for users, who build bodies from a map of a scenario. Particles are
 * numbered in the order in which they were added. The builder owns everything that is built.
 */
#ifndef CURVEBODY_BODY_H
#define CURVEBODY_BODY_H

#include <curvebody/param.h>
#include <curvebody/system.h>

CB_API_BEGIN

typedef struct cb_body_class {
  const char *name, *title, *doc;
  const cb_param *params; /* in addition to the keys of all bodies: kind, name, place, motion */
  size_t params_size;
  /* Adds the body to b. node is the body's map in the scenario: it gives messages their place, and src/bodies/place.h
   * reads `place` and `motion` from it. */
  cb_status (*build)(const void *params, const cb_node *node, const cb_space *space, cb_builder *b);
} cb_body_class;

extern const cb_body_class *const *const cb_body_classes;

/* Builds the body that `node` (a map with `kind`) describes: finds its class, binds its parameters, begins the body
 * under its name (default: the kind with a number) and calls the class to build it. Errors name the place in the
 * file. */
cb_status cb_body_build(const cb_node *node, const cb_space *space, cb_builder *b);
/* As cb_body_build, with a class that need not be in the registry; the `kind` of the map `node` is ignored. */
cb_status cb_body_build_class(const cb_body_class *class_, const cb_node *node, const cb_space *space, cb_builder *b);
/* Returns the body's map with the defaults of its class added, allocated in arena; NULL if memory runs out. Assumes
 * that cb_body_build has built the body of this map. */
struct cb_arena;
const cb_node *cb_body_resolved(const cb_node *node, struct cb_arena *arena);

CB_API_END
#endif
