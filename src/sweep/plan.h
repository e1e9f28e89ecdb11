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
#include <stdint.h>

enum { CB_SWEEP_AXES = 16, CB_SWEEP_KEYS = 16, CB_SWEEP_COMPONENTS = 64, CB_SWEEP_COLLECTS = 48 };
#define CB_SWEEP_MEMBERS 100000000 /* the maximum number of members */

/* One key of an axis: its values are nodes of the sweep's file, or computed numbers (or lists of numbers). */
typedef struct cb_sweep_key {
  const cb_node *key;
  const cb_node **value; /* [count]; NULL: the values are numbers */
  double *number;        /* [count][components]; NULL: the values are nodes, not all of them numbers */
  size_t components;     /* the length of a list; 1: a number */
  const cb_node *shape;  /* for computed numbers: the list that contains them; NULL: they are not in a list */
  const cb_node *at;     /* the node of computed numbers, for messages */
} cb_sweep_key;

typedef struct cb_sweep_axis {
  const char *name;
  const cb_node *at; /* the node of the name, for messages */
  bool named;        /* the sweep gives the name; otherwise the name is the first key */
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
  cb_tree *tree, *scenario_tree; /* scenario_tree: if the scenario has its own file; NULL: it is in `tree` */
  const char *path;              /* the path of the sweep's file */
  const char *title, *resolved;  /* resolved: the sweep with its scenario, as text */
  const cb_node *scenario;       /* the root of the scenario */
  const char *scenario_file;     /* NULL: the scenario is in the sweep's file */
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

/* Reads a sweep and applies the arguments sets[n] of --set. CB_ERROR_FILE, CB_ERROR_INPUT: as cb_scenario_open. The
 * caller frees *out. */
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

/* Fails with the first difference of two resolved sweeps: "sweep.over.0.count was 3, now it is 4"; CB_OK: they do not
 * differ. */
cb_status cb_sweep_changed(const char *was_name, const char *was, const char *is);
