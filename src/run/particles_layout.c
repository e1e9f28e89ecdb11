/* The record of particles: the dimensions, constants and fields of a system and of the chosen observables. */
#include "dynamics/bases.h"
#include "run/particles_run.h"

#include <curvebody/contact.h>
#include <string.h>

const cb_observable_doc cb_observable_groups[] = {
    {"separation", "separation", "geodesic distances of bonded particles: springs, then rods"},
    {"energy", "energy, kinetic_energy, potential_energy", "energy and its parts"},
    {"killing_momentum", "killing_momentum", "momenta of the Killing fields of the space"},
    {"constraints",
     "multiplier, constraint_residual, constraint_rate_residual, constraint_acceleration_residual, dropped_residual",
     "Lagrange multipliers of constraints (for a rod, its tension), residuals of g, dg/dt and the second derivative, "
     "and residuals of redundant constraints that were dropped"},
    {"method_multiplier", "method_multiplier", "multipliers that the integrator itself solved for: radau_iia"},
    {"karcher_mean", "karcher_mean", "Karcher mean of the masses (Riemannian centre of mass)"},
    {"coordinates", "coordinates", "positions in the chart named by record.chart"},
    {"falling_regime", "falling_regime, falling_angle",
     "a system with coordinates x, y, theta: regime of the fall so far (0 undecided, 1 steady, 2 flutter, 3 tumble, "
     "4 chaotic; `curvebody classify`), and its angle"},
    {NULL, NULL, NULL}};

static const char *const usual[] = {"separation", "energy", "killing_momentum", "constraints", NULL};

/* The names of particles, bodies etc., for dimensions and constants. */
typedef struct names {
  const char **particle, **body, **killing, **constraint, **dropped, **wall, **event;
} names;

static const char **name_all(cb_run *run, int count, const char *(*of)(const cb_system *s, int i)) {
  const char **name = cb_arena_alloc(run->arena, (size_t)count, sizeof *name);
  for (int i = 0; name && i < count; i++) name[i] = of(cb_particles_of(run)->system, i);
  return name;
}

static const char *dropped_name(const cb_system *s, int i) {
  return cb_system_constraint_name(cb_system_dropped(s), i);
}

static int dropped(const cb_system *s) {
  const cb_system *of = cb_system_dropped(s);
  return of ? cb_system_constraints(of) : 0;
}

static const char *killing_name(const cb_system *s, int i) { return cb_system_space(s)->killing[i].name; }

static cb_status find_names(cb_run *run, names *out) {
  const cb_system *s = cb_particles_of(run)->system;
  out->particle = name_all(run, cb_system_particles(s), cb_system_particle_name);
  out->body = name_all(run, cb_system_bodies(s), cb_system_body_name);
  out->killing = name_all(run, cb_system_space(s)->n_killing, killing_name);
  out->constraint = name_all(run, cb_system_constraints(s), cb_system_constraint_name);
  out->dropped = name_all(run, dropped(s), dropped_name);
  out->wall = name_all(run, cb_system_walls(s), cb_system_wall_name);
  out->event = name_all(run, cb_system_events(s), cb_system_event_name);
  return out->particle && out->body && out->killing && out->constraint && out->dropped && out->wall && out->event
             ? CB_OK
             : cb_fail(CB_ERROR_MEMORY, "no memory for the names of %d particles", cb_system_particles(s));
}

static void dimensions(cb_run *run, const names *name) {
  static const char *const axes[] = {"x", "y", "z"};
  static const char *const parts[] = {"length",      "direction_x", "direction_y", "direction_z",
                                      "rotation_xx", "rotation_xy", "rotation_xz", "rotation_yx",
                                      "rotation_yy", "rotation_yz", "rotation_zx", "rotation_zy",
                                      "rotation_zz", "shift_x",     "shift_y",     "shift_z"};
  const cb_system *s = cb_particles_of(run)->system;
  const cb_space *g = cb_system_space(s);
  const cb_chart *chart = run->options.chart;
  const size_t walls = (size_t)cb_system_walls(s), events = (size_t)cb_system_events(s);
  cb_run_dimension(run, "particle", (size_t)cb_system_particles(s), "particle");
  cb_run_dimension(run, "body", (size_t)cb_system_bodies(s), "body")->labels = name->body;
  cb_run_dimension(run, "axis", 3, "axis of the plot coordinates")->labels = axes;
  cb_run_dimension(run, "coordinate", (size_t)g->k,
                   g->chart ? "coordinate of the chart" : "coordinate of the embedding")
      ->labels = (g->chart ? g->chart : cb_chart_find(g, "embedding"))->coordinates;
  cb_run_dimension(run, "component", (size_t)cb_system_components(s), "connected component");
  cb_run_dimension(run, "origin_part", sizeof(cb_origin) / sizeof(double), "part of a moving origin")->labels = parts;
  cb_run_dimension(run, "bond", (size_t)cb_system_bonds(s), "bond");
  cb_run_dimension(run, "constraint", (size_t)cb_system_constraints(s), "constraint");
  if (dropped(s)) cb_run_dimension(run, "dropped", (size_t)dropped(s), "redundant constraint that was dropped");
  if (walls) cb_run_dimension(run, "wall", walls, "wall: value of event_wall where event_kind is 0");
  if (events)
    cb_run_dimension(run, "watched", events,
                     "watched event: value of event_wall where event_kind is 1 or 2 and the event has one particle");
  cb_run_dimension(run, "killing", (size_t)g->n_killing, "Killing field")->labels = name->killing;
  cb_dimension *dof =
      cb_run_dimension(run, "dof", (size_t)(chart ? chart->size : g->dim), "coordinate of the chart of /coordinates");
  if (chart) dof->labels = chart->coordinates;
}

static cb_status constants_of_particles(cb_run *run, const names *name) {
  const cb_system *s = cb_particles_of(run)->system;
  const size_t n = (size_t)cb_system_particles(s);
  double *real[3];   /* mass, charge, radius */
  int64_t *whole[2]; /* body, component */
  for (int k = 0; k < 3; k++) real[k] = cb_arena_alloc(run->arena, n, sizeof *real[k]);
  for (int k = 0; k < 2; k++) whole[k] = cb_arena_alloc(run->arena, n, sizeof *whole[k]);
  if (!real[0] || !real[1] || !real[2] || !whole[0] || !whole[1])
    return cb_fail(CB_ERROR_MEMORY, "no memory for the constants of %zu particles", n);
  for (int i = 0; i < (int)n; i++) {
    const int place = cb_system_index(s, i);
    real[0][i] = cb_system_masses(s)[place];
    real[1][i] = cb_system_charge(s, i);
    real[2][i] = cb_system_radius(s, i);
    whole[0][i] = cb_system_body(s, i);
    whole[1][i] = cb_system_component(s, place);
  }
  const cb_constant all[] = {
      {.name = "particle_name", .labels = name->particle, .doc = "name of the particle"},
      {.name = "particle_body", .integers = whole[0], .doc = "index of the particle's body"},
      {.name = "particle_component", .integers = whole[1], .doc = "index of the particle's component"},
      {.name = "particle_mass", .values = real[0], .doc = "mass"},
      {.name = "particle_charge", .values = real[1], .doc = "charge"},
      {.name = "particle_radius", .values = real[2], .doc = "radius"}};
  for (size_t c = 0; c < sizeof all / sizeof *all; c++) {
    cb_constant constant = all[c];
    constant.dim = "particle";
    constant.units = "1";
    cb_run_constant(run, &constant);
  }
  return CB_OK;
}

static cb_status constants_of_bonds(cb_run *run) {
  const cb_system *s = cb_particles_of(run)->system;
  const size_t bonds = (size_t)cb_system_bonds(s);
  int64_t *end[2];
  for (int k = 0; k < 2; k++) end[k] = cb_arena_alloc(run->arena, bonds, sizeof *end[k]);
  if (!end[0] || !end[1]) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu bonds", bonds);
  for (size_t b = 0; b < bonds; b++) {
    int i, j;
    cb_system_bond(s, (int)b, &i, &j);
    end[0][b] = i;
    end[1][b] = j;
  }
  cb_run_constant(
      run, &(cb_constant){
               .name = "bond_i", .dim = "bond", .integers = end[0], .units = "1", .doc = "first particle of a bond"});
  cb_run_constant(
      run, &(cb_constant){
               .name = "bond_j", .dim = "bond", .integers = end[1], .units = "1", .doc = "second particle of a bond"});
  return CB_OK;
}

static cb_status constants(cb_run *run, const names *name) {
  cb_status status = constants_of_particles(run, name);
  if (!status) status = constants_of_bonds(run);
  const cb_constant named[] = {
      {.name = "constraint_name", .dim = "constraint", .labels = name->constraint, .doc = "name of the constraint"},
      {.name = "dropped_name", .dim = "dropped", .labels = name->dropped, .doc = "name of the dropped constraint"},
      {.name = "wall_name", .dim = "wall", .labels = name->wall, .doc = "name of the wall"},
      {.name = "event_name", .dim = "watched", .labels = name->event, .doc = "name of the event"}};
  for (size_t c = 0; c < sizeof named / sizeof *named && !status; c++) {
    cb_constant constant = named[c];
    constant.units = "1";
    cb_run_constant(run, &constant);
  }
  return status;
}

cb_status cb_particles_layout(cb_run *run) {
  cb_particles *p = run->own;
  cb_status status = cb_run_choose(run, cb_observable_groups, usual);
  if (!status && cb_run_asked(run, "coordinates") && !run->options.chart)
    status = cb_fail(CB_ERROR_ARGUMENT, "the observable `coordinates` needs a chart");
  names name;
  if (!status) status = find_names(run, &name);
  if (!status) {
    dimensions(run, &name);
    status = constants(run, &name);
  }
  if (!status) status = cb_run_fields(run, cb_observables);
  p->measures_energy = cb_run_asked(run, "energy");
  p->measures_momenta = cb_run_asked(run, "killing_momentum");
  p->measures_mean = cb_run_asked(run, "karcher_mean");
  p->measures_constraints = cb_run_asked(run, "constraints") && cb_system_constraints(p->system) > 0;
  if (!status && p->measures_constraints) status = cb_measure_rows_create(&p->measure, run->arena);
  const bool falls = cb_run_asked(run, "falling_regime");
  if (!status && falls) status = cb_falling_plate_of_system(p->system, &p->plate);
  if (!status && falls && !(p->falling = cb_arena_alloc(run->arena, 1, sizeof *p->falling)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for a fall");
  if (status) return status;

  cb_state *s = p->state;
  const size_t count = (size_t)s->n * s->k, origins = (size_t)s->n_components * sizeof(cb_origin) / sizeof(double);
  const cb_bases *bases = p->contacts && cb_origin_moves(p->measure.space) ? cb_contacts_bases(p->contacts) : NULL;
  const cb_blob blobs[] = {{"step", CB_FIELD_INT64, 1, &s->step, false},
                           {"position", CB_FIELD_DOUBLE, count, s->x, false},
                           {"position_low", CB_FIELD_DOUBLE, count, s->x_low, false},
                           {"momentum", CB_FIELD_DOUBLE, count, s->p, false},
                           {"momentum_low", CB_FIELD_DOUBLE, count, s->p_low, false},
                           {"origin", CB_FIELD_DOUBLE, origins, s->origin, false},
                           {"falling", CB_FIELD_DOUBLE, sizeof *p->falling / sizeof(double), p->falling, false},
                           {"base", CB_FIELD_DOUBLE, origins, bases ? bases->base : NULL, false},
                           {"own_origin", CB_FIELD_DOUBLE, origins, bases ? bases->own : NULL, false},
                           {"leader", CB_FIELD_INT32, 3 * (size_t)s->n_components, bases ? bases->leader : NULL, false},
                           {"watch", CB_FIELD_DOUBLE, sizeof p->watch / sizeof(double), &p->watch, true}};
  cb_blob present[sizeof blobs / sizeof *blobs];
  size_t n = 0;
  for (size_t i = 0; i < sizeof blobs / sizeof *blobs; i++)
    if (blobs[i].data) present[n++] = blobs[i];
  cb_run_finish_layout(run, present, n);
  return CB_OK;
}
