/* curvebody gait SCENARIO verdict: how far the scenario's gait is from one of stationary cost among those that do the
 * same, and of what kind it is.
 *
 * What it does is what `optimum` asks for, by as much as it does of it; without that key the element of its cycle. Bounds
 * and lines that may not cross do not count. */
#include "cli/gait.h"

#include "core/failure.h"
#include "optimum/verdict.h"

#include <math.h>
#include <string.h>

/* As an optimum, for its words. */
static cb_optimum told(const cb_verdict *v) {
  cb_optimum o = {.cost = v->cost,
                  .length = v->length,
                  .amount = v->amount,
                  .index = v->stationary ? v->index : -1,
                  .flat = v->flat,
                  .conjugates = v->conjugates};
  memcpy(o.conjugate, v->conjugate, sizeof o.conjugate);
  return o;
}

static void print_text(const cb_gait_job *job, const cb_optimum_problem *p, const cb_verdict *v) {
  const cb_bundle *b = job->bundle;
  const cb_optimum o = told(v);
  printf("%s: %d shape variable%s, fibre %s\n", cb_bundle_scenario_name(job->motion), b->n, b->n == 1 ? "" : "s",
         b->group->name);
  printf("cost        %.15g\nlength      %.15g\n", v->cost, v->length);
  if (isfinite(v->amount)) printf("amount      %.15g\nefficiency  %.15g\n", v->amount, cb_gait_efficiency(&o));
  cb_gait_row("holonomy", b->group->size, b->group->number, v->g);
  cb_gait_row("lambda", b->group->dim, b->group->axis, v->lambda);
  printf("%-12s%.3g of the whole gradient is left along gaits that do the same%s\n", "slope", v->slope,
         v->stationary ? "" : ": not stationary");
  printf("%-12sa step of the gradient flow saves %.3g of the cost\n", "gain", v->gain);
  printf("%-12s%.2g, of the functions of time that this is found with\n", "fit", v->fit);
  if (v->stationary) printf("%-12s%s\n", "verdict", cb_gait_verdict_words(&o).text);
  if (!v->stationary)
    printf("%-12snot stationary; its cost bends down in %d direction%s\n", "verdict", v->index,
           v->index == 1 ? "" : "s");
  if (p->lower || p->apart) printf("%-12swithout bounds, and with lines that may cross\n", "among");
  if (p->base) cb_gait_put_conjugates(&o);
  if (isfinite(v->wong)) printf("%-12scost %.15g, %.2g off\n", "by Wong", v->wong, fabs(v->wong / v->cost - 1));
}

static void print_json(const cb_gait_job *job, const cb_verdict *v) {
  const cb_bundle *b = job->bundle;
  const cb_optimum o = told(v);
  const double numbers[] = {v->cost, v->length, v->amount, cb_gait_efficiency(&o), v->slope, v->gain, v->fit, v->wong};
  static const char *const keys[] = {"cost", "length", "amount", "efficiency", "slope", "gain", "fit", "wong"};
  cb_gait_begin_json(job);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) cb_gait_json(keys[k], 0, NULL, &numbers[k], false);
  cb_gait_json("g", 1, &b->group->size, v->g, false);
  cb_gait_json("lambda", 1, &b->group->dim, v->lambda, false);
  cb_gait_json("conjugate", 1, &(int){2}, v->conjugate, false);
  printf("\"verdict\": ");
  cb_json_text(stdout, v->stationary ? cb_gait_verdict_words(&o).text : "not stationary");
  printf(", \"stationary\": %s, \"index\": %d, \"flat\": %d, \"conjugates\": %d}\n", v->stationary ? "true" : "false",
         v->index, v->flat, v->conjugates);
}

cb_status cb_gait_verdict(const cb_gait_job *job) {
  const cb_optimum_scenario *asked = job->motion->optimum;
  const cb_optimum_problem own = {.bundle = job->bundle, .target = {.kind = CB_GAIT_ELEMENT}};
  const cb_optimum_problem *p = asked ? &asked->problem : &own;
  cb_verdict v;
  cb_status status = cb_verdict_of(p, job->motion->gait, &v);
  if (status == CB_ERROR_ARGUMENT && asked) status = cb_gait_placed_search(job, status);
  if (!status && job->json)
    print_json(job, &v);
  else if (!status)
    print_text(job, p, &v);
  return status;
}
