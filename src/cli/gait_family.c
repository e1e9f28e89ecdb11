/* curvebody gait SCENARIO family: gaits of stationary cost, followed as the amount of their target grows, in branches.
 * sweep/families.c describes the output file. Two other forms are sweeps with the tasks `family` and `steering`.
 *
 * --vary KEY=LO:HI finds the best gait for each value of a number of the scenario, and the value for which the gait is
 * best. Each search starts from the gait of the previous value. --move A:B --turn A:B --grid N1xN2 finds a gait for
 * each displacement x and rotation theta of a grid. */
#include "cli/gait_job.h"

#include "core/arena.h"
#include "core/text.h"
#include "core/failure.h"
#include "optimum/target.h"
#include "record/arrays.h"
#include "sweep/sweep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- sweeps --- */

enum { USUAL = 21, MAX_MEMBERS = 10000, MAX_GRID = 1000 };

/* Sets the values of one member of the sweep, in the form of --set: the first number of --vary, or the corner of the
 * grid with the end of --move and the start of --turn. */
cb_status cli_gait_take_sweep(cli_optimum_options *options, struct cb_arena *arena, cli_gait_job *job, cli_list *sets) {
  const char *vary = job->vary ? strchr(job->vary, '=') : NULL;
  const bool grid =
      !job->vary && options->move && options->turn && strchr(options->move, ':') && strchr(options->turn, ':');
  char *first = vary ? cb_arena_strdup(arena, job->vary) : NULL, *parts = NULL;
  if (first) first[vary + strcspn(vary, ":") - job->vary] = 0;
  if (first && !cli_list_add(sets, first))
    return cb_fail(CB_ERROR_INPUT,
                   "--set, --vary: error: used too often: expected fewer uses; write the values into the scenario");
  if (!grid) return vary && !first ? cb_fail(CB_ERROR_MEMORY, "no memory for options") : CB_OK;
  const size_t size = strlen(options->move) + strlen(options->turn) + sizeof "x=,theta=";
  if (!(parts = cb_arena_alloc(arena, size, 1))) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  snprintf(parts, size, "x=%s,theta=%.*s", strchr(options->move, ':') + 1, (int)strcspn(options->turn, ":"),
           options->turn);
  job->move = options->move;
  job->turn = options->turn;
  options->parts = parts;
  options->move = options->turn = NULL;
  return CB_OK;
}

/* --- the sweep, as text --- */

static void put_quoted(cb_text *text, const char *value, size_t n) {
  cb_text_puts(text, "'");
  for (size_t i = 0; i < n; i++) cb_text_put(text, value[i] == '\'' ? "''" : value + i, value[i] == '\'' ? 2 : 1);
  cb_text_puts(text, "'");
}

/* Appends to the text of a sweep an axis with equal steps from LO to HI. */
static cb_status put_axis(cb_text *text, const char *option, const char *range, const char *key, size_t n,
                          const char *name, int count) {
  const char *colon = strchr(range, ':');
  double low, high;
  char value[128];
  snprintf(value, sizeof value, "%.*s", (int)(colon - range), range);
  cb_status status = cli_ambient_numbers(option, value, 1, &low);
  if (!status) status = cli_ambient_numbers(option, colon + 1, 1, &high);
  if (!status && low == high)
    status = cb_fail(CB_ERROR_INPUT, "%s: error: expected LO:HI, two numbers, found %g:%g", option, low, high);
  if (status) return status;
  cb_text_puts(text, "    - key: ");
  put_quoted(text, key, n);
  snprintf(value, sizeof value, "\n      name: %s\n      from: %.17g\n      to: %.17g\n      count: %d\n", name, low,
           high, count);
  cb_text_puts(text, value);
  return CB_OK;
}

static void put_head(cb_text *text, const cli_gait_job *job, const char *task) {
  cb_text_puts(text, "curvebody: 1\ntitle: ");
  put_quoted(text, job->title, strlen(job->title));
  cb_text_puts(text, "\nsweep:\n  scenario: ");
  put_quoted(text, job->scenario, strlen(job->scenario));
  cb_text_puts(text, "\n  set:");
  for (size_t k = 0; k < job->sets->count; k++) {
    const char *set = job->sets->item[k];
    const size_t n = strcspn(set, "=");
    bool again = false; /* a later value of the same key replaces this one */
    for (size_t j = k + 1; j < job->sets->count; j++) again = again || !strncmp(job->sets->item[j], set, n + 1);
    if (again) continue;
    cb_text_puts(text, "\n    ");
    put_quoted(text, set, n);
    cb_text_puts(text, ": ");
    cb_text_puts(text, set + n + 1);
  }
  cb_text_puts(text, "\n  task: ");
  cb_text_puts(text, task);
  cb_text_puts(text, "\n  keep: last\n  over:\n");
}

static cb_status put_vary(const cli_gait_job *job, cb_text *text) {
  const size_t n = strcspn(job->vary, "=");
  int members = USUAL;
  if (!n || !strchr(job->vary + n, ':'))
    return cb_fail(CB_ERROR_INPUT, "--vary: error: expected KEY=LO:HI, such as bundle.shares.1=0.4:1.4, found '%.80s'",
                   job->vary);
  const cb_status status = cli_gait_count("--members", job->members, MAX_MEMBERS, &members);
  if (status) return status;
  put_head(text, job, "family\n  design: together");
  return put_axis(text, "--vary", job->vary + n + 1, job->vary, n, "varied", members);
}

static cb_status put_grid(const cli_gait_job *job, cb_text *text) {
  static const char *const option[2] = {"--move", "--turn"}, *const number[2] = {"x", "theta"};
  const cb_group *G = job->bundle->group;
  int count[2] = {USUAL, USUAL};
  cb_status status = cli_gait_grid(job->grid, MAX_GRID, count);
  if (status) return status;
  put_head(text, job, "steering");
  for (int i = 0; i < 2 && !status; i++) {
    int k = 0;
    while (k < G->size && strcmp(G->number[k], number[i])) k++;
    if (k == G->size)
      return cb_fail(
          CB_ERROR_INPUT,
          "%s: error: with %s, expected a bundle whose group has the coordinate `%s`, such as se2, found the group %s",
          option[i], option[1 - i], number[i], G->name);
    status =
        put_axis(text, option[i], i ? job->turn : job->move, number[i], strlen(number[i]), option[i] + 2, count[i]);
  }
  return status;
}

/* --- the results --- */

typedef struct found {
  cb_hdf5_array array[8];
} found;
static const char *const columns[] = {"varied",       "cost",       "amount",       "efficiency",
                                      "event_varied", "event_cost", "event_amount", "event_efficiency"};
enum { VARIED, COST, AMOUNT, EFFICIENCY, EVENT, COLUMNS = 8 };

static cb_status read_found(const char *path, bool grid, found *f) {
  const cb_hdf5_expected expected = {H5T_FLOAT, 1, 2, 0, "of a sweep"};
  cb_hdf5_source s;
  cb_status status = cb_hdf5_source_open(path, &s);
  if (status) return status;
  for (int i = grid ? COST : 0; i < (grid ? AMOUNT : COLUMNS) && !status; i++)
    status = cb_hdf5_read_array(&s, columns[i], &expected, &f->array[i]);
  return cb_hdf5_source_close(&s, status);
}

static void print_best(const cli_gait_job *job, const char *where, const double *const *x, size_t k, bool first) {
  if (!job->json) {
    printf("best at %s%.12g: cost %.12g, amount %.12g, efficiency %.12g\n", where, x[VARIED][k], x[COST][k],
           x[AMOUNT][k], x[EFFICIENCY][k]);
    return;
  }
  printf("%s\n {\"kind\": \"best\", ", first ? "" : ",");
  cli_gait_json("varied", 0, NULL, &x[VARIED][k], false);
  cli_gait_json("amount", 0, NULL, &x[AMOUNT][k], false);
  cli_gait_json("cost", 0, NULL, &x[COST][k], true);
}

static void print_vary(const cli_gait_job *job, const found *f) {
  const size_t members = f->array[VARIED].count;
  size_t last = members - 1;
  const double *x[COLUMNS];
  bool any = false;
  for (int i = 0; i < COLUMNS; i++) x[i] = f->array[i].value;
  char key[160];
  snprintf(key, sizeof key, "%.*s", (int)strcspn(job->vary, "="), job->vary);
  if (job->json) {
    printf("\"varied\": ");
    cli_json_text(stdout, key);
    printf(", \"members\": %zu,\n \"events\": [", members);
  } else {
    printf("%zu gaits over %s\n", members, key);
  }
  for (size_t k = 0; k < members; k++)
    if (!isnan(x[EVENT][k])) {
      print_best(job, "", x + EVENT, k, !any);
      any = true;
    }
  const cb_objective objective = job->motion->optimum->problem.objective;
  const double *by = x[objective == CB_OBJECTIVE_COST         ? COST
                       : objective == CB_OBJECTIVE_EFFICIENCY ? EFFICIENCY
                                                              : AMOUNT];
  while (last > 0 && isnan(by[last])) last--; /* the last gait that was found */
  const bool less = fabs(by[0]) < fabs(by[last]);
  if (job->json)
    printf("]}\n");
  else if (!any)
    print_best(job, "an end, ", x, less == (objective == CB_OBJECTIVE_COST) ? 0 : last, true);
}

static void print_grid(const cli_gait_job *job, const found *f) {
  const cb_hdf5_array *cost = &f->array[COST];
  size_t count = 0;
  for (size_t k = 0; k < cost->count; k++) count += isfinite(cost->value[k]);
  if (job->json)
    printf("\"grid\": [%d, %d], \"found\": %zu}\n", cost->dims[0], cost->dims[1], count);
  else
    printf("%zu of %zu gaits found\n", count, cost->count);
}

/* Prints the gaits that the sweep has found. Fails if some gaits were not found. */
static cb_status report(const cli_gait_job *job, const cb_folder *folder, const cb_sweep_progress *p) {
  found f = {0};
  cb_status status = read_found(folder->result, !job->vary, &f);
  if (!status && job->json) {
    cli_gait_begin_json(job);
    printf("\"output\": ");
    cli_json_text(stdout, folder->result);
    printf(", ");
  }
  if (!status) (job->vary ? print_vary : print_grid)(job, &f);
  for (int i = 0; i < COLUMNS; i++) free(f.array[i].value);
  cb_sweep_status now = {0};
  if (p->failed && !status) status = cb_sweep_status_of(folder, &now);
  if (p->failed && !status)
    status =
        cb_fail(CB_STEP_NO_CONVERGENCE, "%lld of %lld gaits were not found, for example number %lld: %s",
                (long long)p->failed, (long long)p->members, (long long)now.failed[0], now.text[0] ? now.text[0] : "");
  cb_sweep_status_free(&now);
  return status;
}

static cb_status run_sweep(const cli_gait_job *job, const char *text, const cb_folder *folder) {
  cb_sweep_plan *plan;
  cb_sweep *sweep = NULL;
  cb_ranks ranks;
  cb_sweep_progress p;
  cb_status status = cb_ranks_begin(&ranks);
  if (status) return status;
  status = cb_sweep_plan_open_text("gait family", text, &plan);
  if (!status) status = cb_sweep_create(plan, &sweep);
  const cb_sweep_options options = {.output = job->output, .ranks = &ranks, .threads = 1};
  if (!status) status = cb_sweep_run(sweep, &options, &p);
  if (!status && p.warned)
    cb_warn("%lld members have warnings, for example number %lld: %s", (long long)p.warned, (long long)p.first_warned,
            p.warning);
  if (!status) status = report(job, folder, &p);
  cb_sweep_free(sweep);
  ranks.finish(ranks.self, status != CB_OK);
  return status;
}

/* Runs a sweep over a number of the scenario (--vary) or over two targets (--move and --turn), and writes its
 * results. */
static cb_status gait_sweep(const cli_gait_job *job) {
  const cb_optimum_problem *p;
  cb_text text = {0};
  cb_folder folder;
  cb_status status = cli_gait_problem(job, &p);
  if (!status && !strcmp(job->scenario, "-"))
    status = cb_fail(CB_ERROR_ARGUMENT, "a sweep reads its scenario several times: expected a file, found `-`");
  if (!status) status = job->vary ? put_vary(job, &text) : put_grid(job, &text);
  if (!status && text.failed) status = cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  if (!status) status = cb_folder_name(job->output, &folder);
  if (!status) {
    status = run_sweep(job, text.data, &folder);
    cb_folder_close(&folder, false);
  }
  cb_text_free(&text);
  return status;
}

/* --- branches over the amount of the target --- */

enum { USUAL_MEMBERS = 100, MAXIMUM_MEMBERS = 100000 };

/* --- options --- */

static cb_status read_range(const cli_gait_job *job, const cb_optimum_problem *p, cb_family_range *range) {
  char option[16];
  *range = (cb_family_range){cb_gait_target_get(p->bundle->group, &p->target), INFINITY, USUAL_MEMBERS};
  cb_status status = cli_gait_count("--members", job->members, MAXIMUM_MEMBERS, &range->members);
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
  if (job->vary || job->move) return gait_sweep(job);
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
