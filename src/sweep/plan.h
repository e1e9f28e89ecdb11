/* The plan of a sweep: the values that it varies, their combinations, and the results that it keeps. It is read from
 * YAML.
 *
 *   sweep:
 *     scenario: FILE, or a map: the scenario
 *     set: {KEY: VALUE, ...}           other values for all members
 *     task: run | holonomy | ...       the task of a member
 *     over:                            axes; each has keys as in --set, and a name (default: its first key)
 *       - {key: K, from: a, to: b, count: n, spacing: linear | log}
 *       - {key: K, values: [...]}
 *       - {key: [K, L], values: [[k, l], ...]}                           varied together
 *       - {key: K, random: uniform(0, 1), count: n, seed: s}             or a list of distributions and numbers
 *     design: grid | together | {name: latin_hypercube | sobol | halton, count: n, seed: s}
 *     keep: rows | last                the fields of the record: all rows, or the last one
 *     collect: {NAME: REDUCTION, ...}  sweep/reduce.h
 *
 * A grid combines each value of each axis with each value of the other axes; members are numbered so that the last axis
 * changes fastest. In other designs member m has value m of every axis. The numbers of a design depend only on its
 * seed.
 */
#pragma once

#include "core/arena.h"
#include "scenario/private.h"
#include "sweep/task.h"
#include <curvebody/node.h>
#include <curvebody/status.h>

#include <stddef.h>
#include <stdint.h>

enum { CB_SWEEP_AXES = 16, CB_SWEEP_KEYS = 16, CB_SWEEP_COMPONENTS = 64, CB_SWEEP_COLLECTS = 48 };
#define CB_SWEEP_MEMBERS 100000000 /* the maximum number of members */

/* One key of an axis: its values are nodes of the sweep's file, or computed numbers (or lists of numbers). */
typedef struct cb_sweep_key {
  const cb_node *key;
  const cb_node **value; /* [count of the axis]: the nodes of listed values; NULL: the values are computed */
  double *number;        /* [count of the axis][components]: the values; NULL: not all of them are numbers */
  size_t components;     /* the length of each value that is a list; 1: the values are single numbers */
  const cb_node *shape;  /* for computed numbers: the list that contains them; NULL: they are not in a list */
  const cb_node *at;     /* the node of computed numbers, for messages */
} cb_sweep_key;

typedef struct cb_sweep_axis {
  const char *name;
  const cb_node *at; /* the node of the name, for messages */
  bool named;        /* whether the sweep gives the name; otherwise the name is the first key */
  size_t count;
  cb_sweep_key key[CB_SWEEP_KEYS];
  size_t keys;
} cb_sweep_axis;

typedef struct cb_sweep_collect {
  const char *name;
  const cb_node *at, *text; /* the nodes of the name and of the reduction */
} cb_sweep_collect;

typedef enum cb_sweep_keep { CB_KEEP_NOTHING, CB_KEEP_LAST, CB_KEEP_ROWS } cb_sweep_keep;

typedef struct cb_sweep_plan {
  cb_arena *arena;
  cb_tree *tree, *scenario_tree; /* the trees of the sweep's file and of the scenario's file (NULL: the same file) */
  const char *path;              /* the path of the sweep's file */
  const char *title, *resolved;  /* resolved: the sweep with its scenario, as text */
  const cb_node *scenario;       /* the root of the scenario */
  const char *scenario_file;     /* the path of the scenario's file; NULL: the scenario is in the sweep's file */
  const cb_sweep_task_class *task;
  cb_member_value set[CB_SWEEP_KEYS];
  size_t sets;
  bool grid;
  cb_sweep_axis axis[CB_SWEEP_AXES];
  size_t axes;
  cb_sweep_keep keep;
  cb_sweep_collect collect[CB_SWEEP_COLLECTS];
  size_t collects;
  int64_t members;
} cb_sweep_plan;

/* Reads a sweep and applies the arguments sets[n] of --set. Fails with CB_ERROR_FILE or CB_ERROR_INPUT like
 * cb_scenario_open. The caller frees *out. */
cb_status cb_sweep_plan_open(const char *path, const char *const *sets, size_t n, cb_sweep_plan **out);
/* Reads a sweep from a text; its name is used in messages. */
cb_status cb_sweep_plan_open_text(const char *name, const char *text, cb_sweep_plan **out);
void cb_sweep_plan_free(cb_sweep_plan *plan);

/* Returns the index of the value of axis a in member m. */
size_t cb_sweep_index(const cb_sweep_plan *plan, int64_t m, size_t a);

/* Computes the values of member m, which are nodes of the plan or of the arena. *n is their number, at most
 * CB_SWEEP_VALUES. */
enum { CB_SWEEP_VALUES = 64 };
cb_status cb_sweep_values(const cb_sweep_plan *plan, int64_t m, cb_arena *arena, cb_member_value *values, size_t *n);
/* Makes a node with this number and the file position of `at`; NULL: no memory. */
const cb_node *cb_sweep_number(cb_arena *arena, const cb_node *at, double number);
/* Returns a value as a short text, from malloc; NULL: no memory. */
char *cb_sweep_value_text(const cb_node *value);
/* Returns the description of a member for messages: "member 4711 (bodies.0.density = 500, ...)". From malloc; NULL: no
 * memory. */
char *cb_sweep_member_text(const cb_sweep_plan *plan, int64_t m);

/* Returns CB_OK if two resolved sweeps do not differ. Otherwise fails with a message about the first difference, such
 * as "sweep.over.0.count was 3, now it is 4". */
cb_status cb_sweep_changed(const char *was_name, const char *was, const char *is);

/* --- axes: how they are read from `over`, their values, and the designs that set the values --- */

/* --- the number of an axis from a number in [0, 1), by its quantile function --- */

typedef enum cb_quantile_kind {
  CB_QUANTILE_NUMBER,
  CB_QUANTILE_UNIFORM,
  CB_QUANTILE_LOG,
  CB_QUANTILE_NORMAL,
  CB_QUANTILE_EXPONENTIAL
} cb_quantile_kind;

/* The distribution of a number of an axis. CB_QUANTILE_NUMBER: always a. UNIFORM: uniform from a to b. LOG: from a to
 * b, with a uniform logarithm. NORMAL: mean a and standard deviation b. EXPONENTIAL: mean a. */
typedef struct cb_quantile {
  cb_quantile_kind kind;
  double a, b;
} cb_quantile;

/* An axis while it is read. */
typedef struct cb_axis_draft {
  cb_quantile distribution[CB_SWEEP_COMPONENTS]; /* the distributions of computed numbers */
  size_t distributions;                          /* 0: the values are listed */
  bool range;                                    /* the numbers go from `from` to `to`; false: they are random */
  size_t count;                                  /* the given number of values; 0: a list or the design sets it */
  uint64_t seed;
  const cb_node *node;
} cb_axis_draft;

/* How the number of values of a computed axis is given. CB_AXIS_COUNTED: by the key `count` of the axis, in the designs
 * grid and together. CB_AXIS_BY_DESIGN: by the design. CB_AXIS_UNKNOWN: the design could not be read, so the axis may
 * have the key `count` or not. */
typedef enum cb_axis_counted { CB_AXIS_COUNTED, CB_AXIS_BY_DESIGN, CB_AXIS_UNKNOWN } cb_axis_counted;
cb_status cb_axis_read(cb_sweep_plan *plan, const cb_node *node, cb_axis_counted counted, cb_sweep_axis *axis,
                       cb_axis_draft *draft);
/* Returns how many numbers of each point of a design the axis uses. */
size_t cb_axis_draws(const cb_axis_draft *draft);
/* Fills a single axis with evenly spaced values, or with its own random numbers; `stream` must differ between axes. */
cb_status cb_axis_fill(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, uint64_t stream);
/* Fills an axis from points[count][stride] of a design; the numbers of this axis begin at index `first` of a point. */
cb_status cb_axis_place(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, size_t count,
                        const double *points, size_t stride, size_t first);

/* --- designs: points of numbers in [0, 1) that fill the unit cube of the axes ---
 *
 * latin_hypercube: each of n equal parts of every axis has one point; McKay, Beckman & Conover, Technometrics 21 (1979)
 * 239, doi:10.1080/00401706.1979.10489755. sobol and halton: sequences of GSL; if the seed is not 0, one random shift
 * modulo 1 moves all points; Cranley & Patterson, SIAM J. Numer. Anal. 13 (1976) 904, doi:10.1137/0713071. random:
 * independent numbers.
 */

typedef enum cb_design { CB_DESIGN_RANDOM, CB_DESIGN_LATIN_HYPERCUBE, CB_DESIGN_SOBOL, CB_DESIGN_HALTON } cb_design;

/* Returns the maximum number of axes of a design; 0: no maximum. */
size_t cb_design_axes_max(cb_design design);

/* Writes the points of a design to point[count][axes]. Designs with the same seed and different `stream` have different
 * numbers. Fails with CB_ERROR_MEMORY, or with CB_ERROR_ARGUMENT if there are too many axes. */
cb_status cb_design_points(cb_design design, size_t count, size_t axes, uint64_t seed, uint64_t stream, double *point);
