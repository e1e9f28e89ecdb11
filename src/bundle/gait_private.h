/* A gait as one block of memory with the gaits and expressions it is made of, which are its own. */
#pragma once

#include "bundle/gait_text.h"
#include <curvebody/holonomy.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct cb_gait_kind {
  const char *name;
  void (*at)(const cb_gait *g, double t, double *r, double *rate); /* t in [0, 1] */
  /* Its own numbers, as what stands behind the name of its kind in a scenario. NULL: it is not written. */
  void (*write)(const cb_gait *g, cb_text *out);
} cb_gait_kind;

struct cb_gait {
  const cb_gait_kind *kind;
  int n, count;   /* shape variables; harmonics, corners or points */
  int breaks;     /* at data[breaks], the kind's numbers behind them */
  int pieces;     /* a smooth piece is integrated in this many steps at first */
  bool backwards;
  bool open;      /* r(1) is another shape than r(0), which may be the same up to whole periods */
  int parts, texts;
  cb_gait **part;
  cb_expression **text;
  size_t size;    /* of the block in bytes */
  double data[];
};

/* A block with `numbers` numbers behind its breaks, zeroed; NULL if there is no memory. */
cb_gait *cb_gait_block(const cb_gait_kind *kind, int n, int count, int breaks, size_t numbers);
static inline const double *cb_gait_numbers(const cb_gait *g) { return g->data + g->breaks; }

/* The same with copies of parts and texts, either may be none. */
cb_status cb_gait_compose(const cb_gait_kind *kind, int n, int breaks, size_t numbers, int parts,
                          const cb_gait *const *part, int texts, const cb_expression *const *text, cb_gait **out);

/* Arguments of every kind. */
cb_status cb_gait_check(const char *what, int n, int count, int least, const double *r);

/* gap[n] = r(1) - r(0). */
void cb_gait_gap(const cb_gait *g, double *gap);

/* r + drift[n] t of a path, which is closed where nothing is left of its gap. */
cb_status cb_gait_drifting(const cb_gait *g, const double *drift, cb_gait **out);

/* Round-off in a shape variable: a gap below this is none. */
double cb_gait_slack(double a, double b);

/* One period begins at its first break (0 without one); edge k = 0..cb_gait_edges(g) of its smooth pieces. */
int cb_gait_edges(const cb_gait *g);
double cb_gait_edge(const cb_gait *g, int k);

/* How many breaks of the bundle shape variable i has passed at r, counted on over periods. */
double cb_breaks_passed(const cb_bundle *b, int i, double r);
/* The first time after t at which a shape variable passes a break of the bundle; `end` if there is none. [t, end]
 * is within a smooth piece. Found by samples: what is passed twice between two of them is not. */
double cb_gait_cut(const cb_bundle *b, const cb_gait *g, double t, double end);

/* a = A r' and, where not NULL, square = r'Mr' at the time t. */
cb_status cb_gait_velocity(const cb_bundle *b, const cb_gait *g, double t, double *a, double *square);

/* Sorts count breaks in [0, 1), leaves one of those that agree to round-off, returns how many are left. */
int cb_gait_sort_breaks(double *t, int count);

/* Fails unless the gait moves in the bundle's shape space. */
cb_status cb_gait_fits(const cb_bundle *b, const cb_gait *g);
