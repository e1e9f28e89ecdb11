/* `inertial:` of a body in a fluid: mass properties that are known, in place of those of density, masses and points.
 *
 *   inertial: {mass: 0.4, at: [0, 0, 0.01], inertia: [Ixx, Iyy, Izz], quaternion: [w, x, y, z]}
 *   inertial: {mass: 0.4, inertia: [[Ixx, Ixy, Ixz], [Ixy, Iyy, Iyz], [Ixz, Iyz, Izz]]}
 * inertia about `at` (the origin of the body frame), in axes turned from those of the body frame by `quaternion` (not at
 * all): J = R diag R^T. It stays there where the body has poses. kg, m, kg m^2.
 */
#include "scenario/fluid.h"

#include <string.h>

typedef struct inertial_parameters {
  const cb_node *mass, *at, *inertia, *quaternion;
} inertial_parameters;

#define ROW(field, fallback, unit, doc) \
  { #field, CB_PARAM_NODE, offsetof(inertial_parameters, field), fallback, unit, "", NULL, doc }
const cb_param cb_inertial_table[] = {
    ROW(mass, NULL, "kg", "mass of the whole body, > 0"),
    ROW(at, "", "m", "the centre of mass in the body frame"),
    ROW(inertia, NULL, "kg m2", "[Ixx, Iyy, Izz], or three rows, about the centre of mass"),
    ROW(quaternion, "", "", "[w, x, y, z]: its axes in the body frame"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

/* What would be a second mass. */
static cb_status check_alone(const cb_node *body) {
  static const char *const others[] = {"density", "mass", "points"};
  const cb_node *beside = NULL, *parts = cb_node_get(body, "parts"), *model = cb_node_get(body, "mass_model");
  const char *name = NULL;
  for (size_t i = 0; i < sizeof others / sizeof *others && !beside; i++)
    if ((beside = cb_node_get(body, others[i]))) name = others[i];
  for (size_t i = 0; parts && i < parts->count && !beside; i++)
    if ((beside = cb_node_get(parts->items[i], "density"))) name = "density";
  if (!beside && model && !strcmp(model->text, "vertices")) beside = model, name = "mass_model: vertices";
  if (!name) return CB_OK;
  return cb_node_fail(
      beside, "`%s` beside `inertial`, which is the mass of the whole body: expected `inertial` or `%s`, not both",
      name, name);
}

static cb_status read_matrix(const cb_scenario *s, const cb_node *node, double J[3][3]) {
  memset(J, 0, 9 * sizeof **J);
  if (node->kind != CB_NODE_LIST || node->count != 3)
    return cb_node_fail(node, "expected [Ixx, Iyy, Izz] or three rows of three");
  const bool rows = node->items[0]->kind == CB_NODE_LIST;
  double diagonal[3];
  cb_status status = rows ? CB_OK : cb_scenario_vector(s, node, 0, NULL, NULL, diagonal);
  for (int i = 0; i < 3 && !status; i++)
    if (rows)
      status = cb_scenario_vector(s, node->items[i], 0, NULL, NULL, J[i]);
    else
      J[i][i] = diagonal[i];
  return status ? status : cb_scenario_placed(s, cb_inertia_check((const double(*)[3])J), node, false);
}

/* R J R^T */
static void turn(const double q[4], double J[3][3]) {
  cb_pose pose = {.q = {q[0], q[1], q[2], q[3]}};
  double R[3][3], out[3][3] = {{0}};
  cb_pose_rotation(&pose, R);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 9; k++) out[i][j] += R[i][k / 3] * J[k / 3][k % 3] * R[j][k % 3];
  for (int i = 0; i < 9; i++) J[i / 3][i % 3] = (out[i / 3][i % 3] + out[i % 3][i / 3]) / 2;
}

cb_status cb_scenario_read_inertial(cb_scenario *s, const cb_node *body, const cb_node *node,
                                    cb_immersed_options *options) {
  inertial_parameters p;
  double q[4] = {1};
  cb_point_mass *whole = cb_arena_alloc(s->arena, 1, sizeof *whole);
  if (!whole) return cb_fail(CB_ERROR_MEMORY, "no memory for a mass");
  *whole = (cb_point_mass){.vertex = -1};
  cb_status status = cb_params_bind(cb_inertial_table, node, node, NULL, 0, &p);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, check_alone(body));
  status = cb_scenario_number(s, p.mass, 0, NULL, NULL, &whole->mass);
  if (!status && !(whole->mass > 0)) status = cb_node_fail(p.mass, "expected a mass > 0, found %g", whole->mass);
  cb_errors_add(&errors, p.mass, status);
  if (p.at) cb_errors_add(&errors, p.at, cb_scenario_vector(s, p.at, 0, NULL, NULL, whole->x));
  cb_errors_add(&errors, p.inertia, read_matrix(s, p.inertia, whole->inertia));
  if (p.quaternion) cb_errors_add(&errors, p.quaternion, cb_scenario_quaternion(s, p.quaternion, 0, NULL, NULL, q));
  if (p.quaternion) turn(q, whole->inertia);
  options->points = whole;
  options->n_points = 1;
  return cb_errors_end(&errors);
}
