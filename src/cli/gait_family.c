/* curvebody gait SCENARIO family: gaits of stationary cost, followed as the amount of their target grows, in branches.
 * sweep/families.c describes the output file. */
#include "cli/gait_job.h"

#include "optimum/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL = 100, MAXIMUM = 100000 };

/* --- options --- */

static cb_status read_range(const cli_gait_job *job, const cb_optimum_problem *p, cb_family_range *range) {
  char option[16];
  *range = (cb_family_range){cb_gait_target_get(p->bundle->group, &p->target), INFINITY, USUAL};
  cb_status status = cli_gait_count("--members", job->members, MAXIMUM, &range->members);
  if (status || !job->to || !strcmp(job->to, "fold")) return status;
  snprintf(option, sizeof option, "--%s", cb_families_targets[p->target.kind]);
  status = cli_ambient_numbers(option, job->to, 1, &range->to);
  if (!status && !(range->to / range->from > 1))
    status = cb_fail(CB_ERROR_INPUT, "%s: error: expected LO:HI with HI beyond LO, or LO:fold, found %g:%g", option,
                     range->from, range->to);
  return status;
}

static cb_status check_asked(const cli_gait_job *job, const cb_optimum_problem *p) {
  const cb_node *map = job->motion->optimum->node;
  if (p->objective != CB_OBJECTIVE_COST)
    return cb_node_fail(cb_node_get(map, "objective"),
                        "objective: a family consists of gaits of minimum cost: expected `cost`");
  if (cb_gait_target_amount(p->bundle->group, &p->target) >= 0) return CB_OK;
  return cb_node_fail(
      cb_node_get(map, "target"),
      "target: a family varies an amount: expected `move`, `turn`, or `parts` with exactly one number other than 0");
}

/* --- as text --- */

static void print_text(const cb_optimum_problem *p, const cb_family *f) {
  const cb_bundle *b = p->bundle;
  printf("%d branch%s, %d gaits\n", f->branches, f->branches == 1 ? "" : "es", f->members);
  for (int e = 0; e < f->events; e++) {
    const cb_family_event *o = &f->event[e];
    printf("branch %d: %-12s at %.12g, cost %.12g", o->branch, cb_family_event_names[o->kind], o->amount, o->cost);
    if (o->kind == CB_FAMILY_BOUND) printf(", of %s", b->shape[o->other]);
    if (o->kind == CB_FAMILY_CHEAPER) printf(", branch %d", o->other);
    printf("\n");
  }
}

static void print_json(const cli_gait_job *job, const cb_family *f) {
  cli_gait_begin_json(job);
  printf("\"output\": ");
  cli_json_text(stdout, job->output);
  printf(", \"branches\": %d, \"members\": %d,\n \"events\": [", f->branches, f->members);
  for (int e = 0; e < f->events; e++) {
    const cb_family_event *o = &f->event[e];
    printf("%s\n {\"kind\": ", e ? "," : "");
    cli_json_text(stdout, cb_family_event_names[o->kind]);
    printf(", \"branch\": %d, \"other\": %d,\n ", o->branch, o->other);
    cli_gait_json("target", 0, NULL, &o->amount, false);
    cli_gait_json("cost", 0, NULL, &o->cost, true);
  }
  printf("]}\n");
}

/* Fails with CB_STEP_NO_CONVERGENCE if no branch reaches the end of the range; the file is already written. */
static cb_status check_reached(const cli_gait_job *job, const cb_family *f, const cb_family_range *r) {
  double last = r->from;
  for (int m = 0; m < f->members; m++)
    if (fabs(f->member[m].amount - r->to) < fabs(last - r->to)) last = f->member[m].amount;
  if (isinf(r->to) || fabs(last - r->to) <= 1e-9 * fabs(r->to)) return CB_OK;
  return cb_fail(CB_STEP_NO_CONVERGENCE, "no branch of the family reaches %g: the last gait in %s has the target %.9g",
                 r->to, job->output, last);
}

cb_status cli_gait_family(const cli_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  cb_family_range range;
  cb_family *f = NULL;
  if (job->vary || job->move) return cli_gait_sweep(job);
  cb_status status = cli_gait_problem(job, &p);
  if (!status) status = check_asked(job, p);
  if (!status) status = read_range(job, p, &range);
  const cb_families_job families = cli_gait_families_job(job);
  if (!status) status = cb_families_branches(&families, p, &range, &f);
  if (!status && job->json)
    print_json(job, f);
  else if (!status)
    print_text(p, f);
  if (!status) status = check_reached(job, f, &range);
  cb_family_free(f);
  return status;
}
