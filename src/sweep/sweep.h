/* A sweep that is ready to go: its plan, its first member as the model of all, and what its result consists of.
 *
 * model.c    the model and the layout of the result        check.c   all members are opened once, before any runs
 * runner.c   members run, in any thread                    crew.c    threads, ranks, and the folder
 */
#pragma once

#include "core/failure.h"
#include "sweep/midst.h"
#include "sweep/plan.h"
#include "sweep/reduce.h"
#include "sweep/store.h"
#include "sweep/work.h"

#include <signal.h>

enum { CB_SWEEP_FIELDS = 128, CB_SWEEP_COORDINATES = 64, CB_SWEEP_SHA = 65 };

typedef struct cb_sweep {
  cb_arena *arena;
  cb_sweep_plan *plan;
  const cb_work_class *work;
  cb_scenario *model;                /* member 0 */
  cb_record_layout rows;             /* of its record */
  size_t row_bytes[CB_SWEEP_FIELDS]; /* of each of its fields */
  size_t row_units;                  /* of 8 bytes that a row takes, field after field */
  int64_t most_rows;                 /* of a member; found by cb_sweep_check */
  cb_reduction *reduction[CB_SWEEP_COLLECTS];
  size_t doubles;         /* of their states together */
  cb_store_layout layout; /* of the result */
  cb_store_field field[CB_SWEEP_FIELDS];
  cb_store_axis axis[CB_SWEEP_AXES];
  cb_store_coordinate coordinate[CB_SWEEP_COORDINATES];
  cb_dimension dimension[32];
  double seconds_to_open; /* of a member; found by cb_sweep_check */
  char **file;            /* [files]: that members name; found by cb_sweep_check */
  size_t files;
  char digest[CB_SWEEP_SHA]; /* of the sweep, and of these files */
} cb_sweep;

/* Opens the model and lays out the result, but for what depends on most_rows. Takes the plan in any case. */
cb_status cb_sweep_create(cb_sweep_plan *plan, cb_sweep **out);
void cb_sweep_free(cb_sweep *sweep);
/* The layout with most_rows known. */
void cb_sweep_lay_rows(cb_sweep *sweep);

/* Opens member m. The arena holds its values and must live as long as the scenario. */
cb_status cb_sweep_open(const cb_sweep *sweep, int64_t m, cb_arena *arena, cb_scenario **out);
/* The same with another number of the one key of an axis; NULL: its own. */
cb_status cb_sweep_open_at(const cb_sweep *sweep, int64_t m, size_t axis, const double *number, cb_arena *arena,
                           cb_scenario **out);
/* The fields of its rows. */
cb_status cb_sweep_rows_of(const cb_sweep *sweep, cb_scenario *scenario, cb_arena *arena, cb_record_layout *out);
/* Whether rows of a member are as those of the model; words, where they are not. */
cb_status cb_sweep_same_rows(const cb_sweep *sweep, const cb_record_layout *rows);
/* Fails with the text of the failure in hand, said of member m. */
cb_status cb_sweep_fail_member(const cb_sweep *sweep, int64_t m, cb_status status);

/* Opens members [first, end), on `threads` threads: the first that cannot be is the failure, which says what it is.
 * Where opening is so slow that this takes more than a minute, each value of each axis with the first of the others,
 * and some at random. Finds most_rows, seconds_to_open and files. */
cb_status cb_sweep_check(cb_sweep *sweep, int64_t first, int64_t end, int threads, const volatile sig_atomic_t *stop);

/* What runs members in one thread: its memory is kept from one to the next. midst NULL: they are not saved. */
typedef struct cb_runner cb_runner;
cb_status cb_runner_create(const cb_sweep *sweep, const cb_midst *midst, cb_runner **out);
void cb_runner_free(cb_runner *runner);
/* How many members it has in hand at once. */
size_t cb_runner_width(const cb_runner *runner);
/* Runs members m[n] and writes them to the store (NULL: nowhere); failures of theirs are told there, and counted in
 * *failed. A status other than CB_OK is the sweep's: CB_ERROR_FILE, CB_ERROR_INTERRUPTED (the members are in the
 * midst), CB_ERROR_MEMORY. */
cb_status cb_runner_go(cb_runner *runner, const int64_t *m, size_t n, cb_store *store,
                       const volatile sig_atomic_t *stop, size_t *failed);
/* A row of a work of all members, with what it goes on from; CB_MEMBER_MISSING: so far. */
cb_status cb_runner_put(cb_runner *runner, int64_t m, cb_member_status status, const void *const *row,
                        const double *state, size_t states, cb_store *store);
