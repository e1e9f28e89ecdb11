/* A body of several shapes: `shape` as a list.
 *
 *   shape:
 *     - {name: hull, shape: {name: box, a: 0.2}, position: [0, 0, 0.1], quaternion: [w, x, y, z]}
 *     - {mesh: fin.obj, scale: 0.001}               metres a unit, or [x, y, z]; negative: mirrored
 * Each is a part of its own, called by its name (`piece1`, ..); where they overlap, or one is within another, both are
 * there.
 */
#include "scenario/fluid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct piece_parameters {
  const char *name;
  const cb_node *shape, *mesh, *weld, *close, *scale, *position, *quaternion;
} piece_parameters;

#define NODE(field, unit, doc) \
  { #field, CB_PARAM_NODE, offsetof(piece_parameters, field), "", unit, "", NULL, doc }
const cb_param cb_piece_table[] = {
    {"name", CB_PARAM_STRING, offsetof(piece_parameters, name), "", "", "", NULL, "of its parts"},
    NODE(shape, "", "as that of a body"),
    NODE(mesh, "", "an OBJ, PLY, STL or OFF file"),
    NODE(scale, "m", "of the mesh: metres a unit, or three"),
    NODE(weld, "m", "of the mesh, as that of a body"),
    NODE(close, "", "of the mesh, as that of a body"),
    NODE(position, "m", "of its origin in the body frame"),
    NODE(quaternion, "", "[w, x, y, z] of its axes"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static cb_status read_scale(const cb_scenario *s, const cb_node *node, double scale[3]) {
  cb_status status = node->kind == CB_NODE_LIST ? cb_scenario_vector(s, node, 0, NULL, NULL, scale)
                                                : cb_scenario_number(s, node, 0, NULL, NULL, scale);
  if (node->kind != CB_NODE_LIST) scale[1] = scale[2] = scale[0];
  for (int i = 0; i < 3 && !status; i++)
    if (scale[i] == 0) status = cb_node_fail(node, "expected a scale that is not 0");
  return status;
}

/* Its frame is R diag(scale). */
static cb_status read_piece(cb_scenario *s, const cb_node *node, int number, cb_surface_piece *out) {
  piece_parameters p;
  cb_pose pose;
  double scale[3] = {1, 1, 1}, R[3][3];
  char numbered[32];
  cb_mesh *mesh = NULL;
  cb_mending how = {.weld = false};
  cb_surface *surface = NULL;
  cb_status status = cb_params_bind(cb_piece_table, node, node, NULL, 0, &p);
  if (status) return status;
  cb_pose_identity(&pose);
  snprintf(numbered, sizeof numbered, "piece%d", number + 1);
  out->name = *p.name ? p.name : cb_arena_strdup(s->arena, numbered);
  if (!out->name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  if (!p.shape == !p.mesh) return cb_node_fail(p.mesh ? p.mesh : node, "expected either `shape` or `mesh`");
  if (p.shape && p.scale) return cb_node_fail(p.scale, "`scale` belongs to `mesh`");
  if (p.shape && p.shape->kind == CB_NODE_LIST) return cb_node_fail(p.shape, "expected one shape, found a list");
  cb_errors errors = cb_errors_begin();
  if (p.scale) cb_errors_add(&errors, p.scale, read_scale(s, p.scale, scale));
  cb_errors_add(
      &errors, node,
      cb_scenario_read_mending(p.weld, p.close, fmax(fmax(fabs(scale[0]), fabs(scale[1])), fabs(scale[2])), &how));
  if (p.shape && how.weld) cb_errors_add(&errors, p.weld, cb_node_fail(p.weld, "`weld` belongs to `mesh`"));
  if (p.shape && how.close > 0) cb_errors_add(&errors, p.close, cb_node_fail(p.close, "`close` belongs to `mesh`"));
  if (p.position) cb_errors_add(&errors, p.position, cb_scenario_vector(s, p.position, 0, NULL, NULL, pose.x));
  if (p.quaternion)
    cb_errors_add(&errors, p.quaternion, cb_scenario_quaternion(s, p.quaternion, 0, NULL, NULL, pose.q));
  cb_errors_add(&errors, node,
                p.shape ? cb_scenario_read_shape(s, p.shape, &surface)
                        : cb_scenario_read_mesh(s, p.mesh, 1, &how, &mesh, &surface));
  cb_mesh_free(mesh);
  if (surface) cb_errors_add(&errors, node, cb_scenario_placed(s, cb_surface_check(surface, true), node, false));
  if (surface && p.scale) cb_surface_know_unit(surface);
  out->surface = surface;
  cb_pose_rotation(&pose, R);
  for (int i = 0; i < 9; i++) out->frame[i / 3][i % 3] = R[i / 3][i % 3] * scale[i % 3];
  memcpy(out->origin, pose.x, sizeof pose.x);
  return cb_errors_end(&errors);
}

static bool is_twice(const cb_surface_piece *piece, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (piece[k].name && piece[i].name && !strcmp(piece[k].name, piece[i].name)) return true;
  return false;
}

cb_status cb_scenario_read_pieces(cb_scenario *s, const cb_node *list, cb_surface **out) {
  if (list->count == 0) return cb_node_fail(list, "expected a list of {shape: ..} and {mesh: ..}");
  cb_surface_piece *piece = cb_arena_alloc(s->arena, list->count, sizeof *piece);
  if (!piece) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu shapes", list->count);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < list->count; i++) {
    cb_status status = read_piece(s, list->items[i], (int)i, &piece[i]);
    if (!status && is_twice(piece, i))
      status = cb_node_fail(list->items[i], "two shapes of the body are called `%s`", piece[i].name);
    cb_errors_add(&errors, list->items[i], status);
  }
  cb_status status = cb_errors_end(&errors);
  if (!status) status = cb_scenario_placed(s, cb_surface_join((int)list->count, piece, out), list, false);
  for (size_t i = 0; i < list->count; i++) cb_surface_free((cb_surface *)piece[i].surface);
  return status;
}
