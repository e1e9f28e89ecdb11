/* Classes of bodies of particles. A class adds the particles, springs and constraints of a body to a builder.
 * A class is one file bodies/KIND.c with one const object cb_body_KIND, or an object in a plugin.
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
  const cb_param *params; /* the keys of the class; all bodies also have the keys kind, name, place and motion */
  size_t params_size;     /* bytes of the struct that `params` fills */
  /* Adds the body to b, whose space is `space`. params: the filled struct. node: the body's map in the scenario; error
   * messages give its place in the file. The functions of src/bodies/place.h read `place` and `motion` from it. */
  cb_status (*build)(const void *params, const cb_node *node, const cb_space *space, cb_builder *b);
} cb_body_class;

extern const cb_body_class *const *const cb_body_classes;

/* Adds to b the body that `node` describes, a map with the key `kind`, the name of a class. The name of the body is the
 * value of the key `name`; without this key it is the kind, followed by the first free number, counted from 1.
 * CB_ERROR_INPUT, with the place in the file, for an error in the map. */
cb_status cb_body_build(const cb_node *node, const cb_space *space, cb_builder *b);
/* Does the same as cb_body_build, with a class that need not be in cb_body_classes. The key `kind` of the map `node` is
 * ignored. */
cb_status cb_body_build_class(const cb_body_class *class_, const cb_node *node, const cb_space *space, cb_builder *b);
/* Returns the body's map with the defaults of its class added, allocated in arena; NULL if memory runs out. Call it
 * only with a map from which cb_body_build has built a body. */
struct cb_arena;
const cb_node *cb_body_resolved(const cb_node *node, struct cb_arena *arena);

CB_API_END
#endif
