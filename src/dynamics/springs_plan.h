/* What the files of springs share: the plan, its blocks, and the table of kernels of an instruction set. */
#ifndef CB_DYNAMICS_SPRINGS_PLAN_H
#define CB_DYNAMICS_SPRINGS_PLAN_H

#include "dynamics/springs.h"
#include <stdint.h>

enum {
  CB_GROUP = 8,   /* springs a group: the widest vector */
  CB_SLICE = 64,  /* groups a slice: some 12 kB, so that what a slice touches stays in the first cache */
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

/* Eight springs. Ends are 4 times a particle's number: an offset into the positions. Missing springs have stiffness 0
 * and equal ends. */
typedef struct cb_spring_group {
  uint32_t a[CB_GROUP], b[CB_GROUP];
  double stiffness[CB_GROUP], rest[CB_GROUP];
} cb_spring_group;

/* Particles first .. first+count-1 and the springs that touch them: groups group .. cross-1 have both ends in the
 * block, cross .. end-1 only end a; of these cross .. owned-1 lead to higher blocks and count as the block's own.
 * With four coordinates ends are numbers of the space's particles. With fewer they are numbers in a copy: the block's
 * particles, then the halo, which are the other ends of its crossing springs. */
typedef struct cb_springs_block {
  int first, count;
  size_t group, cross, owned, end;
  size_t halo, halo_count;
  size_t slice; /* of its first groups */
} cb_springs_block;

/* Kernels over groups; x, v and f have four numbers a particle. */
typedef struct cb_springs_kernels {
  /* Adds forces to f: both ends of the first `both` groups, end a of the `one` groups that follow. */
  void (*force)(const cb_springs_space *space, size_t both, size_t one, const cb_spring_group *group, const double *x,
                double *f);
  void (*damped)(const cb_springs_space *space, size_t both, size_t one, const cb_spring_group *group,
                 const double *damping, const double *x, const double *v, double *f);
  /* Adds to the compensated sum. */
  void (*potential)(const cb_springs_space *space, size_t n, const cb_spring_group *group, const double *x,
                    double sum[2]);
  /* d[8*n] */
  void (*separation)(const cb_springs_space *space, size_t n, const cb_spring_group *group, const double *x, double *d);
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
  cb_spring_group *group;
  double *damping;  /* 8 a group; NULL without damping */
  uint32_t *number; /* 8 a group: which spring; UINT32_MAX where there is none */
  int *reach;       /* a slice: how many of the block's particles its groups and those before touch at most */
  int *halo;        /* particles */
  size_t local_max; /* particles of a thread's copies */
  /* A small plan's springs for CB_TOGETHER stages, ends numbered n*stage + i; NULL otherwise. */
  cb_spring_group *together;
  double *together_damping;
};

struct cb_springs_work {
  const cb_springs *plan;
  int threads;
  double *local; /* a thread: positions, forces, velocities of local_max particles, zeros at first */
  size_t local_stride;
  double *partial; /* 2 a block */
};

/* cb_springs_force of a small plan. */
void cb_springs_small_force(const cb_springs_work *work, size_t stages, const double *const *x, const double *const *v,
                            double *const *f);

#endif
