/* Results for the gait of a scenario: a cycle, optimal gaits, and its own optimality (scenario/gait_results.h). */
#include "scenario/gait_results.h"
#include "bundle/samples.h"

#include <math.h>
#include <string.h>

static double efficiency(const cb_group *G, const cb_gait_cycle *c) {
  double shifts = 0, all = 0;
  bool any = false;
  for (int k = 0; k < G->dim; k++) {
    const bool turns = !strncmp(G->axis[k], "omega", 5);
    all += c->log[k] * c->log[k];
    if (!turns) shifts += c->log[k] * c->log[k];
    any = any || !turns;
  }
  return c->has_log && c->length > 0 ? (any ? shifts : all) / (c->length * c->length) : NAN;
}

bool cb_gait_has_table(const cb_bundle *b) { return !strcmp(b->class_->name, "samples"); }

cb_status cb_gait_cycle_find(const cb_bundle_scenario *motion, const cb_bundle *b, double error, bool integral,
                             cb_gait_cycle *c) {
  const cb_group *G = b->group;
  *c = (cb_gait_cycle){.has_table = cb_gait_has_table(b)};
  cb_status status = cb_holonomy(b, motion->gait, error, c->g, &c->length, &c->cost);
  if (!status && c->has_table) status = cb_bundle_samples_holonomy_error(b, motion->gait, c->table);
  if (status) return status;
  /* this may fail: a phase that makes one full turn bounds no surface, and a surface may contain singular shapes */
  c->has_integral = integral && cb_body_velocity_integral(b, motion->gait, c->cbvi) == CB_OK;
  for (int k = 0; !c->has_integral && k < G->dim; k++) c->cbvi[k] = NAN;
  c->cost /= motion->period;
  c->has_log = G->log(G, c->g, c->log) == CB_OK;
  for (int k = 0; !c->has_log && k < G->dim; k++) c->log[k] = NAN;
  c->efficiency = efficiency(G, c);
  G->identity(G, c->repeated);
  for (int k = 0; k < motion->repeat; k++) G->multiply(G, c->repeated, c->g, c->repeated);
  G->project(G, c->repeated);
  return CB_OK;
}

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
  if (status) {
    cb_optima_free(all);
    return status;
  }
  *out = all;
  return CB_OK;
}

cb_optimum_problem cb_gait_optimality_problem(const cb_bundle_scenario *motion, const cb_bundle *b) {
  return motion->optimum ? motion->optimum->problem
                         : (cb_optimum_problem){.bundle = b, .target = {.kind = CB_GAIT_ELEMENT}};
}

cb_status cb_gait_optimality_find(const cb_bundle_scenario *motion, const cb_bundle *b, cb_optimality *out) {
  const cb_optimum_problem p = cb_gait_optimality_problem(motion, b);
  if (motion->optimum && motion->optimum->left_out)
    return cb_node_fail(motion->optimum->node,
                        "bounds: expected bounds that contain the gait, because its optimality is tested");
  return cb_gait_placed_search(motion, cb_optimality_of(&p, motion->gait, out));
}
