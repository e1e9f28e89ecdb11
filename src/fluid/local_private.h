/* What a cb_local holds, and the kernels that work on it.
 *
 * Faces lie part by part in the order of a space-filling curve, padded to whole groups with faces of no area; vertices
 * in the order of their first use. A block is a fixed range of one part; each has sums of its own that are added in the
 * order of the blocks, so that the number of threads changes no byte.
 */
#pragma once

#include "fluid/local.h"

enum {
  CB_LOCAL_GROUP = 8,    /* faces or edges whose numbers lie beside each other; a multiple of every vector */
  CB_LOCAL_BLOCK = 2048, /* faces, edges or vertices of one block */
  CB_LOCAL_CHUNK = 32,   /* faces that stay in the first cache */
  CB_LOCAL_FLAT = 6 * CB_LOCAL_GROUP, /* numbers of a group: c, a */
  CB_LOCAL_RATE = 3 * CB_LOCAL_GROUP  /* w */
};

/* Edges: INNER ones have both faces in the part, SHARED ones are halved with another part, BORDER ones have one face.
 * */
typedef enum cb_local_kind { CB_LOCAL_INNER, CB_LOCAL_SHARED, CB_LOCAL_BORDER } cb_local_kind;

typedef struct cb_local_block {
  int part, begin, end;
  cb_local_kind kind; /* of edges */
} cb_local_block;

/* Of a vertex in the area of a part at the first pose: the apex's weight. */
typedef struct cb_local_share {
  int from; /* the caller's number */
  double share;
} cb_local_share;

/* Sums of a block of faces at a pose: K row by row, its upper triangle (angular-angular 6, angular-linear 9,
 * linear-linear 6); the momentum; int m; of the edges within the block; and of the solid about its part's apex, for a
 * closed part that moves: int y, int y y^T (upper triangle), int y × u, int u and (int y)'. */
enum {
  CB_LOCAL_K = 0,
  CB_LOCAL_MU = 21,
  CB_LOCAL_M = 27,
  CB_LOCAL_AREA = 33,
  CB_LOCAL_VOLUME,
  CB_LOCAL_FLUX, /* int <x', n> */
  CB_LOCAL_TURNING,
  CB_LOCAL_FOLD,
  CB_LOCAL_ONE,
  CB_LOCAL_TWO = CB_LOCAL_ONE + 3,
  CB_LOCAL_SPIN = CB_LOCAL_TWO + 6,
  CB_LOCAL_MOMENTUM = CB_LOCAL_SPIN + 3,
  CB_LOCAL_FIRST_RATE = CB_LOCAL_MOMENTUM + 3,
  CB_LOCAL_POSE_SUMS = CB_LOCAL_FIRST_RATE + 3,
  CB_LOCAL_SUMS = 42 /* of drag: six rows of the Jacobian's six columns and the wrench */
};
/* Of a block of edges that no face has: sum alpha l, sum l, and sum l of folds. */
enum { CB_LOCAL_EDGE_TURNING, CB_LOCAL_EDGE_LENGTH, CB_LOCAL_EDGE_FOLD, CB_LOCAL_EDGE_SUMS };

/* What the flow and the body do at the faces. */
typedef struct cb_local_flow {
  double Y[6];          /* the twist; its linear part less a uniform flow */
  const double *rho;    /* [faces] or NULL */
  const double *flow;   /* [faces][3] or NULL */
  double normal, along; /* c_n, c_t */
  bool jacobian;
} cb_local_flow;

typedef struct cb_local_kernels {
  /* of: poses of which the next block will want vertices (NULL: none); in: drag in the same pass (NULL). */
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
  int slots, edges; /* faces and edges with padding */
  int face_blocks, edge_blocks;
  cb_local_block *face_block, *edge_block;
  int *part_block; /* [parts + 1]: the first of a part's blocks of faces */
  const cb_local_kernels *kernels;
  int *original;   /* [vertices]: the caller's number of each vertex */
  int *face_of;    /* [slots]: the caller's number of each face */
  int *corner[3];  /* [slots]: 8 times the number of a vertex */
  int *beside[2];  /* [slots]: 4 times the number in the block of the face beyond the edge from corner 0 to 1, and from
                      2 to 0; of the face itself where it does not have that edge */
  int *edge_face[2]; /* [edges] that no face has: 4 times the place of its faces in the rim */
  int *edge_end[2];  /* [edges]: 8 times the number of a vertex, from first to second along face 0 */
  int *rim_slot, *rim_first; /* faces with such edges, and [face_blocks + 1] the first of each block */
  double *rim;               /* [][4]: their normals */
  int *row_first;            /* [face_blocks + 1]: of the vertices that a block is the first to use */
  int share_blocks;
  cb_local_block *share_block; /* of the shares of a part */
  cb_local_share *share;
  double (*share_sum)[8];
  bool *open;        /* [parts]: has a border: a sheet */
  double *x, *v;     /* [vertices][8]: place and velocity, each with a 0; v = x + 4 */
  double (*apex)[8]; /* [parts]: its place and velocity likewise */
  double *flat;      /* centre c, area vector a = A n = e1 × e2 / 2 */
  double *rate;      /* velocity w of the centre */
  bool moving;       /* the pose has velocities */
  bool flattened;    /* flat and rate belong to the pose */
  bool drags;        /* the pose before was asked for drag, which reads them */
  bool turned;       /* delta belongs to the pose */
  double (*pose_sum)[CB_LOCAL_POSE_SUMS]; /* [face_blocks] */
  double (*sum)[CB_LOCAL_SUMS];
  double (*edge_sum)[CB_LOCAL_EDGE_SUMS];
  double *mean;         /* [parts]: mean normal velocity, taken off in mu0 */
  double *folds;        /* [parts]: length of flat folds */
  cb_local_part *part;  /* of the pose, once it was turned */
};

/* Orders faces and edges: everything of l that does not change with the pose. */
cb_status cb_local_order(const cb_surface *s, cb_local *l);
cb_status cb_local_order_shares(const cb_surface *s, cb_local *l); /* the last of it */

/* The sums of a part, in the order of its blocks. */
void cb_local_part_sums(const cb_local *l, int part, double sum[CB_LOCAL_POSE_SUMS]);

/* delta and its cap from part's area, border and turning; folds: sum l of edges that are folded flat. */
void cb_local_delta(bool open, double folds, cb_local_part *part);

/* From here |sin alpha| of an edge between faces that look to opposite sides is rounding: a fold. */
#define CB_LOCAL_FOLDED 1e-6
