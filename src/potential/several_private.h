/* The data of several bodies (several.h) and the parts of their solution, each in a file of its own.
 *
 * Vectors on all panels hold the panels of body 0, of body 1 and so on, [columns][total]. The panels of each body are
 * padded with zeros to whole vectors (potential/panel_kernel.h). `Row` numbers the centres of all panels, without
 * padding.
 */
#pragma once

#include "core/arena.h"
#include "core/threads.h"
#include "potential/linear_solvers.h"
#include "potential/panels.h"
#include "potential/several.h"

#include <stdbool.h>

enum { CB_SEVERAL_MOTIONS = 6 };

/* A shape, alone in the fluid. Arrays of [6][stride] hold one row for each unit twist. */
typedef struct cb_several_shape {
  const cb_several_body *body;
  cb_panels *panels;
  int n;         /* number of panels */
  size_t stride; /* n, padded */
  double K[6][6];
  double *A; /* [n][stride]: the factors of I/2 - D */
  int *pivots;
  double *w, *load, *phi, *psi, *source; /* [6][stride]: w_a, W w_a, phi_a, psi_a and S w_a */
  double centre[3], radius, *reach;      /* the ball around the shape; reach[n]: the radii of balls around the panels */
} cb_several_shape;

struct cb_several {
  cb_arena *arena;
  int bodies, shapes, rows; /* rows: number of panels of all bodies */
  cb_several_body *body;    /* [bodies] */
  cb_several_shape *shape;
  int *of;                /* [bodies]: the shape of each body */
  int *row;               /* [bodies + 1]: the first row of each body */
  size_t *at, total;      /* at[bodies + 1]: the first panel of each body in a vector; total: at[bodies] */
  size_t *block, doubles; /* block[bodies]: where the rows of a body begin in the matrix; doubles: size of the matrix */
  cb_mirror wall;         /* its normal has length 1 */
  int iterations;
  cb_spare work;
};

/* The points of body i seen from body j: the point x in the axes of i is at Q x + t in the axes of j, or its mirror
 * image is. sign is the factor of the potentials there: 1, or -1 for the images of a free surface. 0: no such view. */
typedef struct cb_several_view {
  double sign, Q[3][3], t[3];
  bool mirrored;
} cb_several_view;

/* Data of C columns of twists: for each of them normal velocities and potentials on all panels, [C][total]. phi_more
 * and psi_more are the parts of phi and psi that the others cause. */
typedef struct cb_several_columns {
  int count;
  const double *Y; /* [C][6 bodies] */
  double *w, *phi, *psi, *phi_more, *psi_more, *b;
  double *flow; /* [rows of one body][C][3]: V */
  cb_krylov *krylov;
} cb_several_columns;

/* The work memory of one thread. */
typedef struct cb_several_work {
  cb_arena *arena;
  const cb_several *m;
  cb_several_view *view;  /* [bodies][bodies][2]: direct and mirrored */
  double *D;              /* blocks of D between bodies */
  double *more;           /* [rows][bodies][6]: S w_a between bodies */
  int *inside;            /* [rows]: the body that contains the centre of the panel, or -1 */
  double *in, *own;       /* [CB_SEVERAL_MOTIONS][total] */
  cb_several_columns one; /* for cb_several_apply */
  cb_several_report report;
} cb_several_work;

static inline const cb_several_shape *cb_several_shape_of(const cb_several *m, int body) {
  return m->shape + m->of[body];
}
static inline const cb_several_view *cb_several_view_of(const cb_several_work *e, int i, int j, int mirrored) {
  return e->view + ((size_t)i * (size_t)e->m->bodies + (size_t)j) * 2 + mirrored;
}
static inline void cb_several_seen(const cb_several_view *v, const double x[3], double y[3]) {
  for (int k = 0; k < 3; k++) y[k] = v->Q[k][0] * x[0] + v->Q[k][1] * x[1] + v->Q[k][2] * x[2] + v->t[k];
}
/* Returns the number of threads for a loop over pairs of panels that take about 100/share ns each. */
static inline int cb_several_threads(const cb_several *m, int share) {
  return cb_threads_for((size_t)m->rows * m->total / (size_t)share);
}

/* Frees the work memory of a thread. */
void cb_several_work_free(cb_several_work *e);

/* Sets the views for the poses g, and the gap of the report. Returns CB_STEP_DOMAIN if a body is behind the wall, or if
 * the gap is too small. */
cb_status cb_several_place(cb_several_work *e, const cb_pose *g);

/* Computes D and S w_a between bodies. Returns CB_STEP_DOMAIN if a body contains the centre of another body's panel. */
cb_status cb_several_fill(cb_several_work *e);
/* Compute out = D x and out = D^T x for the blocks between bodies, x[columns][total]. */
void cb_several_product(cb_several_work *e, int columns, const double *x, double *out);
void cb_several_product_transposed(cb_several_work *e, int columns, const double *x, double *out);
/* Computes c->flow for the rows of body i and one of its views of body j. */
void cb_several_flow(cb_several_work *e, const cb_several_columns *c, int i, int j, int mirrored);
