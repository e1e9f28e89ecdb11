/* Reads the key `coupling` of `fluid` (fluid/body_coupling.h). */
#include "fluid/body_coupling.h"

#include "core/failure.h"
#include "core/registry.h"
#include "numerics/vec3.h"
#include "tree/scalar.h"

#include <stdlib.h>
#include <string.h>

extern const cb_registry cb_body_coupling_registry;

#define REAL(name, fallback, unit, doc) \
  { #name, CB_PARAM_REAL, offsetof(cb_coupling_plane, name), fallback, unit, "", NULL, doc }
const cb_param cb_coupling_plane_params[] = {
    {"wall", CB_PARAM_CHOICE, offsetof(cb_coupling_plane, wall), "none", "", "", "none|rigid|free",
     "a plane at which the fluid ends: a rigid wall, or a free surface, where the potential is 0"},
    REAL(wall_height, "0", "m", "height of the plane along its normal"),
    REAL(wall_x, "0", "", "x component of the normal, which points into the fluid"),
    REAL(wall_y, "0", "", "y component of the normal"),
    REAL(wall_z, "1", "", "z component of the normal"),
    {0}};

cb_mirror cb_coupling_plane_of(const cb_body_coupling *c) {
  const cb_coupling_plane *p = c->params;
  return (cb_mirror){(cb_mirror_kind)p->wall, {p->wall_x, p->wall_y, p->wall_z}, p->wall_height};
}

/* Refuses the place of a plane without the key `wall`, and a normal without direction. */
static cb_status check_plane(const cb_body_coupling *c, const cb_node *map) {
  const cb_mirror plane = cb_body_coupling_plane(c);
  for (size_t i = 0; map && i < map->count; i++) {
    const bool of_plane = !strncmp(map->keys[i]->text, "wall_", 5);
    if (of_plane && !cb_node_get(map, "wall"))
      return cb_node_fail(map->keys[i], "`%s` without `wall`: expected also `wall: rigid` or `wall: free`",
                          map->keys[i]->text);
    if (of_plane && plane.kind != CB_MIRROR_NONE && !(cb_dot3(plane.normal, plane.normal) > 0))
      return cb_node_fail(map->keys[i], "the normal of the wall is (0, 0, 0): expected a direction");
  }
  return CB_OK;
}

cb_status cb_body_coupling_read(const cb_node *node, cb_body_coupling **out) {
  static const char *const shared[] = {"name"};
  const cb_node *map = node->kind == CB_NODE_MAP ? node : NULL, *named = map ? cb_node_get(map, "name") : node;
  const char *name;
  if (!named) return cb_node_fail(node, "the key `name` is missing: expected none, dipole or exact");
  cb_status status = cb_node_string(named, &name);
  *out = NULL;
  if (status) return status;
  if (!strcmp(name, "none")) return map ? cb_params_bind(NULL, map, node, shared, 1, NULL) : CB_OK;
  const cb_body_coupling_class *class =
      cb_body_coupling_classes[cb_registry_find(&cb_body_coupling_registry, name, strlen(name))];
  if (!class) {
    const char *names[CB_REGISTRY_MAX + 1] = {"none"};
    const size_t n = 1 + cb_registry_names(&cb_body_coupling_registry, names + 1);
    return cb_fail_unknown(named, "coupling", name, names, n);
  }
  cb_body_coupling *c = calloc(1, sizeof *c);
  void *params = calloc(1, class->params_size ? class->params_size : 1);
  status = c && params ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the coupling %s", class->name);
  if (!status) status = cb_params_bind(class->params, map, node, shared, 1, params);
  if (!status && class->read) status = class->read(params);
  if (status) {
    free(params);
    free(c);
    return status;
  }
  *c = (cb_body_coupling){class, params};
  *out = c;
  return check_plane(c, map);
}

void cb_body_coupling_free(cb_body_coupling *c) {
  if (!c) return;
  free(c->params);
  free(c);
}
