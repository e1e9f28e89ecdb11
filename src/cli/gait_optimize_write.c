/* Writes the output of `curvebody gait .. optimize`: the scenario with the best gait, or HDF5.
 *
 *   /time[T] /shape[T, n] /rate[T, n] /momentum[T, n] /multiplier[T, axis] /group[T, number] /power[T]
 *   /cost[optimum] /length /amount /efficiency /lambda[optimum, axis] /start[optimum, n] /index /flat /conjugates
 *   /conjugate[optimum, 2] /found /wong /abnormal
 *
 * The arrays of the first line describe the best gait at T = 513 times. The other arrays describe all optima, the best
 * first. n is the number of shape variables, axis an axis of the Lie algebra, and number a number of a group
 * element. */
#include "cli/gait_job.h"

#include "core/arena.h"
#include "record/arrays.h"
#include "record/output.h"

#include <math.h>
#include <string.h>

enum { TIMES = 513 };

/* --- a scenario --- */

static cb_status write_scenario(const cli_gait_job *job, const cb_gait *gait) {
  cb_text text = {0};
  cb_output o;
  FILE *stream;
  cb_status status = cb_scenario_with_gait(job->read, gait, &text);
  if (!status) status = cb_output_open_text(job->output, &o, &stream);
  if (status) {
    cb_text_free(&text);
    return status;
  }
  fwrite(text.data, 1, text.length, stream);
  status = cb_output_close_text(&o, stream, CB_OK);
  cb_text_free(&text);
  return status;
}

/* --- arrays --- */

/* The best gait as a function of time. */
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

/* The results of all optima: number[NUMBERS][count], integer[INTEGERS][count], the others [count][..]. */
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

cb_status cli_gait_write_optima(const cli_gait_job *job, const cb_optimum_problem *problem, const cb_optima *found) {
  const char *suffix = strrchr(job->output, '.');
  return suffix && !strcmp(suffix, ".h5") ? write_arrays(job, problem, found)
                                          : write_scenario(job, found->item[0].gait);
}
