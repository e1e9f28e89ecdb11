/* The fields of a record: what dynamics/measure.c finds of a state, and positions and momenta as they are, with the
 * origin beside them. */
#include "run/particles.h"

#include "geometry/origin.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

static CB_FILL(solver) {
  const char *solver = run->particles->integrator->solver;
  *(int32_t *)to.out = !strcmp(solver, "newton") ? 2 : !strcmp(solver, "fixed-point") ? 1 : 0;
  return CB_OK;
}

/* Both fields, the second into scratch. */
static CB_FILL(picture) {
  const cb_particles *p = run->particles;
  cb_status status = CB_OK;
  for (int i = 0; i < p->state->n && !status; i++)
    status =
        cb_state_picture(p->system, p->state, i, (double *)to.out + 3 * (size_t)i, p->measure.points + 3 * (size_t)i);
  return status;
}

static CB_FILL(picture_velocity) {
  memcpy(to.out, run->particles->measure.points, to.size);
  return CB_OK;
}

/* The numbers of all particles, in their own order. */
static CB_FILL(of_state) {
  const cb_particles *p = run->particles;
  const double *values = *(double *const *)((const char *)p->state + to.at);
  const size_t k = (size_t)p->measure.space->k;
  for (int i = 0; i < p->state->n; i++)
    memcpy((double *)to.out + k * (size_t)i, values + k * (size_t)cb_system_index(p->system, i), k * sizeof *values);
  return CB_OK;
}

static CB_FILL(of_rows) {
  const char *rows = (const char *)run->particles->measure.rows;
  return memcpy(to.out, *(double *const *)(rows + to.at), to.size), CB_OK;
}

static CB_FILL(method_multiplier) {
  const cb_particles *p = run->particles;
  const double *found = p->state->step > 0 ? p->integrator->multipliers : NULL;
  for (size_t r = 0; r < to.size / sizeof *found; r++) ((double *)to.out)[r] = found ? found[r] : NAN;
  return CB_OK;
}

static CB_FILL(falling_regime) { return *(int32_t *)to.out = cb_falling_judge(run->particles->falling).regime, CB_OK; }
static CB_FILL(falling_angle) { return *(double *)to.out = run->particles->falling->last.angle, CB_OK; }
static CB_FILL(origin) { return memcpy(to.out, run->particles->state->origin, to.size), CB_OK; }

static CB_FILL(separation) {
  const cb_measure *m = &run->particles->measure;
  const cb_geometry *g = m->space;
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
  const cb_measure *m = &run->particles->measure;
  return *(double *)to.out = m->kinetic + m->potential, CB_OK;
}

/* The mean is taken in the frame of the first component's origin: exact for one body, and as good as the frame for
 * several. */
static cb_status mean_of_points(const cb_measure *m, double *picture) {
  const cb_geometry *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX], mean[CB_Q_MAX], zero[CB_Q_MAX] = {0}, rate[3];
  cb_status status = CB_OK;
  for (int a = 0; a < m->state->n && !status; a++) {
    status = cb_measure_local(m, a, x, v);
    if (!status)
      status = cb_origin_relative_point(g, &m->state->origin[0], cb_measure_origin(m, a), x,
                                        m->points + (size_t)a * g->embedding);
  }
  if (!status) status = cb_karcher_mean(g, (size_t)m->state->n, m->points, cb_system_masses(m->system), mean);
  if (!status) cb_origin_picture(g, &m->state->origin[0], mean, zero, picture, rate);
  return status;
}

/* Where numbers of the embedding grow with the distance, by places in the world. */
static cb_status mean_of_places(const cb_measure *m, double *picture) {
  const cb_geometry *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX], base[CB_Q_MAX], zero[CB_Q_MAX] = {0}, rate[3];
  cb_origin mean;
  cb_status status = CB_OK;
  for (int a = 0; a < m->state->n && !status; a++) {
    status = cb_measure_local(m, a, x, v);
    cb_origin_at(g, x, &m->places[a]);
    cb_origin_compose(g, cb_measure_origin(m, a), &m->places[a], &m->places[a]);
  }
  if (!status)
    status = cb_karcher_mean_of_places(g, (size_t)m->state->n, m->places, &m->state->origin[0],
                                       cb_system_masses(m->system), &mean);
  cb_geometry_base_point(g, base);
  if (status) return status;
  cb_origin_picture(g, &mean, base, zero, picture, rate);
  if (isfinite(picture[0]) && isfinite(picture[1]) && isfinite(picture[2])) return CB_OK;
  return cb_fail(
      CB_ERROR_DOMAIN,
      "the mean is %.6g radii of curvature from the base point: expected at most 709, up to which numbers of "
      "the embedding are finite",
      cb_origin_radii(g, &mean));
}

cb_status cb_measure_mean(cb_measure *m) {
  const cb_status status = (cb_origin_grows(m->space) ? mean_of_places : mean_of_points)(m, m->mean);
  for (int a = 0; a < 3 && status; a++) m->mean[a] = NAN;
  return status;
}

static CB_FILL(karcher) {
  memcpy(to.out, run->particles->measure.mean, sizeof run->particles->measure.mean);
  return CB_OK;
}

static CB_FILL(coordinates) {
  const cb_measure *m = &run->particles->measure;
  const cb_geometry *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX];
  for (int i = 0; i < m->state->n; i++) {
    const int place = cb_system_index(m->system, i);
    double *q = (double *)to.out + (size_t)i * m->chart->size;
    if (g->chart && g->chart == m->chart) {
      memcpy(q, m->state->x + (size_t)place * g->k, (size_t)g->dim * sizeof *q);
      if (g->intrinsic) cb_origin_world_point(g, cb_measure_origin(m, place), q, q);
      continue;
    }
    cb_status status = cb_measure_local(m, place, x, v);
    if (status) return status;
    if (cb_origin_coordinates(g, cb_measure_origin(m, place), x, m->chart, q) != CB_OK)
      for (int a = 0; a < m->chart->size; a++) q[a] = NAN;
  }
  return CB_OK;
}

static CB_FILL(dropped) {
  memcpy(to.out, cb_particles_dropped_residual(run->particles), to.size);
  return CB_OK;
}

#define FIELD(group, name, doc, ...) CB_OBSERVABLE(group, name, DOUBLE, "1", doc, __VA_ARGS__)
#define IN_ROWS(name, doc, member) \
  FIELD("constraints", name, doc, of_rows, offsetof(struct cb_measure_rows, member), 1, "constraint")
const cb_observable cb_observables[] = {
    FIELD("", "time", "time", cb_fill_time, 0, 0, 0),
    CB_OBSERVABLE("", "step", INT64, "1", "steps since the start", cb_fill_step, 0, 0, 0),
    FIELD("", "x", "picture coordinates", picture, 0, 2, "particle", "axis"), /* what follows is found with it */
    FIELD("", "v", "velocity of the picture coordinates", picture_velocity, 0, 2, "particle", "axis"),
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
    FIELD("killing_momentum", "killing_momentum", "momenta of the Killing fields; nan where it has no digits",
          cb_fill_own, offsetof(cb_particles, measure.momentum), 1, "killing"),
    FIELD("karcher_mean", "karcher_mean",
          "Karcher mean of the masses, in picture coordinates; nan, with a warning, where it is not unique or too far "
          "out",
          karcher, 0, 1, "axis"),
    FIELD("coordinates", "coordinates", "positions in the chart named by record.chart", coordinates, 0, 2, "particle",
          "dof"),
    CB_OBSERVABLE("falling_regime", "falling_regime", INT32, "1",
                  "so far: 0 undecided, 1 steady, 2 flutter, 3 tumble, 4 chaotic", falling_regime, 0, 1, "body"),
    FIELD("falling_regime", "falling_angle", "of the normal from the vertical, through whole turns", falling_angle, 0,
          1, "body"),
    IN_ROWS("multiplier", "multiplier of a constraint: the pull along a rod, positive where it holds its ends together",
            multiplier),
    IN_ROWS("constraint_residual", "g: what is left of a constraint of positions", residual),
    FIELD("constraints", "dropped_residual", "g, or a v - b: what is left of a constraint that was dropped as implied",
          dropped, 0, 1, "dropped"),
    IN_ROWS("constraint_rate_residual", "dg/dt, or a v - b", rate),
    IN_ROWS("constraint_acceleration_residual", "second derivative of g under the forces and multipliers of this row",
            second),
    FIELD("method_multiplier", "method_multiplier",
          "multipliers that the method solved for in the last step; nan where it has none, and at the start",
          method_multiplier, 0, 1, "constraint"),
    CB_OBSERVABLE("", "solver_iterations", INT32, "1", "iterations of the last step", cb_fill_iterations, 0, 0, 0),
    CB_OBSERVABLE("", "solver", INT32, "1", "solver of the last step: 0 explicit, 1 fixed-point, 2 Newton", solver, 0,
                  0, 0),
    FIELD("", "step_size", "size of the last step", cb_fill_step_size, 0, 0, 0),
    {0}};
