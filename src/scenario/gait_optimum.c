#include "scenario/gait_optimum.h"

#include <math.h>

double cb_gait_efficiency(double amount, double cost) { return amount * amount / cost; }

cb_status cb_gait_placed_search(const cb_bundle_scenario *motion, cb_status status) {
  if (status != CB_ERROR_ARGUMENT || !motion->optimum || cb_failure_last().placed) return status;
  return cb_node_fail(motion->optimum->node, "%s", cb_error_text());
}

static cb_status find_check(const cb_bundle *b, const cb_optimum *o, double error, cb_gait_check *check) {
  double g[CB_GROUP_SIZE], length, cost;
  const cb_status status = cb_holonomy(b, o->gait, error, g, &length, &cost);
  if (status) return status;
  check->cost = fabs(cost - o->cost) / o->cost;
  check->element = 0;
  for (int k = 0; k < b->group->size; k++) check->element = fmax(check->element, fabs(g[k] - o->g[k]));
  return CB_OK;
}

cb_status cb_gait_optima_find(const cb_bundle_scenario *motion, double error, const cb_find_watch *watch,
                              cb_optima **out, cb_gait_check *check) {
  const cb_optimum_problem *p = &motion->optimum->problem;
  cb_optima *all = NULL;
  cb_status status = cb_gait_placed_search(motion, cb_optimum_find_watched(p, watch, &all));
  if (!status) status = find_check(p->bundle, &all->item[0], error, check);
  if (status) return cb_optima_free(all), status;
  return *out = all, CB_OK;
}

cb_optimum_problem cb_gait_verdict_problem(const cb_bundle_scenario *motion, const cb_bundle *b) {
  return motion->optimum ? motion->optimum->problem
                         : (cb_optimum_problem){.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}};
}

cb_status cb_gait_verdict_find(const cb_bundle_scenario *motion, const cb_bundle *b, cb_verdict *out) {
  const cb_optimum_problem p = cb_gait_verdict_problem(motion, b);
  if (motion->optimum && motion->optimum->left_out)
    return cb_node_fail(motion->optimum->node,
                        "bounds: expected bounds with the gait in them, as the verdict is of it");
  return cb_gait_placed_search(motion, cb_verdict_of(&p, motion->gait, out));
}
