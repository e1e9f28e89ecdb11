/* The start of a run: positions and velocities brought to the constraints, or refused. */
#include "dynamics/gram.h"
#include "run/particles.h"

#include <math.h>
#include <string.h>

/* What counts as met without projection: places and velocities typed with nine digits or more. */
static const double typed = 1e-9;

static cb_status velocities(const cb_run *run, const double *x, const double *p, double *v) {
  const cb_geometry *g = cb_system_space(run->particles->system);
  const double *mass = cb_system_masses(run->particles->system);
  for (int i = 0; i < run->particles->state->n; i++) {
    const cb_status status = cb_geometry_raise(g, x + (size_t)i * g->k, p + (size_t)i * g->k, v + (size_t)i * g->k);
    if (status) return status;
    for (int a = 0; a < g->k; a++) v[(size_t)i * g->k + a] /= mass[i];
  }
  return CB_OK;
}

static cb_status momenta(const cb_run *run, const double *x, const double *v, double *p) {
  const cb_geometry *g = cb_system_space(run->particles->system);
  const double *mass = cb_system_masses(run->particles->system);
  double metric[CB_Q_MAX * CB_Q_MAX];
  for (int i = 0; i < run->particles->state->n; i++) {
    const size_t at = (size_t)i * g->k;
    if (g->chart) {
      const cb_status status = g->chart->metric(g, x + at, metric, NULL, NULL);
      if (status) return status;
    }
    for (int a = 0; a < g->k; a++) {
      double sum = g->chart ? 0 : v[at + a];
      for (int b = 0; g->chart && b < g->k; b++) sum += metric[a * g->k + b] * v[at + b];
      p[at + a] = mass[i] * sum;
    }
  }
  return CB_OK;
}

/* The row that is furthest from being met. */
static cb_status worst(const cb_run *run, cb_constraints *c, const double *v, double *rows, double *off, int *row) {
  const cb_rows *r = cb_constraints_rows(c);
  cb_status status = cb_constraints_eval(c, run->options.start, run->particles->state->x, rows, NULL);
  *off = 0;
  *row = 0;
  for (int pass = 0; pass < 2 && !status; pass++) {
    for (int i = 0; i < r->rows; i++)
      if (fabs(rows[i]) > *off) {
        *off = fabs(rows[i]);
        *row = i;
      }
    if (!pass) status = cb_constraints_rate(c, run->options.start, run->particles->state->x, v, rows, NULL);
  }
  return status;
}

cb_status cb_particles_project(cb_run *run) {
  cb_constraints *c = cb_forces_constraints(run->particles->integrator->forces);
  if (!c) return CB_OK;
  const cb_run_options *o = &run->options;
  const size_t count = (size_t)run->particles->state->n * (size_t)run->particles->state->k;
  double *v = cb_arena_alloc(run->arena, count, sizeof *v), *x = run->particles->spare->x;
  double *rows = cb_arena_alloc(run->arena, (size_t)cb_constraints_rows(c)->rows, sizeof *rows);
  if (!v || !rows) return cb_fail(CB_ERROR_MEMORY, "no memory for the constraints of the start");
  cb_gram *gram;
  cb_status status = velocities(run, run->particles->state->x, run->particles->state->p, v);
  if (!status) status = cb_gram_create(run->particles->integrator->forces, c, &gram);
  if (status) return status;
  double off;
  int row;
  status = worst(run, c, v, rows, &off, &row);
  const double enough = o->start_tolerance > 0 ? o->start_tolerance : typed;
  if (!status && !o->project && off > enough)
    status =
        cb_fail(CB_ERROR_DOMAIN,
                "the start does not meet constraint `%s`: off by %.3g; expected at most %.3g, or `start: {project: "
                "auto}`",
                cb_system_constraint_name(run->particles->system, row), off, enough);
  if (!status) {
    memcpy(x, run->particles->state->x, count * sizeof *x);
    status =
        cb_gram_project(gram, o->start, x, v, 0, &run->particles->start_moved, &run->particles->start_turned, NULL);
  }
  if (!status) status = momenta(run, x, v, run->particles->state->p);
  if (!status) {
    /* a move below round-off of the numbers given would only lose their low-order parts */
    if (run->particles->start_moved > 1e-15) {
      memcpy(run->particles->state->x, x, count * sizeof *x);
      memset(run->particles->state->x_low, 0, count * sizeof *x);
    }
    memset(run->particles->state->p_low, 0, count * sizeof *x);
  }
  cb_gram_free(gram);
  if (status > 0)
    return cb_fail(CB_ERROR_DOMAIN, "the start cannot be brought to the constraints: %s", cb_error_text());
  return status;
}
