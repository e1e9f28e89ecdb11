/* The tasks of a sweep: a run of the member's scenario, or other results of the scenario as one row of numbers. Each
 * task is one file src/sweep/tasks/sweep_task_NAME.c with one const object cb_sweep_task_NAME.
 *
 * Tasks cannot come from plugins: a task reads the parsed scenario of the member and the results of other members,
 * whose structures are private. */
#pragma once

#include "core/arena.h"
#include <curvebody/gait.h>
#include <curvebody/scenario.h>
#include <signal.h>
#include <stdint.h>

struct cb_sweep;
struct cb_store;
struct cb_runner;

/* One call of go_on: a member of a task whose members continue from the states of earlier members. */
typedef struct cb_task_call {
  const struct cb_sweep *sweep;
  int64_t member;
  const struct cb_store *store; /* contains the results of the other members; NULL: no results */
  cb_scenario *scenario;        /* the scenario of the member */
  cb_arena *arena;
  const double *state; /* [states]: the state from which later members continue, in the arena; go_on sets both */
  size_t states;
} cb_task_call;

typedef struct cb_sweep_task_class {
  const char *name, *title, *doc;
  /* The fields of the row of a task. Everything that they point to lives as long as the scenario and the arena. NULL:
   * the fields of a run. */
  cb_status (*layout)(const struct cb_sweep *sweep, cb_scenario *scenario, cb_arena *arena, cb_record_layout *out);
  /* Computes the row: pointers to the values of each field, in the arena. */
  cb_status (*compute)(cb_scenario *scenario, cb_arena *arena, const void *const **row);
  /* If members continue from the states of other members, one of these two functions is set instead of `compute`, and
   * runs in one thread. `go_on` computes one member per call. `all` is called once, computes every member and passes
   * the rows to cb_runner_put; the keys of its axes are not keys of the scenario (for `steering` they are numbers of
   * the holonomy). */
  cb_status (*go_on)(cb_task_call *call, const void *const **row);
  cb_status (*all)(const struct cb_sweep *sweep, struct cb_runner *runner, struct cb_store *store,
                   const volatile sig_atomic_t *stop);
} cb_sweep_task_class;
static inline bool cb_task_goes_on(const cb_sweep_task_class *work) { return work->go_on || work->all; }

/* A field of the tasks of gaits. at: the offset of its values in the structure of a row. of: bits; a row has this field
 * if the argument `of` of cb_task_row has all of these bits; 0: every row has it. */
typedef struct cb_task_column {
  const char *name, *dim, *doc; /* dim: the name of the dimension; NULL: a scalar; "way": dimensions time, variable */
  size_t at;
  int of;
} cb_task_column;
enum { CB_WORK_COLUMNS = 32, CB_WORK_TIMES = 129 };
/* cb_task_layout makes the layout of a row with these columns, and cb_task_row makes the row from `numbers`, the
 * structure of the values. The list `columns` ends with a NULL name. asked: the labels of the dimension `asked`; NULL:
 * there is no such dimension. */
cb_status cb_task_layout(cb_scenario *scenario, cb_arena *arena, const cb_task_column *columns, int of,
                         const char *const *asked, cb_record_layout *out);
cb_status cb_task_row(cb_arena *arena, const cb_task_column *columns, int of, const void *numbers,
                      const void *const **out);
/* Fills shape[T][n] and rate[T][n] (NULL: not needed) at T = CB_WORK_TIMES times of a cycle. gait NULL: shape is nan,
 * and rate is unchanged. */
void cb_task_way(const cb_gait *gait, int n, double *shape, double *rate);

/* Make the layout and the row of the results of one cycle of the gait. integral: also the corrected body velocity
 * integral. */
cb_status cb_task_cycle_layout(const struct cb_sweep *sweep, cb_scenario *scenario, cb_arena *arena, bool integral,
                               cb_record_layout *out);
cb_status cb_task_cycle(cb_scenario *scenario, cb_arena *arena, bool integral, const void *const **row);

extern const cb_sweep_task_class *const *const cb_sweep_task_classes; /* the list ends with NULL */
extern const cb_sweep_task_class cb_sweep_task_run;                   /* the default */
