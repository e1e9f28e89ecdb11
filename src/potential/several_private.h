/* The data of several bodies (several.h), and the functions that several.c and several_blocks.c share.
 *
 * An array over all panels, [columns][total], has the panels of body 0, then those of body 1, and so on. The panels of
 * each body are padded with zeros to a multiple of CB_PANEL_PAD (potential/panel_kernel.h). The rows of the matrix
 * belong to the centres of the panels of all bodies, and are numbered without padding.
 */
#pragma once

#include "core/arena.h"
#include "core/failure.h"
#include "core/threads.h"
#include "potential/curved_flow.h"
#include "potential/linear_solvers.h"
#include "potential/panel_kernel.h"
#include "potential/panels.h"
#include "potential/several.h"

#include <stdbool.h>

enum { CB_SEVERAL_MOTIONS = 6 };

/* The space that the fluid fills. Points are (r x, w) as in potential/curved_flow.h, and (x, 1) in flat space. */
typedef struct cb_several_space {
  double K, sign, r; /* the curvature, its sign, and sqrt|K|; 0, 0 and 1 in flat space */
} cb_several_space;

/* A shape, alone in the fluid. Arrays of [6][stride] have one row for each unit twist. */
typedef struct cb_several_shape {
  const cb_several_body *body;
  cb_several_space space;
  cb_panels *panels; /* in flat space, otherwise NULL */
  cb_curved_panels curved;
  int n;         /* number of panels */
  size_t stride; /* n, rounded up to whole vectors */
  double K[6][6];
  double *A; /* [n][stride]: the factors of I/2 - D */
  int *pivots;
  double share; /* 1/2 plus the mean sum of a row of D: the part of the space that the body fills */
  double *w, *load, *phi, *psi, *source; /* [6][stride]: w_a, W w_a, phi_a, psi_a and S w_a */
  double (*centre)[4], (*corner)[3][4];  /* [n]: the centres and the corners of the panels */
  const double *area;                    /* [n]: the areas of the panels */
  double middle[4], radius;              /* centre and radius of a ball that contains the shape */
  double *reach, widest;                 /* reach[n]: the radii of balls around the panels; widest: the largest one */
} cb_several_shape;

struct cb_several {
  cb_arena *arena;
  int bodies, shapes, rows; /* rows: number of panels of all bodies */
  cb_several_body *body;    /* [bodies]: copies of the caller's data */
  cb_several_shape *shape;
  int *of;                /* [bodies]: the shape of each body */
  int *row;               /* [bodies + 1]: the first row of each body */
  size_t *at, total;      /* at[bodies + 1]: the index of each body's first panel in a vector over all panels; total:
                           * the length of such a vector, at[bodies] */
  size_t *block, doubles; /* block[bodies]: where the rows of a body begin in the matrix; doubles: size of the matrix */
  cb_several_space space;
  cb_mirror wall; /* its normal has length 1 */
  const cb_panel_kernels *kernels;
  int iterations;
  cb_spare work;
};

/* The points of body i seen from body j: a point y in the axes of i has the position T y in the axes of j. In a
 * mirrored view T y is the position of its mirror image. A wrench W on j at these points is the wrench `carry` W on i.
 * sign is the factor of the potentials there: 1, or -1 for the images of a free surface. sign is 0 if there is no such
 * view. */
typedef struct cb_several_view {
  double sign, T[4][4], carry[6][6];
} cb_several_view;

/* Data of C columns of twists: for each of them normal velocities and potentials on all panels, [C][total]. phi_more
 * and psi_more are the parts of phi and psi that the other bodies and the wall cause. */
typedef struct cb_several_columns {
  int count;
  const double *Y; /* [C][6 bodies]: the twists of all bodies */
  double *w, *phi, *psi, *phi_more, *psi_more, *b;
  double *flow; /* [rows of one body][C][3]: the velocity V (several.h) that another body causes at each row */
  cb_krylov *krylov;
} cb_several_columns;

/* The work memory of one thread. */
typedef struct cb_several_work {
  cb_arena *arena;
  const cb_several *m;
  cb_several_view *view;  /* [bodies][bodies][2]: the direct and the mirrored view of each pair (cb_several_view_of) */
  double *D;              /* blocks of D between bodies */
  double *more;           /* [rows][bodies][6]: S w_a at each panel, of the other bodies and of the images */
  int *inside;            /* [rows]: the body that contains the centre of the panel, or -1 */
  double *in, *own;       /* [CB_SEVERAL_MOTIONS][total]: work arrays of products and solutions */
  cb_several_columns one; /* for cb_several_apply */
  cb_several_report report;
} cb_several_work;

static inline const cb_several_shape *cb_several_shape_of(const cb_several *m, int body) {
  return m->shape + m->of[body];
}
static inline cb_name_text cb_several_name(const cb_several *m, int body) {
  return cb_name_text_of(m->body[body].name, body);
}
static inline const cb_several_view *cb_several_view_of(const cb_several_work *e, int i, int j, int mirrored) {
  return e->view + ((size_t)i * (size_t)e->m->bodies + (size_t)j) * 2 + mirrored;
}
static inline void cb_several_seen(const cb_several_view *v, const double x[4], double y[4]) {
  for (int k = 0; k < 4; k++) y[k] = v->T[k][0] * x[0] + v->T[k][1] * x[1] + v->T[k][2] * x[2] + v->T[k][3] * x[3];
}
/* Returns the number of threads for a loop over all pairs of panels, each of which takes about 100/share ns. */
static inline int cb_several_threads(const cb_several *m, int share) {
  return cb_threads_for((size_t)m->rows * m->total / (size_t)share);
}

/* Frees the work memory of a thread. */
void cb_several_work_free(cb_several_work *e);

/* Computes S and D of `count` panels from index `first` on, at the point y; `self` is as in cb_panels_range. */
void cb_several_range(const cb_several_shape *s, const double y[4], int first, int count, int self, double *S,
                      double *D);
/* Adds to `wrench` the force f at the point y and its torque. The components of f refer to the same frame as the
 * gradients of cb_panels_gradients. */
void cb_several_add_force(const cb_several_space *space, const double y[4], const double f[3], double wrench[6]);
/* Returns the distance of two points in metres. */
double cb_several_distance(const cb_several_space *space, const double a[4], const double b[4]);

/* Sets e->view for the poses g, and the smallest gap e->report.gap. Returns CB_STEP_NOT_FINITE for a pose that is not
 * finite, and CB_STEP_DOMAIN if a body is behind the wall or the gap is below e->report.resolved. */
cb_status cb_several_place(cb_several_work *e, const cb_pose *g);

/* Computes D and S w_a between bodies. Returns CB_STEP_DOMAIN if a body contains the centre of another body's panel. */
cb_status cb_several_fill(cb_several_work *e);
/* cb_several_product computes out = D x, and cb_several_product_transposed computes out = D^T x, with the blocks of D
 * between bodies and x[columns][total]. */
void cb_several_product(cb_several_work *e, int columns, const double *x, double *out);
void cb_several_product_transposed(cb_several_work *e, int columns, const double *x, double *out);
/* Computes c->flow, the velocity V (several.h) that the panels of body j cause at the centres of the panels of body i,
 * or at the mirror images of these centres if `mirrored` is 1. The components are those in the frame of body j. */
void cb_several_flow(cb_several_work *e, const cb_several_columns *c, int i, int j, int mirrored);
