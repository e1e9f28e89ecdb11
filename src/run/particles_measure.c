/* The fields of a record of particles: quantities that dynamics/state_measure.c computes from a state, the stored
 * positions, momenta and origins, and the residuals of constraints. */
#include "run/particles_run.h"

#include "dynamics/bases.h"
#include "dynamics/gram.h"
#include "geometry/origin.h"
#include <curvebody/contact.h>

#include <math.h>
#include <stddef.h>
#include <string.h>

static cb_status local_of(const cb_measure *m, int place, double *x, double *v) {
  return cb_state_local(m->system, m->state, place, x, v);
}
static const cb_origin *origin_of(const cb_measure *m, int place) {
  return &m->state->origin[cb_system_component(m->system, place)];
}

static CB_FILL(solver) {
  const char *solver = cb_particles_of(run)->integrator->solver;
  *(int32_t *)to.out = !strcmp(solver, "newton") ? 2 : !strcmp(solver, "fixed-point") ? 1 : 0;
  return CB_OK;
}

/* Fills plot_position, and computes the velocities in scratch memory, from which the field plot_velocity copies
 * them. */
static CB_FILL(plot) {
  const cb_particles *p = run->own;
  cb_status status = CB_OK;
  for (int i = 0; i < p->state->n && !status; i++) {
    double *out = (double *)to.out + 3 * (size_t)i;
    if (isnan(p->state->x[p->state->k * cb_system_index(p->system, i)]))
      out[0] = out[1] = out[2] = NAN; /* the state is that at an event in which the particle does not take part */
    else
      status = cb_state_plot(p->system, p->state, i, out, p->measure.points + 3 * (size_t)i);
  }
  return status;
}

static CB_FILL(plot_velocity) {
  memcpy(to.out, cb_particles_of(run)->measure.points, to.size);
  return CB_OK;
}

/* Copies the member of cb_state at the offset to.at, for all particles in the user's order. */
static CB_FILL(of_state) {
  const cb_particles *p = run->own;
  const double *values = *(double *const *)((const char *)p->state + to.at);
  const size_t k = (size_t)p->measure.space->k;
  for (int i = 0; i < p->state->n; i++)
    memcpy((double *)to.out + k * (size_t)i, values + k * (size_t)cb_system_index(p->system, i), k * sizeof *values);
  return CB_OK;
}

static CB_FILL(of_rows) {
  const char *rows = (const char *)cb_particles_of(run)->measure.rows;
  memcpy(to.out, *(double *const *)(rows + to.at), to.size);
  return CB_OK;
}

static CB_FILL(method_multiplier) {
  const cb_particles *p = run->own;
  const double *found = p->state->step > 0 ? p->integrator->multipliers : NULL;
  for (size_t r = 0; r < to.size / sizeof *found; r++) ((double *)to.out)[r] = found ? found[r] : NAN;
  return CB_OK;
}

static CB_FILL(falling_regime) {
  *(int32_t *)to.out = cb_falling_judge(cb_particles_of(run)->falling).regime;
  return CB_OK;
}
static CB_FILL(falling_angle) {
  *(double *)to.out = cb_particles_of(run)->falling->last.angle;
  return CB_OK;
}
static CB_FILL(origin) {
  memcpy(to.out, cb_particles_of(run)->state->origin, to.size);
  return CB_OK;
}

static CB_FILL(separation) {
  const cb_measure *m = &cb_particles_of(run)->measure;
  const cb_space *g = m->space;
  double *d = to.out;
  for (int b = 0; b < cb_system_bonds(m->system); b++) {
    int i, j;
    cb_system_bond(m->system, b, &i, &j);
    const double *x = m->state->x + (size_t)cb_system_index(m->system, i) * g->k;
    const double *y = m->state->x + (size_t)cb_system_index(m->system, j) * g->k;
    if (!g->chart) {
      d[b] = cb_distance(g, x, y);
    } else {
      const cb_status status = g->chart->distance(g, x, y, &d[b], NULL, NULL);
      if (status) return status;
    }
  }
  return CB_OK;
}

cb_status cb_measure_energy(cb_measure *m) {
  return cb_forces_energy(m->integrator->forces, m->state, &m->kinetic, &m->potential);
}

static CB_FILL(energy) {
  const cb_measure *m = &cb_particles_of(run)->measure;
  *(double *)to.out = m->kinetic + m->potential;
  return CB_OK;
}

/* Computes the Karcher mean of all particles in the frame of the first component's origin. With several components, the
 * round-off of their frames relative to the first one adds to the error of the mean. */
static cb_status mean_of_points(const cb_measure *m, double *plot) {
  const cb_space *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX], mean[CB_Q_MAX], zero[CB_Q_MAX] = {0}, rate[3];
  cb_status status = CB_OK;
  for (int a = 0; a < m->state->n && !status; a++) {
    status = local_of(m, a, x, v);
    if (!status)
      status =
          cb_origin_relative_point(g, &m->state->origin[0], origin_of(m, a), x, m->points + (size_t)a * g->embedding);
  }
  if (!status) status = cb_karcher_mean(g, (size_t)m->state->n, m->points, cb_system_masses(m->system), mean);
  if (!status) cb_origin_plot(g, &m->state->origin[0], mean, zero, plot, rate);
  return status;
}

/* Computes the mean from positions in the world, which are given as origins. This is for spaces where coordinates of
 * the embedding grow like exp(distance from the base point), and may overflow. */
static cb_status mean_of_places(const cb_measure *m, double *plot) {
  const cb_space *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX], base[CB_Q_MAX], zero[CB_Q_MAX] = {0}, rate[3];
  cb_origin mean;
  cb_status status = CB_OK;
  for (int a = 0; a < m->state->n && !status; a++) {
    status = local_of(m, a, x, v);
    cb_origin_at(g, x, &m->places[a]);
    cb_origin_compose(g, origin_of(m, a), &m->places[a], &m->places[a]);
  }
  if (!status)
    status = cb_karcher_mean_of_places(g, (size_t)m->state->n, m->places, &m->state->origin[0],
                                       cb_system_masses(m->system), &mean);
  cb_space_base_point(g, base);
  if (status) return status;
  cb_origin_plot(g, &mean, base, zero, plot, rate);
  if (isfinite(plot[0]) && isfinite(plot[1]) && isfinite(plot[2])) return CB_OK;
  return cb_fail(
      CB_ERROR_DOMAIN,
      "the mean is %.6g radii of curvature from the base point: expected at most 709, because coordinates of the "
      "embedding overflow beyond",
      cb_origin_radii(g, &mean));
}

cb_status cb_measure_mean(cb_measure *m) {
  const cb_status status = (cb_origin_grows(m->space) ? mean_of_places : mean_of_points)(m, m->mean);
  for (int a = 0; a < 3 && status; a++) m->mean[a] = NAN;
  return status;
}

static CB_FILL(karcher) {
  memcpy(to.out, cb_particles_of(run)->measure.mean, sizeof cb_particles_of(run)->measure.mean);
  return CB_OK;
}

static CB_FILL(coordinates) {
  const cb_measure *m = &cb_particles_of(run)->measure;
  const cb_space *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX];
  for (int i = 0; i < m->state->n; i++) {
    const int place = cb_system_index(m->system, i);
    double *q = (double *)to.out + (size_t)i * m->chart->size;
    if (g->chart && g->chart == m->chart) {
      memcpy(q, m->state->x + (size_t)place * g->k, (size_t)g->dim * sizeof *q);
      if (g->intrinsic) cb_origin_world_point(g, origin_of(m, place), q, q);
      continue;
    }
    cb_status status = local_of(m, place, x, v);
    if (status) return status;
    if (cb_origin_coordinates(g, origin_of(m, place), x, m->chart, q) != CB_OK)
      for (int a = 0; a < m->chart->size; a++) q[a] = NAN;
  }
  return CB_OK;
}

static CB_FILL(dropped) {
  memcpy(to.out, cb_particles_dropped_residual(cb_particles_of(run)), to.size);
  return CB_OK;
}

#define FIELD(group, name, doc, ...) CB_OBSERVABLE(group, name, DOUBLE, "1", doc, __VA_ARGS__)
#define IN_ROWS(name, doc, member) \
  FIELD("constraints", name, doc, of_rows, offsetof(struct cb_measure_rows, member), 1, "constraint")
const cb_observable cb_observables[] = {
    FIELD("", "time", "time", cb_fill_time, 0, 0, 0),
    CB_OBSERVABLE("", "step", INT64, "1", "steps since the start", cb_fill_step, 0, 0, 0),
    FIELD("", "plot_position", "plot coordinates", plot, 0, 2, "particle",
          "axis"), /* must come before plot_velocity, because `plot` computes both */
    FIELD("", "plot_velocity", "velocity of the plot coordinates", plot_velocity, 0, 2, "particle", "axis"),
    FIELD("state", "position", "position in the embedding or chart, relative to the origin", of_state,
          offsetof(cb_state, x), 2, "particle", "coordinate"),
    FIELD("state", "momentum", "momentum: vector of the embedding, or covector of the chart", of_state,
          offsetof(cb_state, p), 2, "particle", "coordinate"),
    FIELD("state", "origin", "moving origins: length, direction (3), rotation (3x3, row-major)", origin, 0, 2,
          "component", "origin_part"),
    FIELD("separation", "separation", "geodesic distance of bonded particles", separation, 0, 1, "bond"),
    FIELD("energy", "energy", "total energy", energy, 0, 0, 0),
    FIELD("energy", "kinetic_energy", "kinetic energy", cb_fill_own, offsetof(cb_particles, measure.kinetic), 0, 0),
    FIELD("energy", "potential_energy", "potential energy", cb_fill_own, offsetof(cb_particles, measure.potential), 0,
          0),
    FIELD("killing_momentum", "killing_momentum",
          "momenta of the Killing fields; nan where they have no correct digits", cb_fill_own,
          offsetof(cb_particles, measure.momentum), 1, "killing"),
    FIELD("karcher_mean", "karcher_mean",
          "Karcher mean of the masses, in plot coordinates; nan, with a warning, where it is not unique or too far "
          "from the base point",
          karcher, 0, 1, "axis"),
    FIELD("coordinates", "coordinates", "positions in the chart named by record.chart", coordinates, 0, 2, "particle",
          "dof"),
    CB_OBSERVABLE("falling_regime", "falling_regime", INT32, "1",
                  "regime so far: 0 undecided, 1 steady, 2 flutter, 3 tumble, 4 chaotic", falling_regime, 0, 1, "body"),
    FIELD("falling_regime", "falling_angle",
          "angle of the normal from the vertical, continued through full revolutions", falling_angle, 0, 1, "body"),
    IN_ROWS("multiplier",
            "Lagrange multiplier of a constraint; for a rod its tension, positive if it pulls its ends together",
            multiplier),
    IN_ROWS("constraint_residual", "g: residual of a constraint of positions", residual),
    FIELD("constraints", "dropped_residual", "g, or a v - b: residual of a redundant constraint that was dropped",
          dropped, 0, 1, "dropped"),
    IN_ROWS("constraint_rate_residual", "dg/dt, or a v - b", rate),
    IN_ROWS("constraint_acceleration_residual", "second derivative of g under the forces and multipliers of this row",
            second),
    FIELD("method_multiplier", "method_multiplier",
          "multipliers that the integrator solved for in the last step; nan if it has none, and at the start",
          method_multiplier, 0, 1, "constraint"),
    CB_OBSERVABLE("", "solver_iterations", INT32, "1", "iterations of the last step", cb_fill_iterations, 0, 0, 0),
    CB_OBSERVABLE("", "solver", INT32, "1", "solver of the last step: 0 explicit, 1 fixed-point, 2 Newton", solver, 0,
                  0, 0),
    FIELD("", "step_size", "size of the last step", cb_fill_step_size, 0, 0, 0),
    {0}};

/* --- constraints: multipliers, and the residuals of the constraints g(x, t) = 0, of g' and of g'' ---
 *
 *   g' = G v + g_t,   g'' = G dv/dt + gamma
 *
 * x: positions; v = dx/dt; G = dg/dx; g_t = dg/dt at fixed x; gamma: the terms without dv/dt. dv/dt is computed from
 * the forces and multipliers of this state. Therefore g'' shows the round-off of the multipliers and no error of the
 * integrator.
 */

/* Makes and fills m->rows, for a system that has constraints. */
static cb_status measure_rows_create(cb_measure *m, cb_arena *arena) {
  const size_t n = (size_t)cb_system_particles(m->system) * (size_t)m->space->k,
               rows = (size_t)cb_system_constraints(m->system);
  struct cb_measure_rows *r = cb_arena_alloc(arena, 1, sizeof *r);
  if (!r) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  r->constraints = cb_forces_constraints(m->integrator->forces);
  const size_t entries = (size_t)cb_constraints_rows(r->constraints)->start[rows];
  r->velocity = cb_arena_alloc(arena, n, sizeof(double));
  r->acceleration = cb_arena_alloc(arena, n, sizeof(double));
  r->gradient = cb_arena_alloc(arena, entries * (size_t)m->space->k, sizeof(double));
  r->multiplier = cb_arena_alloc(arena, rows, sizeof(double));
  r->residual = cb_arena_alloc(arena, rows, sizeof(double));
  r->rate = cb_arena_alloc(arena, rows, sizeof(double));
  r->second = cb_arena_alloc(arena, rows, sizeof(double));
  if (!r->velocity || !r->acceleration || !r->gradient || !r->multiplier || !r->residual || !r->rate || !r->second)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu constraints", rows);
  const cb_status status = cb_gram_create(m->integrator->forces, r->constraints, &r->gram);
  if (!status) m->rows = r;
  return status;
}

void cb_measure_rows_free(cb_measure *m) {
  if (m->rows) cb_gram_free(m->rows->gram);
  m->rows = NULL;
}

static cb_status velocities(const cb_measure *m, double *v) {
  const size_t k = (size_t)m->space->k;
  const double *mass = cb_system_masses(m->system);
  for (int i = 0; i < m->state->n; i++) {
    const double *x = m->state->x + (size_t)i * k, *p = m->state->p + (size_t)i * k;
    const cb_status status = cb_space_raise(m->space, x, p, v + (size_t)i * k);
    if (status) return status;
    for (size_t a = 0; a < k; a++) v[(size_t)i * k + a] /= mass[i];
  }
  return CB_OK;
}

cb_status cb_measure_rows(cb_measure *m) {
  struct cb_measure_rows *r = m->rows;
  const double t = m->state->t, *x = m->state->x;
  const cb_rows *rows = cb_constraints_rows(r->constraints);
  const int k = m->space->k;
  cb_status status = velocities(m, r->velocity);
  if (!status) status = cb_gram_multipliers(r->gram, t, x, r->velocity, r->multiplier, r->acceleration);
  if (!status) status = cb_constraints_eval(r->constraints, t, x, r->residual, r->gradient);
  if (!status) status = cb_constraints_rate(r->constraints, t, x, r->velocity, r->rate, NULL);
  if (!status) status = cb_constraints_second(r->constraints, t, x, r->velocity, r->second, NULL);
  if (status) return status;
  for (int row = 0; row < rows->rows; row++)
    for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
      for (int a = 0; a < k; a++) r->second[row] += r->gradient[e * k + a] * r->acceleration[rows->particle[e] * k + a];
  return CB_OK;
}

static double largest(const cb_rows *rows, bool velocity, const double *value) {
  double maximum = 0;
  for (int r = 0; r < rows->own; r++)
    if (rows->velocity[r] == velocity) maximum = fmax(maximum, fabs(value[r]));
  return maximum;
}

cb_status cb_measure_worst_row(const cb_measure *m, double *scratch, double *worst) {
  cb_constraints *c = cb_forces_constraints(m->integrator->forces);
  const cb_rows *rows = cb_constraints_rows(c);
  if (m->rows) {
    *worst = fmax(largest(rows, false, m->rows->residual), largest(rows, true, m->rows->rate));
    return CB_OK;
  }
  double *v = scratch + rows->own;
  cb_status status = cb_constraints_eval(c, m->state->t, m->state->x, scratch, NULL);
  *worst = status ? 0 : largest(rows, false, scratch);
  if (status || !cb_system_velocity_constraints(m->system)) return status;
  status = velocities(m, v);
  if (!status) status = cb_constraints_rate(c, m->state->t, m->state->x, v, scratch, NULL);
  if (!status) *worst = fmax(*worst, largest(rows, true, scratch));
  return status;
}

/* --- the layout ---
 *
 * The record of particles: the dimensions, constants and fields of a system and of the chosen observables.
 */

const cb_observable_doc cb_observable_groups[] = {
    {"separation", "separation", "geodesic distances of bonded particles: springs, then rods"},
    {"energy", "energy, kinetic_energy, potential_energy", "energy and its parts"},
    {"killing_momentum", "killing_momentum", "momenta of the Killing fields of the space"},
    {"controls", "control", "with `controls`: their values in the last step; at the start, the first values"},
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
  const char *const *bond;
} names;

static const char **name_all(cb_run *run, int count, const char *(*of)(const cb_system *s, int i)) {
  const char **name = cb_arena_alloc(run->arena, (size_t)count, sizeof *name);
  for (int i = 0; name && i < count; i++) name[i] = of(cb_particles_of(run)->system, i);
  return name;
}

static const char *dropped_name(const cb_system *s, int i) {
  return cb_system_constraint_name(cb_system_dropped(s), i);
}

static int count_dropped(const cb_system *s) {
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
  out->dropped = name_all(run, count_dropped(s), dropped_name);
  out->wall = name_all(run, cb_system_walls(s), cb_system_wall_name);
  out->event = name_all(run, cb_system_events(s), cb_system_event_name);
  out->bond = cb_system_bond_labels(s, run->arena);
  return out->particle && out->body && out->killing && out->constraint && out->dropped && out->wall && out->event &&
                 out->bond
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
  cb_run_dimension(run, "bond", (size_t)cb_system_bonds(s), "bond: its two particles")->labels = name->bond;
  cb_run_dimension(run, "constraint", (size_t)cb_system_constraints(s), "constraint");
  if (count_dropped(s))
    cb_run_dimension(run, "dropped", (size_t)count_dropped(s), "redundant constraint that was dropped");
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
  static const char *const at_events[] = {"plot_position", "position", "momentum", NULL};
  if (!status && p->contacts) status = cb_run_event_fields(run, cb_observables, at_events);
  if (cb_run_events_have_state(run)) cb_contacts_keep_states(p->contacts);
  p->measures_energy = cb_run_asked(run, "energy");
  p->measures_momenta = cb_run_asked(run, "killing_momentum");
  p->measures_mean = cb_run_asked(run, "karcher_mean");
  p->measures_constraints = cb_run_asked(run, "constraints") && cb_system_constraints(p->system) > 0;
  if (!status && p->measures_constraints) status = measure_rows_create(&p->measure, run->arena);
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
  return cb_run_finish_layout(run, present, n);
}
