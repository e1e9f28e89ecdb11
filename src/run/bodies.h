/* Bodies in a fluid as a run: independent of one another, stepped in parallel, recorded together.
 *
 * SI units. The state is one cb_rigid_state a body: a copy continues with the same bits, whatever thread takes it.
 */
#ifndef CB_RUN_BODIES_H
#define CB_RUN_BODIES_H

#include "fluid/immersed.h"
#include "run/run_private.h"

/* A body at its start: pose, and twist in the body frame. name and what it is made of are borrowed. */
typedef struct cb_body_start {
  const char *name;
  const cb_immersed *body;
  cb_pose pose;
  double twist[6];
} cb_body_start;

/* fluid, integrator and what the starts point to are borrowed; bodies[n] is copied. Observables: cb_body_observables
 * (NULL: energy, momentum, wrenches, centre). CB_ERROR_ARGUMENT for options out of range, a start that is not finite;
 * CB_ERROR_DOMAIN for a body that begins below a reflecting floor, or has no inertia. */
cb_status cb_run_create_bodies(const cb_fluid *fluid, int n, const cb_body_start *bodies, cb_integrator *integrator,
                               const cb_run_options *options, cb_run **out);
/* The state of body i, borrowed. */
const cb_rigid_state *cb_run_body(const cb_run *run, int i);

/* --- shared by the files of a run of bodies --- */

/* What one thread works with: bodies first .. end - 1, and what it has to tell of a step. */
typedef struct cb_bodies_part {
  int first, end;
  cb_swimmer **swimmer; /* [end - first], shared by copies of a body */
  cb_swimmer **own;     /* the different ones of them */
  int n_own;
  cb_floor_work *floor;
  cb_event_row *event;
  size_t events, event_room;
  bool lost; /* an event, for want of memory */
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
  cb_immersed_row *row;                /* [n] */
  int n_wrenches;                      /* of all bodies, by name */
  const char **wrench;                 /* [n_wrenches] */
  int (*wrench_of)[CB_RUN_FIELDS];     /* [n][a body's own]: its index in `wrench` */
  const struct cb_body_field *measured[CB_RUN_FIELDS]; /* by field; NULL: a wrench */
  int wrench_field;                    /* the field of the first wrench, -1: not recorded */
};
typedef struct cb_bodies cb_bodies;

/* Each part by its own thread; the first failure in order of bodies is the status, with its text. */
cb_status cb_bodies_each(cb_run *run, cb_status (*one)(cb_run *run, cb_bodies_part *part, int body, void *context),
                         void *context, int *failed);
cb_status cb_bodies_step(cb_run *run, cb_sink *sink, double h);
cb_status cb_bodies_layout(cb_run *run);
cb_status cb_bodies_measure(cb_run *run, const char **what);

#endif
