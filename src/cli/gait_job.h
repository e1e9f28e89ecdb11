/* Data and functions that the parts of `curvebody gait` share: a scenario with a bundle, and the options. */
#pragma once

#include "cli/cli.h"
#include "sweep/families.h"

typedef struct cli_gait_job {
  const char *scenario; /* name of the file of the scenario */
  cb_scenario *read;    /* the scenario that was read from this file */
  const cb_bundle_scenario *motion;
  const cb_bundle *bundle; /* the bundle of `motion` */
  const char *title;       /* the title of the scenario */
  bool json;
  /* the values of the options --output, --error, ..; NULL: the option was not given */
  const char *output, *error, *at, *grid, *window, *plane, *coordinates, *times, *members;
  const char *objective, *starts, *seed; /* only for `cycle`; other parts: see cli_optimum_options */
  cli_list varied;                       /* the values of all --vary options; only `cycle` takes several */
  const char *vary;                      /* the only --vary option, for parts other than `cycle`; NULL: not given */
  const char *to;                        /* the end HI of a range LO:HI of targets; NULL: not given */
  const char *move, *turn;               /* the ranges LO:HI of --move and --turn, for a grid of targets */
  const cli_list *sets;                  /* the --set options, and other options in this form */
  const char *warnings;                  /* warnings so far, one per line, as in the attribute `warnings` */
} cli_gait_job;

/* The values of the options that set keys of `optimum`; NULL: the option was not given. */
typedef struct cli_optimum_options {
  const char *move, *turn, *element, *parts, *objective, *length, *start_shape, *bounds, *starts, *seed;
  bool no_crossing;
} cli_optimum_options;

struct cb_arena;
/* If --vary, or ranges of both --move and --turn, are given, stores the ranges in the job and appends the values of one
 * member of the sweep to `sets` or sets them in `options`. */
cb_status cli_gait_take_sweep(cli_optimum_options *options, struct cb_arena *arena, cli_gait_job *job, cli_list *sets);

/* The parts of the command, one function each. After a failure the error text is set. */
cb_status cli_gait_holonomy(const cli_gait_job *job);
cb_status cli_gait_connection(const cli_gait_job *job);
cb_status cli_gait_curvature(const cli_gait_job *job);
cb_status cli_gait_path(const cli_gait_job *job);
cb_status cli_gait_optimize(const cli_gait_job *job);
cb_status cli_gait_family(const cli_gait_job *job);
cb_status cli_gait_optimality(const cli_gait_job *job);
cb_status cli_gait_cycle(const cli_gait_job *job);

/* Returns the problem of the key `optimum`; CB_ERROR_INPUT if this key is missing. */
cb_status cli_gait_problem(const cli_gait_job *job, const cb_optimum_problem **out);

/* Checks the name of the file to which a scenario is written. Returns CB_ERROR_INPUT if the name does not end with
 * .yaml, .yml or, if `hdf5` is true, .h5. The name "-" is the standard output; with --json it gives CB_ERROR_INPUT. */
cb_status cli_gait_check_output(const cli_gait_job *job, bool hdf5);
/* Writes a text to the file `output`; "-" is the standard output. */
struct cb_text;
cb_status cli_gait_write_text(const char *output, const struct cb_text *text);

/* Returns the job for writing families. Its attributes are written to every HDF5 file of this command. */
cb_families_job cli_gait_families_job(const cli_gait_job *job);

/* Read an integer from 2 to maximum, or two integers as N1xN2. If text is NULL, out does not change. */
cb_status cli_gait_count(const char *option, const char *text, int maximum, int *out);
cb_status cli_gait_grid(const char *text, int maximum, int out[2]);

/* Prints "title       x = 1, y = 2". */
void cli_gait_row(const char *title, int n, const char *const *names, const double *values);
/* Prints "{" and the bundle, up to the next key. */
void cli_gait_begin_json(const cli_gait_job *job);
/* Print a key and its value on stdout, as JSON. cli_gait_json prints an array of `rank` dimensions, or one number if
 * rank is 0; cli_gait_json_texts prints an array of `count` names. last: true if this is the last key, so that "}"
 * follows; otherwise a comma follows. */
void cli_gait_json(const char *key, int rank, const int *dims, const double *values, bool last);
void cli_gait_json_texts(const char *key, int count, const char *const *names);
