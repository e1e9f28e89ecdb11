/* curvebody gait SCENARIO optimality: the distance of the scenario's gait from stationary cost among gaits with the
 * same holonomy, and its type (minimum, saddle).
 *
 * The comparison is with gaits that reach the same amount of the target of `optimum` (without that key: the same group
 * element) and satisfy the same constraints. */
#include "cli/gait_job.h"

#include <math.h>
#include <string.h>

/* Converts the result to an optimum, for the functions that print an optimum. */
static cb_optimum as_optimum(const cb_optimality *v) {
  cb_optimum o = {.cost = v->cost,
                  .length = v->length,
                  .amount = v->amount,
                  .index = v->stationary ? v->index : -1,
                  .flat = v->flat,
                  .conjugates = v->conjugates};
  memcpy(o.conjugate, v->conjugate, sizeof o.conjugate);
  return o;
}

/* Prints the active constraints of the gait. w: the constraints of the problem, in the same order as in the search. */
static void print_constraints(const cb_shape_constraints *w, const cb_optimality *v) {
  for (int k = 0; k < v->active_constraints; k++) {
    const cb_active_constraint *c = &v->active_constraint[k];
    char name[96];
    cb_shape_constraint_name(w, c->constraint, sizeof name, name);
    printf("%-12s%s, ", k ? "" : "constraint", name);
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

static void print_constraints_json(const cb_shape_constraints *w, const cb_optimality *v) {
  printf("\"active_constraints\": [");
  for (int k = 0; k < v->active_constraints; k++) {
    const cb_active_constraint *c = &v->active_constraint[k];
    char name[96];
    cb_shape_constraint_name(w, c->constraint, sizeof name, name);
    printf("%s{\"constraint\": ", k ? ", " : "");
    cli_json_text(stdout, name);
    printf(", \"from\": %.17g, \"to\": %.17g, \"impulse\": %.17g}", c->from, c->to, c->impulse);
  }
  printf("], \"loose\": %d,\n ", v->loose);
}

/* Returns the text of the result. There is a special case: the second variation has negative directions if constraints
 * that the gait touches without pressing are released, but none if they are held. */
static const char *optimality_text(const cb_optimality *v, cli_gait_text *w) {
  const cb_optimum o = as_optimum(v);
  *w = cli_gait_optimality_text(&o);
  if (v->stationary && v->loose && v->index == v->loose)
    snprintf(
        w->text, sizeof w->text,
        "not proved: the cost decreases to second order if the gait leaves constraints on which it does not press");
  return w->text;
}

static void print_text(const cli_gait_job *job, const cb_shape_constraints *constraints, const cb_optimality *v) {
  const cb_bundle *b = job->bundle;
  const cb_optimum o = as_optimum(v);
  printf("%s: %d shape variable%s, fibre %s\n", cb_bundle_scenario_name(job->motion), b->n, b->n == 1 ? "" : "s",
         b->group->name);
  printf("cost        %.15g\nlength      %.15g\n", v->cost, v->length);
  if (isfinite(v->amount))
    printf("amount      %.15g\nefficiency  %.15g\n", v->amount, cb_gait_efficiency(v->amount, v->cost));
  cli_gait_row("holonomy", b->group->size, b->group->number, v->g);
  cli_gait_row("lambda", b->group->dim, b->group->axis, v->lambda);
  printf("%-12s%.3g of the full gradient remains along gaits with the same holonomy%s\n", "slope", v->slope,
         v->stationary ? "" : ": not stationary");
  printf("%-12sa step of the gradient flow saves %.3g of the cost\n", "gain", v->gain);
  printf("%-12s%.2g, the distance of the gait from its fit in functions of time\n", "fit", v->fit);
  cli_gait_text text;
  if (v->stationary) printf("%-12s%s\n", "optimality", optimality_text(v, &text));
  if (!v->stationary)
    printf("%-12snot stationary; the second variation is negative in %d direction%s\n", "optimality", v->index,
           v->index == 1 ? "" : "s");
  print_constraints(constraints, v);
  cli_gait_print_conjugates(&o);
  if (isfinite(v->wong))
    printf("%-12scost %.15g, relative difference %.2g\n", "by Wong", v->wong, fabs(v->wong / v->cost - 1));
}

static void print_json(const cli_gait_job *job, const cb_shape_constraints *constraints, const cb_optimality *v) {
  const cb_bundle *b = job->bundle;
  cli_gait_text text;
  const int two = 2;
  const double numbers[] = {v->cost,  v->length, v->amount, cb_gait_efficiency(v->amount, v->cost),
                            v->slope, v->gain,   v->fit,    v->wong};
  static const char *const keys[] = {"cost", "length", "amount", "efficiency", "slope", "gain", "fit", "wong"};
  cli_gait_begin_json(job);
  for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) cli_gait_json(keys[k], 0, NULL, &numbers[k], false);
  cli_gait_json("g", 1, &b->group->size, v->g, false);
  cli_gait_json("lambda", 1, &b->group->dim, v->lambda, false);
  cli_gait_json("conjugate", 1, &two, v->conjugate, false);
  print_constraints_json(constraints, v);
  printf("\"optimality\": ");
  cli_json_text(stdout, v->stationary ? optimality_text(v, &text) : "not stationary");
  printf(", \"stationary\": %s, \"index\": %d, \"flat\": %d, \"conjugates\": %d}\n", v->stationary ? "true" : "false",
         v->index, v->flat, v->conjugates);
}

cb_status cli_gait_optimality(const cli_gait_job *job) {
  const cb_optimum_problem p = cb_gait_optimality_problem(job->motion, job->bundle);
  cb_shape_constraints *constraints = NULL;
  cb_optimality v;
  cb_status status = cb_gait_optimality_find(job->motion, job->bundle, &v);
  if (!status) status = cb_gait_placed_search(job->motion, cb_shape_constraints_create(&p, &constraints));
  if (!status && job->json)
    print_json(job, constraints, &v);
  else if (!status)
    print_text(job, constraints, &v);
  cb_shape_constraints_free(constraints);
  return status;
}
