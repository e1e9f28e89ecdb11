/* curvebody gait SCENARIO optimize: the gait of minimum cost at a target, of maximum efficiency, or of maximum amount
 * at a length, and the checks of its optimality. The output is text, JSON, the scenario with the best gait, or HDF5:
 *
 *   /time[T] /shape[T, n] /rate[T, n] /momentum[T, n] /multiplier[T, algebra] /group[T, number] /power[T]
 *   /cost[optimum] /length /amount /efficiency /lambda[optimum, algebra] /start[optimum, n] /index /flat /conjugates
 *   /conjugate[optimum, 2] /found /wong /abnormal
 *
 * The arrays of the first line describe the best gait at T = 513 times. The other arrays describe all optima, the best
 * first. n is the number of shape variables, algebra the axes of the Lie algebra, number the numbers of an element.
 *
 * curvebody gait SCENARIO optimality: the distance of the scenario's gait from stationary cost among gaits with the
 * same holonomy, and its type (minimum, saddle). The comparison is with gaits that reach the same amount of the target
 * of `optimum` (without that key: the same group element) and satisfy the same constraints. */
#include "cli/gait_job.h"

#include "core/arena.h"
#include "core/failure.h"
#include "record/arrays.h"
#include "record/output.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* --- an optimum as text and as JSON --- */

/* The type of an optimum in words, such as "minimum", "saddle of index 1" or "not proved: ..". */
typedef struct gait_text {
  char text[128];
} gait_text;

static gait_text gait_optimality_text(const cb_optimum *o) {
  gait_text w;
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

static void gait_print_problem(const cli_gait_job *job, const cb_optimum_problem *p) {
  static const char *const objectives[] = {"minimum cost", "maximum efficiency", "maximum amount",
                                           "minimum squared torque", "minimum mechanical work"};
  const bool effort = cb_objective_is_effort(p->objective);
  const cb_group *G = job->bundle->group;
  printf("%s: %d shape variable%s, fibre %s\n%-12s%s", cb_bundle_scenario_name(job->motion), job->bundle->n,
         job->bundle->n == 1 ? "" : "s", G->name, "sought", objectives[p->objective]);
  if (p->objective == CB_OBJECTIVE_TARGET) printf(" at length %.15g", p->length);
  const bool amount = p->objective == CB_OBJECTIVE_COST || effort;
  if (effort) printf(" in %.15g s", p->duration);
  switch (p->target.kind) {
    case CB_GAIT_MOVE:
    case CB_GAIT_TURN:
      printf(", to %s", p->target.kind == CB_GAIT_MOVE ? "move" : "turn");
      if (amount) printf(" by %.15g", p->target.value);
      break;
    case CB_GAIT_ELEMENT: printf(", to the element"); break;
    case CB_GAIT_PARTS:
      if (cb_gait_target_count(G, &p->target)) printf(", to the numbers");
      break;
  }
  for (int k = 0, first = 1; k < G->size; k++) {
    if (p->target.kind != CB_GAIT_ELEMENT && !(p->target.kind == CB_GAIT_PARTS && p->target.asked[k])) continue;
    printf("%s%s = ", first ? " " : ", ", G->number[k]);
    printf(amount || p->target.element[k] == 0 ? "%.15g" : "any", p->target.element[k]);
    first = 0;
  }
  printf("\n");
}

/* Prints the number of conjugate times before 1, the first of them, and the first one from 1 on. */
static void gait_print_conjugates(const cb_optimum *o) {
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

/* Prints the largest torques and the work of an optimal motion with inertia. */
static void print_efforts(const cb_bundle *b, const cb_optimum *o) {
  cli_gait_row("torques", b->n, b->shape, o->largest);
  cli_gait_row("work", b->n, b->shape, o->work);
  printf("%-12s%.15g\n", "mechanical", o->mechanical);
}

/* Prints an optimum as lines. based: there is a start shape; conjugate times are then printed, too. */
static void gait_print_optimum(const cb_bundle *b, bool based, const cb_optimum *o) {
  const bool effort = isnan(o->length);
  printf("cost        %.15g\n", o->cost);
  if (effort)
    print_efforts(b, o);
  else
    printf("length      %.15g\n", o->length);
  if (isfinite(o->amount) && !effort)
    printf("amount      %.15g\nefficiency  %.15g\n", o->amount, cb_gait_efficiency(o->amount, o->cost));
  cli_gait_row("holonomy", b->group->size, b->group->number, o->g);
  cli_gait_row("lambda", b->group->dim, b->group->axis, o->lambda);
  cli_gait_row("from", b->n, b->shape, o->r);
  printf("%-12s%s\n", "optimality", gait_optimality_text(o).text);
  if (based) gait_print_conjugates(o);
  if (!isfinite(o->wong)) return;
  printf("%-12sspeed %.2g, Ad* lambda %.2g, Casimirs %.2g (largest relative changes along the gait)\n", "invariants",
         cli_unsigned_nan(o->speed), cli_unsigned_nan(o->momentum), cli_unsigned_nan(o->casimir));
  printf("%-12scost %.15g, relative difference %.2g\n", "by Wong", o->wong, fabs(o->wong / o->cost - 1));
}

static void number(const char *key, double value) { cli_gait_json(key, 0, NULL, &value, false); }

/* Prints an optimum as JSON keys without braces. */
static void gait_print_optimum_json(const cb_bundle *b, const cb_optimum *o) {
  const int two = 2, three = 3;
  const double drift[] = {o->speed, o->momentum, o->casimir};
  number("cost", o->cost);
  number("length", o->length);
  if (isnan(o->length)) {
    cli_gait_json("largest_torque", 1, &b->n, o->largest, false);
    cli_gait_json("work", 1, &b->n, o->work, false);
    number("mechanical", o->mechanical);
    number("basis", o->basis);
  }
  number("amount", o->amount);
  number("efficiency", cb_gait_efficiency(o->amount, o->cost));
  cli_gait_json("g", 1, &b->group->size, o->g, false);
  cli_gait_json("lambda", 1, &b->group->dim, o->lambda, false);
  cli_gait_json("at", 1, &b->n, o->r, false);
  cli_gait_json("rate", 1, &b->n, o->rate, false);
  cli_gait_json("momentum", 1, &b->n, o->p, false);
  printf("\"optimality\": ");
  cli_json_text(stdout, gait_optimality_text(o).text);
  printf(", \"index\": %d, \"flat\": %d, \"conjugates\": %d,\n ", o->index, o->flat, o->conjugates);
  cli_gait_json("conjugate", 1, &two, o->conjugate, false);
  number("wong", o->wong);
  cli_gait_json("drift", 1, &three, drift, false);
  printf("\"abnormal\": %s, \"found\": %d", o->abnormal ? "true" : "false", o->found);
}

/* --- an optimum as a file --- */

enum { TIMES = 513 };

static cb_status write_scenario(const cli_gait_job *job, const cb_gait *gait) {
  cb_text text = {0};
  cb_status status = cb_scenario_with_gait(job->read, gait, &text);
  if (!status) status = cli_gait_write_text(job->output, &text);
  cb_text_free(&text);
  return status;
}

/* The best gait at the times time[k], which are fractions of the cycle. Each array has one row per time. */
typedef struct cycle {
  double time[TIMES], power[TIMES];
  double *shape, *rate, *momentum, *multiplier, *group;
} cycle;

static cb_status make_cycle(const cb_bundle *b, cb_arena *arena, cycle *c) {
  cb_arena_doubles(arena, TIMES * (size_t)b->n, &c->shape, &c->rate, &c->momentum);
  cb_arena_doubles(arena, TIMES * (size_t)b->group->dim, &c->multiplier);
  cb_arena_doubles(arena, TIMES * (size_t)b->group->size, &c->group);
  return cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for a gait") : CB_OK;
}

/* Computes along the gait the multiplier lambda = Ad_g^T lambda(0), the momentum p = Mr' + <lambda, A> and the power
 * r'Mr'. r is the shape, g the group element, A the connection, M the metric of the cost, and Ad_g^T the transpose of
 * the adjoint matrix of g. */
static cb_status follow(const cb_bundle *b, const cb_optimum *o, cycle *c) {
  const int n = b->n, dim = b->group->dim;
  for (int k = 0; k < TIMES; k++) c->time[k] = (double)k / (TIMES - 1);
  cb_status status = cb_reconstruct(b, o->gait, 0, TIMES, c->time, c->group);
  for (int k = 0; k < TIMES && !status; k++) {
    double *r = c->shape + k * n, *v = c->rate + k * n, *p = c->momentum + k * n, *lambda = c->multiplier + k * dim;
    double A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
    cb_gait_at(o->gait, c->time[k], r, v);
    cb_group_adjoint_dual(b->group, c->group + k * b->group->size, o->lambda, lambda);
    status = cb_bundle_connection(b, r, A, NULL, M, NULL);
    for (int i = 0; i < n && !status; i++) {
      double push = 0;
      for (int j = 0; j < n; j++) push += M[i * n + j] * v[j];
      c->power[k] += push * v[i];
      p[i] = push;
      for (int a = 0; a < dim; a++) p[i] += lambda[a] * A[a * n + i];
    }
  }
  return status;
}

static void put_cycle(const cb_bundle *b, const cycle *c, cb_arrays *a) {
  static const char *const shape[] = {"time", "variable"}, *const group[] = {"time", "number"},
                           *const algebra[] = {"time", "algebra"};
  cb_arrays_dimension(a, &(cb_dimension){"time", TIMES, c->time, NULL, "time as a fraction of the cycle, 0 to 1"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_dimension(
      a, &(cb_dimension){"number", (size_t)b->group->size, NULL, b->group->number, "number of a group element"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"algebra", (size_t)b->group->dim, NULL, b->group->axis, "axis of the algebra"},
                      NULL);
  cb_arrays_put(a, "shape", 2, shape, c->shape, NULL, "shape r of the best gait");
  cb_arrays_put(a, "rate", 2, shape, c->rate, NULL, "rate of the shape, r'");
  cb_arrays_put(a, "momentum", 2, shape, c->momentum, NULL,
                "momentum p = Mr' + <lambda, A>; the same at the start and the end if the start shape is free");
  cb_arrays_put(a, "multiplier", 2, algebra, c->multiplier, NULL, "lambda along the gait, left-trivialised");
  cb_arrays_put(a, "group", 2, group, c->group, NULL, "element of the group");
  cb_arrays_put(a, "power", 1, shape, c->power, NULL, "power r'Mr'; constant unless the gait is held at a bound");
}

/* The results of all optima: number[NUMBERS][count], integer[INTEGERS][count]; the other arrays have one row per
 * optimum. */
typedef struct summary {
  int count;
  double *number, *lambda, *start, *conjugate;
  int *integer;
} summary;

enum { COST, LENGTH, AMOUNT, EFFICIENCY, WONG, NUMBERS };
enum { INDEX, FLAT, CONJUGATES, FOUND, ABNORMAL, INTEGERS };

static cb_status sum_up(const cb_bundle *b, const cb_optima *all, cb_arena *arena, summary *s) {
  const size_t count = (size_t)all->count, n = (size_t)b->n, dim = (size_t)b->group->dim;
  s->count = all->count;
  cb_arena_doubles(arena, count * NUMBERS, &s->number);
  cb_arena_doubles(arena, count * dim, &s->lambda);
  cb_arena_doubles(arena, count * n, &s->start);
  cb_arena_doubles(arena, count * 2, &s->conjugate);
  s->integer = cb_arena_alloc(arena, count * INTEGERS, sizeof *s->integer);
  if (cb_arena_lost(arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", all->count);
  for (size_t k = 0; k < count; k++) {
    const cb_optimum *o = &all->item[k];
    const double numbers[NUMBERS] = {o->cost, o->length, o->amount, o->amount * o->amount / o->cost, o->wong};
    const int integers[INTEGERS] = {o->index, o->flat, o->conjugates, o->found, o->abnormal};
    for (int i = 0; i < NUMBERS; i++) s->number[(size_t)i * count + k] = numbers[i];
    for (int i = 0; i < INTEGERS; i++) s->integer[(size_t)i * count + k] = integers[i];
    memcpy(s->lambda + k * dim, o->lambda, dim * sizeof *o->lambda);
    memcpy(s->start + k * n, o->r, n * sizeof *o->r);
    memcpy(s->conjugate + 2 * k, o->conjugate, sizeof o->conjugate);
  }
  return CB_OK;
}

static void put_summary(const summary *s, cb_arrays *a) {
  static const char *const on[] = {"optimum"}, *const lambda[] = {"optimum", "algebra"},
                           *const start[] = {"optimum", "variable"}, *const conjugate[] = {"optimum", "side"},
                           *const sides[] = {"first", "next"};
  static const struct {
    const char *name, *doc;
  } numbers[NUMBERS] = {{"cost", "int r'Mr' dt"},
                        {"length", "int sqrt(r'Mr') dt"},
                        {"amount", "amount of the target; nan if the target has none"},
                        {"efficiency", "amount^2/cost"},
                        {"wong", "cost by Wong's equations"}},
    integers[INTEGERS] = {{"index", "number of negative directions of the second variation; -1: not known"},
                          {"flat", "zero eigenvalues of the second variation, not counting the shift of time"},
                          {"conjugates", "number of conjugate times before 1"},
                          {"found", "number of starts that converged to this gait"},
                          {"abnormal", "1 if the multiplier of the cost is 0, otherwise 0"}};
  cb_arrays_dimension(
      a, &(cb_dimension){"optimum", (size_t)s->count, NULL, NULL, "gaits of stationary cost, best first"}, NULL);
  cb_arrays_dimension(
      a,
      &(cb_dimension){"side", 2, NULL, sides, "first: the first conjugate time before 1; next: the first one after 1"},
      NULL);
  for (int i = 0; i < NUMBERS; i++)
    cb_arrays_put(a, numbers[i].name, 1, on, s->number + i * s->count, NULL, numbers[i].doc);
  for (int i = 0; i < INTEGERS; i++)
    cb_arrays_put_integers(a, integers[i].name, 1, on, s->integer + i * s->count, integers[i].doc);
  cb_arrays_put(a, "lambda", 2, lambda, s->lambda, NULL, "Wong's momentum at the start, left-trivialised");
  cb_arrays_put(a, "start", 2, start, s->start, NULL, "shape at the start");
  cb_arrays_put(a, "conjugate", 2, conjugate, s->conjugate, NULL, "conjugate times for a fixed start shape");
}

static cb_status write_arrays(const cli_gait_job *job, const cb_optimum_problem *p, const cb_optima *all) {
  static const char *const objectives[] = {"cost", "efficiency", "target"}, *const targets[] = {"move", "turn",
                                                                                                "element", "parts"};
  const cb_bundle *b = p->bundle;
  cb_arena *arena = cb_arena_create();
  cycle c = {.shape = NULL};
  summary s;
  cb_arrays *a;
  cb_status status = make_cycle(b, arena, &c);
  if (!status) status = sum_up(b, all, arena, &s);
  if (!status) status = follow(b, &all->item[0], &c);
  if (!status) status = cb_arrays_create(job->output, false, &a);
  if (!status) {
    const cb_families_job of = cli_gait_families_job(job);
    cb_families_attributes(&of, a);
    cb_arrays_text(a, "target", targets[p->target.kind]);
    cb_arrays_text(a, "objective", objectives[p->objective]);
    cb_arrays_number(a, "starts", all->starts);
    cb_arrays_number(a, "failed", all->failed);
    if (isfinite(all->falling)) cb_arrays_number(a, "falling", all->falling);
    put_cycle(b, &c, a);
    put_summary(&s, a);
    status = cb_arrays_close(a, CB_OK);
  }
  cb_arena_free(arena);
  return status;
}

/* Writes optima to the output: a scenario with the best gait, or arrays if its name ends with .h5. */
static cb_status gait_write_optima(const cli_gait_job *job, const cb_optimum_problem *problem, const cb_optima *found) {
  const char *suffix = strrchr(job->output, '.');
  return suffix && !strcmp(suffix, ".h5") ? write_arrays(job, problem, found)
                                          : write_scenario(job, found->item[0].gait);
}

/* --- optimize --- */

static void print_others(const cb_bundle *b, const cb_optimum_problem *p, const cb_optima *all) {
  printf("%-12s%d of %d start%s, %d failed\n", "found by", all->item[0].found, all->starts, all->starts == 1 ? "" : "s",
         all->failed);
  for (int k = 1; k < all->count; k++) {
    const cb_optimum *o = &all->item[k];
    printf("%-12scost %.12g", k == 1 ? "others" : "", o->cost);
    if (isfinite(o->amount) && isfinite(o->length))
      printf(", amount %.12g, efficiency %.12g", o->amount, cb_gait_efficiency(o->amount, o->cost));
    printf(", %s, found by %d\n", gait_optimality_text(o).text, o->found);
  }
  if (!isfinite(all->falling)) return;
  static const char *const what[] = {"cost", "cost/amount^2", "-amount", "cost", "cost"};
  printf("%-12sa search that did not converge reached %s %.6g; try a start shape or bounds\n", "less",
         what[p->objective], all->falling);
  cli_gait_row("towards", b->n, b->shape, all->towards);
}

static void print_text(const cli_gait_job *job, const cb_optimum_problem *p, const cb_optima *all,
                       const cb_gait_check *c) {
  const cb_bundle *b = job->bundle;
  const cb_optimum *o = &all->item[0];
  gait_print_problem(job, p);
  gait_print_optimum(b, p->start_shape != NULL, o);
  printf("%-12sthe cost differs by %.2g (relative), the group element by %.2g%s\n",
         isnan(o->length) ? "check" : "by holonomy", c->cost, c->element,
         isnan(o->length) ? ", with twice as many nodes" : "");
  if (isnan(o->length) && isfinite(o->basis))
    printf("%-12sthe cost differs by %.2g (relative) from that in half as many functions of time\n", "basis", o->basis);
  print_others(b, p, all);
}

/* --- as JSON --- */

static void print_json(const cli_gait_job *job, const cb_optimum_problem *p, const cb_optima *all,
                       const cb_gait_check *c) {
  static const char *const objectives[] = {"cost", "efficiency", "target", "torque", "work"}, *const targets[] = {
                                                                                                  "move", "turn",
                                                                                                  "element", "parts"};
  const cb_bundle *b = job->bundle;
  cli_gait_begin_json(job);
  cli_gait_json_texts("numbers", b->group->size, b->group->number);
  printf(",\n ");
  cli_gait_json_texts("axes", b->group->dim, b->group->axis);
  printf(",\n \"target\": \"%s\", \"objective\": \"%s\",\n ", targets[p->target.kind], objectives[p->objective]);
  gait_print_optimum_json(b, &all->item[0]);
  printf(", \"starts\": %d, \"failed\": %d,\n ", all->starts, all->failed);
  cli_gait_json("check_cost", 0, NULL, &c->cost, false);
  cli_gait_json("check_g", 0, NULL, &c->element, false);
  if (job->output) {
    printf("\"output\": ");
    cli_json_text(stdout, job->output);
    printf(",\n ");
  }
  cli_gait_json("falling", 0, NULL, &all->falling, false);
  if (isfinite(all->falling)) cli_gait_json("towards", 1, &b->n, all->towards, false);
  printf("\"others\": [");
  for (int k = 1; k < all->count; k++) {
    printf("%s\n {", k > 1 ? "," : "");
    gait_print_optimum_json(b, &all->item[k]);
    printf("}");
  }
  printf("]}\n");
}

/* --- progress --- */

/* The progress is shown by one line that changes on a terminal, and otherwise by one line per half minute. */
typedef struct progress {
  bool terminal, shown;
  double begun, last;
} progress;

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void show_progress(void *context, int done, int starts) {
  progress *p = context;
  const double now = seconds();
  if (now - p->last < (p->terminal ? .5 : 30)) return;
  p->last = now;
  p->shown = true;
  if (p->terminal) fputs("\r\033[K", stderr);
  if (done < starts)
    fprintf(stderr, "curvebody: %d of %d starts done, %.0f s", done, starts, now - p->begun);
  else
    fprintf(stderr, "curvebody: refining the gaits from %d starts, %.0f s", starts, now - p->begun);
  if (!p->terminal) fputc('\n', stderr);
}

/* --- the command --- */

static bool ends_with(const char *path, const char *suffix) {
  const size_t n = strlen(path), m = strlen(suffix);
  return n > m && !strcmp(path + n - m, suffix);
}

cb_status cli_gait_check_output(const cli_gait_job *job, bool hdf5) {
  if (!job->output) return CB_OK;
  if (!strcmp(job->output, "-"))
    return job->json ? cb_fail(CB_ERROR_INPUT,
                               "--json: error: expected no --json with --output -, which prints the scenario in place "
                               "of the report")
                     : CB_OK;
  if ((hdf5 && ends_with(job->output, ".h5")) || ends_with(job->output, ".yaml") || ends_with(job->output, ".yml"))
    return CB_OK;
  return cb_fail(CB_ERROR_INPUT, "--output: error: expected a file name that ends with .yaml%s, found '%.200s'",
                 hdf5 ? " or .h5" : "", job->output);
}

cb_status cli_gait_problem(const cli_gait_job *job, const cb_optimum_problem **out) {
  if (!job->motion->optimum)
    return cb_fail(CB_ERROR_INPUT,
                   "%s:1:1: error: the key `optimum` is missing: expected a target, such as `optimum: {target: {move: "
                   "0.03}}` or --move 0.03",
                   job->scenario);
  *out = &job->motion->optimum->problem;
  return CB_OK;
}

/* Warns if the cost of a motion with inertia may be wrong. */
static void warn_of_error(const cb_optimum *o) {
  static const double small = 1e-3;
  if (isinf(o->basis))
    cb_warn("the search in more functions of time failed, so that the error of the cost is not known");
  else if (o->basis > small)
    cb_warn("the cost may be wrong by up to %.1g (relative): twice as many functions of time changed it by this much",
            o->basis);
  if (o->quadrature[0] > small)
    cb_warn("the cost may be wrong by up to %.1g (relative): twice as many nodes changed it by this much",
            o->quadrature[0]);
}

cb_status cli_gait_optimize(const cli_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  cb_optima *all = NULL;
  cb_gait_check c;
  double error = 0;
  const bool prints = job->output && !strcmp(job->output, "-"); /* the name `-` prints the scenario in place of the
                                                                 * report */
  cb_status status = cli_gait_check_output(job, true);
  if (!status) status = cli_gait_problem(job, &p);
  if (!status && job->output && cb_objective_is_effort(p->objective) && ends_with(job->output, ".h5"))
    status = cb_fail(CB_ERROR_INPUT,
                     "--output: error: expected a file name that ends with .yaml with the objectives "
                     "torque and work; a run of that scenario records shapes and torques");
  if (!status && job->error) status = cli_ambient_numbers("--error", job->error, 1, &error);
  if (!status && !(error >= 0)) status = cb_fail(CB_ERROR_INPUT, "--error: error: expected a number >= 0");
  if (!status && job->motion->optimum->left_out)
    cb_warn("the gait of the scenario is outside the bounds, so the search does not start from it");
  progress shown = {.terminal = isatty(STDERR_FILENO), .begun = seconds(), .last = seconds()};
  const cb_find_watch watch = {show_progress, &shown};
  if (!status) status = cb_gait_optima_find(job->motion, error, &watch, &all, &c);
  if (shown.terminal && shown.shown) fputs("\r\033[K", stderr);
  if (!status && cb_objective_is_effort(p->objective)) warn_of_error(&all->item[0]);
  if (!status && job->output) status = gait_write_optima(job, p, all);
  if (!status && !prints) (job->json ? print_json : print_text)(job, p, all, &c);
  cb_optima_free(all);
  return status;
}

/* --- optimality --- */

/* Copies the members of a cb_optimality to a cb_optimum, for the functions that print a cb_optimum. */
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

/* Returns the text of the result. In a special case the minimum is not proved. Some active constraints then exert no
 * force on the gait. If these constraints are released, the second variation has negative directions; if they are held,
 * it has none. */
static const char *optimality_text(const cb_optimality *v, gait_text *w) {
  const cb_optimum o = as_optimum(v);
  *w = gait_optimality_text(&o);
  if (v->stationary && v->loose && v->index == v->loose)
    snprintf(
        w->text, sizeof w->text,
        "not proved: the cost decreases to second order if the gait leaves constraints on which it does not press");
  return w->text;
}

static void print_optimality(const cli_gait_job *job, const cb_shape_constraints *constraints, const cb_optimality *v) {
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
  gait_text text;
  if (v->stationary) printf("%-12s%s\n", "optimality", optimality_text(v, &text));
  if (!v->stationary)
    printf("%-12snot stationary; the second variation is negative in %d direction%s\n", "optimality", v->index,
           v->index == 1 ? "" : "s");
  print_constraints(constraints, v);
  gait_print_conjugates(&o);
  if (isfinite(v->wong))
    printf("%-12scost %.15g, relative difference %.2g\n", "by Wong", v->wong, fabs(v->wong / v->cost - 1));
}

static void print_optimality_json(const cli_gait_job *job, const cb_shape_constraints *constraints,
                                  const cb_optimality *v) {
  const cb_bundle *b = job->bundle;
  gait_text text;
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
    print_optimality_json(job, constraints, &v);
  else if (!status)
    print_optimality(job, constraints, &v);
  cb_shape_constraints_free(constraints);
  return status;
}
