/* Gaits through points at given times: the periodic cubic spline of the kind `spline`. A `spline` may be given without
 * times, but `samples` require them. */
#include "bundle/gait_private.h"

extern const cb_gait_kind_class cb_gait_kind_spline;

static cb_status read_value(const cb_bundle *b, const cb_node *map, const void *params, cb_gait **out) {
  const cb_gait_points *p = params;
  if (p->points && !p->times) return cb_node_fail(map, "expected `times` of the points in [0, 1]");
  return cb_gait_kind_spline.read(b, map, params, out);
}

static const cb_param params[] = {
    CB_GAIT_NODE(cb_gait_points, points, "required: [[..], ..], at least 3 shapes"),
    CB_GAIT_NODE(cb_gait_points, times,
                 "required: times of the points in [0, 1], ascending; a point at 1 repeats the first one"),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_gait_kind_class cb_gait_kind_samples = {.name = "samples",
                                                 .title = "The periodic cubic spline through points at given times",
                                                 .doc = "As `spline`, with times",
                                                 .params = params,
                                                 .params_size = sizeof(cb_gait_points),
                                                 .read = read_value};
