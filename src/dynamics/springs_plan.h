/* What the files of springs share: the plan, its blocks, and the table of kernels of an instruction set. */
#pragma once

#include "dynamics/springs.h"
#include <stdint.h>

enum {
  CB_GROUP = 8,   /* springs a group: the widest vector */
  CB_SLICE = 64,  /* near groups a slice: what they touch, some 12 kB, stays in the first cache */
  CB_AHEAD = 6,   /* groups that are fetched ahead; so many follow the last one */
  CB_SMALL = 16,  /* at most so many springs and particles make a small plan */
  CB_TOGETHER = 8 /* stages that a small plan computes together */
};

typedef enum cb_springs_shape {
  CB_SPRINGS_FLAT,
  CB_SPRINGS_SPHERE,
  CB_SPRINGS_HYPERBOLOID,
  CB_SPRINGS_PRODUCT, /* of two factors */
  CB_SPRINGS_SHAPES
} cb_springs_shape;

/* A space as the kernels see it: points of four numbers, the coordinates and then zeros. */
typedef struct cb_springs_space {
  cb_springs_shape shape;
  int k;
  double form[CB_COORD_MAX];
  double quarter[CB_FACTOR_MAX];              /* curvature / 4 */
  double member[CB_FACTOR_MAX][CB_COORD_MAX]; /* 1 in the factor's own coordinates, 0 elsewhere */
} cb_springs_space;

/* Groups of springs for a kernel, with ends as offsets: 4 times a particle's number. Missing springs of the last group
 * have equal ends. */
typedef struct cb_spring_run {
  size_t springs;
  const uint16_t *a;                        /* of a spring: in x and f */
  const uint16_t *near;                     /* the other end: in x and f too; or NULL */
  const uint32_t *far;                      /* then: in y, and no force is wanted there */
  const double *stiffness, *rest, *damping; /* damping may be NULL */
  size_t stiffness_step, rest_step;         /* from group to group: CB_GROUP, or 0 where all springs have the same */
} cb_spring_run;

/* Particles first .. first+count-1 and the springs that touch them: near ones have both ends in the block, far ones
 * lead to higher blocks (up) or lower (down). Near and upward ones count as the block's own. Each kind begins a new
 * group. Offsets `a` and `near` are from the block's first particle. With four coordinates `far` is from the first of
 * the space; with fewer from the first of a copy: the block's particles, then the halo, the other ends of its far
 * springs. */
typedef struct cb_springs_block {
  int first, count;
  size_t near, up, down;               /* springs */
  size_t group, near_group, far_group; /* the first of it among all groups, near ones, far ones */
  size_t halo, halo_count;
  size_t slice; /* the first of its near groups */
} cb_springs_block;

/* x, y, v, w and f have four numbers a particle; v are the velocities at x, w at y (NULL without damping). */
typedef struct cb_springs_kernels {
  /* Adds to f. */
  void (*force)(const cb_springs_space *space, const cb_spring_run *run, const double *x, const double *y,
                const double *v, const double *w, double *f);
  /* Adds to the compensated sum. */
  void (*potential)(const cb_springs_space *space, const cb_spring_run *run, const double *x, const double *y,
                    double sum[2]);
  /* d of whole groups */
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
  uint16_t *a;                        /* 8 a group */
  uint16_t *near;                     /* 8 a near group */
  uint32_t *far;                      /* 8 a far group */
  double *stiffness, *rest, *damping; /* 8 a group, or 8 if all have the same; damping NULL without */
  size_t stiffness_step, rest_step;
  uint32_t *number; /* 8 a group: which spring; UINT32_MAX where there is none */
  int *reach;       /* a slice: how many of the block's particles its groups and those before touch at most */
  int *halo;        /* particles */
  size_t local_max; /* particles of a thread's copies */
  /* A small plan's springs once for each of CB_TOGETHER stages, particles numbered n*stage + i; a NULL otherwise. */
  cb_spring_run together;
};

struct cb_springs_work {
  const cb_springs *plan;
  int threads;
  double *local; /* a thread: positions, forces, velocities of local_max particles, zeros at first */
  size_t local_stride;
  double *partial; /* 2 a block */
};

/* A block's near springs from `first`, a multiple of 8; its upward ones; its downward ones. */
cb_spring_run cb_springs_near(const cb_springs *plan, const cb_springs_block *block, size_t first, size_t springs);
cb_spring_run cb_springs_up(const cb_springs *plan, const cb_springs_block *block);
cb_spring_run cb_springs_down(const cb_springs *plan, const cb_springs_block *block);

static inline size_t cb_springs_groups(size_t springs) { return (springs + CB_GROUP - 1) / CB_GROUP; }

/* cb_springs_force of a small plan. */
void cb_springs_small_force(const cb_springs_work *work, size_t stages, const double *const *x, const double *const *v,
                            double *const *f);
