/* Gaits inside the library: the memory of a gait, which is one block with its own copies of the gaits and expressions
 * that it is composed of; gaits as text and as numbers; and reading gaits of a scenario. */
#pragma once

#include "core/text.h"
#include <curvebody/gait.h>
#include <curvebody/gait_kind.h>
#include <curvebody/holonomy.h>

#include <stdbool.h>
#include <stddef.h>

/* Functions of those kinds of gaits that can be written as text and as numbers. */
typedef struct cb_gait_basis {
  /* Writes the value that follows the name of the kind in a scenario. */
  void (*write)(const cb_gait *g, cb_text *out);
  /* Writes the numbers of the gait to `out`, unless `out` is NULL, and returns how many there are. */
  size_t (*state)(const cb_gait *g, double *out);
} cb_gait_basis;
/* These functions write x[n] as "[1, 2]", and x[rows][n] as "[[1, 2], [3, 4]]". */
void cb_gait_write_numbers(cb_text *out, int n, const double *x);
void cb_gait_write_rows(cb_text *out, int rows, int n, const double *x);

/* The number of steps for the first integration of a complete smooth gait. */
enum { CB_GAIT_STEPS = 12 };

struct cb_gait {
  const cb_gait_kind_class *class;
  int n, count; /* n: number of shape variables; count: number of harmonics, arcs, corners or points (kind loop: the
                 * index of the variable that moves) */
  /* breaks: the first `breaks` numbers of `data` are breaks; the numbers of the kind of gait follow them */
  int breaks;
  int pieces; /* the number of steps for the first integration of a smooth piece */
  bool backwards;
  bool open; /* r(1) differs from r(0), possibly only by full periods */
  int parts, texts;
  cb_gait **part;       /* [parts], owned: the gaits of which this one is composed */
  cb_expression **text; /* [texts], owned: the expressions */
  size_t size;          /* size of the block in bytes */
  double data[];
};

/* Allocates a gait as one block of zeros, with space for `breaks` breaks and `numbers` other numbers. Returns NULL if
 * there is no memory. */
cb_gait *cb_gait_block(const cb_gait_kind_class *class, int n, int count, int breaks, size_t numbers);
static inline const double *cb_gait_own_numbers(const cb_gait *g) { return g->data + g->breaks; }

/* The gaits (part) and expressions (text) that cb_gait_compose copies into a block; either count may be 0. */
typedef struct cb_gait_contents {
  int parts, texts;
  const cb_gait *const *part;
  const cb_expression *const *text;
} cb_gait_contents;
cb_status cb_gait_compose(const cb_gait_kind_class *class, int n, int breaks, size_t numbers,
                          const cb_gait_contents *contents, cb_gait **out);

/* Sets the member `open` of a gait from r(1) - r(0). All other members must be complete. Returns CB_ERROR_ARGUMENT
 * unless the gait is finite at several sample times. */
cb_status cb_gait_look(cb_gait *g);
/* Fails unless the times of breaks increase and are in [0, 1). */
cb_status cb_gait_check_breaks(int breaks, const double *at);

/* Writes the breaks of g, which is a part of another gait, to `out`. `map` converts their times to times of the other
 * gait. Returns the end of the written list. */
double *cb_gait_put_breaks(const cb_gait *g, double *out, double (*map)(const void *by, double t), const void *by);

/* Checks the arguments that all kinds of gaits have in common: 1 <= n <= CB_SHAPE_MAX, count >= least, and r[count n]
 * (NULL: not checked) is finite. If an argument is wrong, returns CB_ERROR_ARGUMENT; the message calls the counted
 * items `what`. */
cb_status cb_gait_check_arguments(const char *what, int n, int count, int least, const double *r);

/* Computes gap[n] = r(1) - r(0). */
void cb_gait_gap(const cb_gait *g, double *gap);

/* Creates the path r + drift[n] t from the gait r. It counts as closed if its values at t = 0 and t = 1 are equal to
 * round-off. */
cb_status cb_gait_drifting(const cb_gait *g, const double *drift, cb_gait **out);

/* Returns a tolerance: two values a and b of a shape variable count as equal if they differ by less. */
double cb_gait_slack(double a, double b);

/* The breaks divide the period [0, 1] into smooth pieces. cb_gait_edges returns the number of pieces; piece k is from
 * cb_gait_edge(g, k) to cb_gait_edge(g, k + 1), where k counts from 0. */
int cb_gait_edges(const cb_gait *g);
double cb_gait_edge(const cb_gait *g, int k);

/* Returns the number of breaks of the bundle at or below the value r of shape variable i, counted from r = 0 through
 * all periods if the variable has a period. */
double cb_breaks_passed(const cb_bundle *b, int i, double r);
/* Returns the first time after t at which a shape variable passes a break of the bundle; `end` if it passes none. The
 * interval from t to `end` must be within a smooth piece. The function compares samples of the gait: a break that is
 * passed twice between two samples, or within 1e-12 of t or `end`, is missed. */
double cb_gait_cut(const cb_bundle *b, const cb_gait *g, double t, double end);

/* Computes a[dim] = A r' and (unless NULL) *square = r'Mr' at the time t, where r' is the rate of the gait, and A and M
 * are taken at its shape r. */
cb_status cb_gait_velocity(const cb_bundle *b, const cb_gait *g, double t, double *a, double *square);

/* Sorts the times t of breaks in [0, 1], where 1 becomes 0. Removes each time that equals another one to round-off.
 * Returns how many times remain. */
int cb_gait_sort_breaks(double *t, int count);

/* Fails with CB_ERROR_ARGUMENT unless the gait has the number of shape variables of the bundle. */
cb_status cb_gait_fits(const cb_bundle *b, const cb_gait *g);

/* --- a gait as text and as numbers --- */

/* Appends the text of the gait to out. The text is the one that scenarios use, `{fourier: {mean: .., cosine: ..,
 * sine: ..}}`; a gait that is read from its text or its numbers is exactly the same. Returns CB_ERROR_UNSUPPORTED for
 * classes other than `fourier` and `arcs`, and for reversed gaits. */
cb_status cb_gait_write(const cb_gait *g, cb_text *out);

/* The numbers of a gait are (0, harmonics, mean, cosine, sine) for `fourier`, and (arcs, degree, ends, values) for
 * `arcs`. */

/* Returns how many numbers represent the gait; 0 for other kinds of gaits and for reversed gaits. */
size_t cb_gait_state_size(const cb_gait *g);
void cb_gait_state(const cb_gait *g, double *out);
/* Creates a gait of n shape variables from the numbers state[count], which cb_gait_state wrote. If the numbers are
 * invalid, returns CB_OK and sets *out to NULL. */
cb_status cb_gait_from_state(int n, size_t count, const double *state, cb_gait **out);

/* --- reading a gait of a scenario; error messages give the position of the wrong node in the file --- */

struct cb_arena;

extern const cb_param cb_gait_table[]; /* the keys that every kind of gait has */
/* Checks the keys of a gait that is read without its bundle. */
cb_status cb_gait_check_keys(const cb_node *map);
/* Returns a map of a gait with the defaults added; the kind comes first. The gait must have been read without an error.
 * Returns NULL if there is no memory. */
const cb_node *cb_gait_resolved(const cb_node *map, struct cb_arena *arena);

/* --- reading, for the kinds of gaits --- */

/* A row of a table of parameters, for an optional key. The struct of parameters gets the node of the value; the code
 * that reads the gait converts this node. */
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

/* Reads n numbers, one per shape variable. `what` is the word for them in messages, such as "start". */
cb_status cb_gait_read_shape(const cb_bundle *b, const cb_node *list, const char *what, double *r);
/* Reads a list of shapes into r[count][n], which is allocated with malloc; *r is NULL if the list is absent. */
cb_status cb_gait_read_rows(const cb_bundle *b, const cb_node *list, const char *what, double **r, int *count);
/* Reads ascending times in [0, 1] into t[count], which is allocated with malloc; *t is NULL if the list is absent. */
cb_status cb_gait_read_times(const cb_node *list, const char *what, double **t, int *count);
/* Reads an expression of t. The caller frees *out. */
cb_status cb_gait_read_expression(const cb_node *node, cb_expression **out);

/* If `status` is an error of the input, and its message has no position in the file, adds the position of the node
 * to the message. Returns the status. */
cb_status cb_gait_placed(cb_status status, const cb_node *node);
