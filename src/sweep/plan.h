/* What a sweep varies, in which combinations, and what is kept of each: read from YAML.
 *
 *   sweep:
 *     scenario: FILE, or a map: the scenario
 *     set: {KEY: VALUE, ...}           other values for all members
 *     work: run | holonomy | ...       what is done with a member
 *     over:                            axes; each has keys as --set has them, and a name (its first key unless given)
 *       - {key: K, from: a, to: b, count: n, spacing: linear | log}
 *       - {key: K, values: [...]}
 *       - {key: [K, L], values: [[k, l], ...]}                           together
 *       - {key: K, random: uniform(0, 1), count: n, seed: s}             or a list of such and of numbers
 *     design: grid | together | {name: latin_hypercube | sobol | halton, count: n, seed: s}
 *     keep: rows | last                the fields of the record: all rows, the last one
 *     collect: {NAME: REDUCTION, ...}  sweep/reduce.h
 *
 * A grid has each value of each axis with each of the others; member m counts through them with the last axis fastest.
 * In other designs member m has value m of every axis. The numbers of a design depend on its seed alone.
 */
#pragma once

#include "core/arena.h"
#include "scenario/member.h"
#include "sweep/work.h"
#include <stdint.h>

enum { CB_SWEEP_AXES = 16, CB_SWEEP_KEYS = 16, CB_SWEEP_COMPONENTS = 64, CB_SWEEP_COLLECTS = 48 };
#define CB_SWEEP_MEMBERS 100000000 /* at most */

/* One key of an axis: its values are nodes of the sweep's file, or lists of numbers where they are computed. */
typedef struct cb_sweep_key {
  const cb_node *key;
  const cb_node **value; /* [count]; NULL: numbers */
  double *number;        /* [count][components]; nan: what `shape` has there; NULL: nodes that are not all numbers */
  size_t components;     /* of a list; 1: a number */
  const cb_node *shape;  /* of computed numbers: the list that they stand in; NULL: they stand alone */
  const cb_node *at;     /* place of computed numbers */
} cb_sweep_key;

typedef struct cb_sweep_axis {
  const char *name;
  const cb_node *at; /* of the name */
  bool named;        /* in the sweep; else it is the first key */
  size_t count;
  cb_sweep_key key[CB_SWEEP_KEYS];
  size_t keys;
} cb_sweep_axis;

typedef struct cb_sweep_collect {
  const char *name;
  const cb_node *at, *text; /* of the name, of the reduction */
} cb_sweep_collect;

typedef enum cb_sweep_keep { CB_KEEP_NOTHING, CB_KEEP_LAST, CB_KEEP_ROWS } cb_sweep_keep;

typedef struct cb_sweep_plan {
  cb_arena *arena;
  cb_tree *tree, *scenario_tree; /* the second: of a file of its own; NULL: in the first */
  const char *path;              /* of the sweep's file */
  const char *title, *resolved;  /* the sweep with its scenario, as text */
  const cb_node *scenario;       /* its root */
  const char *scenario_file;     /* NULL: in the sweep's */
  const cb_work_class *work;
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

/* Reads a sweep with sets[n] applied to it. CB_ERROR_FILE, CB_ERROR_INPUT as cb_scenario_open. The caller frees. */
cb_status cb_sweep_plan_open(const char *path, const char *const *sets, size_t n, cb_sweep_plan **out);
/* The same of a text by that name. */
cb_status cb_sweep_plan_open_text(const char *name, const char *text, cb_sweep_plan **out);
void cb_sweep_plan_free(cb_sweep_plan *plan);

/* The dimensions of its result: the axes of a grid, else `member` alone. */
size_t cb_sweep_dimensions(const cb_sweep_plan *plan);
/* Which value of axis a member m has. */
size_t cb_sweep_index(const cb_sweep_plan *plan, int64_t m, size_t a);

/* The values of member m: nodes of the plan, or in arena. At most CB_SWEEP_VALUES. */
enum { CB_SWEEP_VALUES = 64 };
cb_status cb_sweep_values(const cb_sweep_plan *plan, int64_t m, cb_arena *arena, cb_member_value *values, size_t *n);
/* The value of a number, with the place of a node; NULL: no memory. */
const cb_node *cb_sweep_number(cb_arena *arena, const cb_node *at, double number);
/* A value in a few words. From malloc; NULL: no memory. */
char *cb_sweep_value_text(const cb_node *value);
/* What a member is, for messages: "member 4711 (bodies.0.density = 500, ...)". From malloc; NULL: no memory. */
char *cb_sweep_member_text(const cb_sweep_plan *plan, int64_t m);

/* Says where two resolved sweeps differ, in out: "sweep.over.0.count was 3 and is 4"; CB_OK where they do not. */
cb_status cb_sweep_changed(const char *was_name, const char *was, const char *is);
