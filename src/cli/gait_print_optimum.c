/* Prints an optimal gait and its checks, as text and as JSON. */
#include "cli/gait_job.h"

#include <math.h>

cli_gait_text cli_gait_optimality_text(const cb_optimum *o) {
  cli_gait_text w;
  const size_t size = sizeof w.text;
  if (o->abnormal)
    snprintf(w.text, size, "abnormal: the multiplier of the cost is 0, so that the cost does not matter");
  else if (o->index > 0)
    snprintf(w.text, size, "saddle of index %d", o->index);
  else if (o->index < 0)
    snprintf(w.text, size, "not proved");
  else if (o->flat > 0)
    snprintf(w.text, size, "not proved: the second variation is 0 in %d direction%s that are not symmetries", o->flat,
             o->flat == 1 ? "" : "s");
  else
    snprintf(w.text, size, "minimum");
  return w;
}

void cli_gait_print_problem(const cli_gait_job *job, const cb_optimum_problem *p) {
  static const char *const objectives[] = {"minimum cost", "maximum efficiency", "maximum amount"};
  const cb_group *G = job->bundle->group;
  printf("%s: %d shape variable%s, fibre %s\n%-12s%s", cb_bundle_scenario_name(job->motion), job->bundle->n,
         job->bundle->n == 1 ? "" : "s", G->name, "sought", objectives[p->objective]);
  if (p->objective == CB_OBJECTIVE_TARGET) printf(" at length %.15g", p->length);
  const bool amount = p->objective == CB_OBJECTIVE_COST;
  switch (p->target.kind) {
    case CB_GAIT_MOVE:
    case CB_GAIT_TURN:
      printf(", to %s", p->target.kind == CB_GAIT_MOVE ? "move" : "turn");
      if (amount) printf(" by %.15g", p->target.value);
      break;
    case CB_GAIT_ELEMENT: printf(", to the element"); break;
    case CB_GAIT_PARTS: printf(", to the numbers"); break;
  }
  for (int k = 0, first = 1; k < G->size; k++) {
    if (p->target.kind != CB_GAIT_ELEMENT && !(p->target.kind == CB_GAIT_PARTS && p->target.asked[k])) continue;
    printf("%s%s = ", first ? " " : ", ", G->number[k]);
    printf(amount || p->target.element[k] == 0 ? "%.15g" : "any", p->target.element[k]);
    first = 0;
  }
  printf("\n");
}

void cli_gait_print_conjugates(const cb_optimum *o) {
  if (o->conjugates < 0) return;
  printf("%-12s", "conjugate");
  if (o->conjugates)
    printf("%d before 1, the first at %.12g; ", o->conjugates, o->conjugate[0]);
  else
    printf("none before 1; ");
  if (isfinite(o->conjugate[1]))
    printf("then at %.12g\n", o->conjugate[1]);
  else
    printf("none found after\n");
}

void cli_gait_print_optimum(const cb_bundle *b, bool based, const cb_optimum *o) {
  printf("cost        %.15g\nlength      %.15g\n", o->cost, o->length);
  if (isfinite(o->amount))
    printf("amount      %.15g\nefficiency  %.15g\n", o->amount, cb_gait_efficiency(o->amount, o->cost));
  cli_gait_row("holonomy", b->group->size, b->group->number, o->g);
  cli_gait_row("lambda", b->group->dim, b->group->axis, o->lambda);
  cli_gait_row("from", b->n, b->shape, o->r);
  printf("%-12s%s\n", "optimality", cli_gait_optimality_text(o).text);
  if (based) cli_gait_print_conjugates(o);
  if (!isfinite(o->wong)) return;
  printf("%-12sspeed %.2g, Ad* lambda %.2g, Casimirs %.2g (largest relative changes along the gait)\n", "invariants",
         cli_unsigned_nan(o->speed), cli_unsigned_nan(o->momentum), cli_unsigned_nan(o->casimir));
  printf("%-12scost %.15g, relative difference %.2g\n", "by Wong", o->wong, fabs(o->wong / o->cost - 1));
}

static void number(const char *key, double value) { cli_gait_json(key, 0, NULL, &value, false); }

void cli_gait_print_optimum_json(const cb_bundle *b, const cb_optimum *o) {
  const int two = 2, three = 3;
  const double drift[] = {o->speed, o->momentum, o->casimir};
  number("cost", o->cost);
  number("length", o->length);
  number("amount", o->amount);
  number("efficiency", cb_gait_efficiency(o->amount, o->cost));
  cli_gait_json("g", 1, &b->group->size, o->g, false);
  cli_gait_json("lambda", 1, &b->group->dim, o->lambda, false);
  cli_gait_json("at", 1, &b->n, o->r, false);
  cli_gait_json("rate", 1, &b->n, o->rate, false);
  cli_gait_json("momentum", 1, &b->n, o->p, false);
  printf("\"optimality\": ");
  cli_json_text(stdout, cli_gait_optimality_text(o).text);
  printf(", \"index\": %d, \"flat\": %d, \"conjugates\": %d,\n ", o->index, o->flat, o->conjugates);
  cli_gait_json("conjugate", 1, &two, o->conjugate, false);
  number("wong", o->wong);
  cli_gait_json("drift", 1, &three, drift, false);
  printf("\"abnormal\": %s, \"found\": %d", o->abnormal ? "true" : "false", o->found);
}
