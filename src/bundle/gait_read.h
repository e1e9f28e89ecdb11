/* Reads gaits of a scenario. Error messages give the position of the wrong node in the file. */
#pragma once

#include <curvebody/gait_kind.h>

struct cb_arena;

/* --- the whole gait --- */

extern const cb_param cb_gait_table[]; /* the keys that every kind of gait has */
/* Checks the keys of a gait whose bundle is not known. */
cb_status cb_gait_check_keys(const cb_node *map);
/* Adds the defaults to a gait that has been read without an error; the kind comes first. Returns NULL if there is no
 * memory. */
const cb_node *cb_gait_resolved(const cb_node *map, struct cb_arena *arena);

/* --- for the kinds of gaits --- */

/* A row of a table of parameters for an optional key. The table keeps the node of the value, and the code that reads
 * the gait converts it. */
#define CB_GAIT_NODE(type, field, doc) \
  { #field, CB_PARAM_NODE, offsetof(type, field), "", "", "", NULL, doc }

/* The keys of the kinds `spline` and `samples`. */
typedef struct cb_gait_points {
  const cb_node *points, *times;
} cb_gait_points;

/* The names of the shape variables, such as "alpha1, alpha2". */
typedef struct cb_gait_names {
  char text[256];
} cb_gait_names;
cb_gait_names cb_gait_names_of(const cb_bundle *b);
/* Returns the index of a shape variable; -1: there is no such variable. */
int cb_gait_variable(const cb_bundle *b, const char *name);
cb_status cb_gait_unknown_variable(const cb_bundle *b, const cb_node *node);

/* Reads n numbers, one per shape variable; what: the word for them in messages, such as "start". */
cb_status cb_gait_read_shape(const cb_bundle *b, const cb_node *list, const char *what, double *r);
/* Reads a list of shapes into r[count][n], from malloc; NULL if the list is absent. */
cb_status cb_gait_read_rows(const cb_bundle *b, const cb_node *list, const char *what, double **r, int *count);
/* Reads ascending times in [0, 1] into t[count], from malloc; NULL if the list is absent. */
cb_status cb_gait_read_times(const cb_node *list, const char *what, double **t, int *count);
/* Reads an expression of t. The caller frees it. */
cb_status cb_gait_read_expression(const cb_node *node, cb_expression **out);

/* If `status` is an error of the input, and its message has no position in the file, adds the position of the node
 * to the message. Returns the status. */
cb_status cb_gait_placed(cb_status status, const cb_node *node);
