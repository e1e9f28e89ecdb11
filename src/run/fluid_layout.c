/* The record of bodies in a fluid: its dimensions, and one row of a table a field.
 *
 *   pose    x, y, z of the body frame's origin and the unit quaternion (w, x, y, z)
 *   twists, momenta and wrenches are (angular, linear); in the body frame but for spatial_momentum = Ad*_{g^-1} p,
 *   about the world's origin, which is kept where nothing acts
 */
#include "numerics/vec3.h"
#include "run/fluid_private.h"

#include <stdio.h>
#include <string.h>

const cb_observable_doc cb_fluid_observables[] = {
    {"energy", "energy, kinetic_energy, potential_energy, body_energy, body_kinetic_energy, body_potential_energy",
     "bodies in a fluid: energy of body and fluid, gravity, buoyancy and floor; of all, and of each"},
    {"momentum", "body_momentum, spatial_momentum", "momentum at the node, in the body and about the world's origin"},
    {"wrenches", "wrench_NAME", "torque and force of each kind by itself, in the body frame"},
    {"inertia", "inertia, own_momentum", "K = dmu/dY, and the momentum mu_0 of the shape's own motion"},
    {"centre", "centre", "centre of mass in the world"},
    {"breathing", "breathing", "mean normal velocity of a stroke that changes the volume, which is subtracted"},
    {NULL, NULL, NULL}};

static const char *const usual[] = {"energy", "momentum", "wrenches", "centre", NULL};

/* What the values of one body are made from. */
typedef struct source {
  const cb_rigid_state *state;
  const cb_immersed_row *row;
} source;

typedef struct cb_body_field {
  const char *group;
  cb_field field;
  size_t size;                                 /* values a body */
  void (*fill)(const source *s, double *out);  /* of a body; NULL: */
  void (*whole)(const cb_run *run, void *out); /* of the run, once all bodies are measured */
} cb_body_field;

static void pose(const source *s, double *out) {
  memcpy(out, s->state->g.x, sizeof s->state->g.x);
  memcpy(out + 3, s->state->g.q, sizeof s->state->g.q);
}

static void twist(const source *s, double *out) { memcpy(out, s->row->twist, sizeof s->row->twist); }

static void place(const source *s, double *out) { memcpy(out, s->state->g.x, sizeof s->state->g.x); }

static void velocity(const source *s, double *out) {
  double r[3][3];
  cb_pose_rotation(&s->state->g, r);
  cb_apply3(r, s->row->twist + 3, out);
}

static void body_momentum(const source *s, double *out) { memcpy(out, s->state->momentum, sizeof s->state->momentum); }

/* The state has it about the body frame's origin, in the world's axes. */
static void spatial_momentum(const source *s, double *out) {
  memcpy(out, s->state->world, sizeof s->state->world);
  double moment[3];
  cb_cross3(s->state->g.x, s->state->world + 3, moment);
  for (int i = 0; i < 3; i++) out[i] += moment[i];
}

static void body_energy(const source *s, double *out) { *out = s->row->kinetic + s->row->potential; }
static void kinetic(const source *s, double *out) { *out = s->row->kinetic; }
static void potential(const source *s, double *out) { *out = s->row->potential; }
static void breathing(const source *s, double *out) { *out = s->row->breathing; }

static void inertia(const source *s, double *out) { memcpy(out, s->row->K, sizeof s->row->K); }

static void own_momentum(const source *s, double *out) { memcpy(out, s->row->mu0, sizeof s->row->mu0); }

static void centre(const source *s, double *out) { cb_pose_point(&s->state->g, s->row->mass.centre, out); }

static void time_(const cb_run *run, void *out) { *(double *)out = run->fluid->t; }
static void step(const cb_run *run, void *out) { *(int64_t *)out = run->fluid->step; }
static void iterations(const cb_run *run, void *out) { *(int32_t *)out = run->fluid->iterations; }
static void step_size(const cb_run *run, void *out) { *(double *)out = run->step_size; }

static double sum(const cb_fluid_run *b, bool with_kinetic, bool with_potential) {
  double kinetic_ = 0, potential_ = 0;
  for (int i = 0; i < b->n; i++) kinetic_ += b->row[i].kinetic, potential_ += b->row[i].potential;
  return (with_kinetic ? kinetic_ : 0) + (with_potential ? potential_ : 0);
}

static void energy(const cb_run *run, void *out) { *(double *)out = sum(run->fluid, true, true); }
static void all_kinetic(const cb_run *run, void *out) { *(double *)out = sum(run->fluid, true, false); }
static void all_potential(const cb_run *run, void *out) { *(double *)out = sum(run->fluid, false, true); }

#define PER_BODY(group, name, of, size, unit, doc, fill) \
  { group, {name, CB_FIELD_DOUBLE, 2, {"body", of}, unit, doc}, size, fill, NULL }
#define A_BODY(group, name, unit, doc, fill) \
  { group, {name, CB_FIELD_DOUBLE, 1, {"body"}, unit, doc}, 1, fill, NULL }
#define ONE(group, name, type, unit, doc, whole) \
  { group, {name, type, 0, {0}, unit, doc}, 0, NULL, whole }

static const cb_body_field table[] = {
    ONE("", "time", CB_FIELD_DOUBLE, "s", "time", time_),
    ONE("", "step", CB_FIELD_INT64, "1", "steps so far", step),
    {"", {"x", CB_FIELD_DOUBLE, 2, {"particle", "axis"}, "m", "place of the body frame's origin"}, 3, place, NULL},
    {"",
     {"v", CB_FIELD_DOUBLE, 2, {"particle", "axis"}, "m/s", "velocity of the body frame's origin"},
     3,
     velocity,
     NULL},
    PER_BODY("", "pose", "pose_part", 7, "m, 1", "place of the body frame's origin, unit quaternion (w, x, y, z)",
             pose),
    PER_BODY("", "twist", "se3", 6, "rad/s, m/s", "angular and linear velocity in the body frame", twist),
    PER_BODY("momentum", "body_momentum", "se3", 6, "kg m2/s, kg m/s",
             "momentum at the node, in the body frame, with the fluid's", body_momentum),
    PER_BODY("momentum", "spatial_momentum", "se3", 6, "kg m2/s, kg m/s", "the same about the world's origin",
             spatial_momentum),
    ONE("energy", "energy", CB_FIELD_DOUBLE, "J", "kinetic and potential energy of all bodies", energy),
    ONE("energy", "kinetic_energy", CB_FIELD_DOUBLE, "J", "of all bodies and of the fluid about them", all_kinetic),
    ONE("energy", "potential_energy", CB_FIELD_DOUBLE, "J", "of all bodies: gravity, buoyancy, floor", all_potential),
    A_BODY("energy", "body_energy", "J", "kinetic and potential energy", body_energy),
    A_BODY("energy", "body_kinetic_energy", "J", "of the body and of the fluid about it", kinetic),
    A_BODY("energy", "body_potential_energy", "J", "gravity, buoyancy, floor", potential),
    {"inertia",
     {"inertia", CB_FIELD_DOUBLE, 3, {"body", "se3", "se3_column"}, "kg m2, kg m, kg", "K, of body and fluid"},
     36,
     inertia,
     NULL},
    PER_BODY("inertia", "own_momentum", "se3", 6, "kg m2/s, kg m/s",
             "mu_0: momentum of the shape's own motion and of the flow", own_momentum),
    PER_BODY("centre", "centre", "axis", 3, "m", "centre of mass", centre),
    A_BODY("breathing", "breathing", "m/s", "mean normal velocity of the shape that was subtracted", breathing),
    ONE("", "solver_iterations", CB_FIELD_INT32, "1", "most iterations of a body in the last step", iterations),
    ONE("", "step_size", CB_FIELD_DOUBLE, "s", "size of the last step", step_size),
    {NULL, {0}, 0, NULL, NULL}};

/* --- layout --- */

/* The names of all bodies' wrenches, each once. */
static cb_status name_wrenches(cb_run *run) {
  cb_fluid_run *b = run->fluid;
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

static cb_status dimensions(cb_run *run) {
  static const char *const axes[] = {"x", "y", "z"};
  static const char *const pose_parts[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
  static const char *const se3[] = {"angular_x", "angular_y", "angular_z", "linear_x", "linear_y", "linear_z"};
  const cb_fluid_run *b = run->fluid;
  const size_t n = (size_t)b->n;
  const char **name = cb_arena_alloc(run->arena, n, sizeof *name);
  double *mass = cb_arena_alloc(run->arena, n, sizeof *mass);
  int64_t *index = cb_arena_alloc(run->arena, n, sizeof *index), *faces = cb_arena_alloc(run->arena, n, sizeof *faces);
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
  cb_run_dimension(run, "body", n, "body")->labels = name;
  cb_run_dimension(run, "particle", n, "body frame's origin")->labels = name;
  cb_run_dimension(run, "axis", 3, "axis of the world")->labels = axes;
  cb_run_dimension(run, "pose_part", 7, "part of a pose")->labels = pose_parts;
  cb_run_dimension(run, "se3", 6, "component of a twist, momentum or wrench")->labels = se3;
  cb_run_dimension(run, "se3_column", 6, "component of a twist")->labels = se3;
  cb_run_dimension(run, "warning", CB_DOUBTS, "kind of warning");
  const cb_constant all[] = {
      {.name = "particle_name", .dim = "particle", .labels = name, .units = "1", .doc = "name of the body"},
      {.name = "particle_body", .dim = "particle", .integers = index, .units = "1", .doc = "index of the body"},
      {.name = "particle_mass", .dim = "particle", .values = mass, .units = "kg", .doc = "mass of the body"},
      {.name = "body_mass", .dim = "body", .values = mass, .units = "kg", .doc = "mass at the start"},
      {.name = "body_faces", .dim = "body", .integers = faces, .units = "1", .doc = "triangles of its surface"},
      {.name = "warning_name", .dim = "warning", .labels = cb_fluid_run_doubts, .units = "1", .doc = "what it is of"}};
  for (size_t c = 0; c < sizeof all / sizeof *all; c++) cb_run_constant(run, &all[c]);
  return CB_OK;
}

static cb_status fields(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  int f;
  cb_status status = CB_OK;
  for (const cb_body_field *row = table; row->group && !status; row++) {
    if (!cb_run_asked(run, row->group)) continue;
    status = cb_run_field(run, &row->field, &f);
    if (!status) b->measured[f] = row;
  }
  b->wrench_field = -1;
  for (int w = 0; w < b->n_wrenches && !status && cb_run_asked(run, "wrenches"); w++) {
    const size_t size = strlen(b->wrench[w]) + sizeof "wrench_";
    char *name = cb_arena_alloc(run->arena, size, 1);
    if (!name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
    snprintf(name, size, "wrench_%s", b->wrench[w]);
    status = cb_run_field(run,
                          &(cb_field){name,
                                      CB_FIELD_DOUBLE,
                                      2,
                                      {"body", "se3"},
                                      "N m, N",
                                      "torque about the body frame's origin and force, in the body frame"},
                          &f);
    if (w == 0) b->wrench_field = f;
  }
  return status;
}

cb_status cb_fluid_run_layout(cb_run *run) {
  cb_fluid_run *b = run->fluid;
  if (!run->options.observables) run->options.observables = usual;
  cb_status status = cb_run_check_observables(run, cb_fluid_observables);
  if (!status) status = name_wrenches(run);
  if (!status) status = dimensions(run);
  if (!status) status = fields(run);
  if (status) return status;
  const cb_blob blobs[] = {{"step", CB_FIELD_INT64, 1, &b->step},
                           {"warned", CB_FIELD_INT32, (size_t)b->n, b->warned},
                           {"body_state", CB_FIELD_DOUBLE, (size_t)b->n * sizeof *b->state / sizeof(double), b->state}};
  cb_run_finish_layout(run, blobs, sizeof blobs / sizeof *blobs);
  return CB_OK;
}

/* --- rows --- */

static cb_status measure_one(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  const cb_fluid_run *b = run->fluid;
  cb_immersed_row *row = &b->row[body];
  const cb_status status = cb_swimmer_measure(part->swimmer[body - part->first], &b->state[body], row);
  const source from = {&b->state[body], row};
  if (status) return status;
  for (int f = 0; f < run->n_fields; f++)
    if (b->measured[f] && b->measured[f]->fill)
      b->measured[f]->fill(&from, (double *)run->value[f] + (size_t)body * b->measured[f]->size);
  if (b->wrench_field < 0) return CB_OK;
  for (int w = 0; w < b->n_wrenches; w++)
    memset((double *)run->value[b->wrench_field + w] + 6 * (size_t)body, 0, 6 * sizeof(double));
  for (int w = 0; w < cb_immersed_wrenches(b->start[body].body); w++)
    memcpy((double *)run->value[b->wrench_field + b->wrench_of[body][w]] + 6 * (size_t)body, row->wrench[w],
           sizeof *row->wrench);
  return CB_OK;
}

cb_status cb_fluid_run_measure(cb_run *run, const char **what) {
  int failed = 0;
  *what = "twist";
  const cb_status status = cb_fluid_run_each(run, measure_one, NULL, &failed);
  if (!status) {
    for (int f = 0; f < run->n_fields; f++)
      if (run->fluid->measured[f] && run->fluid->measured[f]->whole) run->fluid->measured[f]->whole(run, run->value[f]);
    return CB_OK;
  }
  return cb_fail(status, "body `%s`: %s", run->fluid->start[failed].name, cb_error_text());
}
