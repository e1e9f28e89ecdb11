/* What the parts of `curvebody gait` share: a scenario with a bundle, and what was asked of it. */
#pragma once

#include "cli/ambient.h"
#include "sweep/families.h"

typedef struct cb_gait_job {
  const char *scenario; /* the file's name */
  cb_scenario *read;    /* it */
  const cb_bundle_scenario *motion;
  const cb_bundle *bundle; /* the one to look at: motion's, in coordinates as asked */
  const char *title;
  bool json;
  const char *output, *error, *at, *grid, *window, *plane, *coordinates, *times, *members, *over;
  const char *to;          /* of a range of targets: where it ends, NULL: not said */
  const char *move, *turn; /* LO:HI of both, of a grid */
  const cb_words *sets;    /* that it was read with */
  const char *warnings;    /* lines of those so far, as the attribute `warnings` has them */
} cb_gait_job;

/* Options that stand for keys of `optimum`, NULL where absent. */
typedef struct cb_gait_asked {
  const char *move, *turn, *element, *parts, *seek, *length, *base, *bounds, *starts, *seed;
  bool apart;
} cb_gait_asked;
/* Appends what --set would say; the words live in arena. to: NULL, or where the end of a range of targets goes, which
 * is then LO:HI. CB_ERROR_INPUT for what cannot be said at once. */
struct cb_arena;
cb_status cb_gait_sets(const cb_gait_asked *asked, struct cb_arena *arena, cb_words *sets, const char **to);
/* What stands for --over, and for ranges of both --move and --turn, which go to the job: a member of the sweep. */
cb_status cb_gait_take_sweep(cb_gait_asked *asked, struct cb_arena *arena, cb_gait_job *job, cb_words *sets);

/* The parts; each returns a status with its text. */
cb_status cb_gait_holonomy(const cb_gait_job *job);
cb_status cb_gait_connection(const cb_gait_job *job);
cb_status cb_gait_curvature(const cb_gait_job *job);
cb_status cb_gait_path(const cb_gait_job *job);
cb_status cb_gait_optimize(const cb_gait_job *job);
cb_status cb_gait_family(const cb_gait_job *job);
cb_status cb_gait_sweep(const cb_gait_job *job); /* a family over a number of the scenario, or two of the group */
cb_status cb_gait_verdict(const cb_gait_job *job);

/* What `optimum` asks for; CB_ERROR_INPUT where there is no such key. */
cb_status cb_gait_asked_of(const cb_gait_job *job, const cb_optimum_problem **out);

/* "minimum", "saddle of index 1", "not proved: ..". */
typedef struct cb_gait_words {
  char text[128];
} cb_gait_words;
cb_gait_words cb_gait_verdict_words(const cb_optimum *o);
/* Who is spoken of, and what is asked of it, in two lines. */
void cb_gait_put_sought(const cb_gait_job *job, const cb_optimum_problem *p);
/* Line by line, and key by key without the braces around; based: conjugate times are known. */
void cb_gait_put_conjugates(const cb_optimum *o);
void cb_gait_put_optimum(const cb_bundle *b, bool based, const cb_optimum *o);
void cb_gait_put_optimum_json(const cb_bundle *b, const cb_optimum *o);

/* optima to the output, a scenario with the best gait or by its suffix .h5 arrays (cli/gait_optimize_write.c). */
cb_status cb_gait_write_optima(const cb_gait_job *job, const cb_optimum_problem *problem, const cb_optima *found);

/* The same for families; its attributes are those of every file. */
cb_families_job cb_gait_families_job(const cb_gait_job *job);

/* A whole number from 2 to most, and two of them as N1xN2. text NULL: what is there stays. */
cb_status cb_gait_count(const char *option, const char *text, int most, int *out);
cb_status cb_gait_grid(const char *text, int most, int out[2]);

/* "title       x = 1, y = 2" */
void cb_gait_row(const char *title, int n, const char *const *names, const double *values);
/* "{" and who is spoken of, up to the next key. */
void cb_gait_begin_json(const cb_gait_job *job);
/* Numbers and names on stdout as JSON: [..] of `count`, and of rank dimensions. */
void cb_gait_json(const char *key, int rank, const int *dims, const double *values, bool last);
void cb_gait_json_words(const char *key, int count, const char *const *words);
