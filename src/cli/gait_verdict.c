/* curvebody gait SCENARIO verdict: how far the scenario's gait is from one of stationary cost among those that do the
 * same, and of what kind it is.
 *
 * What it does is what `optimum` asks for, by as much as it does of it; without that key the element of its cycle. Others
 * keep to the bounds, and to lines that may not cross, as it does. */
#include "cli/gait.h"

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

/* Walls that the gait is at; problem's of the same count and order as where they were found. */
static void print_walls(const cb_walls *w, const cb_verdict *v) {
  for (int k = 0; k < v->contacts; k++) {
    const cb_gait_contact *c = &v->contact[k];
    char name[96];
    cb_wall_name(w, c->wall, sizeof name, name);
    printf("%-12s%s, ", k ? "" : "at walls", name);
    if (c->to > c->from)
      printf("from t = %.9g to %.9g: ", c->from, c->to);
    else
      printf("at t = %.9g: ", c->from);
    if (c->impulse > 0)
      printf("presses, impulse %.9g\n", c->impulse);
    else
      printf("does not press\n");
  }
}

static void print_walls_json(const cb_walls *w, const cb_verdict *v) {
  printf("\"walls\": [");
  for (int k = 0; k < v->contacts; k++) {
    const cb_gait_contact *c = &v->contact[k];
    char name[96];
    cb_wall_name(w, c->wall, sizeof name, name);
    printf("%s{\"wall\": ", k ? ", " : "");
    cb_json_text(stdout, name);
    printf(", \"from\": %.17g, \"to\": %.17g, \"impulse\": %.17g}", c->from, c->to, c->impulse);
  }
  printf("], \"loose\": %d,\n ", v->loose);
}

/* Negative directions where walls that neither press nor are left give way, but none where they hold. */
static const char *words(const cb_verdict *v, cb_gait_words *w) {
  const cb_optimum o = told(v);
  *w = cb_gait_verdict_words(&o);
  if (v->stationary && v->loose && v->index == v->loose)
    snprintf(w->text, sizeof w->text,
             "not proved: its cost bends down where it leaves walls that it does not press on");
  return w->text;
}

static void print_text(const cb_gait_job *job, const cb_walls *walls, const cb_verdict *v) {
  const cb_bundle *b = job->bundle;
  const cb_optimum o = told(v);
  printf("%s: %d shape variable%s, fibre %s\n", cb_bundle_scenario_name(job->motion), b->n, b->n == 1 ? "" : "s",
         b->group->name);
  printf("cost        %.15g\nlength      %.15g\n", v->cost, v->length);
  if (isfinite(v->amount))
    printf("amount      %.15g\nefficiency  %.15g\n", v->amount, cb_gait_efficiency(v->amount, v->cost));
  cb_gait_row("holonomy", b->group->size, b->group->number, v->g);
  cb_gait_row("lambda", b->group->dim, b->group->axis, v->lambda);
  printf("%-12s%.3g of the whole gradient is left along gaits that do the same%s\n", "slope", v->slope,
         v->stationary ? "" : ": not stationary");
  printf("%-12sa step of the gradient flow saves %.3g of the cost\n", "gain", v->gain);
  printf("%-12s%.2g, of the functions of time that this is found with\n", "fit", v->fit);
  cb_gait_words said;
  if (v->stationary) printf("%-12s%s\n", "verdict", words(v, &said));
  if (!v->stationary)
    printf("%-12snot stationary; its cost bends down in %d direction%s\n", "verdict", v->index,
           v->index == 1 ? "" : "s");
  print_walls(walls, v);
  cb_gait_put_conjugates(&o);
  if (isfinite(v->wong)) printf("%-12scost %.15g, %.2g off\n", "by Wong", v->wong, fabs(v->wong / v->cost - 1));
}

static void print_json(const cb_gait_job *job, const cb_walls *walls, const cb_verdict *v) {
  const cb_bundle *b = job->bundle;
  cb_gait_words said;
  const int two = 2;
  const double numbers[] = {v->cost,  v->length, v->amount, cb_gait_efficiency(v->amount, v->cost),
                            v->slope, v->gain,   v->fit,    v->wong};
  static const char *const keys[] = {"cost", "length", "amount", "efficiency", "slope", "gain", "fit", "wong"};
  cb_gait_begin_json(job);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) cb_gait_json(keys[k], 0, NULL, &numbers[k], false);
  cb_gait_json("g", 1, &b->group->size, v->g, false);
  cb_gait_json("lambda", 1, &b->group->dim, v->lambda, false);
  cb_gait_json("conjugate", 1, &two, v->conjugate, false);
  print_walls_json(walls, v);
  printf("\"verdict\": ");
  cb_json_text(stdout, v->stationary ? words(v, &said) : "not stationary");
  printf(", \"stationary\": %s, \"index\": %d, \"flat\": %d, \"conjugates\": %d}\n", v->stationary ? "true" : "false",
         v->index, v->flat, v->conjugates);
}

cb_status cb_gait_verdict(const cb_gait_job *job) {
  const cb_optimum_problem p = cb_gait_verdict_problem(job->motion, job->bundle);
  cb_walls *walls = NULL;
  cb_verdict v;
  cb_status status = cb_gait_verdict_find(job->motion, job->bundle, &v);
  if (!status) status = cb_gait_placed_search(job->motion, cb_walls_create(&p, &walls));
  if (!status && job->json)
    print_json(job, walls, &v);
  else if (!status)
    print_text(job, walls, &v);
  cb_walls_free(walls);
  return status;
}
