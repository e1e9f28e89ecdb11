/* Killing momenta J_i = sum <X_i(x), p>, in the world's frame, and how large they could be. */
#include "run/measure.h"

#include "geometry/origin.h"

#include <math.h>

cb_status cb_measure_killing(const cb_measure *m, double *out) {
  return cb_state_killing_momentum(m->system, m->state, out);
}

/* |p|. */
static cb_status momentum_size(const cb_measure *m, int place, double *size) {
  const cb_geometry *g = m->space;
  const double *p = m->state->p + (size_t)place * g->k;
  double raised[CB_Q_MAX], square = 0;
  const cb_status status = cb_geometry_raise(g, m->state->x + (size_t)place * g->k, p, raised);
  for (int e = 0; e < g->k && !status; e++) square += (g->chart ? 1 : g->form[e]) * p[e] * raised[e];
  *size = sqrt(fmax(0, square));
  return status;
}

/* |X_i| of the world's fields at a particle: by their components in the chart. */
static cb_status sizes_in_chart(const cb_measure *m, int place, double *square) {
  const cb_geometry *g = m->space;
  const double *q = m->state->x + (size_t)place * g->k;
  double metric[CB_Q_MAX * CB_Q_MAX], X[CB_KILLING_MAX][CB_Q_MAX];
  const cb_status status = g->chart->metric(g, q, metric, NULL, NULL);
  for (int a = 0; a < g->dim && !status; a++) {
    double p[CB_Q_MAX] = {0}, here[CB_KILLING_MAX] = {0};
    p[a] = 1;
    if (cb_origin_moves(g)) cb_origin_killing_add(g, cb_measure_origin(m, place), q, p, here);
    for (int i = 0; i < g->n_killing; i++) X[i][a] = here[i];
  }
  for (int i = 0; i < g->n_killing && !status; i++) {
    square[i] = 0;
    if (!cb_origin_moves(g)) cb_killing_at(g, i, q, X[i]);
    for (int a = 0; a < g->dim; a++)
      for (int b = 0; b < g->dim; b++) square[i] += X[i][a] * metric[a * g->dim + b] * X[i][b];
  }
  return status;
}

/* The same by their momenta with an orthonormal frame. */
static cb_status sizes_in_frame(const cb_measure *m, int place, double *square) {
  const cb_geometry *g = m->space;
  double x[CB_Q_MAX], v[CB_Q_MAX], frame[CB_DIM_MAX * CB_COORD_MAX];
  const cb_status status = cb_measure_local(m, place, x, v);
  if (status) return status;
  cb_geometry_frame(g, x, frame);
  for (int i = 0; i < g->n_killing; i++) square[i] = 0;
  for (int d = 0; d < g->dim; d++) {
    double here[CB_KILLING_MAX] = {0}, world[CB_KILLING_MAX];
    cb_killing_momentum_add(g, x, frame + d * g->embedding, here);
    cb_origin_killing(g, cb_measure_origin(m, place), here, world);
    for (int i = 0; i < g->n_killing; i++) square[i] += world[i] * world[i];
  }
  return CB_OK;
}

cb_status cb_measure_killing_size(const cb_measure *m, double *size) {
  *size = 0;
  for (int a = 0; a < m->state->n; a++) {
    double square[CB_KILLING_MAX], most = 0, p;
    cb_status status = momentum_size(m, a, &p);
    if (!status) status = m->space->intrinsic ? sizes_in_chart(m, a, square) : sizes_in_frame(m, a, square);
    if (status) return status;
    for (int i = 0; i < m->space->n_killing; i++) most = fmax(most, square[i]);
    *size += p * sqrt(most);
  }
  return CB_OK;
}
