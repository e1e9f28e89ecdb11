/* curvebody gait SCENARIO family --over KEY=LO:HI: the best gait as a number of the scenario changes, each searched from
 * the one before it, and where it is best; family --move A:B --turn A:B --grid N1xN2: gaits that move by x and turn by
 * theta. Both are sweeps, of the works `family` and `steering`. */
#include "cli/gait.h"

#include "core/arena.h"
#include "core/text.h"
#include "core/warning.h"
#include "record/array.h"
#include "sweep/crew.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL = 21, MOST_MEMBERS = 10000, MOST_GRID = 1000 };

/* As --set has it: the scenario is as with the first number of `over`, or has a corner of the grid, not the identity. */
cb_status cb_gait_take_sweep(cb_gait_asked *asked, struct cb_arena *arena, cb_gait_job *job, cb_words *sets) {
  const char *over = job->over ? strchr(job->over, '=') : NULL;
  const bool grid = !job->over && asked->move && asked->turn && strchr(asked->move, ':') && strchr(asked->turn, ':');
  char *first = over ? cb_arena_strdup(arena, job->over) : NULL, *parts = NULL;
  if (first) first[over + strcspn(over, ":") - job->over] = 0;
  if (first && !cb_take_word(sets, first)) return cb_fail(CB_ERROR_INPUT, "--set: error: given too often");
  if (!grid) return over && !first ? cb_fail(CB_ERROR_MEMORY, "no memory for options") : CB_OK;
  const size_t size = strlen(asked->move) + strlen(asked->turn) + sizeof "x=,theta=";
  if (!(parts = cb_arena_alloc(arena, size, 1))) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  snprintf(parts, size, "x=%s,theta=%.*s", strchr(asked->move, ':') + 1, (int)strcspn(asked->turn, ":"), asked->turn);
  job->move = asked->move, job->turn = asked->turn;
  asked->parts = parts, asked->move = asked->turn = NULL;
  return CB_OK;
}

/* --- the sweep, as text --- */

static void put_quoted(cb_text *text, const char *word, size_t n) {
  cb_text_puts(text, "'");
  for (size_t i = 0; i < n; i++) cb_text_put(text, word[i] == '\'' ? "''" : word + i, word[i] == '\'' ? 2 : 1);
  cb_text_puts(text, "'");
}

/* From LO to HI in even steps. */
static cb_status put_axis(cb_text *text, const char *asked, const char *range, const char *key, size_t n,
                          const char *name, int count) {
  const char *colon = strchr(range, ':');
  double low, high;
  char value[128];
  snprintf(value, sizeof value, "%.*s", (int)(colon - range), range);
  cb_status status = cb_ambient_numbers(asked, value, 1, &low);
  if (!status) status = cb_ambient_numbers(asked, colon + 1, 1, &high);
  if (!status && low == high)
    status = cb_fail(CB_ERROR_INPUT, "%s: error: expected LO:HI, two numbers, found %g:%g", asked, low, high);
  if (status) return status;
  cb_text_puts(text, "    - key: ");
  put_quoted(text, key, n);
  snprintf(value, sizeof value, "\n      name: %s\n      from: %.17g\n      to: %.17g\n      count: %d\n", name, low,
           high, count);
  cb_text_puts(text, value);
  return CB_OK;
}

static void put_head(cb_text *text, const cb_gait_job *job, const char *work) {
  cb_text_puts(text, "curvebody: 1\ntitle: ");
  put_quoted(text, job->title, strlen(job->title));
  cb_text_puts(text, "\nsweep:\n  scenario: ");
  put_quoted(text, job->scenario, strlen(job->scenario));
  cb_text_puts(text, "\n  set:");
  for (size_t k = 0; k < job->sets->count; k++) {
    const char *word = job->sets->word[k];
    const size_t n = strcspn(word, "=");
    bool again = false; /* the last of a key counts */
    for (size_t j = k + 1; j < job->sets->count; j++) again = again || !strncmp(job->sets->word[j], word, n + 1);
    if (again) continue;
    cb_text_puts(text, "\n    ");
    put_quoted(text, word, n);
    cb_text_puts(text, ": ");
    cb_text_puts(text, word + n + 1);
  }
  cb_text_puts(text, "\n  work: ");
  cb_text_puts(text, work);
  cb_text_puts(text, "\n  keep: last\n  over:\n");
}

static cb_status put_over(const cb_gait_job *job, cb_text *text) {
  const size_t n = strcspn(job->over, "=");
  int members = USUAL;
  if (!n || !strchr(job->over + n, ':'))
    return cb_fail(CB_ERROR_INPUT, "--over: error: expected KEY=LO:HI, such as bundle.shares.1=0.4:1.4, found '%.80s'",
                   job->over);
  const cb_status status = cb_gait_count("--members", job->members, MOST_MEMBERS, &members);
  if (status) return status;
  put_head(text, job, "family\n  design: together");
  return put_axis(text, "--over", job->over + n + 1, job->over, n, "over", members);
}

static cb_status put_grid(const cb_gait_job *job, cb_text *text) {
  static const char *const option[2] = {"--move", "--turn"}, *const number[2] = {"x", "theta"};
  const cb_group *G = job->bundle->group;
  int count[2] = {USUAL, USUAL};
  cb_status status = cb_gait_grid(job->grid, MOST_GRID, count);
  if (status) return status;
  put_head(text, job, "steering");
  for (int i = 0; i < 2 && !status; i++) {
    int k = 0;
    while (k < G->size && strcmp(G->number[k], number[i])) k++;
    if (k == G->size)
      return cb_fail(CB_ERROR_INPUT,
                     "%s: error: with %s beside it expected a group with a number `%s`, such as se2, found %s",
                     option[i], option[1 - i], number[i], G->name);
    status =
        put_axis(text, option[i], i ? job->turn : job->move, number[i], strlen(number[i]), option[i] + 2, count[i]);
  }
  return status;
}

/* --- what was found --- */

typedef struct found {
  cb_hdf5_array array[8];
} found;
static const char *const columns[] = {"over",       "cost",       "amount",       "efficiency",
                                      "event_over", "event_cost", "event_amount", "event_efficiency"};
enum { OVER, COST, AMOUNT, EFFICIENCY, EVENT, COLUMNS = 8 };

static cb_status read_found(const char *path, bool grid, found *f) {
  const cb_hdf5_expected expected = {H5T_FLOAT, 1, 2, 0, "of a sweep"};
  cb_hdf5_source s;
  cb_status status = cb_hdf5_source_open(path, &s);
  if (status) return status;
  for (int i = grid ? COST : 0; i < (grid ? AMOUNT : COLUMNS) && !status; i++)
    status = cb_hdf5_read_array(&s, columns[i], &expected, &f->array[i]);
  return cb_hdf5_source_close(&s, status);
}

static void print_best(const cb_gait_job *job, const char *where, const double *const *x, size_t k, bool first) {
  if (!job->json) {
    printf("best at %s%.12g: cost %.12g, amount %.12g, efficiency %.12g\n", where, x[OVER][k], x[COST][k], x[AMOUNT][k],
           x[EFFICIENCY][k]);
    return;
  }
  printf("%s\n {\"kind\": \"best\", ", first ? "" : ",");
  cb_gait_json("over", 0, NULL, &x[OVER][k], false);
  cb_gait_json("amount", 0, NULL, &x[AMOUNT][k], false);
  cb_gait_json("cost", 0, NULL, &x[COST][k], true);
}

static void print_over(const cb_gait_job *job, const found *f) {
  const size_t members = f->array[OVER].count;
  size_t last = members - 1;
  const double *x[COLUMNS];
  bool any = false;
  for (int i = 0; i < COLUMNS; i++) x[i] = f->array[i].value;
  char key[160];
  snprintf(key, sizeof key, "%.*s", (int)strcspn(job->over, "="), job->over);
  if (job->json) {
    printf("\"over\": ");
    cb_json_text(stdout, key);
    printf(", \"members\": %zu,\n \"events\": [", members);
  } else {
    printf("%zu gaits over %s\n", members, key);
  }
  for (size_t k = 0; k < members; k++)
    if (!isnan(x[EVENT][k])) print_best(job, "", x + EVENT, k, !any), any = true;
  const cb_seek seek = job->motion->optimum->problem.seek;
  const double *by = x[seek == CB_SEEK_COST ? COST : seek == CB_SEEK_EFFICIENCY ? EFFICIENCY : AMOUNT];
  while (last > 0 && isnan(by[last])) last--; /* of those found */
  const bool less = fabs(by[0]) < fabs(by[last]);
  if (job->json)
    printf("]}\n");
  else if (!any)
    print_best(job, "an end, ", x, less == (seek == CB_SEEK_COST) ? 0 : last, true);
}

static void print_grid(const cb_gait_job *job, const found *f) {
  const cb_hdf5_array *cost = &f->array[COST];
  size_t count = 0;
  for (size_t k = 0; k < cost->count; k++) count += isfinite(cost->value[k]);
  if (job->json)
    printf("\"grid\": [%d, %d], \"found\": %zu}\n", cost->dims[0], cost->dims[1], count);
  else
    printf("%zu gaits of %zu\n", count, cost->count);
}

/* What there is, and what failed of it. */
static cb_status report(const cb_gait_job *job, const cb_folder *folder, const cb_crew_progress *p) {
  found f = {0};
  cb_status status = read_found(folder->result, !job->over, &f);
  if (!status && job->json) {
    cb_gait_begin_json(job);
    printf("\"output\": ");
    cb_json_text(stdout, folder->result);
    printf(", ");
  }
  if (!status) (job->over ? print_over : print_grid)(job, &f);
  for (int i = 0; i < COLUMNS; i++) free(f.array[i].value);
  cb_crew_status now = {0};
  if (p->failed && !status) status = cb_crew_status_of(folder, &now);
  if (p->failed && !status)
    status = cb_fail(CB_STEP_NO_CONVERGENCE, "%lld of %lld gaits were not found, such as number %lld: %s",
                     (long long)p->failed, (long long)p->members, (long long)now.failed[0],
                     now.words[0] ? now.words[0] : "");
  cb_crew_status_free(&now);
  return status;
}

static cb_status go(const cb_gait_job *job, const char *text, const cb_folder *folder) {
  cb_sweep_plan *plan;
  cb_sweep *sweep = NULL;
  cb_ranks ranks;
  cb_crew_progress p;
  cb_status status = cb_ranks_begin(&ranks);
  if (status) return status;
  status = cb_sweep_plan_open_text("gait family", text, &plan);
  if (!status) status = cb_sweep_create(plan, &sweep);
  const cb_crew_options options = {.output = job->output, .ranks = &ranks, .threads = 1};
  if (!status) status = cb_crew_go(sweep, &options, &p);
  if (!status && p.warned)
    cb_warn("%lld members were warned of, such as number %lld: %s", (long long)p.warned, (long long)p.first_warned,
            p.warning);
  if (!status) status = report(job, folder, &p);
  cb_sweep_free(sweep);
  ranks.finish(ranks.self, status != CB_OK);
  return status;
}

cb_status cb_gait_sweep(const cb_gait_job *job) {
  const cb_optimum_problem *p;
  cb_text text = {0};
  cb_folder folder;
  cb_status status = cb_gait_asked_of(job, &p);
  if (!status) status = job->over ? put_over(job, &text) : put_grid(job, &text);
  if (!status && text.failed) status = cb_fail(CB_ERROR_MEMORY, "no memory for a sweep");
  if (!status) status = cb_folder_name(job->output, &folder);
  if (!status) {
    status = go(job, text.data, &folder);
    cb_folder_close(&folder, false);
  }
  cb_text_free(&text);
  return status;
}
