/* curvebody gait SCENARIO family: gaits of stationary cost, followed as the amount of their target grows, in branches.
 *
 *   /target[member] /cost /efficiency /multiplier /tail /index /flat /branch /cheapest /group[member, number]
 *   /shape[member, T, n] /rate[member, T, n]  of each, /time[T]
 *   /event_kind[event] /event_target /event_cost /event_branch /event_other, /event_name[kind] */
#include "cli/gait.h"

#include "io/arrays.h"
#include "optimum/family.h"
#include "optimum/target.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 129, USUAL = 100, MOST = 100000 };

static const char *const targets[] = {"move", "turn", "element", "parts"};

/* --- what is asked --- */

static cb_status read_range(const cb_gait_job *job, const cb_optimum_problem *p, cb_family_range *range) {
  char option[16];
  double members = USUAL;
  cb_status status = job->members ? cb_gait_numbers("--members", job->members, 1, &members) : CB_OK;
  if (!status && !(members >= 2 && members <= MOST && members == floor(members)))
    status = cb_fail(CB_ERROR_INPUT, "--members: error: expected a whole number from 2 to %d, found %g", MOST, members);
  *range = (cb_family_range){cb_gait_target_get(p->bundle->group, &p->target), INFINITY, (int)members};
  if (status || !job->to || !strcmp(job->to, "fold")) return status;
  snprintf(option, sizeof option, "--%s", targets[p->target.kind]);
  status = cb_gait_numbers(option, job->to, 1, &range->to);
  if (!status && !(range->to / range->from > 1))
    status = cb_fail(CB_ERROR_INPUT, "%s: error: expected LO:HI with HI beyond LO, or LO:fold, found %g:%g", option,
                     range->from, range->to);
  return status;
}

static cb_status check_asked(const cb_gait_job *job, const cb_optimum_problem *p) {
  const cb_node *map = job->motion->optimum->node;
  if (p->seek != CB_SEEK_COST)
    return cb_node_fail(cb_node_get(map, "seek"), "seek: a family is of gaits of least cost: expected `cost`");
  if (cb_gait_target_amount(p->bundle->group, &p->target) >= 0) return CB_OK;
  return cb_node_fail(cb_node_get(map, "target"),
                      "target: a family is over an amount: expected move, turn, or parts of which one is not 0");
}

static cb_status find_family(const cb_gait_job *job, const cb_optimum_problem *p, const cb_family_range *range,
                             cb_family **out) {
  cb_optima *all = NULL;
  cb_status status = cb_optimum_find(p, &all);
  const cb_gait **start = status ? NULL : calloc((size_t)all->count, sizeof *start);
  if (!status && !start) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", all->count);
  int starts = 0;
  for (int k = 0; !status && k < all->count; k++)
    if (k == 0 || all->item[k].index == 0) start[starts++] = all->item[k].gait;
  if (!status) status = cb_family_follow(p, starts, start, range, out);
  free(start);
  cb_optima_free(all);
  return cb_gait_placed_search(job, status);
}

/* --- the file --- */

enum { TARGET, COST, EFFICIENCY, MULTIPLIER, TAIL, NUMBERS };
enum { INDEX, FLAT, BRANCH, CHEAPEST, INTEGERS };

typedef struct columns {
  double time[TIMES], *number, *shape, *rate, *group, *event;
  int *integer, *event_integer;
} columns;

static void free_columns(columns *c) {
  free(c->number);
  free(c->shape);
  free(c->rate);
  free(c->group);
  free(c->event);
  free(c->integer);
  free(c->event_integer);
}

static cb_status make_columns(const cb_bundle *b, const cb_family *f, columns *c) {
  const size_t members = (size_t)f->members, events = (size_t)f->events + 1, way = members * TIMES * (size_t)b->n;
  *c = (columns){.number = calloc(members * NUMBERS, sizeof(double)),
                 .shape = calloc(way, sizeof(double)),
                 .rate = calloc(way, sizeof(double)),
                 .group = calloc(members * (size_t)b->group->size, sizeof(double)),
                 .event = calloc(events * 2, sizeof(double)),
                 .integer = calloc(members * INTEGERS, sizeof(int)),
                 .event_integer = calloc(events * 3, sizeof(int))};
  for (int k = 0; k < TIMES; k++) c->time[k] = (double)k / (TIMES - 1);
  if (c->number && c->shape && c->rate && c->group && c->event && c->integer && c->event_integer) return CB_OK;
  return cb_fail(CB_ERROR_MEMORY, "no memory for a family of %d gaits", f->members);
}

static cb_status fill(const cb_bundle *b, const cb_family *f, columns *c) {
  const int M = f->members, E = f->events;
  cb_status status = CB_OK;
  for (int m = 0; m < M && !status; m++) {
    const cb_family_member *o = &f->member[m];
    const double numbers[NUMBERS] = {o->amount, o->cost, o->amount * o->amount / o->cost, o->multiplier, o->tail};
    const int integers[INTEGERS] = {o->index, o->flat, o->branch, o->cheapest};
    for (int i = 0; i < NUMBERS; i++) c->number[i * M + m] = numbers[i];
    for (int i = 0; i < INTEGERS; i++) c->integer[i * M + m] = integers[i];
    for (int k = 0; k < TIMES; k++)
      cb_gait_at(o->gait, c->time[k], c->shape + (m * TIMES + k) * b->n, c->rate + (m * TIMES + k) * b->n);
    status = cb_holonomy(b, o->gait, 0, c->group + m * b->group->size, NULL, NULL);
  }
  for (int e = 0; e < E; e++) {
    const cb_family_event *o = &f->event[e];
    c->event[e] = o->amount, c->event[E + e] = o->cost;
    c->event_integer[e] = o->kind, c->event_integer[E + e] = o->branch, c->event_integer[2 * E + e] = o->other;
  }
  return status;
}

static void put_members(const cb_bundle *b, const cb_family *f, const columns *c, cb_arrays *a) {
  static const char *const on[] = {"member"}, *const group[] = {"member", "number"},
                           *const way[] = {"member", "time", "variable"};
  static const struct {
    const char *name, *doc;
  } numbers[NUMBERS] = {{"target", "the amount"},
                        {"cost", "int r'Mr' dt"},
                        {"efficiency", "target^2/cost"},
                        {"multiplier", "lambda: d cost/d target = 2 lambda"},
                        {"tail", "last coefficients over the largest: cost errs by about its square"}},
    integers[INTEGERS] = {{"index", "negative directions of the second variation"},
                          {"flat", "directions without a second variation"},
                          {"branch", "that it is of"},
                          {"cheapest", "1 where no branch is cheaper at its target"}};
  cb_arrays_dimension(a, &(cb_dimension){"member", (size_t)f->members, NULL, NULL, "branch after branch"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"time", TIMES, c->time, NULL, "part of the cycle"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"number", (size_t)b->group->size, NULL, b->group->number, "of an element"},
                      NULL);
  for (int i = 0; i < NUMBERS; i++)
    cb_arrays_put(a, numbers[i].name, 1, on, c->number + i * f->members, NULL, numbers[i].doc);
  for (int i = 0; i < INTEGERS; i++)
    cb_arrays_put_integers(a, integers[i].name, 1, on, c->integer + i * f->members, integers[i].doc);
  cb_arrays_put(a, "group", 2, group, c->group, NULL, "the holonomy");
  cb_arrays_put(a, "shape", 3, way, c->shape, NULL, "r");
  cb_arrays_put(a, "rate", 3, way, c->rate, NULL, "r'");
}

static void put_events(const cb_family *f, const columns *c, cb_arrays *a) {
  static const char *const on[] = {"event"};
  cb_arrays_dimension(a, &(cb_dimension){"event_name", CB_FAMILY_EVENTS, NULL, cb_family_event_names, "by /event_kind"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"event", (size_t)f->events, NULL, NULL, "on the branches"}, NULL);
  cb_arrays_put_integers(a, "event_kind", 1, on, c->event_integer, "index of /event_name");
  cb_arrays_put(a, "event_target", 1, on, c->event, NULL, "where it is");
  cb_arrays_put(a, "event_cost", 1, on, c->event + f->events, NULL, "int r'Mr' dt there");
  cb_arrays_put_integers(a, "event_branch", 1, on, c->event_integer + f->events, "that it is on");
  cb_arrays_put_integers(a, "event_other", 1, on, c->event_integer + 2 * f->events,
                         "of a bound: the shape variable; of what is cheaper: the branch; else -1");
}

static cb_status write_file(const cb_gait_job *job, const cb_optimum_problem *p, const cb_family *f) {
  columns c;
  cb_arrays *a;
  cb_status status = make_columns(p->bundle, f, &c);
  if (!status) status = fill(p->bundle, f, &c);
  if (!status) status = cb_arrays_create(job->output, &a);
  if (!status) {
    cb_gait_attributes(job, a);
    cb_arrays_text(a, "target", targets[p->target.kind]);
    cb_arrays_number(a, "branches", f->branches);
    put_members(p->bundle, f, &c, a);
    put_events(f, &c, a);
    status = cb_arrays_close(a, CB_OK);
  }
  free_columns(&c);
  return status;
}

/* --- in words --- */

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

static void print_json(const cb_gait_job *job, const cb_family *f) {
  cb_gait_begin_json(job);
  printf("\"output\": ");
  cb_json_text(stdout, job->output);
  printf(", \"branches\": %d, \"members\": %d,\n \"events\": [", f->branches, f->members);
  for (int e = 0; e < f->events; e++) {
    const cb_family_event *o = &f->event[e];
    printf("%s\n {\"kind\": ", e ? "," : "");
    cb_json_text(stdout, cb_family_event_names[o->kind]);
    printf(", \"branch\": %d, \"other\": %d,\n ", o->branch, o->other);
    cb_gait_json("target", 0, NULL, &o->amount, false);
    cb_gait_json("cost", 0, NULL, &o->cost, true);
  }
  printf("]}\n");
}

/* What is lacking of what was asked, after the rest is written. */
static cb_status check_reached(const cb_gait_job *job, const cb_family *f, const cb_family_range *r) {
  double last = r->from;
  for (int m = 0; m < f->members; m++)
    if (fabs(f->member[m].amount - r->to) < fabs(last - r->to)) last = f->member[m].amount;
  if (isinf(r->to) || fabs(last - r->to) <= 1e-9 * fabs(r->to)) return CB_OK;
  return cb_fail(CB_STEP_NO_CONVERGENCE, "no branch of the family comes to %g: the last gait, in %s, is at %.9g", r->to,
                 job->output, last);
}

cb_status cb_gait_family(const cb_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  cb_family_range range;
  cb_family *f = NULL;
  if (job->over) return cb_gait_over(job);
  if (job->move) return cb_gait_steering(job);
  cb_status status = cb_gait_asked_of(job, &p);
  if (!status) status = check_asked(job, p);
  if (!status) status = read_range(job, p, &range);
  if (!status) status = find_family(job, p, &range, &f);
  if (!status) status = write_file(job, p, f);
  if (!status && job->json)
    print_json(job, f);
  else if (!status)
    print_text(p, f);
  if (!status) status = check_reached(job, f, &range);
  cb_family_free(f);
  return status;
}
