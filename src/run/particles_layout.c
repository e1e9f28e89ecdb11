/* The layout of a record: dimensions, constants and fields that belong to a system and the chosen observables. */
#include "run/particles.h"

#include <curvebody/contact.h>
#include <string.h>

const cb_observable_doc cb_observable_groups[] = {
    {"separation", "separation", "geodesic distances of bonded particles: springs, then rods"},
    {"energy", "energy, kinetic_energy, potential_energy", "energy and its parts"},
    {"killing_momentum", "killing_momentum", "momenta of the Killing fields of the space"},
    {"constraints", "multiplier, constraint_residual, constraint_rate_residual, constraint_acceleration_residual",
     "multipliers of constraints (the pull along a rod), and what is left of g, dg/dt and the second derivative"},
    {"method_multiplier", "method_multiplier", "multipliers that the method itself solved for: radau_iia"},
    {"karcher_mean", "karcher_mean", "Karcher mean of the masses (Riemannian centre of mass)"},
    {"coordinates", "coordinates", "positions in the chart named by record.chart"},
    {NULL, NULL, NULL}};

static const char *const usual[] = {"separation", "energy", "killing_momentum", "constraints", NULL};

/* Words that label a dimension, copied to the arena. */
static const char **labels(cb_run *run, size_t count) { return cb_arena_alloc(run->arena, count, sizeof(char *)); }

static cb_status dimensions(cb_run *run) {
  static const char *const axes[] = {"x", "y", "z"};
  static const char *const parts[] = {"length",      "direction_x", "direction_y", "direction_z",
                                      "rotation_xx", "rotation_xy", "rotation_xz", "rotation_yx",
                                      "rotation_yy", "rotation_yz", "rotation_zx", "rotation_zy",
                                      "rotation_zz", "shift_x",     "shift_y",     "shift_z"};
  const cb_system *s = run->particles->system;
  const cb_geometry *g = cb_system_space(s);
  const size_t n = (size_t)cb_system_particles(s), bodies = (size_t)cb_system_bodies(s);
  const char **particle = labels(run, n), **body = labels(run, bodies), **killing = labels(run, (size_t)g->n_killing);
  if (!particle || !body || !killing) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu particles", n);
  for (size_t i = 0; i < n; i++) particle[i] = cb_system_particle_name(s, (int)i);
  for (size_t i = 0; i < bodies; i++) body[i] = cb_system_body_name(s, (int)i);
  for (int i = 0; i < g->n_killing; i++) killing[i] = g->killing[i].name;
  const size_t rows = (size_t)cb_system_constraints(s);
  const char **constraint = labels(run, rows);
  if (!constraint) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu constraints", rows);
  for (size_t i = 0; i < rows; i++) constraint[i] = cb_system_constraint_name(s, (int)i);
  const size_t walls = (size_t)cb_system_walls(s), events = (size_t)cb_system_events(s);
  const char **wall = labels(run, walls), **event = labels(run, events);
  if (!wall || !event) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %zu walls", walls);
  for (size_t i = 0; i < walls; i++) wall[i] = cb_system_wall_name(s, (int)i);
  for (size_t i = 0; i < events; i++) event[i] = cb_system_event_name(s, (int)i);

  cb_run_dimension(run, "particle", n, "particle");
  cb_run_dimension(run, "body", bodies, "body")->labels = body;
  cb_run_dimension(run, "axis", 3, "axis of the picture")->labels = axes;
  cb_dimension *coordinate = cb_run_dimension(run, "coordinate", (size_t)g->k,
                                              g->chart ? "coordinate of the chart" : "coordinate of the embedding");
  coordinate->labels = (g->chart ? g->chart : cb_chart_find(g, "embedding"))->coordinates;
  cb_run_dimension(run, "component", (size_t)cb_system_components(s), "connected component");
  cb_run_dimension(run, "origin_part", sizeof(cb_origin) / sizeof(double), "part of a moving origin")->labels = parts;
  cb_run_dimension(run, "bond", (size_t)cb_system_bonds(s), "bond");
  cb_run_dimension(run, "constraint", rows, "constraint");
  if (walls) cb_run_dimension(run, "wall", walls, "wall: event_j = -2 - wall where event_kind = 0");
  if (events) cb_run_dimension(run, "watched", events, "event: event_j = -2 - watched where it is of one particle");
  cb_run_dimension(run, "killing", (size_t)g->n_killing, "Killing field")->labels = killing;
  cb_dimension *dof = cb_run_dimension(run, "dof", (size_t)(run->options.chart ? run->options.chart->size : g->dim),
                                       "coordinate of the chart of /coordinates");
  if (run->options.chart) dof->labels = run->options.chart->coordinates;

  double *mass = cb_arena_alloc(run->arena, n, sizeof *mass), *radius = cb_arena_alloc(run->arena, n, sizeof *radius);
  double *charge = cb_arena_alloc(run->arena, n, sizeof *charge);
  const size_t bonds = (size_t)cb_system_bonds(s);
  int64_t *body_of = cb_arena_alloc(run->arena, n, sizeof *body_of),
          *component = cb_arena_alloc(run->arena, n, sizeof *component);
  int64_t *bond_i = cb_arena_alloc(run->arena, bonds, sizeof *bond_i),
          *bond_j = cb_arena_alloc(run->arena, bonds, sizeof *bond_j);
  if (!mass || !radius || !charge || !body_of || !component || !bond_i || !bond_j)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the constants of %zu particles", n);
  for (size_t i = 0; i < n; i++) {
    const int place = cb_system_index(s, (int)i);
    mass[i] = cb_system_masses(s)[place];
    radius[i] = cb_system_radius(s, (int)i);
    charge[i] = cb_system_charge(s, (int)i);
    body_of[i] = cb_system_body(s, (int)i);
    component[i] = cb_system_component(s, place);
  }
  for (size_t b = 0; b < bonds; b++) {
    int i, j;
    cb_system_bond(s, (int)b, &i, &j);
    bond_i[b] = i;
    bond_j[b] = j;
  }
  const cb_constant all[] = {
      {.name = "particle_name", .dim = "particle", .labels = particle, .units = "1", .doc = "name of the particle"},
      {.name = "particle_body",
       .dim = "particle",
       .integers = body_of,
       .units = "1",
       .doc = "index of the particle's body"},
      {.name = "particle_component",
       .dim = "particle",
       .integers = component,
       .units = "1",
       .doc = "index of the particle's component"},
      {.name = "particle_mass", .dim = "particle", .values = mass, .units = "1", .doc = "mass"},
      {.name = "particle_charge", .dim = "particle", .values = charge, .units = "1", .doc = "charge"},
      {.name = "particle_radius", .dim = "particle", .values = radius, .units = "1", .doc = "radius"},
      {.name = "bond_i", .dim = "bond", .integers = bond_i, .units = "1", .doc = "first particle of a bond"},
      {.name = "bond_j", .dim = "bond", .integers = bond_j, .units = "1", .doc = "second particle of a bond"},
      {.name = "constraint_name",
       .dim = "constraint",
       .labels = constraint,
       .units = "1",
       .doc = "name of the constraint"},
      {.name = "wall_name", .dim = "wall", .labels = wall, .units = "1", .doc = "name of the wall"},
      {.name = "event_name", .dim = "watched", .labels = event, .units = "1", .doc = "name of the event"}};
  for (size_t c = 0; c < sizeof all / sizeof *all; c++) cb_run_constant(run, &all[c]);
  return CB_OK;
}

static cb_status fields(cb_run *run) {
  cb_particles *p = run->particles;
  for (const cb_observable *o = cb_observables; o->group; o++) {
    if (!cb_run_asked(run, o->group)) continue;
    int f;
    const cb_status status = cb_run_field(run, &o->field, &f);
    if (status) return status;
    if (f < 0) continue; /* no bonds, no Killing fields */
    p->observable[f] = o;
    p->measures_energy = p->measures_energy || !strcmp(o->group, "energy");
    p->measures_constraints = p->measures_constraints || !strcmp(o->group, "constraints");
  }
  return CB_OK;
}

cb_status cb_particles_layout(cb_run *run) {
  cb_particles *p = run->particles;
  if (!run->options.observables) run->options.observables = usual;
  cb_status status = cb_run_check_observables(run, cb_observable_groups);
  if (!status && cb_run_asked(run, "coordinates") && !run->options.chart)
    status = cb_fail(CB_ERROR_ARGUMENT, "the observable `coordinates` needs a chart");
  if (!status) status = dimensions(run);
  if (!status) status = fields(run);
  if (!status && p->measures_constraints) status = cb_measure_rows_create(&p->measure, run->arena);
  if (status) return status;

  cb_state *s = p->state;
  const size_t count = (size_t)s->n * s->k;
  const cb_blob blobs[] = {
      {"step", CB_FIELD_INT64, 1, &s->step},
      {"position", CB_FIELD_DOUBLE, count, s->x},
      {"position_low", CB_FIELD_DOUBLE, count, s->x_low},
      {"momentum", CB_FIELD_DOUBLE, count, s->p},
      {"momentum_low", CB_FIELD_DOUBLE, count, s->p_low},
      {"origin", CB_FIELD_DOUBLE, (size_t)s->n_components * sizeof(cb_origin) / sizeof(double), s->origin}};
  cb_run_finish_layout(run, blobs, sizeof blobs / sizeof *blobs);
  return CB_OK;
}
