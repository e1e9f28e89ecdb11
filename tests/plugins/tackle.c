/* A plugin with a constraint: a rope runs from a particle over a second one to a third one, with `parts` parts of the
 * rope between the last two. The constraint is written on jets and holds in any space:
 *
 *   d(x_0, x_1) + parts d(x_1, x_2) = length
 *
 * x_i are the positions of the particles, and d is their distance in the space. Lengths are in units of the scenario.
 */
#include <curvebody/plugin.h>

typedef struct tackle {
  double parts;
  const cb_node *through, *length;
} tackle;

static cb_status value(const cb_space *space, const void *params, const cb_jet *const *x, const cb_jet *t,
                       cb_jet *out) {
  const tackle *p = params;
  cb_jet first, second;
  cb_status status = cb_constraint_distance(space, x[0], x[1], &first);
  if (!status) status = cb_constraint_distance(space, x[1], x[2], &second);
  if (status) return status;
  (void)t;
  second = cb_jet_scale(&second, p->parts);
  *out = cb_jet_add(&first, &second);
  return CB_OK;
}

static const cb_constraint_class my_tackle;

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const tackle *p = params;
  int particle[3];
  cb_target length;
  cb_status status = cb_constraint_read_particles(e, "through", p->through, 3, 3, particle);
  if (!status) status = cb_target_read(p->length, "length", "> 0", &length);
  if (!status) status = cb_builder_constraint(e->builder, &my_tackle, p, e->name, 1, particle, length);
  return cb_constraint_placed(e, status, e->map);
}

static const cb_param params[] = {
    {"parts", CB_PARAM_REAL, offsetof(tackle, parts), "1", "", "> 0", NULL, "parts of the rope"},
    {"through", CB_PARAM_NODE, offsetof(tackle, through), NULL, "", "", NULL, "three particles"},
    {"length", CB_PARAM_NODE, offsetof(tackle, length), "", "units of length", "", NULL, "of the rope"},
    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_constraint_class my_tackle = {.name = "tackle",
                                              .title = "rope with several parts",
                                              .doc = "",
                                              .params = params,
                                              .params_size = sizeof(tackle),
                                              .read = read,
                                              .points = 3,
                                              .on_jets = value,
                                              .sized = true};

CB_PLUGIN(CB_PLUGIN_CONSTRAINT(&my_tackle));
