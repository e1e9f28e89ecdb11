/* A motion with a tangent vector, as run/exponent.c carries it: shared with the files of the two kinds. */
#ifndef CB_RUN_EXPONENT_PRIVATE_H
#define CB_RUN_EXPONENT_PRIVATE_H

#include "core/arena.h"
#include "run/exponent.h"

#define CB_EXPONENT_NUDGE 1e-6

typedef struct cb_tangent {
  cb_arena *arena;
  size_t n;
  double *w; /* [n] at the state */
  /* One step of the state and of w. */
  cb_status (*step)(struct cb_tangent *m, double h);
  void (*free)(struct cb_tangent *m);
  void *self;
} cb_tangent;

/* From a copy of the run's state; m->free, if it is there, is called on failure too. */
cb_status cb_tangent_of_particles(const cb_run *run, cb_tangent *m);
cb_status cb_tangent_of_body(const cb_run *run, int body, cb_tangent *m);

#endif
