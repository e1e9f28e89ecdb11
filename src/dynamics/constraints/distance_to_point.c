/* The distance d of a particle at x from a fixed point of the world has the given length. The value of the row is
 * g = d(x, centre) - length. The centre is expressed relative to the moving origin of the particle. */
#include "dynamics/builder_private.h"

#include "dynamics/pair_potential_private.h"

#include <math.h>
#include <string.h>

extern const cb_constraint_class cb_constraint_distance_to_point;

typedef struct keys {
  const cb_node *particle, *at, *target, *name;
} keys;

static const cb_param table[] = {CB_CONSTRAINT_KEY(keys, "particle", particle, NULL, "", "[body, number]"),
                                 CB_CONSTRAINT_KEY(keys, "at", at, NULL, "", "{chart: .., point: [..]}"),
                                 CB_CONSTRAINT_TARGET(keys, "length", target, "units of length"),
                                 CB_CONSTRAINT_NAME(keys, name),
                                 {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_builder_distance_to_point(cb_builder *b, const char *name, int i, const double *centre, cb_target length) {
  cb_constraint row = {
      .class = &cb_constraint_distance_to_point, .name = name, .elements = 1, .width = 1, .particle = (int[]){i}};
  cb_status status = cb_builder_check_particles(b, "distance_to_point", 1, &i);
  if (!status) status = cb_builder_check_range("distance_to_point", "length", length, 0, INFINITY);
  if (!status) status = cb_builder_fix(b, "distance_to_point", centre, &row.centre);
  if (!status && cb_origin_same(b->space, &b->origin[b->point[i].origin], &row.centre.origin)) {
    double d;
    if (cb_builder_check_apart(b->space, b->point[i].x, row.centre.x, &d))
      return cb_fail(
          CB_ERROR_DOMAIN,
          "distance_to_point: particle %d coincides with the centre or is its antipode: expected another place", i);
  }
  return status ? status : cb_builder_add_targeted(b, &row, &length);
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  int particle = -1;
  double centre[CB_Q_MAX];
  cb_target length;
  cb_status status = cb_constraint_read_particle(e, p->particle, &particle);
  if (!status) status = cb_constraint_read_point(e, p->at, centre);
  if (!status) status = cb_target_read(p->target, "length", "> 0", &length);
  if (status) return status;
  status = cb_builder_distance_to_point(e->builder, e->name, particle, centre, length);
  return cb_constraint_placed(e, status, e->map);
}

static cb_status distance_to_point(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                   const double *const *x, int order, cb_element *out) {
  const cb_space *g = c->space;
  const cb_anchor *anchor = &c->world[row->world].anchor;
  double gradient[CB_PAIR_MAX], hessian[CB_PAIR_MAX * CB_PAIR_MAX];
  const int k = g->k, far = !g->chart && anchor->frames.far, stride = far ? k : 2 * k;
  cb_status status =
      far ? cb_anchor_distance(g, anchor, x[0], &out->value, order ? gradient : NULL, order > 1 ? hessian : NULL)
          : cb_pair_distance(g, x[0], anchor->x, &out->value, order ? gradient : NULL, order > 1 ? hessian : NULL);
  (void)element;
  (void)t;
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  for (int a = 0; order && a < k; a++) out->gradient[a] = gradient[a];
  for (int a = 0; order > 1 && a < k; a++)
    memcpy(out->hessian + a * k, hessian + a * stride, (size_t)k * sizeof *hessian);
  return CB_OK;
}

const cb_constraint_class cb_constraint_distance_to_point = {.name = "distance_to_point",
                                                             .title = "distance of a particle and a point of the space",
                                                             .doc = "",
                                                             .params = table,
                                                             .params_size = sizeof(keys),
                                                             .read = read,
                                                             .points = 1,
                                                             .element = distance_to_point,
                                                             .per_world = true,
                                                             .centred = true,
                                                             .sized = true};
