/* A scenario of a gait in a bundle: what `bundle:`, `gait:`, `start:` and `optimum:`
 * describe; shared by the files that read them.
 *
 *   bundle: {name: purcell, links: 3, ratio: 2}
 *   gait: {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}, repeat: 3}
 *   start: {group: [0, 0, pi/2]}
 *   optimum: {target: {move: 0.03}, seek: cost, base: [0.5, -0.3], bounds: {alpha1: [-pi/2, pi/2]}, starts: 24}
 */
#pragma once

#include "scenario/gait.h"
#include "scenario/private.h"
#include <curvebody/mass.h>

/* What a scenario asks of an optimal gait: `optimum:` beside `bundle:`. */
typedef struct cb_optimum_scenario {
  const cb_node *node;        /* of the key */
  cb_optimum_problem problem; /* its arrays are those below, its gait the scenario's, and its bundle */
  double base[CB_SHAPE_MAX], lower[CB_SHAPE_MAX], upper[CB_SHAPE_MAX];
  bool left_out;      /* the scenario's gait leaves the bounds, and is no start of a search */
  cb_bundle *weighed; /* the bundle with the metric that is asked for; NULL: its own */
} cb_optimum_scenario;

/* Of a bundle and gait that were read; node NULL: absent. */
cb_status cb_scenario_read_optimum(cb_scenario *s, const cb_node *node);
void cb_optimum_scenario_free(cb_optimum_scenario *o);

extern const cb_param cb_optimum_table[];

typedef struct cb_bundle_scenario {
  cb_bundle *bundle; /* that the gait runs in */
  cb_bundle *plain;  /* the same in the coordinates of its kind, where `coordinates` gives others; NULL otherwise */
  cb_gait *gait;     /* a cycle; NULL where there is no `gait` */
  int repeat;
  double period; /* s, of a cycle */
  double start[CB_GROUP_SIZE];
  cb_optimum_scenario *optimum;  /* NULL where there is no `optimum` */
  struct cb_immersed_kind *body; /* surface and poses of a bundle of a surface; NULL for others */
  struct cb_shape_surface *shape;
  const cb_material *material; /* [parts] of an immersed body; NULL for others */
  double fluid;                /* its density */
} cb_bundle_scenario;

/* Borrowed; NULL for other scenarios. */
const cb_bundle_scenario *cb_bundle_scenario_of(const cb_scenario *s);

/* Appends the scenario with another gait in its tree, and an integrator where it has none, as text that can stand in
 * any folder. */
cb_status cb_scenario_with_gait(cb_scenario *s, const cb_gait *gait, cb_text *out);

/* `bundle:`, then `gait:` and `start:` (NULL: absent). */
cb_status cb_scenario_read_bundle(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_coordinates(cb_scenario *s, const cb_node *node); /* of a bundle that was read */
cb_status cb_scenario_read_gait(cb_scenario *s, const cb_node *node);
cb_status cb_scenario_read_group(cb_scenario *s, const cb_node *node);
/* An element of a group, its numbers as a list; what: "group", for messages. */
cb_status cb_scenario_read_element(const cb_group *G, const cb_node *list, const char *what, double *g);
/* Of the kind of bundle, whatever its coordinates. */
const char *cb_bundle_scenario_name(const cb_bundle_scenario *m);

extern const cb_param cb_group_table[]; /* of `start` beside `bundle` */

/* A kind of bundle that is made from files or from other parts of a scenario (scenario/bundle_NAME.c). */
typedef struct cb_bundle_kind {
  const char *name, *title, *doc;
  const cb_param *params;
  cb_status (*read)(cb_scenario *s, const cb_node *map, cb_bundle **out);
} cb_bundle_kind;
extern const cb_bundle_kind cb_bundle_kind_surface_drag, cb_bundle_kind_immersed, cb_bundle_kind_samples;
extern const cb_bundle_kind *const cb_bundle_kinds[]; /* ended by NULL */
