/* What a reader of poses does with them: how many there are and when, when they begin anew, and units of length. */
#include "fluid/poses.h"

#include <math.h>
#include <stdlib.h>

int cb_poses_count(const cb_poses *p) { return p->poses; }

double cb_poses_time(const cb_poses *p, int i) { return p->time[i]; }

const double (*cb_poses_pose(const cb_poses *p, int i))[3] {
  return (const double(*)[3])p->place + (size_t)i * (size_t)p->vertices;
}

void cb_poses_scale(cb_poses *p, double factor) {
  const size_t n = (size_t)p->vertices * (size_t)p->poses;
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) p->place[i][k] *= factor;
}

bool cb_poses_span(const cb_poses *p, double *begin, double *end) {
  const bool periodic = p->poses ? p->end == CB_POSES_PERIODIC : p->period > 0;
  *begin = p->poses ? p->time[0] : 0;
  *end = periodic ? *begin + p->period : p->poses ? p->time[p->poses - 1] : 0;
  return periodic;
}

/* The vertex that is farthest from its place a period before. */
static cb_status check_period(const cb_poses *p, double period, double (*x)[3], double (*y)[3]) {
  static const double phase[] = {0, 0.271, 0.618, 0.9};
  for (int k = 0; k < 4; k++) {
    double extent = 0, most = 0;
    int vertex = 0;
    cb_status status = cb_poses_at(p, phase[k] * period, x, NULL);
    if (!status) status = cb_poses_at(p, (1 + phase[k]) * period, y, NULL);
    if (status) return status;
    for (int i = 0; i < p->vertices; i++)
      for (int c = 0; c < 3; c++) {
        extent = fmax(extent, fabs(x[i][c] - x[0][c]));
        if (fabs(x[i][c] - y[i][c]) > most) most = fabs(x[i][c] - y[i][c]), vertex = i;
      }
    if (most > 1e-9 * extent)
      return cb_fail(
          CB_ERROR_DOMAIN,
          "the poses have no period %g: vertex %d is at (%g, %g, %g) at t = %g, and at (%g, %g, %g) a period "
          "later",
          period, p->number[vertex], x[vertex][0], x[vertex][1], x[vertex][2], phase[k] * period, y[vertex][0],
          y[vertex][1], y[vertex][2]);
  }
  return CB_OK;
}

cb_status cb_poses_set_period(cb_poses *p, double period) {
  if (p->poses) return cb_fail(CB_ERROR_ARGUMENT, "a sequence of poses has its period from its times");
  if (!(period > 0) || !isfinite(period)) return cb_fail(CB_ERROR_ARGUMENT, "period %g, expected more than 0", period);
  double(*x)[3] = malloc(2 * (size_t)p->vertices * sizeof *x);
  if (!x) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", p->vertices);
  const cb_status status = check_period(p, period, x, x + p->vertices);
  free(x);
  if (!status) p->period = period;
  return status;
}
