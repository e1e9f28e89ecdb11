/* The record of bodies in a fluid: its dimensions, and a table with one row per field.
 *
 *   pose    x, y, z of the body frame's origin and the unit quaternion (w, x, y, z)
 *   twists, momenta and wrenches are (angular, linear), in the body frame. Only spatial_momentum = Ad*_{g^-1} p (g:
 *   the pose, p: body_momentum) is about the origin of the world, where it is conserved if no force acts
 * In a curved space a pose is a tangent vector v at the base point and a quaternion. The body is first rotated by the
 * quaternion, then moved along the geodesic with initial velocity v. plot_position, plot_velocity and centre are in
 * plot coordinates (fluid/immersed_run.h).
 */
#include "core/failure.h"
#include "fluid/immersed_run.h"
#include "numerics/vec3.h"
#include "run/fluid_private.h"

#include <curvebody/pose.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const cb_observable_doc cb_fluid_observables[] = {
    {"energy", "energy, kinetic_energy, potential_energy, body_energy, body_kinetic_energy, body_potential_energy",
     "energy of body and fluid, gravity, buoyancy and floor; total, and per body"},
    {"momentum", "body_momentum, spatial_momentum",
     "momentum at the time of the row: in the body frame, and about the world's origin"},
    {"separation", "separation", "with points: distances of joined points, springs and then rods"},
    {"constraints", "multiplier, constraint_residual", "with points: multipliers and residuals of constraints"},
    {"joints", "angle, rate, effort, joint_wrench, joint_residual, motor_work, damping_work, limit_work, drag_work",
     "with joints: coordinates, rates, forces, gaps and work of joints"},
    {"wrenches", "wrench_NAME", "torque and force of each type of wrench, in the body frame"},
    {"inertia", "inertia, own_momentum",
     "K and mu_0 of momentum = K twist + mu_0: the inertia, and the momentum of the shape's own motion"},
    {"centre", "centre", "centre of mass in the world"},
    {"falling_regime", "falling_regime, falling_angle",
     "a plate: regime of the fall so far (0 undecided, 1 steady, 2 flutter, 3 tumble, 4 chaotic; "
     "`curvebody classify`), and its angle"},
    {"controls", "control", "with `controls`: their values in the last step; at the start, the first values"},
    {"removed_normal_velocity", "removed_normal_velocity",
     "mean normal velocity of a surface that changes its volume; it is subtracted from the velocity of the surface"},
    {NULL, NULL, NULL}};

static const char *const usual[] = {"energy",     "momentum",    "wrenches", "centre",
                                    "separation", "constraints", "joints",   NULL};

/* Returns the address of the values of body i in the memory of a field of all bodies. */
static double *out_of(const cb_run *run, cb_cell to, int i) {
  return (double *)to.out + (size_t)i * (to.size / (size_t)cb_fluid_run_of(run)->n) / sizeof(double);
}

static size_t bytes_per_body(const cb_run *run, cb_cell to) { return to.size / (size_t)cb_fluid_run_of(run)->n; }

/* These functions copy, for each body, the member at the byte offset to.at of its cb_rigid_state (of_state) or of its
 * cb_immersed_row (of_row). */
static CB_FILL(of_state) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++)
    memcpy(out_of(run, to, i), (const char *)&cb_fluid_run_of(run)->state[i] + to.at, bytes_per_body(run, to));
  return CB_OK;
}

static CB_FILL(of_row) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++)
    memcpy(out_of(run, to, i), (const char *)&cb_fluid_run_of(run)->row[i] + to.at, bytes_per_body(run, to));
  return CB_OK;
}

static CB_FILL(body_energy) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++)
    *out_of(run, to, i) = cb_fluid_run_of(run)->row[i].kinetic + cb_fluid_run_of(run)->row[i].potential;
  return CB_OK;
}

static double curvature(const cb_fluid_run *b) { return b->fluid->curvature; }

static CB_FILL(centre) {
  const cb_fluid_run *b = run->own;
  for (int i = 0; i < b->n; i++) {
    double at[3];
    if (curvature(b) == 0) {
      cb_pose_point(&b->state[i].g, b->row[i].mass.centre, out_of(run, to, i));
    } else {
      cb_pose_point_in(curvature(b), &b->state[i].g, b->row[i].mass.centre, at);
      cb_plot_place(curvature(b), at, out_of(run, to, i));
    }
  }
  return CB_OK;
}

static CB_FILL(x) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++)
    cb_plot_place(curvature(cb_fluid_run_of(run)), cb_fluid_run_of(run)->state[i].g.x, out_of(run, to, i));
  return CB_OK;
}

static CB_FILL(pose) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++) {
    const cb_pose *g = &cb_fluid_run_of(run)->state[i].g;
    double *out = out_of(run, to, i);
    memcpy(out, g->x, sizeof g->x);
    memcpy(out + 3, g->q, sizeof g->q);
  }
  return CB_OK;
}

static CB_FILL(velocity) {
  const cb_fluid_run *b = run->own;
  for (int i = 0; i < b->n; i++) {
    double r[3][3], *out = out_of(run, to, i);
    cb_pose_rotation(&b->state[i].g, r);
    cb_apply3(r, b->row[i].twist + 3, out);
    const double factor = curvature(b) == 0 ? 1 : cb_plot_factor(curvature(b), b->state[i].g.x);
    for (int a = 0; a < 3 && factor != 1; a++) out[a] *= factor;
  }
  return CB_OK;
}

/* Computes the twists at events, from the momenta. */
static CB_FILL(twist) {
  cb_fluid_run *b = run->own;
  for (int i = 0; i < b->n; i++) {
    const cb_rigid_state *s = &b->state[i];
    double *out = out_of(run, to, i);
    const bool known = isfinite(s->momentum[0]) && isfinite(s->g.x[0]);
    if (known && !cb_rigid_twist_of(cb_fluid_joined_problem((cb_run *)run, i), b->t, &s->g, s->momentum, out)) continue;
    for (int a = 0; a < 6; a++) out[a] = NAN;
  }
  return CB_OK;
}

/* The member `world` of the state is the momentum about the origin of the body frame, in the axes of the world. */
void cb_fluid_run_spatial_momentum(const cb_fluid_run *b, int body, double out[6]) {
  const cb_rigid_state *state = &b->state[body];
  double moment[3];
  if (curvature(b) != 0) {
    cb_rigid_spatial_momentum(curvature(b), state, out);
    return;
  }
  memcpy(out, state->world, sizeof state->world);
  cb_cross3(state->g.x, state->world + 3, moment);
  for (int a = 0; a < 3; a++) out[a] += moment[a];
}

static CB_FILL(spatial_momentum) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++)
    cb_fluid_run_spatial_momentum(cb_fluid_run_of(run), i, out_of(run, to, i));
  return CB_OK;
}

static CB_FILL(spatial_momentum_error) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++) {
    double momentum[6];
    const double error =
        cb_rigid_spatial_momentum(curvature(cb_fluid_run_of(run)), &cb_fluid_run_of(run)->state[i], momentum);
    *out_of(run, to, i) = isfinite(error) ? error : NAN;
  }
  return CB_OK;
}

static CB_FILL(casimir) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++)
    cb_rigid_casimirs(curvature(cb_fluid_run_of(run)), cb_fluid_run_of(run)->state[i].momentum, out_of(run, to, i));
  return CB_OK;
}

/* Writes the pose (x, q) in S^3 of curvature K as the pair of unit quaternions l = exp(sqrt(K) x/2) q and
 * r = exp(-sqrt(K) x/2) q; the isometry is y -> l y r^*. */
static CB_FILL(group) {
  const cb_fluid_run *b = run->own;
  for (int i = 0; i < b->n; i++) {
    const double *x = b->state[i].g.x, root = sqrt(curvature(b)), half = root * sqrt(cb_dot3(x, x)) / 2;
    const double s = half > 0 ? root * sin(half) / (2 * half) : root / 2;
    const double ahead[4] = {cos(half), s * x[0], s * x[1], s * x[2]};
    const double back[4] = {ahead[0], -ahead[1], -ahead[2], -ahead[3]};
    double *out = out_of(run, to, i);
    cb_quaternion_multiply(ahead, b->state[i].g.q, out);
    cb_quaternion_multiply(back, b->state[i].g.q, out + 4);
  }
  return CB_OK;
}

/* Copies for each body its wrench with the name b->wrench[to.at]; 0 for a body without this wrench. */
static CB_FILL(wrench) {
  const cb_fluid_run *b = run->own;
  for (int i = 0; i < b->n; i++) {
    double *out = out_of(run, to, i);
    memset(out, 0, bytes_per_body(run, to));
    for (int w = 0; w < cb_immersed_wrenches(b->start[i].body); w++)
      if ((size_t)b->wrench_of[i][w] == to.at) memcpy(out, b->row[i].wrench[w], bytes_per_body(run, to));
  }
  return CB_OK;
}

static CB_FILL(falling_angle) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++) *out_of(run, to, i) = cb_fluid_run_of(run)->falling[i].last.angle;
  return CB_OK;
}

static CB_FILL(falling_regime) {
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++)
    ((int32_t *)to.out)[i] = cb_falling_judge(&cb_fluid_run_of(run)->falling[i]).regime;
  return CB_OK;
}

enum { KINETIC = 1, POTENTIAL = 2 };

static CB_FILL(energy) {
  double kinetic = 0, potential = 0;
  for (int i = 0; i < cb_fluid_run_of(run)->n; i++) {
    kinetic += cb_fluid_run_of(run)->row[i].kinetic;
    potential += cb_fluid_run_of(run)->row[i].potential;
  }
  *(double *)to.out = (to.at & KINETIC ? kinetic : 0) + (to.at & POTENTIAL ? potential : 0);
  return CB_OK;
}

#define IN_STATE(member) of_state, offsetof(cb_rigid_state, member)
#define IN_ROW(member) of_row, offsetof(cb_immersed_row, member)
#define OF_BODY(group, name, unit, doc, ...) FIELD(group, name, DOUBLE, unit, doc, __VA_ARGS__)
#define FIELD(...) CB_OBSERVABLE(__VA_ARGS__) /* expands IN_STATE and IN_ROW to two arguments first */

static const cb_observable table[] = {
    CB_OBSERVABLE("", "time", DOUBLE, "s", "time", cb_fill_time, 0, 0, 0),
    CB_OBSERVABLE("", "step", INT64, "1", "steps so far", cb_fill_step, 0, 0, 0),
    OF_BODY("", "plot_position", "m", "position of the body frame's origin", IN_STATE(g.x), 2, "particle", "axis"),
    OF_BODY("", "plot_velocity", "m/s", "velocity of the body frame's origin", velocity, 0, 2, "particle", "axis"),
    OF_BODY("", "pose", "m, 1", "position of the body frame's origin, unit quaternion (w, x, y, z)", pose, 0, 2, "body",
            "pose_part"),
    OF_BODY("", "twist", "rad/s, m/s", "angular and linear velocity in the body frame", IN_ROW(twist), 2, "body",
            "se3"),
    OF_BODY("momentum", "body_momentum", "kg m2/s, kg m/s",
            "momentum of body and fluid at the time of the row, in the body frame", IN_STATE(momentum), 2, "body",
            "se3"),
    OF_BODY("momentum", "spatial_momentum", "kg m2/s, kg m/s", "momentum of body and fluid about the world's origin",
            spatial_momentum, 0, 2, "body", "se3"),
    OF_BODY("energy", "energy", "J", "kinetic and potential energy of all bodies", energy, KINETIC | POTENTIAL, 0, 0),
    OF_BODY("energy", "kinetic_energy", "J", "kinetic energy of all bodies and of the fluid around them", energy,
            KINETIC, 0, 0),
    OF_BODY("energy", "potential_energy", "J", "potential energy of all bodies: gravity, buoyancy, floor", energy,
            POTENTIAL, 0, 0),
    OF_BODY("energy", "body_energy", "J", "kinetic and potential energy of each body", body_energy, 0, 1, "body"),
    OF_BODY("energy", "body_kinetic_energy", "J", "kinetic energy of the body and of the fluid around it",
            IN_ROW(kinetic), 1, "body"),
    OF_BODY("energy", "body_potential_energy", "J", "potential energy of the body: gravity, buoyancy, floor",
            IN_ROW(potential), 1, "body"),
    OF_BODY("inertia", "inertia", "kg m2, kg m, kg", "inertia K of body and fluid", IN_ROW(K), 3, "body", "se3",
            "se3_column"),
    OF_BODY("inertia", "own_momentum", "kg m2/s, kg m/s", "mu_0: momentum of the shape's own motion and of the flow",
            IN_ROW(mu0), 2, "body", "se3"),
    OF_BODY("centre", "centre", "m", "centre of mass", centre, 0, 2, "body", "axis"),
    OF_BODY("removed_normal_velocity", "removed_normal_velocity", "m/s",
            "mean normal velocity of the shape that was subtracted", IN_ROW(removed_normal_velocity), 1, "body"),
    CB_OBSERVABLE("falling_regime", "falling_regime", INT32, "1",
                  "regime so far: 0 undecided, 1 steady, 2 flutter, 3 tumble, 4 chaotic", falling_regime, 0, 1, "body"),
    OF_BODY("falling_regime", "falling_angle", "rad",
            "angle of the normal from the vertical, continued through full revolutions", falling_angle, 0, 1, "body"),
    CB_OBSERVABLE("", "solver_iterations", INT32, "1", "maximum number of iterations of a body in the last step",
                  cb_fill_iterations, 0, 0, 0),
    CB_OBSERVABLE("", "step_size", DOUBLE, "s", "size of the last step", cb_fill_step_size, 0, 0, 0),
    {0}};

/* Fields that replace the fields with the same name in a curved space, and additional fields there. */
static const cb_observable curved[] = {
    OF_BODY("", "plot_position", "m", "position of the body frame's origin in plot coordinates", x, 0, 2, "particle",
            "axis"),
    OF_BODY("", "plot_velocity", "m/s", "velocity of the body frame's origin in plot coordinates", velocity, 0, 2,
            "particle", "axis"),
    OF_BODY(
        "", "pose", "m, 1",
        "tangent vector v at the base point, unit quaternion (w, x, y, z): the body is rotated by the quaternion, then "
        "moved along the geodesic with initial velocity v",
        pose, 0, 2, "body", "pose_part"),
    OF_BODY("momentum", "spatial_momentum", "kg m2/s, kg m/s",
            "momentum of body and fluid about the base point; nan beyond 5 radii in hyperbolic space, where all its "
            "digits are lost",
            spatial_momentum, 0, 2, "body", "se3"),
    OF_BODY("energy", "potential_energy", "J",
            "potential energy of all bodies: potentials of the bodies and of the displaced fluid", energy, POTENTIAL, 0,
            0),
    OF_BODY("energy", "body_potential_energy", "J", "potential energy of the body and of the displaced fluid",
            IN_ROW(potential), 1, "body"),
    OF_BODY("centre", "centre", "m", "centre of mass in plot coordinates", centre, 0, 2, "body", "axis"),
    {0}};
static const cb_observable beside[] = {
    OF_BODY("momentum", "spatial_momentum_error", "kg m/s",
            "bound of the round-off of spatial_momentum: of the linear part, and of sqrt|K| times the angular part; "
            "nan beyond 5 radii",
            spatial_momentum_error, 0, 1, "body"),
    OF_BODY("momentum", "casimir", "kg2 m2/s2, kg2 m3/s2",
            "|p|^2 + K |l|^2 and l.p of the momentum (l, p), which are conserved if no force acts", casimir, 0, 2,
            "body", "invariant"),
    {0}};
static const cb_observable in_sphere[] = {
    OF_BODY("", "group", "1", "pose as two unit quaternions (l, r), x -> l x r^*", group, 0, 2, "body", "so4"), {0}};

static const cb_observable at_events[] = {
    OF_BODY("", "twist", "rad/s, m/s", "angular and linear velocity in the body frame", twist, 0, 2, "body", "se3"),
    {0}};

/* --- layout --- */

/* Collects the names of the wrenches of all bodies, each once. */
static cb_status name_wrenches(cb_run *run) {
  cb_fluid_run *b = run->own;
  b->wrench = cb_arena_alloc(run->arena, CB_RUN_FIELDS, sizeof *b->wrench);
  b->wrench_of = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->wrench_of);
  b->row = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->row);
  if (!b->wrench || !b->wrench_of || !b->row) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", b->n);
  for (int i = 0; i < b->n; i++) {
    const int own = cb_immersed_wrenches(b->start[i].body);
    for (int w = 0; w < own; w++) {
      const char *name = cb_immersed_wrench_name(b->start[i].body, w);
      int at = 0;
      while (at < b->n_wrenches && strcmp(b->wrench[at], name)) at++;
      if (own > CB_RUN_FIELDS || at == CB_RUN_FIELDS)
        return cb_fail(CB_ERROR_ARGUMENT, "body `%s`: a record has at most %d different wrenches", b->start[i].name,
                       CB_RUN_FIELDS);
      if (at == b->n_wrenches) b->wrench[b->n_wrenches++] = name;
      b->wrench_of[i][w] = at;
    }
    b->row[i].wrench = cb_arena_alloc(run->arena, (size_t)own, sizeof *b->row[i].wrench);
    if (!b->row[i].wrench) return cb_fail(CB_ERROR_MEMORY, "no memory for %d wrenches", own);
  }
  return CB_OK;
}

/* Adds constants of the tables of added mass, if any body has one. */
static cb_status tables(cb_run *run) {
  const cb_fluid_run *b = run->own;
  const size_t n = (size_t)b->n;
  double *error = cb_arena_alloc(run->arena, n, sizeof *error);
  int64_t *points = cb_arena_alloc(run->arena, n, sizeof *points);
  bool any = false;
  if (!error || !points) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", n);
  for (size_t i = 0; i < n; i++) {
    int count;
    error[i] = cb_immersed_tabulated(b->start[i].body, &count);
    points[i] = count;
    any = any || count;
  }
  const cb_constant all[] = {{.name = "body_table_points",
                              .dim = "body",
                              .integers = points,
                              .units = "1",
                              .doc = "number of times in the table of the added mass along the poses; 0: no table"},
                             {.name = "body_table_error",
                              .dim = "body",
                              .values = error,
                              .units = "1",
                              .doc = "measured error of the table of the added mass, relative to the largest entry"}};
  for (size_t c = 0; any && c < sizeof all / sizeof *all; c++) cb_run_constant(run, &all[c]);
  return CB_OK;
}

/* Adds to the record the constants that describe how the added mass of each body was computed: its error, asymmetry,
 * faces, iterations and method. Does nothing if no added mass was computed. */
static cb_status solutions(cb_run *run) {
  const cb_fluid_run *b = run->own;
  const size_t n = (size_t)b->n;
  double *error = cb_arena_alloc(run->arena, n, sizeof *error),
         *asymmetry = cb_arena_alloc(run->arena, n, sizeof *error);
  int64_t *faces = cb_arena_alloc(run->arena, n, sizeof *faces),
          *iterations = cb_arena_alloc(run->arena, n, sizeof *faces);
  const char **method = cb_arena_alloc(run->arena, n, sizeof *method);
  bool any = false;
  if (!error || !asymmetry || !faces || !iterations || !method)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bodies", n);
  for (size_t i = 0; i < n; i++) {
    cb_added_mass solved = {.method = "none"};
    any = cb_immersed_solved(b->start[i].body, &solved) || any;
    error[i] = solved.error > 0 ? solved.error : NAN;
    asymmetry[i] = solved.faces ? solved.asymmetry : NAN;
    faces[i] = solved.faces;
    iterations[i] = solved.iterations;
    method[i] = solved.method;
  }
  const cb_constant all[] = {
      {.name = "body_added_mass_error",
       .dim = "body",
       .values = error,
       .units = "1",
       .doc = "estimated error of the added mass of the body, relative to its largest entry; nan: none"},
      {.name = "body_added_mass_asymmetry",
       .dim = "body",
       .values = asymmetry,
       .units = "1",
       .doc = "asymmetry of the computed added mass, relative to its largest entry"},
      {.name = "body_added_mass_faces",
       .dim = "body",
       .integers = faces,
       .units = "1",
       .doc = "number of faces on which the added mass was computed"},
      {.name = "body_added_mass_iterations",
       .dim = "body",
       .integers = iterations,
       .units = "1",
       .doc = "iterations of the linear solver for the added mass"},
      {.name = "body_added_mass_method",
       .dim = "body",
       .labels = method,
       .units = "1",
       .doc = "linear solver for the added mass; none: no equations were solved"}};
  for (size_t c = 0; any && c < sizeof all / sizeof *all; c++) cb_run_constant(run, &all[c]);
  return CB_OK;
}

static cb_status dimensions(cb_run *run) {
  static const char *const axes[] = {"x", "y", "z"};
  static const char *const pose_parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  static const char *const se3[] = {"angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z"};
  static const char *const casimirs[] = {"square", "product"};
  static const char *const pair[] = {"lw", "lx", "ly", "lz", "rw", "rx", "ry", "rz"};
  const cb_fluid_run *b = run->own;
  const size_t n = (size_t)b->n, all_points = n + (size_t)cb_fluid_coupling_points(b);
  const char **name = cb_arena_alloc(run->arena, all_points, sizeof *name);
  double *mass = cb_arena_alloc(run->arena, all_points, sizeof *mass);
  int64_t *index = cb_arena_alloc(run->arena, all_points, sizeof *index),
          *faces = cb_arena_alloc(run->arena, n, sizeof *faces);
  if (!name || !mass || !index || !faces) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu bodies", n);
  for (size_t i = 0; i < n; i++) {
    cb_mass of;
    const cb_status status = cb_immersed_mass(b->start[i].body, run->options.start, &of, NULL);
    if (status) return status;
    name[i] = b->start[i].name;
    mass[i] = of.mass;
    index[i] = (int64_t)i;
    faces[i] = cb_immersed_surface(b->start[i].body)->faces;
  }
  if (b->coupling) cb_fluid_coupling_labels(run, name + n, mass + n, index + n);
  cb_run_dimension(run, "body", n, "body")->labels = name;
  cb_run_dimension(run, "particle", all_points, b->coupling ? "body frame's origin, or point" : "body frame's origin")
      ->labels = name;
  cb_run_dimension(run, "axis", 3, "axis of the world")->labels = axes;
  cb_run_dimension(run, "pose_part", 7, "part of a pose")->labels = pose_parts;
  cb_run_dimension(run, "se3", 6, "component of a twist, momentum or wrench")->labels = se3;
  cb_run_dimension(run, "se3_column", 6, "component of a twist")->labels = se3;
  if (curvature(b) != 0) cb_run_dimension(run, "invariant", 2, "invariant of the momentum")->labels = casimirs;
  if (curvature(b) > 0) cb_run_dimension(run, "so4", 8, "number of a pair of quaternions")->labels = pair;
  cb_run_dimension(run, "warning", CB_DOUBTS, "kind of warning");
  const cb_constant all[] = {
      {.name = "particle_name", .dim = "particle", .labels = name, .units = "1", .doc = "name of the body"},
      {.name = "particle_body", .dim = "particle", .integers = index, .units = "1", .doc = "index of the body"},
      {.name = "particle_mass", .dim = "particle", .values = mass, .units = "kg", .doc = "mass of the body"},
      {.name = "body_mass", .dim = "body", .values = mass, .units = "kg", .doc = "mass at the start"},
      {.name = "body_faces", .dim = "body", .integers = faces, .units = "1", .doc = "triangles of its surface"},
      {.name = "warning_name",
       .dim = "warning",
       .labels = cb_fluid_run_doubts,
       .units = "1",
       .doc = "name of the warning"}};
  for (size_t c = 0; c < sizeof all / sizeof *all; c++) cb_run_constant(run, &all[c]);
  return b->coupling ? cb_fluid_coupling_dimensions(run) : CB_OK;
}

/* Returns the field of the list with the same name; the field itself if the list has no such field. */
static const cb_observable *replaced(const cb_observable *list, const cb_observable *field) {
  while (list->group && strcmp(list->field.name, field->field.name)) list++;
  return list->group ? list : field;
}

/* Adds the fields of `table` to the record. In a curved space, or in a scenario with points, other fields replace some
 * of them, and further fields are added. In a curved space the fields of falling_regime have no meaning and are left
 * out. */
static cb_status fields(cb_run *run) {
  const bool is_curved = curvature(cb_fluid_run_of(run)) != 0;
  cb_status status = CB_OK;
  for (const cb_observable *row = table; row->group && !status; row++) {
    const cb_observable *own = is_curved ? replaced(curved, row) : row;
    if (cb_fluid_run_of(run)->coupling) own = replaced(cb_fluid_coupling_fields, own);
    if (!is_curved || strncmp(row->group, "falling", 7)) status = cb_run_field(run, own);
  }
  if (!status && cb_fluid_run_of(run)->coupling) status = cb_run_fields(run, cb_fluid_coupling_more);
  if (!status) status = cb_fluid_joined_fields(run);
  if (!status && is_curved) status = cb_run_fields(run, beside);
  return status || curvature(cb_fluid_run_of(run)) <= 0 ? status : cb_run_fields(run, in_sphere);
}

static cb_status wrench_fields(cb_run *run) {
  const cb_fluid_run *b = run->own;
  cb_status status = CB_OK;
  for (int w = 0; w < b->n_wrenches && !status; w++) {
    const size_t size = strlen(b->wrench[w]) + sizeof "wrench_";
    char *name = cb_arena_alloc(run->arena, size, 1);
    cb_observable *field = cb_arena_alloc(run->arena, 1, sizeof *field);
    if (!name || !field) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
    snprintf(name, size, "wrench_%s", b->wrench[w]);
    *field = (cb_observable)CB_OBSERVABLE("wrenches", name, DOUBLE, "N m, N",
                                          "torque about the body frame's origin and force, in the body frame", wrench,
                                          (size_t)w, 2, "body", "se3");
    status = cb_run_field(run, field);
  }
  return status;
}

/* Rejects `falling_regime` in a curved space: it needs a vertical direction, which a curved space does not have. */
static cb_status check_groups(const cb_run *run) {
  if (curvature(cb_fluid_run_of(run)) == 0 || !cb_run_asked(run, "falling_regime")) return CB_OK;
  return cb_fail_as(CB_FAILURE_OBSERVABLE, CB_ERROR_ARGUMENT,
                    "`falling_regime` needs gravity, which a curved space does not have: leave the observable out");
}

/* Adds the fields of the state at events, if there may be events. */
static cb_status event_fields(cb_run *run) {
  static const char *const plot[] = {"plot_position", NULL}, *const pose[] = {"pose", NULL},
                           *const momentum[] = {"body_momentum", NULL}, *const twist[] = {"twist", NULL};
  cb_fluid_run *b = run->own;
  const bool is_curved = curvature(b) != 0;
  if (b->fluid->floor.kind != CB_FLOOR_REFLECTING && !cb_fluid_coupling_has_events(b->coupling)) return CB_OK;
  cb_status status = cb_run_event_fields(run,
                                         b->coupling ? cb_fluid_coupling_fields
                                         : is_curved ? curved
                                                     : table,
                                         plot);
  if (!status) status = cb_run_event_fields(run, is_curved ? curved : table, pose);
  if (!status) status = cb_run_event_fields(run, table, momentum);
  if (!status && b->coupling) status = cb_fluid_coupling_event_fields(run);
  if (!status) status = cb_fluid_joined_event_fields(run);
  if (!status) status = cb_run_event_fields(run, at_events, twist);
  if (!status && !b->coupling && cb_run_events_have_state(run) &&
      !(b->at_event = cb_arena_alloc(run->arena, (size_t)b->n, sizeof *b->at_event)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", b->n);
  return status;
}

cb_status cb_fluid_run_layout(cb_run *run) {
  cb_fluid_run *b = run->own;
  cb_status status = cb_run_choose(run, cb_fluid_observables, usual);
  if (!status) status = check_groups(run);
  if (!status) status = name_wrenches(run);
  if (!status) status = dimensions(run);
  if (!status) status = tables(run);
  if (!status) status = solutions(run);
  if (!status) status = cb_fluid_run_falls(run);
  if (!status) status = fields(run);
  if (!status) status = wrench_fields(run);
  if (!status) status = event_fields(run);
  if (status) return status;
  cb_blob blobs[CB_RUN_BLOBS - 1] = {
      {"step", CB_FIELD_INT64, 1, &b->step, false},
      {"warned", CB_FIELD_INT32, (size_t)b->n, b->warned, false},
      {"watch", CB_FIELD_DOUBLE, (size_t)b->n * sizeof *b->watch / sizeof(double), b->watch, true},
      {"body_state", CB_FIELD_DOUBLE, (size_t)b->n * sizeof *b->state / sizeof(double), b->state, false},
      {"falling", CB_FIELD_DOUBLE, (size_t)b->n * sizeof *b->falling / sizeof(double), b->falling, false}};
  size_t n = b->falling ? 5 : 4;
  n += cb_fluid_coupling_blobs(run, blobs + n);
  return cb_run_finish_layout(run, blobs, n);
}

/* --- rows --- */

cb_status cb_fluid_run_measure_body(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  cb_fluid_run *b = run->own;
  cb_rigid_state alone = b->state[body];
  cb_body_interaction_separate(b->interaction, body, &alone);
  const cb_status status = cb_immersed_workspace_measure(part->workspace[body - part->first], &alone, &b->row[body]);
  b->row[body].kinetic += cb_body_interaction_energy(b->interaction, body);
  return status;
}

cb_status cb_fluid_run_measure(cb_run *run, const char **what) {
  int failed = 0;
  *what = "twist";
  cb_status status = cb_body_interaction_at_node(run, cb_fluid_run_of(run)->t, NULL, NULL);
  if (!status) status = cb_fluid_controls_at_node(run);
  if (!status) status = cb_fluid_run_each(run, cb_fluid_run_measure_body, NULL, &failed);
  if (status) return cb_fail(status, "body `%s`: %s", cb_fluid_run_of(run)->start[failed].name, cb_error_text());
  return cb_fluid_coupling_measure(run);
}
