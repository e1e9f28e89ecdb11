/* Joints of bodies in a run: their drift, and their fields (mechanism/mechanism.h). */
#include "core/failure.h"

#include "coupling/convex.h"
#include "mechanism/mechanism.h"
#include "numerics/vec3.h"
#include "run/fluid_private.h"
#include <curvebody/contact.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

struct cb_fluid_joined {
  const cb_fluid_joints *joints;
  cb_mechanism *mechanism;
  const double *residual; /* [joints]: the residuals of the joints in the last measured state */
  double *effort;         /* [coordinates]: the efforts in the last measured state */
  double *casimir;        /* [trees][2]: the Casimirs in the last measured state, only in a curved space */
  double *kept;           /* the state of the joints that was stored last, to be restored after a failed step */
  double *potential;      /* [bodies]: potential energies at the start */
  int *group;             /* [bodies]: bodies that joints connect, but not through the world, have the same number */
  bool loses;             /* joints change the energy */
};

static cb_fluid_joined *joined_of(const cb_run *run) { return cb_fluid_run_of(run)->joined; }

static const cb_rigid_problem *problem_alone(const cb_fluid_run *b, int body) {
  int i = 0;
  while (body >= b->part[i].end) i++;
  return cb_immersed_workspace_problem(b->part[i].workspace[body - b->part[i].first]);
}

const cb_rigid_problem *cb_fluid_joined_problem(void *self, int body) {
  const cb_fluid_run *b = cb_fluid_run_of(self);
  return cb_body_interaction_problem(b->interaction, body, problem_alone(b, body));
}

const cb_rigid_problem *cb_fluid_joined_own_problem(void *self, int body) {
  const cb_fluid_run *b = cb_fluid_run_of(self);
  return cb_body_interaction_iterates(b->interaction) ? cb_fluid_joined_problem(self, body) : problem_alone(b, body);
}

static cb_mechanism_bodies bodies_of(cb_run *run) {
  return (cb_mechanism_bodies){cb_fluid_run_of(run)->state, run, cb_fluid_joined_own_problem};
}

cb_mechanism *cb_fluid_joined_mechanism(const cb_run *run) { return joined_of(run) ? joined_of(run)->mechanism : NULL; }

bool cb_fluid_joined_has(const cb_run *run, int body) {
  return joined_of(run) && cb_mechanism_joins(joined_of(run)->mechanism, body);
}

bool cb_fluid_joined_together(const cb_fluid_run *b, int i, int j) {
  return b->joined && b->joined->group[i] == b->joined->group[j];
}

bool cb_fluid_joined_moved(const cb_run *run, double tolerance) {
  const cb_fluid_run *b = run->own;
  for (int i = 0; i < b->n; i++) {
    const cb_pose *from = &b->start[i].pose, *to = &b->state[i].g;
    if (!cb_fluid_joined_has(run, i)) continue;
    for (int k = 0; k < 3; k++)
      if (fabs(to->x[k] - from->x[k]) > tolerance * (1 + fabs(to->x[k]))) return true;
    for (int k = 0; k < 4; k++)
      if (fabs(to->q[k] - from->q[k]) > tolerance) return true;
  }
  return false;
}

bool cb_fluid_joined_loses(const cb_run *run) { return joined_of(run) && joined_of(run)->loses; }

cb_status cb_fluid_joined_drift(cb_run *run, double h, int *failed) {
  cb_fluid_run *b = run->own;
  cb_integrator *in = b->part[0].integrator;
  if (!b->joined) return CB_OK;
  const cb_mechanism_bodies bodies = bodies_of(run);
  in->iterations = 0;
  const cb_joint *first = &b->joined->joints->joint[0];
  const double t = b->state[first->body[first->body[1] < 0 ? 0 : 1]].t;
  const cb_integrator_class *class_ = in->class_;
  const cb_status status = (class_->drift_joined ? class_->drift_joined : class_->step_joined)(in, b->joined->mechanism,
                                                                                               &bodies, t, h, failed);
  if (in->iterations > b->part[0].iterations) b->part[0].iterations = in->iterations;
  return status;
}

int cb_fluid_joined_limits(const cb_run *run) {
  return joined_of(run) ? cb_mechanism_limits(joined_of(run)->mechanism) : 0;
}

cb_status cb_fluid_joined_limit_names(cb_run *run, const char **name) {
  const cb_fluid_joined *j = joined_of(run);
  for (int i = 0; i < cb_fluid_joined_limits(run); i++) {
    const cb_joint_limit l = cb_mechanism_limit(j->mechanism, i);
    char text[128];
    snprintf(text, sizeof text, "%.90s %s limit", j->joints->label[l.coordinate], l.highest ? "highest" : "lowest");
    if (!(name[i] = cb_arena_strdup(run->arena, text))) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  }
  return CB_OK;
}

int cb_fluid_joined_limited_body(const cb_run *run, int limit) {
  const cb_fluid_joined *j = joined_of(run);
  const cb_joint *joint = &j->joints->joint[cb_mechanism_limit(j->mechanism, limit).joint];
  return joint->body[joint->body[1] < 0 ? 0 : 1];
}

void cb_fluid_joined_keep(cb_run *run) {
  cb_fluid_joined *j = joined_of(run);
  int count = 0;
  const double *state = j ? cb_mechanism_state(j->mechanism, &count) : NULL;
  if (j) memcpy(j->kept, state, (size_t)count * sizeof *j->kept);
}

void cb_fluid_joined_back(cb_run *run) {
  cb_fluid_joined *j = joined_of(run);
  int count = 0;
  double *state = j ? cb_mechanism_state(j->mechanism, &count) : NULL;
  if (j) memcpy(state, j->kept, (size_t)count * sizeof *state);
}

void cb_fluid_joined_warn(const cb_run *run) {
  const cb_fluid_joined *j = joined_of(run);
  for (int i = 0; j && i < j->joints->n; i++) {
    const int implied = cb_mechanism_implied(j->mechanism, i), all = cb_mechanism_conditions(j->mechanism, i);
    if (implied)
      cb_warn(
          "joint `%.200s`: %d of its %d conditions %s from the other joints at the start and %s dropped: the wrenches "
          "of "
          "the joints in its loop are not unique",
          j->joints->joint[i].name, implied, all, implied > 1 ? "follow" : "follows", implied > 1 ? "are" : "is");
  }
}

void cb_fluid_joined_remember(cb_run *run) {
  const cb_fluid_run *b = run->own;
  for (int i = 0; i < b->n && b->joined; i++) { /* a failure also occurs in the first row, and is reported there */
    cb_immersed_workspace *w = b->part[0].workspace[i];
    if (!cb_immersed_workspace_measure(w, &b->state[i], &b->row[i])) b->joined->potential[i] = b->row[i].potential;
  }
}

/* --- rows --- */

cb_status cb_fluid_joined_measure(cb_run *run, double length) {
  cb_fluid_joined *j = joined_of(run);
  if (!j) return CB_OK;
  const cb_mechanism_bodies bodies = bodies_of(run);
  j->residual = cb_mechanism_gaps(j->mechanism, &bodies);
  if (cb_fluid_run_of(run)->fluid->curvature != 0) cb_mechanism_casimirs(j->mechanism, &bodies, j->casimir);
  cb_joint_laws_efforts(j->joints->laws, cb_fluid_run_of(run)->t, cb_mechanism_q(j->mechanism),
                        cb_mechanism_rates(j->mechanism), j->effort);
  cb_mechanism_drive_efforts(j->mechanism, *run->step > 0 ? length : 0, j->effort);
  return CB_OK;
}

int cb_fluid_joined_find(const cb_run *run, const char *text, size_t length, bool *rate) {
  static const char ending[] = "_rate";
  const cb_fluid_joined *j = joined_of(run);
  for (int i = 0; j && i < cb_mechanism_coordinates(j->mechanism); i++) {
    const size_t own = strlen(j->joints->label[i]);
    *rate = length == own + sizeof ending - 1 && !strncmp(text + own, ending, sizeof ending - 1);
    if ((length == own || *rate) && !strncmp(text, j->joints->label[i], own)) return i;
  }
  return -1;
}

double cb_fluid_joined_coordinate(const cb_run *run, int coordinate, bool rate) {
  cb_mechanism *m = joined_of(run)->mechanism;
  return (rate ? cb_mechanism_rates(m) : cb_mechanism_q(m))[coordinate];
}

enum { ANGLE, RATE, EFFORT, RESIDUAL, CASIMIR };

static CB_FILL(numbers) {
  const cb_fluid_joined *j = joined_of(run);
  const double *of[] = {cb_mechanism_q(j->mechanism), cb_mechanism_rates(j->mechanism), j->effort, j->residual,
                        j->casimir};
  memcpy(to.out, of[to.at], to.size);
  return CB_OK;
}

static CB_FILL(wrench) {
  cb_fluid_joined *j = joined_of(run);
  const double length = cb_fluid_coupling_last_length(run);
  cb_mechanism_wrenches(j->mechanism, to.out);
  for (size_t i = 0; i < to.size / sizeof(double); i++)
    ((double *)to.out)[i] = *run->step > 0 ? ((double *)to.out)[i] / length : NAN;
  return CB_OK;
}

static CB_FILL(work) {
  const cb_fluid_joined *j = joined_of(run);
  memcpy(to.out, cb_mechanism_work(j->mechanism, (cb_joint_work)to.at), to.size);
  return CB_OK;
}

/* Computes the work of those wrenches that have no potential. This is the work of all wrenches plus the potential
 * energy that the body has gained since the start. */
static CB_FILL(drag_work) {
  const cb_fluid_run *b = run->own;
  const cb_fluid_joined *j = joined_of(run);
  for (int i = 0; i < b->n; i++)
    ((double *)to.out)[i] = cb_fluid_joined_has(run, i)
                                ? cb_mechanism_wrench_work(j->mechanism, i) + b->row[i].potential - j->potential[i]
                                : NAN;
  return CB_OK;
}

static const cb_observable fields[] = {
    CB_OBSERVABLE("joints", "angle", DOUBLE, "rad, m", "coordinates of joints: angles with whole turns, displacements",
                  numbers, ANGLE, 1, "joint_dof"),
    CB_OBSERVABLE("joints", "rate", DOUBLE, "rad/s, m/s", "rates of the coordinates of joints", numbers, RATE, 1,
                  "joint_dof"),
    CB_OBSERVABLE("joints", "effort", DOUBLE, "N m, N",
                  "force of a motor or servo on its coordinate; of a drive, the mean in the last step", numbers, EFFORT,
                  1, "joint_dof"),
    CB_OBSERVABLE("joints", "joint_residual", DOUBLE, "rad, m", "largest gap of each joint", numbers, RESIDUAL, 1,
                  "joint"),
    CB_OBSERVABLE("joints", "motor_work", DOUBLE, "J", "work of motors, servos and drives since the start", work,
                  CB_JOINT_WORK_MOTOR, 1, "joint_dof"),
    CB_OBSERVABLE("joints", "damping_work", DOUBLE, "J", "work of dampers and dry friction since the start", work,
                  CB_JOINT_WORK_DAMPING, 1, "joint_dof"),
    CB_OBSERVABLE(
        "joints", "drag_work", DOUBLE, "J",
        "work of drag, flows and all other wrenches without a potential since the start, per body with joints",
        drag_work, 0, 1, "body"),
    CB_OBSERVABLE("joints", "limit_work", DOUBLE, "J", "work of limits since the start", work, CB_JOINT_WORK_LIMIT, 1,
                  "joint_dof"),
    {0}};

static const cb_observable in_flat_space[] = {
    CB_OBSERVABLE("joints", "joint_wrench", DOUBLE, "N m, N",
                  "mean torque about the joint's place and force on the second body in the last step, in the world's "
                  "axes",
                  wrench, 0, 2, "joint", "se3"),
    {0}};
static const cb_observable in_curved_space[] = {
    CB_OBSERVABLE("joints", "joint_wrench", DOUBLE, "N m, N",
                  "mean torque about the joint's place and force on the second body in the last step, in the axes of "
                  "the second body",
                  wrench, 0, 2, "joint", "se3"),
    CB_OBSERVABLE("momentum", "tree_casimir", DOUBLE, "kg2 m2/s2, kg2 m3/s2",
                  "|p|^2 + K |l|^2 and l.p of the total momentum (l, p) of each tree of joined bodies, which are "
                  "conserved if no force acts from outside and no joint joins the tree to the world",
                  numbers, CASIMIR, 2, "tree", "invariant"),
    {0}};

cb_status cb_fluid_joined_fields(cb_run *run) {
  if (!joined_of(run)) return CB_OK;
  const cb_status status = cb_run_fields(run, fields);
  if (status) return status;
  return cb_run_fields(run, cb_fluid_run_of(run)->fluid->curvature == 0 ? in_flat_space : in_curved_space);
}

cb_status cb_fluid_joined_event_fields(cb_run *run) {
  static const char *const at_events[] = {"angle", "rate", NULL};
  return joined_of(run) ? cb_run_event_fields(run, fields, at_events) : CB_OK;
}

void cb_fluid_joined_energies(const cb_run *run, double *potential, double *kinetic) {
  *potential = *kinetic = 0;
  if (joined_of(run)) cb_mechanism_energies(joined_of(run)->mechanism, potential, kinetic);
}

/* Adds the dimension `tree` of a run in a curved space: the trees of joined bodies, named after their first bodies. */
static cb_status trees(cb_run *run) {
  const cb_fluid_run *b = run->own;
  const size_t n = (size_t)cb_mechanism_trees(b->joined->mechanism);
  const char **name = cb_arena_alloc(run->arena, n, sizeof *name);
  if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu trees", n);
  for (size_t i = 0; i < n; i++) name[i] = b->start[cb_mechanism_tree_body(b->joined->mechanism, (int)i)].name;
  cb_run_dimension(run, "tree", n, "first body of a tree of joined bodies")->labels = name;
  return CB_OK;
}

cb_status cb_fluid_joined_dimensions(cb_run *run) {
  const cb_fluid_joined *j = joined_of(run);
  if (!j) return CB_OK;
  if (cb_fluid_run_of(run)->fluid->curvature != 0) {
    const cb_status status = trees(run);
    if (status) return status;
  }
  const size_t joints = (size_t)j->joints->n, coordinates = (size_t)cb_mechanism_coordinates(j->mechanism);
  const char **name = cb_arena_alloc(run->arena, joints, sizeof *name);
  int64_t *end[2] = {cb_arena_alloc(run->arena, joints, sizeof **end),
                     cb_arena_alloc(run->arena, joints, sizeof **end)},
          *implied = cb_arena_alloc(run->arena, joints, sizeof *implied);
  if (!name || !end[0] || !end[1] || !implied)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu joints", joints);
  for (size_t i = 0; i < joints; i++) {
    name[i] = j->joints->joint[i].name;
    implied[i] = cb_mechanism_implied(j->mechanism, (int)i);
    for (int side = 0; side < 2; side++) end[side][i] = j->joints->joint[i].body[side];
  }
  cb_run_dimension(run, "joint", joints, "joint")->labels = name;
  cb_run_dimension(run, "joint_dof", coordinates, "coordinate of a joint")->labels = j->joints->label;
  const cb_constant all[] = {
      {.name = "joint_name", .dim = "joint", .labels = name, .units = "1", .doc = "name of the joint"},
      {.name = "joint_dof_name",
       .dim = "joint_dof",
       .labels = j->joints->label,
       .units = "1",
       .doc = "name of the coordinate: that of the joint, and a symbol if the joint has several"},
      {.name = "joint_body_i", .dim = "joint", .integers = end[0], .units = "1", .doc = "first body, or -1: the world"},
      {.name = "joint_body_j", .dim = "joint", .integers = end[1], .units = "1", .doc = "second body, or -1"},
      {.name = "joint_dropped",
       .dim = "joint",
       .integers = implied,
       .units = "1",
       .doc = "conditions that were dropped at the start, because they follow from other joints"}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) cb_run_constant(run, &all[i]);
  return CB_OK;
}

size_t cb_fluid_joined_blobs(cb_run *run, cb_blob *out) {
  cb_fluid_joined *j = joined_of(run);
  if (!j) return 0;
  int count = 0;
  double *state = cb_mechanism_state(j->mechanism, &count);
  out[0] = (cb_blob){"joint_state", CB_FIELD_DOUBLE, (size_t)count, state, false};
  return 1;
}

/* --- creation --- */

static bool loses(const cb_fluid_joints *joints, const cb_mechanism *m) {
  bool any = joints->laws != NULL;
  for (int i = 0; i < joints->n; i++) {
    const cb_joint *j = &joints->joint[i];
    for (int k = 0; k < 6; k++) any = any || j->damping[k] != 0 || j->friction[k] != 0;
    any = any || j->stiff[1] != 0;
  }
  for (int i = 0; i < cb_mechanism_limits(m); i++) any = any || cb_mechanism_limit(m, i).restitution < 1;
  return any;
}

static void find_groups(const cb_fluid_joints *joints, int bodies, int *group) {
  for (int i = 0; i < bodies; i++) group[i] = i;
  for (int k = 0; k < joints->n; k++) {
    const int *end = joints->joint[k].body;
    if (end[0] < 0 || end[1] < 0) continue;
    const int from = group[end[1]], to = group[end[0]];
    for (int i = 0; i < bodies; i++)
      if (group[i] == from) group[i] = to;
  }
}

cb_status cb_fluid_joined_create(cb_run *run, const cb_fluid_joints *joints) {
  cb_fluid_run *b = run->own;
  if (!joints) return CB_OK;
  cb_fluid_joined *j = b->joined = cb_arena_alloc(run->arena, 1, sizeof *j);
  if (!j) return cb_fail(CB_ERROR_MEMORY, "no memory for joints");
  if (!b->integrator->class_->drift_joined && !b->integrator->class_->step_joined)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the integrator `%s` does not move bodies with joints: expected "
                   "hamilton_pontryagin or rkmk4",
                   b->integrator->class_->name);
  const cb_mechanism_laws laws = cb_joint_laws_of(joints->laws);
  int which = 0;
  j->joints = joints;
  cb_status status =
      cb_mechanism_create_in(b->fluid->curvature, b->n, joints->n, joints->joint, &laws, &which, &j->mechanism);
  if (!status) status = cb_body_interaction_join(run, j->mechanism);
  if (status) return status;
  j->loses = loses(joints, j->mechanism);
  const size_t n = (size_t)cb_mechanism_coordinates(j->mechanism);
  int count = 0;
  cb_mechanism_state(j->mechanism, &count);
  j->effort = cb_arena_alloc(run->arena, n, sizeof *j->effort);
  j->casimir = cb_arena_alloc(run->arena, 2 * (size_t)cb_mechanism_trees(j->mechanism), sizeof *j->casimir);
  j->kept = cb_arena_alloc(run->arena, (size_t)count, sizeof *j->kept);
  j->potential = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *j->potential);
  j->group = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *j->group);
  if (!j->effort || !j->casimir || !j->kept || !j->potential || !j->group)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu coordinates of joints", n);
  find_groups(joints, b->n, j->group);
  if (n) memcpy(cb_mechanism_q(j->mechanism), joints->start, n * sizeof *joints->start);
  const cb_mechanism_bodies bodies = bodies_of(run);
  const double tolerance = run->options.start_tolerance > 0 ? run->options.start_tolerance : 1e-9;
  status = cb_mechanism_start(j->mechanism, &bodies, run->options.start, tolerance, &which);
  if (status || b->integrator->class_->drift_joined) return status;
  return cb_mechanism_move_coordinates(j->mechanism, &which);
}

void cb_fluid_joined_free(cb_run *run) {
  if (joined_of(run)) cb_mechanism_free(joined_of(run)->mechanism);
}

/* --- shapes that touch ---
 *
 * The shapes by which rigid bodies touch each other and particles: the convex parts of their surfaces
 * (coupling/convex.h). Copies of a body share them. A body with `spheres` touches by its spheres instead.
 */

/* Returns whether a body has spheres, and sets *centre to the first point of the body, which is its centre. */
static bool has_spheres(const cb_fluid_points *points, int body, int *centre) {
  bool any = false;
  *centre = -1;
  for (int i = 0; i < points->n_points; i++) {
    const cb_body_point *p = &points->point[i];
    if (p->body != body) continue;
    if (*centre < 0) *centre = p->particle;
    any = any || (!p->of_shape && cb_system_radius(points->system, p->particle) > 0);
  }
  return any;
}

/* Finds the convex parts of a body. Copies of a body share their parts. */
static cb_status find_sets(cb_run *run, int body, cb_convex **set) {
  cb_fluid_run *b = run->own;
  const cb_immersed *own = b->start[body].body;
  int hull = -1;
  for (int i = 0; i < body; i++)
    if (b->start[i].body == own && set[i]) {
      set[body] = set[i];
      return CB_OK;
    }
  if (cb_immersed_poses(own))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "body `%s` changes its shape, so it cannot touch other bodies by its shape: expected `spheres`",
                   b->start[body].name);
  const cb_surface *surface = cb_immersed_surface(own);
  const cb_status status = cb_convex_of_surface(surface, run->arena, &set[body], &hull);
  if (!status && hull >= 0) b->hull[body] = surface->name[hull];
  return status;
}

/* Returns the convex part `set` enlarged by the film of the body (cb_body_interaction_film). */
static cb_convex with_film(const cb_fluid_run *b, int body, const cb_convex *set) {
  const double film = cb_body_interaction_film(b->interaction, body);
  cb_convex out = *set;
  out.radius += film;
  out.bound += film;
  return out;
}

cb_status cb_fluid_shapes_create(cb_run *run, const cb_fluid_points *points, cb_coupled_bodies *out) {
  cb_fluid_run *b = run->own;
  int n = 0, at = 0;
  cb_status status = CB_OK;
  if (!points->shapes || !cb_system_contacts(points->system)) return CB_OK;
  if (b->fluid->curvature != 0)
    return cb_fail(CB_ERROR_UNSUPPORTED, "contacts by `shapes` are possible only in flat space: expected `spheres`");
  cb_convex **set = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *set);
  int *centre = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *centre);
  b->hull = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->hull);
  if (!set || !centre || !b->hull) return cb_fail(CB_ERROR_MEMORY, "no memory for the shapes of %d bodies", b->n);
  for (int i = 0; i < b->n && !status; i++) {
    if (has_spheres(points, i, &centre[i])) continue;
    status = find_sets(run, i, set);
    n += cb_immersed_surface(b->start[i].body)->parts;
  }
  if (status) return status;
  cb_body_shape *shape = cb_arena_alloc(run->arena, (size_t)n, sizeof *shape);
  if (!shape) return cb_fail(CB_ERROR_MEMORY, "no memory for %d shapes", n);
  for (int i = 0; i < b->n; i++)
    for (int p = 0; set[i] && p < cb_immersed_surface(b->start[i].body)->parts; p++)
      shape[at++] = (cb_body_shape){i, centre[i], with_film(b, i, &set[i][p])};
  out->shapes = n;
  out->shape = shape;
  return CB_OK;
}

void cb_fluid_shapes_warn(const cb_run *run) {
  const cb_fluid_run *b = run->own;
  double film = 0;
  for (int i = 0; i < b->n && b->hull; i++) film = fmax(film, cb_body_interaction_film(b->interaction, i));
  if (film > 0)
    cb_warn(
        "bodies touch at a gap of up to %.3g m, because their faces do not resolve a thinner film of fluid; smaller "
        "faces reduce this gap",
        2 * film);
  for (int i = 0; i < b->n && b->hull; i++)
    if (b->hull[i])
      cb_warn(
          "body `%s`: part `%s` is not convex, and touches other bodies by its convex hull; a list of shapes gives "
          "a body several convex parts",
          b->start[i].name, b->hull[i]);
}
