/* Bodies: recipes that add particles and springs to a builder.
 * A kind of body is one file bodies/KIND.c with one const object cb_body_KIND.
 * For authors of bodies, who write a class, and for users, who build bodies of a scenario's map. Particles are by the
 * user's count. What is built belongs to the builder.
 */
#ifndef CURVEBODY_BODY_H
#define CURVEBODY_BODY_H

#include <curvebody/param.h>
#include <curvebody/system.h>

CB_API_BEGIN

typedef struct cb_body_class {
  const char *name, *title, *doc;
  const cb_param *params; /* besides those all bodies share: kind, name, place, motion */
  size_t params_size;
  /* Adds the body to b. node is its map in the scenario (places messages; place and motion are read through
   * src/bodies/place.h). */
  cb_status (*build)(const void *params, const cb_node *node, const cb_geometry *space, cb_builder *b);
} cb_body_class;

extern const cb_body_class *const *const cb_body_classes;

/* Builds the body that `node` (a map with `kind`) describes: finds its class, binds its parameters, begins the body
 * by its name (default: the kind with a number) and lets the class add to it. Failures have their places. */
cb_status cb_body_build(const cb_node *node, const cb_geometry *space, cb_builder *b);
/* The same from a class that need not be in the registry; `node` is a map, its `kind` is not looked at. */
cb_status cb_body_build_class(const cb_body_class *class_, const cb_node *node, const cb_geometry *space,
                              cb_builder *b);
/* The map with the defaults of its class, in arena; NULL if there is no memory. Assumes that the body was built. */
struct cb_arena;
const cb_node *cb_body_resolved(const cb_node *node, struct cb_arena *arena);

CB_API_END
#endif
