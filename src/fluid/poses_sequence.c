/* What a reader of sequences does with them: how many there are and when, and units of length. */
#include "fluid/poses_private.h"

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
