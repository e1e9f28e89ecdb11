/* `coordinates:` of a bundle: {minimum_perturbation: {low: [..], high: [..], points: [..]}}. */
#include "scenario/bundle.h"

#include "bundle/coordinates.h"

#include <math.h>

enum { MOST_NODES = 1000000, USUAL_POINTS = 33 };

/* One number a shape variable, into out[n]. */
static cb_status window(const cb_bundle *b, const cb_node *map, const char *key, double *out) {
  const cb_node *list = cb_node_get(map, key);
  if (!list)
    return cb_node_fail(map, "the key `%s` is missing: %d number%s, one a shape variable", key, b->n,
                        b->n == 1 ? "" : "s");
  return cb_gait_read_shape(b, list, key, out);
}

cb_status cb_scenario_read_coordinates(cb_scenario *s, const cb_node *node) {
  cb_bundle_scenario *m = s->bundle;
  static const char *const kinds[] = {"minimum_perturbation"}, *const keys[] = {"low", "high", "points"};
  const cb_bundle *b = m->bundle;
  double low[CB_SHAPE_MAX], high[CB_SHAPE_MAX], wanted[CB_SHAPE_MAX];
  int points[CB_SHAPE_MAX];
  double nodes = 1;
  cb_status status = cb_node_check_keys(node, kinds, 1);
  const cb_node *map = cb_node_get(node, kinds[0]);
  if (!status && !map) return cb_node_fail(node, "expected `minimum_perturbation: {low: .., high: .., points: ..}`");
  if (!status) status = cb_node_check_keys(map, keys, 3);
  if (!status) status = window(b, map, "low", low);
  if (!status) status = window(b, map, "high", high);
  if (!status && cb_node_get(map, "points")) {
    status = window(b, map, "points", wanted);
  } else {
    for (int i = 0; i < b->n; i++) wanted[i] = USUAL_POINTS;
  }
  for (int i = 0; i < b->n && !status; i++) {
    if (!(high[i] > low[i]))
      status = cb_node_fail(map, "%s: expected a window, found low %g and high %g", b->shape[i], low[i], high[i]);
    else if (!(wanted[i] >= 2 && wanted[i] <= 100000 && wanted[i] == floor(wanted[i])))
      status = cb_node_fail(cb_node_get(map, "points"), "points: expected whole numbers >= 2, found %g", wanted[i]);
    points[i] = (int)wanted[i];
    nodes *= wanted[i];
  }
  if (!status && nodes > MOST_NODES)
    status = cb_node_fail(map, "points: a grid of %g nodes, expected at most %d", nodes, MOST_NODES);
  cb_bundle *moved = NULL;
  if (!status) status = cb_bundle_minimum_perturbation(b, low, high, points, &moved);
  if (status == CB_ERROR_ARGUMENT || status == CB_ERROR_DOMAIN || status == CB_ERROR_UNSUPPORTED || status > 0)
    status = cb_node_fail(map, "%s", cb_error_text());
  if (status) return status;
  m->plain = m->bundle;
  m->bundle = moved;
  return CB_OK;
}
