/* Measuring a state, for the fields of the record. */
#pragma once

#include "core/arena.h"
#include "dynamics/measure.h"
#include <curvebody/constraint.h>
#include <curvebody/integrator.h>

/* Of constraints: what is recorded, and scratch. */
struct cb_measure_rows {
  cb_constraints *constraints;
  struct cb_gram *gram;
  double *velocity, *acceleration, *gradient; /* scratch */
  double *multiplier, *residual, *rate, *second;
};

/* What a field is computed from. */
typedef struct cb_measure {
  const cb_system *system;
  const cb_geometry *space;
  cb_integrator *integrator;
  const cb_state *state;
  const cb_chart *chart;
  double kinetic, potential;    /* of this row, found once for three fields */
  double momentum[CB_KILLING_MAX]; /* of the Killing fields, of this row */
  double mean[3];               /* Karcher's, of this row, in the picture */
  struct cb_measure_rows *rows; /* of constraints, found once for four fields; NULL: not measured */
  double *points;               /* scratch of the Karcher mean, then of the picture: n*max(embedding, 3) */
  cb_origin *places;            /* the same where numbers of the embedding grow: n */
} cb_measure;

/* cb_state_local. */
static inline cb_status cb_measure_local(const cb_measure *m, int place, double *x, double *v) {
  return cb_state_local(m->system, m->state, place, x, v);
}
static inline const cb_origin *cb_measure_origin(const cb_measure *m, int place) {
  return &m->state->origin[cb_system_component(m->system, place)];
}

/* Fills m->kinetic and m->potential. */
cb_status cb_measure_energy(cb_measure *m);

/* Fills m->mean. CB_ERROR_DOMAIN, with the reason, where there is none or the picture has no numbers for it; it is nan
 * then. */
cb_status cb_measure_mean(cb_measure *m);

/* Makes and fills m->rows, for a system that has constraints. */
cb_status cb_measure_rows_create(cb_measure *m, cb_arena *arena);
void cb_measure_rows_free(cb_measure *m);
cb_status cb_measure_rows(cb_measure *m);
/* The largest |g| of a row of positions, or |a v - b| of one of velocities: of this row's m->rows if it has them, else
 * by scratch[rows + n*k]. */
cb_status cb_measure_worst_row(const cb_measure *m, double *scratch, double *worst);
