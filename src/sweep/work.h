/* What is done with a member: a run, or what else is found of its scenario as one row of numbers. */
#pragma once

#include "core/arena.h"
#include <curvebody/gait.h>
#include <curvebody/scenario.h>
#include <signal.h>
#include <stdint.h>

struct cb_sweep;
struct cb_store;
struct cb_runner;

/* A member of a work whose members go on from one another. */
typedef struct cb_work_call {
  const struct cb_sweep *sweep;
  int64_t member;
  const struct cb_store *store; /* knows what there is of the others; NULL: nothing */
  cb_scenario *scenario;        /* it */
  cb_arena *arena;
  const double *state; /* [states]: what others go on from, in the arena; it sets them */
  size_t states;
} cb_work_call;

typedef struct cb_work_class {
  const char *name, *doc;
  /* The fields of its row; what they point to lives as long as scenario and arena. NULL: of a run. */
  cb_status (*layout)(const struct cb_sweep *sweep, cb_scenario *scenario, cb_arena *arena, cb_record_layout *out);
  /* The row: pointers to the values of each field, in the arena. */
  cb_status (*compute)(cb_scenario *scenario, cb_arena *arena, const void *const **row);
  /* In its place where members go on from one another, one after another in one thread: of one, or of all at once. Then
   * the axes have numbers that are no keys of the scenario, and rows are given to cb_runner_put. */
  cb_status (*go_on)(cb_work_call *call, const void *const **row);
  cb_status (*all)(const struct cb_sweep *sweep, struct cb_runner *runner, struct cb_store *store,
                   const volatile sig_atomic_t *stop);
} cb_work_class;
static inline bool cb_work_goes_on(const cb_work_class *work) { return work->go_on || work->all; }

/* What works of gaits share. A field at an offset of a row's numbers; of: bits that `of` of a row must have, 0: every row. */
typedef struct cb_work_column {
  const char *name, *dim, *doc; /* dim: NULL, a dimension, or "way": time and variable */
  size_t at;
  int of;
} cb_work_column;
enum { CB_WORK_COLUMNS = 32, CB_WORK_TIMES = 129 };
/* The layout and the row of columns, ended by a NULL name. asked: labels of the dimension of that name, or NULL. */
cb_status cb_work_lay(cb_scenario *scenario, cb_arena *arena, const cb_work_column *columns, int of,
                      const char *const *asked, cb_record_layout *out);
cb_status cb_work_row(cb_arena *arena, const cb_work_column *columns, int of, const void *numbers,
                      const void *const **out);
/* shape[T][n] and rate[T][n] (NULL: not wanted) over a cycle; nan where there is no gait. */
void cb_work_way(const cb_gait *gait, int n, double *shape, double *rate);

extern const cb_work_class cb_work_holonomy, cb_work_integral, cb_work_optimize, cb_work_verdict, cb_work_family,
    cb_work_steering;                         /* of gaits */
extern const cb_work_class *const cb_works[]; /* ended by NULL; the first is `run` */
