/* The fields of a record: what dynamics/measure.c finds of a state, and positions and momenta as they are, with the
 * origin beside them. */
#include "run/measure.h"

#include "geometry/origin.h"

#include <math.h>
#include <string.h>

static cb_status time_(cb_measure *m, void *out) { return *(double *)out = m->state->t, CB_OK; }
static cb_status step_(cb_measure *m, void *out) { return *(int64_t *)out = m->state->step, CB_OK; }
static cb_status step_size(cb_measure *m, void *out) { return *(double *)out = m->step_size, CB_OK; }
static cb_status iterations(cb_measure *m, void *out) { return *(int32_t *)out = m->integrator->iterations, CB_OK; }

static cb_status solver(cb_measure *m, void *out) {
  *(int32_t *)out = !strcmp(m->integrator->solver, "newton")        ? 2
                    : !strcmp(m->integrator->solver, "fixed-point") ? 1
                                                                    : 0;
  return CB_OK;
}

static cb_status pictures(cb_measure *m, double *out, bool velocity) {
  double picture[3], rate[3];
  for (int i = 0; i < m->state->n; i++) {
    const cb_status status = cb_state_picture(m->system, m->state, i, picture, rate);
    if (status) return status;
    memcpy(out + 3 * (size_t)i, velocity ? rate : picture, sizeof picture);
  }
  return CB_OK;
}

static cb_status picture(cb_measure *m, void *out) { return pictures(m, out, false); }
static cb_status picture_velocity(cb_measure *m, void *out) { return pictures(m, out, true); }

static cb_status by_particle(const cb_measure *m, const double *values, double *out) {
  const size_t k = (size_t)m->space->k;
  for (int i = 0; i < m->state->n; i++)
    memcpy(out + k * i, values + k * cb_system_index(m->system, i), k * sizeof *out);
  return CB_OK;
}

static cb_status position(cb_measure *m, void *out) { return by_particle(m, m->state->x, out); }
static cb_status momentum(cb_measure *m, void *out) { return by_particle(m, m->state->p, out); }

static cb_status origin(cb_measure *m, void *out) {
  memcpy(out, m->state->origin, (size_t)m->state->n_components * sizeof(cb_origin));
  return CB_OK;
}

static cb_status separation(cb_measure *m, void *out) {
  const cb_geometry *g = m->space;
  double *d = out;
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

static cb_status energy(cb_measure *m, void *out) { return *(double *)out = m->kinetic + m->potential, CB_OK; }
static cb_status kinetic(cb_measure *m, void *out) { return *(double *)out = m->kinetic, CB_OK; }
static cb_status potential(cb_measure *m, void *out) { return *(double *)out = m->potential, CB_OK; }

/* The mean is taken in the frame of the first component's origin: exact for one body, and as good as the frame for
 * several. */
static cb_status karcher(cb_measure *m, void *out) {
  const cb_geometry *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX], mean[CB_Q_MAX], zero[CB_Q_MAX] = {0}, rate[3];
  for (int a = 0; a < m->state->n; a++) {
    cb_status status = cb_measure_local(m, a, x, v);
    if (!status)
      status = cb_origin_relative_point(g, &m->state->origin[0], cb_measure_origin(m, a), x,
                                        m->points + (size_t)a * g->embedding);
    if (status) return status;
  }
  const cb_status status = cb_karcher_mean(g, (size_t)m->state->n, m->points, cb_system_masses(m->system), mean);
  if (status == CB_ERROR_DOMAIN) {
    for (int a = 0; a < 3; a++) ((double *)out)[a] = NAN;
    return CB_OK;
  }
  if (status) return status;
  cb_origin_picture(g, &m->state->origin[0], mean, zero, out, rate);
  return CB_OK;
}

static cb_status coordinates(cb_measure *m, void *out) {
  const cb_geometry *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX];
  for (int i = 0; i < m->state->n; i++) {
    const int place = cb_system_index(m->system, i);
    double *q = (double *)out + (size_t)i * m->chart->size;
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

const cb_observable cb_observables[] = {
    {"", {"time", CB_FIELD_DOUBLE, 0, {0}, "1", "time"}, time_},
    {"", {"step", CB_FIELD_INT64, 0, {0}, "1", "steps since the start"}, step_},
    {"", {"x", CB_FIELD_DOUBLE, 2, {"particle", "axis"}, "1", "picture coordinates"}, picture},
    {"", {"v", CB_FIELD_DOUBLE, 2, {"particle", "axis"}, "1", "velocity of the picture coordinates"}, picture_velocity},
    {"state",
     {"position",
      CB_FIELD_DOUBLE,
      2,
      {"particle", "coordinate"},
      "1",
      "position in the embedding or chart, relative to the origin"},
     position},
    {"state",
     {"momentum",
      CB_FIELD_DOUBLE,
      2,
      {"particle", "coordinate"},
      "1",
      "momentum: vector of the embedding, or covector of the chart"},
     momentum},
    {"state",
     {"origin",
      CB_FIELD_DOUBLE,
      2,
      {"component", "origin_part"},
      "1",
      "moving origins: length, direction (3), rotation (3x3, row-major)"},
     origin},
    {"separation",
     {"separation", CB_FIELD_DOUBLE, 1, {"bond"}, "1", "geodesic distance of bonded particles"},
     separation},
    {"energy", {"energy", CB_FIELD_DOUBLE, 0, {0}, "1", "total energy"}, energy},
    {"energy", {"kinetic_energy", CB_FIELD_DOUBLE, 0, {0}, "1", "kinetic energy"}, kinetic},
    {"energy", {"potential_energy", CB_FIELD_DOUBLE, 0, {0}, "1", "potential energy"}, potential},
    {"killing_momentum",
     {"killing_momentum", CB_FIELD_DOUBLE, 1, {"killing"}, "1", "momenta of the Killing fields"},
     cb_measure_killing},
    {"karcher_mean",
     {"karcher_mean",
      CB_FIELD_DOUBLE,
      1,
      {"axis"},
      "1",
      "Karcher mean of the masses, in picture coordinates; nan where it is not unique"},
     karcher},
    {"coordinates",
     {"coordinates", CB_FIELD_DOUBLE, 2, {"particle", "dof"}, "1", "positions in the chart named by record.chart"},
     coordinates},
    {"constraints",
     {"multiplier",
      CB_FIELD_DOUBLE,
      1,
      {"constraint"},
      "1",
      "multiplier of a constraint: the pull along a rod, positive where it holds its ends together"},
     cb_measure_multiplier},
    {"constraints",
     {"constraint_residual", CB_FIELD_DOUBLE, 1, {"constraint"}, "1", "g: what is left of a constraint of positions"},
     cb_measure_residual},
    {"constraints",
     {"constraint_rate_residual", CB_FIELD_DOUBLE, 1, {"constraint"}, "1", "dg/dt, or a v - b"},
     cb_measure_rate_residual},
    {"constraints",
     {"constraint_acceleration_residual",
      CB_FIELD_DOUBLE,
      1,
      {"constraint"},
      "1",
      "second derivative of g under the forces and multipliers of this row"},
     cb_measure_acceleration_residual},
    {"method_multiplier",
     {"method_multiplier",
      CB_FIELD_DOUBLE,
      1,
      {"constraint"},
      "1",
      "multipliers that the method solved for in the last step; nan where it has none, and at the start"},
     cb_measure_method_multiplier},
    {"", {"solver_iterations", CB_FIELD_INT32, 0, {0}, "1", "iterations of the last step"}, iterations},
    {"",
     {"solver", CB_FIELD_INT32, 0, {0}, "1", "solver of the last step: 0 explicit, 1 fixed-point, 2 Newton"},
     solver},
    {"", {"step_size", CB_FIELD_DOUBLE, 0, {0}, "1", "size of the last step"}, step_size},
    {NULL, {0}, NULL}};
