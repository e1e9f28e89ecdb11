/* Gaits on polygons: straight sides at constant speed (Euclidean in the shape variables), so that the time on each side
 * is proportional to its length. A corner that equals the next corner is dropped.
 *
 * The breaks are the times of the corners; the first is 0.
 */
#include "bundle/gait_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const cb_gait_kind_class cb_gait_kind_polygon;

static void at(const cb_gait *g, double t, double *r, double *rate) {
  int low = 0, high = g->count; /* low becomes the side at t: time[low] <= t < time[low + 1] */
  const double *time = cb_gait_own_numbers(g), *corner = time + g->count + 1;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (t >= time[middle])
      low = middle;
    else
      high = middle;
  }
  const double *from = corner + low * g->n, *to = corner + (low + 1) % g->count * g->n;
  const double share = time[low + 1] - time[low], u = (t - time[low]) / share;
  for (int i = 0; i < g->n; i++) {
    if (r) r[i] = from[i] + u * (to[i] - from[i]);
    if (rate) rate[i] = (to[i] - from[i]) / share;
  }
}

static double side(int n, const double *a, const double *b) {
  double square = 0;
  for (int i = 0; i < n; i++) square += (b[i] - a[i]) * (b[i] - a[i]);
  return sqrt(square);
}

/* Returns whether corner k differs from the next corner. A corner that equals the next one is dropped. */
static bool counts(int n, int corners, const double *r, int k) {
  return side(n, r + k * n, r + (k + 1) % corners * n) > 0;
}

cb_status cb_gait_polygon(int n, int corners, const double *r, cb_gait **out) {
  cb_status status = cb_gait_check_arguments("corners", n, corners, 2, r);
  if (status) return status;
  int count = 0;
  double perimeter = 0;
  for (int k = 0; k < corners; k++) {
    count += counts(n, corners, r, k);
    perimeter += side(n, r + k * n, r + (k + 1) % corners * n);
  }
  if (count < 2)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the %d corners of a gait are all the same: expected at least two different corners", corners);
  cb_gait *g = cb_gait_block(&cb_gait_kind_polygon, n, count, count, (size_t)count + 1 + (size_t)(count * n));
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

typedef struct polygon {
  const cb_node *corners;
} polygon;

static cb_status read_value(const cb_bundle *b, const cb_node *map, const void *params, cb_gait **out) {
  const cb_node *list = ((const polygon *)params)->corners;
  double *r;
  int count;
  if (!list) return cb_node_fail(map, "expected `corners`, a list of shapes");
  cb_status status = cb_gait_read_rows(b, list, "corner", &r, &count);
  if (status) return status;
  status = count < 2 ? cb_node_fail(list, "expected at least 2 corners, found %d", count)
                     : cb_gait_placed(cb_gait_polygon(b->n, count, r, out), list);
  free(r);
  return status;
}

static const cb_param params[] = {CB_GAIT_NODE(polygon, corners, "required: [[..], ..], at least 2 shapes"),
                                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_gait_kind_class cb_gait_kind_polygon = {.name = "polygon",
                                                 .title = "Straight sides between corners",
                                                 .doc = "At constant speed",
                                                 .params = params,
                                                 .params_size = sizeof(polygon),
                                                 .read = read_value,
                                                 .at = at};
