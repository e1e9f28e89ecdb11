#include "scenario/gait_cycle.h"

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

cb_status cb_gait_cycle_find(const cb_bundle_scenario *motion, const cb_bundle *b, double error, bool integral,
                             cb_gait_cycle *c) {
  const cb_group *G = b->group;
  *c = (cb_gait_cycle){.has_table = !strcmp(b->kind->name, "samples")};
  cb_status status = cb_holonomy(b, motion->gait, error, c->g, &c->length, &c->cost);
  if (!status && c->has_table) status = cb_bundle_samples_holonomy_error(b, motion->gait, c->table);
  if (status) return status;
  /* a phase once round bounds no surface, and a surface may have singular shapes within */
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
