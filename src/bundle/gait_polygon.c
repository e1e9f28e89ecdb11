/* Gaits on polygons: straight sides at one speed (Euclidean in the shape variables), so that each side takes its share
 * of the perimeter as its time. A corner that repeats the one before it takes none and is left out.
 *
 * The corners' times are the breaks, the first is 0.
 */
#include "bundle/gait_private.h"

#include <math.h>
#include <string.h>

static void at(const cb_gait *g, double t, double *r, double *rate) {
  int low = 0, high = g->count; /* the side of t: at time[low] and after it */
  const double *time = cb_gait_numbers(g), *corner = time + g->count + 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (t >= time[middle]) low = middle;
    else high = middle;
  }
  const double *from = corner + low * g->n, *to = corner + (low + 1) % g->count * g->n;
  const double share = time[low + 1] - time[low], u = (t - time[low]) / share;
  for (int i = 0; i < g->n; i++) {
    if (r) r[i] = from[i] + u * (to[i] - from[i]);
    if (rate) rate[i] = (to[i] - from[i]) / share;
  }
}

static const cb_gait_kind kind = {"polygon", at, NULL};

static double side(int n, const double *a, const double *b) {
  double square = 0;
  for (int i = 0; i < n; i++) square += (b[i] - a[i]) * (b[i] - a[i]);
  return sqrt(square);
}

/* A corner of its own: it differs from the next one. */
static bool counts(int n, int corners, const double *r, int k) {
  return side(n, r + k * n, r + (k + 1) % corners * n) > 0;
}

cb_status cb_gait_polygon(int n, int corners, const double *r, cb_gait **out) {
  cb_status status = cb_gait_check("corners", n, corners, 2, r);
  if (status) return status;
  int count = 0;
  double perimeter = 0;
  for (int k = 0; k < corners; k++) {
    count += counts(n, corners, r, k);
    perimeter += side(n, r + k * n, r + (k + 1) % corners * n);
  }
  if (count < 2) return cb_fail(CB_ERROR_ARGUMENT, "a gait whose %d corners are all the same", corners);
  cb_gait *g = cb_gait_block(&kind, n, count, count, (size_t)count + 1 + (size_t)(count * n));
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d corners", corners);
  double *time = g->data + count, *corner = time + count + 1, walked = 0;
  for (int k = 0, kept = 0; k < corners; k++)
    if (counts(n, corners, r, k)) {
      memcpy(corner + kept * n, r + k * n, (size_t)n * sizeof *r);
      g->data[kept] = time[kept] = walked / perimeter;
      walked += side(n, r + k * n, r + (k + 1) % corners * n);
      kept++;
    }
  time[count] = 1;
  *out = g;
  return CB_OK;
}
