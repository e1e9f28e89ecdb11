/* Bodies and particles that act on each other through points, in a run of bodies: their common step, and its fields
 * (coupling/coupled.h).
 *
 * A point is a particle, or a point of a rigid body. The particles, which move by themselves, are in the dimension
 * `free` of the record. A step that fails is made again by all bodies and particles together as two halves. Order 4 is
 * Suzuki's composition of five steps, which the integrator lists (cb_integrator_substeps).
 */
#include "core/failure.h"
#include "dynamics/system_facts.h"
#include "numerics/dd.h"
#include "numerics/vec3.h"
#include "run/fluid_private.h"

#include <curvebody/contact.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* The values of a state at an event. */
typedef struct kept_state {
  struct kept_state *next;
  double *value;
} kept_state;

struct cb_fluid_coupling {
  cb_coupled *coupled;
  cb_coupled_snapshot *before, *start; /* states before a step or one of its halves; before the complete step */
  const cb_system *system;
  cb_fluid_points origin;
  kept_state *kept, **unused; /* the states at the events of a step; from *unused on they are not used yet */
  int n, free;                /* the numbers of points, and of particles */
  int shown;      /* the first `shown` points are recorded; the others are vertices of bodies, which walls push */
  int *particle;  /* [free]: the numbers of the particles in the system */
  bool conserves; /* true: neither forces between points, nor the fluid, nor wrenches of bodies change the energy */
  cb_energy_change energy;
  double *start_x; /* [n*k]: the positions of all points at the start */
  double moved;    /* not 0: a point has left its position at the start */
  cb_coupled_row row;
  const double *velocity, *residual;
};

/* --- a step --- */

static cb_status drift_one(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  int iterations = 0;
  if (cb_fluid_joined_has(run, body)) return CB_OK;
  const cb_status status = cb_fluid_run_whole(run, part, body, *(const double *)context, &iterations);
  if (iterations > part->iterations) part->iterations = iterations;
  return status;
}

/* Moves all bodies by the time h. This drift may be repeated. Therefore the events of the previous attempt, which are
 * reflections off a floor, are removed first. */
static cb_status drift(void *self, double h, int *failed) {
  cb_run *run = self;
  cb_fluid_run *b = run->own;
  for (int i = 0; i < b->threads; i++) {
    for (size_t e = b->part[i].settled; e < b->part[i].events; e++) free(b->part[i].event[e].text);
    b->part[i].events = b->part[i].settled;
  }
  if (b->controls) return cb_fluid_controls_drift(run, h, failed);
  const cb_status status = cb_fluid_run_each(run, drift_one, &h, failed);
  return status ? status : cb_fluid_joined_drift(run, h, failed);
}

/* --- particles by name, for wrenches --- */

int cb_fluid_coupling_find(const cb_run *run, const char *name, size_t length) {
  const cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  if (cb_fluid_run_of(run)->fluid->curvature != 0) return -1;
  int found = -1, count = 0;
  for (int i = 0; i < c->free; i++) {
    const char *own = cb_system_particle_name(c->system, c->particle[i]),
               *body = cb_system_body_name(c->system, cb_system_body(c->system, c->particle[i]));
    if (strlen(own) == length && !memcmp(own, name, length)) return c->particle[i];
    if (strlen(body) != length || memcmp(body, name, length)) continue;
    found = c->particle[i];
    count++;
  }
  return count == 1 ? found : -1;
}

void cb_fluid_coupling_particle(const cb_run *run, int particle, double out[6]) {
  const cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  const cb_state *state = cb_coupled_state(c->coupled);
  const int at = cb_system_index(c->system, particle) * state->k;
  const double M = cb_coupled_mass(c->coupled, particle);
  for (int a = 0; a < 3; a++) {
    out[a] = state->x[at + a];
    out[3 + a] = M > 0 ? state->p[at + a] / M : 0;
  }
}

void cb_fluid_coupling_middle(const cb_run *run, int particle, double out[6]) {
  cb_coupled_middle(cb_fluid_run_of(run)->coupling->coupled, particle, out);
}

static cb_status check_places(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  (void)context;
  return cb_immersed_workspace_check_place(part->workspace[body - part->first], &cb_fluid_run_of(run)->state[body]);
}

static void settle(cb_fluid_run *b) {
  for (int i = 0; i < b->threads; i++) b->part[i].settled = b->part[i].events;
}

/* Returns the number of a point in the dimension `particle` of the record, where bodies come first. A vertex, which is
 * not recorded, and a body that touches by its shape, have the number of the body. */
static int number_of(const cb_fluid_run *b, int particle) {
  const cb_fluid_coupling *c = b->coupling;
  if (particle >= c->n) return particle - c->n; /* a body */
  return particle < c->shown ? b->n + particle : cb_coupled_body(c->coupled, particle);
}

/* Limits of joints count as walls, after the walls of the system. Returns the second body of the joint with the limit
 * `wall`, or its first body if the second is the world. */
static int limited_body(const cb_run *run, int wall) {
  const int number = wall - cb_system_walls(cb_fluid_run_of(run)->coupling->system);
  return cb_fluid_joined_limited_body(run, number);
}

/* Returns the values of the present states at time t for an event (coupling/coupled.h). */
static const double *at_event(void *self, double t) {
  cb_run *run = self;
  cb_fluid_run *b = run->own;
  cb_fluid_coupling *c = b->coupling;
  const double now = b->t;
  if (!cb_run_events_have_state(run) || cb_body_interaction_at_node(run, t, NULL, NULL)) return NULL;
  kept_state *to = *c->unused ? *c->unused : cb_arena_alloc(run->arena, 1, sizeof *to);
  if (to && !to->value) to->value = cb_arena_alloc(run->arena, run->event_numbers, sizeof *to->value);
  if (!to || !to->value) {
    b->part[0].lost = true;
    return NULL;
  }
  *c->unused = to;
  c->unused = &to->next;
  b->t = t;
  const double *values = cb_run_event_values(run, to->value);
  b->t = now;
  return values;
}

/* Makes one step of length *h without retries. On failure the states of bodies and particles are as before. */
static cb_status once(cb_run *run, double t, double *h, int *failed) {
  cb_fluid_run *b = run->own;
  cb_fluid_coupling *c = b->coupling;
  int drifts = 0, rows;
  const char *stop;
  cb_coupled_keep(c->coupled, c->before);
  cb_status status = cb_coupled_step(c->coupled, t, h, &stop, failed, &drifts);
  if (drifts > b->iterations) b->iterations = drifts;
  if (!status) status = cb_fluid_run_each(run, check_places, NULL, failed);
  if (status) {
    cb_coupled_bring_back(c->coupled, c->before);
    return status;
  }
  const cb_event_row *row = cb_coupled_events(c->coupled, &rows);
  for (int i = 0; i < rows; i++) {
    cb_event_row of = row[i]; /* below, its particles are renumbered as in the record, where bodies come first */
    if (of.particle < 0)
      of.particle = limited_body(run, of.wall); /* the event is at a limit of a joint */
    else
      of.particle = number_of(b, of.particle);
    of.other = of.other < 0 ? -1 : number_of(b, of.other);
    cb_fluid_run_report(&b->part[0], &of, NULL);
  }
  settle(b);
  run->stopped = stop;
  return CB_OK;
}

/* Makes a step or, if it fails, its two halves. *h becomes the time that has passed, which is shorter if an event stops
 * the run. */
static cb_status halves(cb_run *run, double t, double *h, int depth, int *failed) {
  cb_fluid_run *b = run->own;
  const double half = *h / 2;
  double done = 0;
  cb_status status = once(run, t, h, failed);
  if (status <= 0 || depth == run->options.retries) return status;
  const cb_event_row retry = {.time = t,
                              .kind = CB_EVENT_RETRY,
                              .particle = *failed,
                              .other = -1,
                              .wall = -1,
                              .gap = 2 * half,
                              .state = at_event(run, t)};
  cb_fluid_run_report(&b->part[0], &retry, NULL);
  settle(b);
  for (int i = 0; i < 2 && !run->stopped; i++) {
    double part = half;
    if ((status = halves(run, t + done, &part, depth + 1, failed))) return status;
    done += part;
  }
  *h = done;
  return CB_OK;
}

static cb_status doubt_one(cb_run *run, cb_fluid_run_part *part, int body, void *context) {
  cb_fluid_run_doubt_step(run, part, body, *(const double *)context);
  return CB_OK;
}

cb_status cb_fluid_coupling_step(cb_run *run, double *h, int *failed) {
  cb_fluid_run *b = run->own;
  cb_fluid_coupling *c = b->coupling;
  settle(b);
  c->unused = &c->kept;
  cb_coupled_keep(c->coupled, c->start);
  const cb_status status = halves(run, b->t, h, 0, failed);
  if (!status) return cb_fluid_run_each(run, doubt_one, h, failed);
  cb_coupled_bring_back(c->coupled, c->start);
  return status;
}

const cb_fluid_points *cb_fluid_coupling_origin(const cb_fluid_coupling *c) { return &c->origin; }

bool cb_fluid_coupling_has_events(const cb_fluid_coupling *c) { return c && cb_coupled_has_events(c->coupled); }

bool cb_fluid_coupling_touches(const cb_fluid_coupling *c) { return c && cb_system_touches(c->system); }

void cb_fluid_coupling_restored(cb_fluid_coupling *c) {
  if (c) cb_coupled_restored(c->coupled);
}

/* --- rows --- */

static CB_FILL(plot_position) {
  const cb_fluid_run *b = run->own;
  const cb_fluid_coupling *c = b->coupling;
  const cb_state *state = cb_coupled_state(c->coupled);
  const cb_space *g = cb_system_space(c->system);
  double *out = to.out;
  for (int i = 0; i < b->n; i++) cb_plot_place(b->fluid->curvature, b->state[i].g.x, out + 3 * i);
  for (int i = 0; i < c->shown; i++)
    cb_plot_coordinates(g, state->x + cb_system_index(c->system, i) * state->k, NULL, out + 3 * (b->n + i), NULL);
  return CB_OK;
}

static CB_FILL(plot_velocity) {
  const cb_fluid_run *b = run->own;
  const cb_fluid_coupling *c = b->coupling;
  const cb_state *state = cb_coupled_state(c->coupled);
  const double K = b->fluid->curvature;
  double *out = to.out, plot[3];
  for (int i = 0; i < b->n; i++) {
    double r[3][3];
    cb_pose_rotation(&b->state[i].g, r);
    cb_apply3(r, b->row[i].twist + 3, out + 3 * i);
    for (int a = 0; a < 3 && K != 0; a++) out[3 * i + a] *= cb_plot_factor(K, b->state[i].g.x);
  }
  for (int i = 0; i < c->shown; i++) {
    const int at = cb_system_index(c->system, i) * state->k;
    cb_plot_coordinates(cb_system_space(c->system), state->x + at, c->velocity + at, plot, out + 3 * (b->n + i));
  }
  return CB_OK;
}

/* Copies the member of cb_state at the offset to.at, for the particles that move by themselves. */
static CB_FILL(of_particles) {
  const cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  const cb_state *state = cb_coupled_state(c->coupled);
  const double *values = *(double *const *)((const char *)state + to.at);
  for (int i = 0; i < c->free; i++)
    memcpy((double *)to.out + i * state->k, values + cb_system_index(c->system, c->particle[i]) * state->k,
           (size_t)state->k * sizeof *values);
  return CB_OK;
}

enum { KINETIC = 1, POTENTIAL = 2, OF_BODIES = 4 };

static double energy_of(const cb_run *run, size_t parts) {
  const cb_fluid_run *b = run->own;
  double kinetic, potential;
  cb_fluid_joined_energies(run, &potential, &kinetic);
  kinetic += b->coupling->row.kinetic;
  potential += b->coupling->row.potential;
  for (int i = 0; i < b->n && parts & OF_BODIES; i++) {
    kinetic += b->row[i].kinetic;
    potential += b->row[i].potential;
  }
  return (parts & KINETIC ? kinetic : 0) + (parts & POTENTIAL ? potential : 0);
}

static CB_FILL(energy) {
  *(double *)to.out = energy_of(run, to.at);
  return CB_OK;
}

static CB_FILL(separation) {
  const cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  return cb_forces_separations(cb_coupled_forces(c->coupled), cb_coupled_state(c->coupled)->x, to.out);
}

static CB_FILL(multiplier) {
  const cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  int rows;
  const double *impulse = cb_coupled_impulses(c->coupled, &rows), half = cb_coupled_last_length(c->coupled) / 2;
  for (int r = 0; r < rows; r++) ((double *)to.out)[r] = *run->step > 0 ? -impulse[r] / half : NAN;
  return CB_OK;
}

static CB_FILL(residual) {
  memcpy(to.out, cb_fluid_run_of(run)->coupling->residual, to.size);
  return CB_OK;
}

static CB_FILL(total_momentum) {
  const cb_fluid_run *b = run->own;
  double *out = to.out;
  memset(out, 0, to.size);
  for (int i = 0; i < b->n; i++) {
    double own[6];
    cb_fluid_run_spatial_momentum(b, i, own);
    cb_add6(1, own, out);
  }
  cb_coupled_momentum(b->coupling->coupled, out);
  return CB_OK;
}

const cb_observable cb_fluid_coupling_fields[] = {
    CB_OBSERVABLE("", "plot_position", DOUBLE, "m", "positions of the body frames' origins, then of the points",
                  plot_position, 0, 2, "particle", "axis"),
    CB_OBSERVABLE("", "plot_velocity", DOUBLE, "m/s", "velocities of the body frames' origins, then of the points",
                  plot_velocity, 0, 2, "particle", "axis"),
    CB_OBSERVABLE("energy", "energy", DOUBLE, "J", "kinetic and potential energy of all bodies and particles", energy,
                  KINETIC | POTENTIAL | OF_BODIES, 0, 0),
    CB_OBSERVABLE("energy", "kinetic_energy", DOUBLE, "J",
                  "kinetic energy of all bodies, of the fluid around them, and of particles", energy,
                  KINETIC | OF_BODIES, 0, 0),
    CB_OBSERVABLE("energy", "potential_energy", DOUBLE, "J",
                  "potential energy of all bodies, of the forces between points, and of the weight of particles",
                  energy, POTENTIAL | OF_BODIES, 0, 0),
    {0}};

const cb_observable cb_fluid_coupling_more[] = {
    CB_OBSERVABLE("state", "position", DOUBLE, "m", "positions of particles, in coordinates of the embedding",
                  of_particles, offsetof(cb_state, x), 2, "free", "coordinate"),
    CB_OBSERVABLE("state", "momentum", DOUBLE, "kg m/s",
                  "momenta of particles, with the added mass of a particle in a fluid", of_particles,
                  offsetof(cb_state, p), 2, "free", "coordinate"),
    CB_OBSERVABLE("energy", "particle_kinetic_energy", DOUBLE, "J", "kinetic energy of particles", energy, KINETIC, 0,
                  0),
    CB_OBSERVABLE("energy", "interaction_energy", DOUBLE, "J",
                  "potential energy of the forces between points, and of the weight of particles", energy, POTENTIAL, 0,
                  0),
    CB_OBSERVABLE("momentum", "total_momentum", DOUBLE, "kg m2/s, kg m/s",
                  "momentum of all bodies, of the fluid around them, and of particles, about the world's origin",
                  total_momentum, 0, 1, "se3"),
    CB_OBSERVABLE("separation", "separation", DOUBLE, "m", "distances of joined points: springs, then rods", separation,
                  0, 1, "bond"),
    CB_OBSERVABLE("constraints", "multiplier", DOUBLE, "1",
                  "Lagrange multipliers of constraints in the last step; for a rod, its tension", multiplier, 0, 1,
                  "constraint"),
    CB_OBSERVABLE("constraints", "constraint_residual", DOUBLE, "1", "residuals g of constraints", residual, 0, 1,
                  "constraint"),
    {0}};

cb_status cb_fluid_coupling_event_fields(cb_run *run) {
  static const char *const at_events[] = {"position", "momentum", NULL};
  return cb_run_event_fields(run, cb_fluid_coupling_more, at_events);
}

cb_status cb_fluid_coupling_measure(cb_run *run) {
  cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  if (!c) return CB_OK;
  const double t = cb_fluid_run_of(run)->t;
  cb_status status = cb_coupled_measure(c->coupled, t, &c->row);
  if (!status) status = cb_coupled_velocities(c->coupled, t, &c->velocity);
  if (!status) status = cb_fluid_joined_measure(run, cb_coupled_last_length(c->coupled));
  return status ? status : cb_coupled_residuals(c->coupled, t, &c->residual);
}

/* A point that has moved by less than this, relative to its coordinates, is at rest, and its energy is round-off. */
static const double at_rest = 1e-9;

void cb_fluid_coupling_compare(cb_run *run) {
  cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  const double kinetic = energy_of(run, KINETIC | OF_BODIES), potential = energy_of(run, POTENTIAL | OF_BODIES);
  run->change.momentum = NAN;
  run->change.energy = NAN;
  if (!c->conserves) return;
  if (*run->step == 0)
    cb_energy_begin(&c->energy, kinetic, potential);
  else
    cb_energy_see(&c->energy, kinetic, potential);
  const cb_state *state = cb_coupled_state(c->coupled);
  for (int i = 0; i < state->n * state->k && !c->moved; i++)
    c->moved = fabs(state->x[i] - c->start_x[i]) > at_rest * (1 + fabs(state->x[i]));
  c->moved = c->moved != 0 || cb_fluid_joined_moved(run, at_rest);
  run->change.energy = c->moved ? cb_energy_ratio(&c->energy) : 0;
}

/* --- the layout --- */

cb_status cb_fluid_coupling_labels(cb_run *run, const char **name, double *mass, int64_t *body) {
  const cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  for (int i = 0; i < c->shown; i++) {
    name[i] = cb_system_particle_name(c->system, i);
    mass[i] = cb_coupled_moves(c->coupled, i) ? cb_system_masses(c->system)[cb_system_index(c->system, i)] : 0;
    body[i] = -1;
  }
  return CB_OK;
}

int cb_fluid_coupling_points(const cb_fluid_run *b) { return b->coupling ? b->coupling->shown : 0; }

/* Adds the two ends of each bond, as numbers of the dimension `particle`. */
static cb_status bonds(cb_run *run) {
  const cb_fluid_run *b = run->own;
  const cb_system *s = b->coupling->system;
  const size_t count = (size_t)cb_system_bonds(s);
  int64_t *end[2] = {cb_arena_alloc(run->arena, count, sizeof **end), cb_arena_alloc(run->arena, count, sizeof **end)};
  if (!end[0] || !end[1]) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bonds", count);
  for (size_t e = 0; e < count; e++) {
    int i, j;
    cb_system_bond(s, (int)e, &i, &j);
    end[0][e] = b->n + i;
    end[1][e] = b->n + j;
  }
  const cb_constant all[] = {{.name = "bond_i",
                              .dim = "bond",
                              .integers = end[0],
                              .units = "1",
                              .doc = "first end of a bond, as in /particle"},
                             {.name = "bond_j",
                              .dim = "bond",
                              .integers = end[1],
                              .units = "1",
                              .doc = "second end of a bond, as in /particle"}};
  for (int k = 0; k < 2; k++) cb_run_constant(run, &all[k]);
  return CB_OK;
}

cb_status cb_fluid_coupling_dimensions(cb_run *run) {
  const cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  const cb_space *g = cb_system_space(c->system);
  const int plain = cb_system_walls(c->system);
  const size_t rows = (size_t)cb_system_constraints(c->system), walls = (size_t)(plain + cb_fluid_joined_limits(run)),
               events = (size_t)cb_system_events(c->system);
  const char **name = cb_arena_alloc(run->arena, rows, sizeof *name),
             **wall = cb_arena_alloc(run->arena, walls, sizeof *wall),
             **event = cb_arena_alloc(run->arena, events, sizeof *event),
             **own = cb_arena_alloc(run->arena, (size_t)c->free, sizeof *own);
  for (int w = 0; wall && w < plain; w++) wall[w] = cb_system_wall_name(c->system, w);
  for (size_t e = 0; event && e < events; e++) event[e] = cb_system_event_name(c->system, (int)e);
  if (!name || !own || !wall || !event)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu constraints", rows);
  const cb_status limits = cb_fluid_joined_limit_names(run, wall + plain);
  if (limits) return limits;
  for (size_t r = 0; r < rows; r++) name[r] = cb_system_constraint_name(c->system, (int)r);
  for (int i = 0; i < c->free; i++) own[i] = cb_system_particle_name(c->system, c->particle[i]);
  cb_run_dimension(run, "free", (size_t)c->free, "particle that moves by itself")->labels = own;
  cb_run_dimension(run, "coordinate", (size_t)g->k, "coordinate of the embedding")->labels =
      cb_chart_find(g, "embedding")->coordinates;
  const char *const *bond = cb_system_bond_labels(c->system, run->arena);
  if (!bond) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of bonds");
  cb_run_dimension(run, "bond", (size_t)cb_system_bonds(c->system), "bond: its two points")->labels = bond;
  cb_run_dimension(run, "constraint", rows, "constraint");
  if (walls)
    cb_run_dimension(run, "wall", walls, "wall, or limit of a joint: value of event_wall where event_kind is 0");
  if (events)
    cb_run_dimension(run, "watched", events,
                     "watched event: value of event_wall where event_kind is 1 or 2 and the event has one point");
  cb_run_constant(
      run, &(cb_constant){.name = "wall_name", .dim = "wall", .labels = wall, .units = "1", .doc = "name of the wall"});
  cb_run_constant(
      run, &(cb_constant){
               .name = "event_name", .dim = "watched", .labels = event, .units = "1", .doc = "name of the event"});
  cb_run_constant(run, &(cb_constant){.name = "constraint_name",
                                      .dim = "constraint",
                                      .labels = name,
                                      .units = "1",
                                      .doc = "name of the constraint"});
  const cb_status status = bonds(run);
  return status ? status : cb_fluid_joined_dimensions(run);
}

double cb_fluid_coupling_last_length(const cb_run *run) {
  return cb_coupled_last_length(cb_fluid_run_of(run)->coupling->coupled);
}

size_t cb_fluid_coupling_blobs(cb_run *run, cb_blob *out) {
  cb_fluid_coupling *c = cb_fluid_run_of(run)->coupling;
  if (!c) return 0;
  cb_state *s = cb_coupled_state(c->coupled);
  const size_t count = (size_t)s->n * (size_t)s->k;
  int rows;
  double *impulse = cb_coupled_impulses(c->coupled, &rows);
  const cb_blob all[] = {{"position", CB_FIELD_DOUBLE, count, s->x, false},
                         {"position_low", CB_FIELD_DOUBLE, count, s->x_low, false},
                         {"momentum", CB_FIELD_DOUBLE, count, s->p, false},
                         {"momentum_low", CB_FIELD_DOUBLE, count, s->p_low, false},
                         {"energy_change", CB_FIELD_DOUBLE, sizeof c->energy / sizeof(double), &c->energy, true},
                         {"moved", CB_FIELD_DOUBLE, 1, &c->moved, true},
                         {"impulse", CB_FIELD_DOUBLE, (size_t)rows, impulse, false}};
  const size_t n = sizeof all / sizeof *all - !impulse;
  memcpy(out, all, n * sizeof *all);
  return n + cb_fluid_joined_blobs(run, out + n);
}

/* --- creation --- */

static cb_status feel(void *self, double t, cb_status (*answer)(void *settling, double t), void *settling) {
  return cb_body_interaction_at_node(self, t, answer, settling);
}

static bool conserves(const cb_run *run) {
  const cb_fluid_run *b = run->own;
  const cb_fluid_coupling *c = b->coupling;
  bool all = cb_system_conserved(c->system).energy;
  for (int i = 0; i < b->n; i++) all = all && cb_immersed_conserves(b->start[i].body).energy;
  return all && !cb_coupled_feels_fluid(c->coupled) && !cb_fluid_joined_loses(run);
}

/* Returns whether the run has joints but no points, and its integrator moves joined bodies without impulses. */
static bool moves_joints_alone(const cb_run *run, const cb_fluid_points *points) {
  return points->joints && cb_fluid_run_of(run)->integrator->class_->step_joined &&
         cb_system_particles(points->system) == 0;
}

/* Fails if the integrator or a feature of the run is not available with points or joints. */
static cb_status check_features(const cb_run *run, const cb_fluid_points *points) {
  const cb_fluid_run *b = run->own;
  if (points->joints && !b->integrator->class_->takes_impulses && !b->integrator->class_->step_joined)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "the integrator `%s` cannot move bodies with joints: expected hamilton_pontryagin, or rkmk4 for trees",
        b->integrator->class_->name);
  if (!b->integrator->class_->takes_impulses && !moves_joints_alone(run, points))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the integrator `%s` has no discrete Lagrangian, which forces between points need: expected "
                   "hamilton_pontryagin",
                   b->integrator->class_->name);
  if (cb_system_dropped(points->system))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "constraint `%s` follows from the others at the start, and `redundant: drop` applies only to "
                   "particles without rigid bodies: expected a scenario without this constraint",
                   cb_system_constraint_name(cb_system_dropped(points->system), 0));
  return CB_OK;
}

cb_status cb_fluid_coupling_create(cb_run *run, const cb_fluid_points *points) {
  cb_fluid_run *b = run->own;
  if (!points) return CB_OK;
  cb_fluid_coupling *c = b->coupling = cb_arena_alloc(run->arena, 1, sizeof *c);
  if (!c) return cb_fail(CB_ERROR_MEMORY, "no memory for coupled bodies");
  const cb_status fits = check_features(run, points);
  if (fits) return fits;
  cb_coupled_bodies bodies = {.n = b->n,
                              .state = b->state,
                              .curvature = b->fluid->curvature,
                              .self = run,
                              .problem = cb_fluid_joined_problem,
                              .joined_problem = cb_fluid_joined_own_problem,
                              .drift = drift,
                              .feel = b->interaction ? feel : NULL,
                              .at_event = at_event};
  const cb_status joined = cb_fluid_joined_create(run, points->joints);
  if (joined) return joined;
  bodies.mechanism = cb_fluid_joined_mechanism(run);
  bodies.settled = bodies.mechanism && !b->integrator->class_->drift_joined;
  bodies.substep = cb_integrator_substeps(b->integrator, &bodies.substeps);
  const cb_status shaped = cb_fluid_shapes_create(run, points, &bodies);
  if (shaped) return shaped;
  c->system = points->system;
  c->origin = *points;
  c->n = cb_system_particles(points->system);
  c->shown = c->n - points->n_vertices;
  cb_status status =
      cb_coupled_create(points->system, points->n_points, points->point, &bodies, points->particles, &c->coupled);
  if (!status) status = cb_coupled_snapshot_create(c->coupled, &c->before);
  if (!status) status = cb_coupled_snapshot_create(c->coupled, &c->start);
  if (status) return status;
  const cb_state *state = cb_coupled_state(c->coupled);
  const size_t numbers = (size_t)(state->n * state->k);
  c->particle = cb_arena_alloc(run->arena, (size_t)c->n, sizeof *c->particle);
  c->start_x = cb_arena_alloc(run->arena, numbers, sizeof *c->start_x);
  if (!c->particle || !c->start_x) return cb_fail(CB_ERROR_MEMORY, "no memory for %d points", c->n);
  for (int i = 0; i < c->n; i++)
    if (cb_coupled_moves(c->coupled, i)) c->particle[c->free++] = i;
  c->conserves = conserves(run);
  const double tolerance = run->options.start_tolerance > 0 ? run->options.start_tolerance : 1e-9;
  status = cb_coupled_start(c->coupled, run->options.start, run->options.project, tolerance);
  memcpy(c->start_x, state->x, numbers * sizeof *c->start_x);
  return status;
}

void cb_fluid_coupling_free(cb_fluid_coupling *c) {
  if (!c) return;
  cb_coupled_snapshot_free(c->before);
  cb_coupled_snapshot_free(c->start);
  cb_coupled_free(c->coupled);
}
