/* Bodies: recipes that add particles and springs to a builder.
 * A kind of body is one file bodies/KIND.c with one const object cb_body_KIND. */
#ifndef CURVEBODY_BODY_H
#define CURVEBODY_BODY_H

#include <curvebody/param.h>
#include <curvebody/system.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cb_body_class {
  const char *name, *title, *doc;
  const cb_param *params; /* besides those all bodies share: kind, name, place, motion */
  size_t params_size;
  /* Adds the body to b. node is its map in the scenario (places messages; place and motion are read through body/place.h). */
  cb_status (*build)(const void *params, const cb_node *node, const cb_geometry *space, cb_builder *b);
} cb_body_class;

extern const cb_body_class *const cb_body_classes[];

#ifdef __cplusplus
}
#endif
#endif
