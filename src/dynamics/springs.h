/* Many springs between the particles of a space: forces, potential, separations and the exact Jacobian.
 *
 *   V = sum over springs of (k/2) (d - D)^2,   c^2 = <x-y, x-y>
 *   d = 2R asin(c/2R) (K > 0),   2R asinh(c/2R) (K < 0),   c (K = 0)
 *   grad d = (x - y) / (c sqrt(1 - K c^2/4)),   d' = <grad d, x' - y'>
 *   force on x (as a vector):  F = -(k (d - D) + gamma d') grad d,   on y:  -F
 *
 * k, D and gamma are the stiffness, the rest length and the damping of a spring between x and y, c is its chord, d its
 * length, x' and y' are the velocities of its ends, K is the curvature and R = 1/sqrt|K|. V is taken as a function on
 * the linear space, so F has a normal component, which the integrators remove. In a product of factors f: d^2 = sum
 * d_f^2, grad d = sum (d_f/d) grad d_f.
 *
 * A plan is immutable and may be shared; a cb_springs_work holds the scratch memory of one caller. Particles are
 * divided into blocks of consecutive numbers, and each block computes every spring that touches it. Springs between two
 * blocks are computed twice, so threads share nothing while they sum forces. The order of the sums, and so every bit of
 * the result, does not depend on the number of threads. Neighbours should have near numbers (cb_reorder).
 *
 * Vectors have n*k numbers, k = space->embedding, and should be aligned to 64 bytes. A spring between coincident
 * particles exerts no force, even with D > 0, because the force then has no direction. Antipodal particles give forces
 * that are not finite.
 */
#pragma once

#include <curvebody/status.h>
#include <curvebody/system.h>

#include <stddef.h>
#include <stdint.h>

typedef struct cb_springs cb_springs;
typedef struct cb_springs_work cb_springs_work;

typedef struct cb_spring {
  int i, j;
  double stiffness, rest, damping;
} cb_spring;

/* Makes a plan for m springs between n particles of `space` in its embedding. Nothing is borrowed. Returns
 * CB_ERROR_ARGUMENT if n, m or an index is out of range, if a spring joins a particle to itself, if a rest length is
 * negative, or if a value is not finite. Returns CB_ERROR_UNSUPPORTED in a chart. */
cb_status cb_springs_create(const cb_space *space, int n, size_t m, const cb_spring *spring, cb_springs **out);
void cb_springs_free(cb_springs *plan);

/* Allocates scratch memory for up to `threads` threads (at least 1). The plan is borrowed. */
cb_status cb_springs_work_create(const cb_springs *plan, int threads, cb_springs_work **out);
void cb_springs_work_free(cb_springs_work *work);

/* Sets force[s] (n*k numbers) at positions x[s] and velocities v[s] for the stages s = 0 .. stages-1 at once, so that
 * each block of springs is read from memory only once. v may be NULL without damping. The result is bit for bit the
 * same as from separate calls for each stage. */
void cb_springs_force(cb_springs_work *work, int stages, const double *const *x, const double *const *v,
                      double *const *force);

double cb_springs_potential(cb_springs_work *work, const double *x);

/* Sets d[m] to the lengths of the springs, in the order in which they were given to cb_springs_create. */
void cb_springs_separation(cb_springs_work *work, const double *x, double *d);

/* Adds dF_i/dx_j to dx and dF_i/dv_j to dv (may be NULL), block by block in the order of `pattern`. v may be NULL
 * without damping. Returns CB_STEP_DOMAIN if the force has no derivative (the ends are antipodal, or they coincide and
 * the spring has D > 0 or damping). Returns CB_ERROR_ARGUMENT if the pattern lacks a block. On failure some springs
 * have already been added. */
cb_status cb_springs_jacobian(const cb_springs *plan, const cb_pattern *pattern, const double *x, const double *v,
                              double *dx, double *dv);

/* The rest of this file is private to springs*.c: the plan, its blocks, and the table of kernels of an instruction set.
 */

enum {
  CB_GROUP = 8,   /* springs per group: the width of the widest vector */
  CB_SLICE = 64,  /* near groups per slice; the 12 kB that a slice uses stay in the first-level cache */
  CB_AHEAD = 6,   /* far groups are prefetched this many groups ahead; as many empty groups follow the last far group */
  CB_SMALL = 16,  /* a plan with at most this number of springs and particles is small */
  CB_TOGETHER = 8 /* maximum number of stages that a small plan computes together */
};

typedef enum cb_springs_shape {
  CB_SPRINGS_FLAT,
  CB_SPRINGS_SPHERE,
  CB_SPRINGS_HYPERBOLOID,
  CB_SPRINGS_PRODUCT, /* a product of two factors */
  CB_SPRINGS_SHAPES
} cb_springs_shape;

/* A space in the form that the kernels use. Points have four numbers: the coordinates, then zeros. */
typedef struct cb_springs_space {
  cb_springs_shape shape;
  int k;
  double form[CB_COORD_MAX];
  double quarter[CB_FACTOR_MAX];              /* a quarter of the curvature of each factor */
  double member[CB_FACTOR_MAX][CB_COORD_MAX]; /* [f][a]: 1 if coordinate a belongs to factor f, otherwise 0 */
} cb_springs_space;

/* The springs that a kernel computes in one call, in groups of CB_GROUP springs. An end of a spring is an offset: 4
 * times the number of its particle. If the last group has fewer springs, it is filled with springs whose two ends are
 * the same particle, so that they have no effect. */
typedef struct cb_spring_run {
  size_t springs;
  const uint16_t *a;    /* the first end: an offset into x and f */
  const uint16_t *near; /* the second end: an offset into x and f; NULL: the second ends are in `far` */
  /* the second end if near is NULL: an offset into y; no force is computed on this end */
  const uint32_t *far;
  const double *stiffness, *rest, *damping; /* damping may be NULL */
  /* the step in stiffness and rest from one group to the next: CB_GROUP, or 0 if all springs have the same value */
  size_t stiffness_step, rest_step;
} cb_spring_run;

/* Particles first .. first+count-1 and the springs that touch them. Near springs have both ends in the block. The other
 * end of a far spring lies in a block with a higher number (up) or a lower number (down). A spring between two blocks
 * is in the lists of both. The lists of near springs, of springs up and of springs down each begin a new group. The
 * offsets `a` and `near` count from the first particle of the block. With four coordinates, `far` counts from the first
 * particle of the space. With fewer coordinates it counts from the first particle of a copy. This copy holds the
 * particles of the block and then the halo, that is, the other ends of the far springs. */
typedef struct cb_springs_block {
  int first, count;
  size_t near, up, down;               /* numbers of near springs, of springs up and of springs down */
  size_t group, near_group, far_group; /* the block's first group among all groups, near groups and far groups */
  size_t halo, halo_count;             /* the block's halo in the array `halo` of the plan: first index and length */
  size_t slice;                        /* the block's first slice of near groups */
} cb_springs_block;

/* x and f are the positions of the block's particles and the forces on them, y are the positions of the far ends, and v
 * and w are the velocities at x and y (not read without damping). All have four numbers per particle. */
typedef struct cb_springs_kernels {
  /* Adds the forces of the run to f. */
  void (*force)(const cb_springs_space *space, const cb_spring_run *run, const double *x, const double *y,
                const double *v, const double *w, double *f);
  /* Adds the energy of the run to sum, a compensated sum (high and low part). */
  void (*potential)(const cb_springs_space *space, const cb_spring_run *run, const double *x, const double *y,
                    double sum[2]);
  /* Sets d to the lengths of the springs of the run, in complete groups of CB_GROUP numbers. */
  void (*separation)(const cb_springs_space *space, const cb_spring_run *run, const double *x, const double *y,
                     double *d);
} cb_springs_kernels;

extern const cb_springs_kernels cb_springs_kernels_x86_64[CB_SPRINGS_SHAPES];
extern const cb_springs_kernels cb_springs_kernels_avx2[CB_SPRINGS_SHAPES];
extern const cb_springs_kernels cb_springs_kernels_avx512[CB_SPRINGS_SHAPES];

struct cb_springs {
  cb_springs_space space;
  const cb_springs_kernels *kernels;
  int n;
  size_t m;
  int damped;
  int n_blocks;
  cb_springs_block *block;
  uint16_t *a;    /* the first ends as offsets (cb_spring_run); 8 entries per group */
  uint16_t *near; /* the second ends of near springs as offsets; 8 entries per near group */
  uint32_t *far;  /* the second ends of far springs as offsets; 8 entries per far group */
  /* 8 entries per group, or 8 in total if all springs have the same value; damping is NULL if there is none */
  double *stiffness, *rest, *damping;
  size_t stiffness_step, rest_step;
  uint32_t *number; /* 8 per group: the number of each spring; UINT32_MAX: an empty entry of the last group */
  /* per slice: the springs of this slice and of those before it touch only the first `reach` particles of the block */
  int *reach;
  int *halo;        /* the particles in the halos, block after block */
  size_t local_max; /* maximum number of particles in a thread's copies */
  /* The springs of a small plan, repeated for each of CB_TOGETHER stages, with particles numbered n*stage + i. `a` is
   * NULL if the plan is not small. */
  cb_spring_run together;
};

struct cb_springs_work {
  const cb_springs *plan;
  int threads;
  double *local; /* for each thread: memory for positions, forces and velocities of local_max particles, initially 0 */
  size_t local_stride;
  double *partial; /* [n_blocks][2]: the potential of each block, as a compensated sum */
};

/* These functions return the springs of a block: `springs` near springs, beginning with number `first` (a multiple of
 * 8); the springs to higher blocks (up); and the springs to lower blocks (down). */
cb_spring_run cb_springs_near(const cb_springs *plan, const cb_springs_block *block, size_t first, size_t springs);
cb_spring_run cb_springs_up(const cb_springs *plan, const cb_springs_block *block);
cb_spring_run cb_springs_down(const cb_springs *plan, const cb_springs_block *block);

static inline size_t cb_springs_groups(size_t springs) { return (springs + CB_GROUP - 1) / CB_GROUP; }

/* --- numbering the vertices of a graph so that neighbours have near numbers, and its components ---
 *
 * Regions of CB_REORDER_REGION vertices are grown breadth first, each from the oldest unnumbered neighbour of the
 * regions before it: C. Farhat, A simple and efficient automatic FEM domain decomposer, Comput. Struct. 28 (1988) 579,
 * doi:10.1016/0045-7949(88)90004-1. Inside a region we use the order of E. Cuthill and J. McKee, Proc. 24th ACM Nat.
 * Conf. (1969) 157, doi:10.1145/800195.805928. A region of a mesh or lattice is compact, so few edges leave it, and its
 * positions, forces and springs stay in a core's cache. A Cuthill-McKee order of the complete graph is worse, because
 * its levels grow with the mesh. */

enum { CB_REORDER_REGION = 4096 };

/* Sets order[new] = old for the n vertices 0 .. n-1 of the graph with m edges (i[e], j[e]). Edges from a vertex to
 * itself and repeated edges are allowed. Connected components stay together, in the order of their lowest vertices. The
 * result depends on the arguments only. Returns CB_ERROR_ARGUMENT for a vertex outside 0 .. n-1, and CB_ERROR_MEMORY if
 * memory runs out. */
cb_status cb_reorder(int n, size_t m, const int *i, const int *j, int *order);

/* Connected components of a graph, by union-find (Tarjan, J. ACM 22 (1975), doi:10.1145/321879.321884). */

/* parent[n] is the forest of the elements. cb_components_start makes each element a tree of its own, and
 * cb_components_join joins the trees of i and j. */
void cb_components_start(int n, int *parent);
void cb_components_join(int *parent, int i, int j);
/* Sets component[n] to the number of each element's component, counted from 0 in the order of their first elements, and
 * returns the number of components. component may be parent itself. */
int cb_components_number(int n, int *parent, int *component);
