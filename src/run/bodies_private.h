/* What a run of bodies holds: shared by its files. */
#ifndef CB_RUN_BODIES_PRIVATE_H
#define CB_RUN_BODIES_PRIVATE_H

#include "run/bodies.h"
#include "run/run_private.h"

/* What one thread works with: bodies first .. end - 1, and what it has to tell of a step. */
typedef struct cb_bodies_part {
  int first, end;
  cb_swimmer **swimmer; /* [end - first], shared by copies of a body */
  cb_swimmer **own;     /* the different ones of them */
  int n_own;
  cb_floor_work *floor;
  cb_event_row *event;
  size_t events, event_room;
  bool lost;        /* an event, for want of memory */
  cb_status status; /* of `failed`, the first body that could not be stepped or measured */
  int failed, iterations;
  char cause[1024];
} cb_bodies_part;

struct cb_bodies {
  const cb_fluid *fluid;
  cb_integrator *integrator;
  int n, threads;
  const cb_body_start *start;
  cb_rigid_state *state;
  double t, t_low;
  int64_t step;
  cb_bodies_part *part; /* [threads] */
  int iterations;       /* most of the last step's bodies */
  /* what is measured of each body, before it is copied to the fields that were asked for */
  cb_immersed_row *row;                                /* [n] */
  int n_wrenches;                                      /* of all bodies, by name */
  const char **wrench;                                 /* [n_wrenches] */
  int (*wrench_of)[CB_RUN_FIELDS];                     /* [n][a body's own]: its index in `wrench` */
  const struct cb_body_field *measured[CB_RUN_FIELDS]; /* by field; NULL: a wrench */
  int wrench_field;                                    /* the field of the first wrench, -1: not recorded */
};
typedef struct cb_bodies cb_bodies;

/* Each part by its own thread; the first failure in order of bodies is the status, with its text. */
cb_status cb_bodies_each(cb_run *run, cb_status (*one)(cb_run *run, cb_bodies_part *part, int body, void *context),
                         void *context, int *failed);
cb_status cb_bodies_step(cb_run *run, cb_sink *sink, double h);
cb_status cb_bodies_layout(cb_run *run);
cb_status cb_bodies_measure(cb_run *run, const char **what);

#endif
