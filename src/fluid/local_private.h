/* The data of a cb_local, and the kernels that work on it.
 *
 * Faces are stored part by part in the order of a space-filling curve, padded to full groups with faces without area.
 * Vertices are stored in the order of their first use. A block is a fixed range of the faces, edges or shares of one
 * part. Each block has its own sums, which are added in the order of the blocks, so that the result does not depend on
 * the number of threads.
 *
 * Many edges are summed together with one of their two faces, in the same pass: this face holds the edge. All other
 * edges are in lists and are summed after the faces.
 */
#pragma once

#include "fluid/local.h"

enum {
  /* The number of faces or edges whose numbers are stored next to each other; a multiple of the width of every vector.
   */
  CB_LOCAL_GROUP = 8,
  CB_LOCAL_BLOCK = 2048,              /* maximum number of faces, edges or vertices of a block */
  CB_LOCAL_CHUNK = 32,                /* number of faces whose data fit into the first-level cache */
  CB_LOCAL_FLAT = 6 * CB_LOCAL_GROUP, /* how many numbers a group has in `flat` */
  CB_LOCAL_RATE = 3 * CB_LOCAL_GROUP  /* how many numbers a group has in `rate` */
};

/* The kinds of edges. Both faces of an INNER edge are in the part. A SHARED edge is between two parts, and each part
 * counts half of it. A BORDER edge has one face. */
typedef enum cb_local_kind { CB_LOCAL_INNER, CB_LOCAL_SHARED, CB_LOCAL_BORDER } cb_local_kind;

typedef struct cb_local_block {
  int part, begin, end;
  cb_local_kind kind; /* only used for blocks of edges */
} cb_local_block;

/* The share of a vertex in the area of a part at the first pose, which is the weight of the vertex in the part's apex.
 * The apex is the mean of the part's surface with these weights. */
typedef struct cb_local_share {
  int from; /* the caller's number of the vertex */
  double share;
} cb_local_share;

/* The sums of a block of faces at a pose are the upper triangle of K by rows (angular-angular 6, angular-linear 9,
 * linear-linear 6), the momentum int <x', n> m dA, int m dA, area, volume, flux, and alpha l and the folds of the edges
 * that the block's faces hold. K is int m m^T dA, and the symbols are those of fluid/local.h and fluid/local_kernel.h.
 * For a closed part that moves, these sums over its solid about its apex follow: int y, int y y^T (upper triangle), int
 * y × u, int u and (int y)', with the place y and the velocity u relative to the apex. */
enum {
  CB_LOCAL_K = 0,
  CB_LOCAL_MU = 21,
  CB_LOCAL_M = 27,
  CB_LOCAL_AREA = 33,
  CB_LOCAL_VOLUME,
  CB_LOCAL_FLUX, /* int <x', n> dA */
  CB_LOCAL_TURNING,
  CB_LOCAL_FOLD,
  CB_LOCAL_ONE,
  CB_LOCAL_TWO = CB_LOCAL_ONE + 3,
  CB_LOCAL_SPIN = CB_LOCAL_TWO + 6,
  CB_LOCAL_MOMENTUM = CB_LOCAL_SPIN + 3,
  CB_LOCAL_FIRST_RATE = CB_LOCAL_MOMENTUM + 3,
  CB_LOCAL_POSE_SUMS = CB_LOCAL_FIRST_RATE + 3,
  CB_LOCAL_SUMS = 42 /* sums of drag: six rows of the Jacobian's six columns and the wrench */
};
/* The sums of a block of edges that no face holds are sum alpha l (alpha the bending angle, l the length), sum l, and
 * sum l over folds. */
enum { CB_LOCAL_EDGE_TURNING, CB_LOCAL_EDGE_LENGTH, CB_LOCAL_EDGE_FOLD, CB_LOCAL_EDGE_SUMS };

/* The motion of the flow and of the body at the faces, for lift and drag. */
typedef struct cb_local_flow {
  double Y[6];          /* the twist; a uniform flow is subtracted from its linear part */
  const double *rho;    /* [faces]: density of the fluid; NULL: 1 */
  const double *flow;   /* [faces][3]: velocity of the flow; NULL: 0 */
  double normal, along; /* normal = c_n and along = c_t, the coefficients of linear drag */
  bool jacobian;
} cb_local_flow;

typedef struct cb_local_kernels {
  /* `of`: the poses from which the vertices of the next block are computed; their data are prefetched (NULL: none).
   * `in`: the motion for lift and drag, which are computed in the same pass (NULL: they are not computed). */
  void (*faces)(const cb_local *l, const cb_local_block *b, const cb_local_blend *of, const cb_local_flow *in,
                double sum[CB_LOCAL_POSE_SUMS], double drag[CB_LOCAL_SUMS]);
  void (*flatten)(const cb_local *l, const cb_local_block *b);
  void (*edges)(const cb_local *l, const cb_local_block *b, double sum[CB_LOCAL_EDGE_SUMS]);
  void (*rows)(const cb_local *l, int begin, int end, const cb_local_blend *of);
  void (*apex)(const cb_local *l, const cb_local_block *b, const cb_local_blend *of, double sum[8]);
  void (*mass)(const cb_local *l, const cb_local_block *b, const double *rho, double sum[CB_LOCAL_SUMS]);
  void (*drag)(const cb_local *l, const cb_local_block *b, const cb_local_flow *in, double sum[CB_LOCAL_SUMS]);
  void (*linear)(const cb_local *l, const cb_local_block *b, const cb_local_flow *in, double sum[CB_LOCAL_SUMS]);
} cb_local_kernels;
extern const cb_local_kernels cb_local_kernels_x86_64, cb_local_kernels_avx2, cb_local_kernels_avx512;

struct cb_local {
  int vertices, faces, parts, threads;
  int slots, edges; /* numbers of faces and edges with padding */
  int face_blocks, edge_blocks;
  cb_local_block *face_block, *edge_block;
  int *part_block; /* [parts + 1]: the first block of faces of each part */
  const cb_local_kernels *kernels;
  int *original;  /* [vertices]: the caller's number of each vertex */
  int *face_of;   /* [slots]: the caller's number of each face */
  int *corner[3]; /* [slots]: 8 times the number of the vertex at each corner */
  /* [slots]: 4 times the number, within the block, of the neighbour of each face at the edge from corner 0 to 1, and of
   * its neighbour at the edge from corner 2 to 0. If the edge is not summed with this face (local_order.c), the number
   * is that of the face itself. */
  int *beside[2];
  /* [edges], only edges that no face holds: 4 times the index in the rim of each of the two faces of the edge (at a
   * border twice the same index) */
  int *edge_face[2];
  int *edge_end[2]; /* [edges]: 8 times the numbers of the first and last vertex of the edge along face 0 */
  /* rim_slot: the slots of the faces in the rim, that is, of the faces with an edge that no face holds;
   * rim_first[face_blocks + 1]: the index in rim_slot of the first face of each block */
  int *rim_slot, *rim_first;
  double *rim;    /* [][4]: the normals of the faces of the rim */
  int *row_first; /* [face_blocks + 1]: the first vertex that no earlier block uses */
  int share_blocks;
  /* The blocks of shares, part by part. */
  cb_local_block *share_block;
  cb_local_share *share;
  double (*share_sum)[8];
  bool *open;                             /* [parts]: the part has a border, so it is a sheet */
  double *x, *v;                          /* [vertices][8]: position and velocity, each followed by a 0; v = x + 4 */
  double (*apex)[8];                      /* [parts]: position and velocity of the apex in the same form as x and v */
  double *flat;                           /* centre c and area vector a of each face (local_kernel.h) */
  double *rate;                           /* velocity w of the centre of each face */
  bool moving;                            /* the pose has velocities */
  bool flattened;                         /* flat and rate are computed for this pose */
  bool drags;                             /* cb_local_drag, which reads flat, was called at the previous pose */
  bool turned;                            /* `part` and `folds` are computed for this pose */
  double (*pose_sum)[CB_LOCAL_POSE_SUMS]; /* [face_blocks] */
  double (*sum)[CB_LOCAL_SUMS];
  double (*edge_sum)[CB_LOCAL_EDGE_SUMS];
  double *mean;  /* [parts]: mean normal velocity of each part, which is subtracted from <x', n> in mu0 */
  double *folds; /* [parts]: total length of those folds that no face holds */
  /* [parts]: the length of the border, and the sum of alpha l (bending angle times length) over the edges that no face
   * holds */
  cb_local_part *part;
};

/* Orders faces, vertices and edges: fills all members of l that do not change with the pose. */
cb_status cb_local_order(const cb_surface *s, cb_local *l);

/* Finds the sums of a part, added in the order of its blocks. */
void cb_local_part_sums(const cb_local *l, int part, double sum[CB_LOCAL_POSE_SUMS]);

/* Finds delta (local.h) and its cap from the part's area, border and turning. folds is the sum of the lengths of the
 * edges that are folded flat. */
void cb_local_delta(bool open, double folds, cb_local_part *part);

/* An edge is a fold if the normals of its two faces are opposite up to round-off: cos alpha < 0 and |sin alpha| is
 * below this limit. alpha is the bending angle. */
#define CB_LOCAL_FOLDED 1e-6
