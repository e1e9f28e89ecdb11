/* What a run of bodies holds: shared by its files. */
#pragma once

#include "run/change.h"
#include "run/falling.h"
#include "run/fluid.h"
#include "run/run_private.h"

/* What a run of bodies warns of, each once a body, `near` once a run; /warning_name. */
typedef enum cb_fluid_run_doubt { CB_DOUBT_TURN, CB_DOUBT_DELTA, CB_DOUBT_DIVERGENCE, CB_DOUBT_NEAR, CB_DOUBTS } cb_fluid_run_doubt;

/* words: of a warning, made by malloc; NULL. */
typedef struct cb_fluid_run_event {
  cb_event_row row;
  char *words;
} cb_fluid_run_event;

/* What one thread works with: bodies first .. end - 1, and what it has to tell of a step. */
typedef struct cb_fluid_run_part {
  int first, end;
  cb_swimmer **swimmer; /* [end - first], shared by copies of a body */
  cb_swimmer **own;     /* the different ones of them */
  int n_own;
  cb_floor_work *floor;
  cb_integrator *integrator; /* of the thread */
  cb_fluid_run_event *event;
  size_t events, event_room;
  bool lost;        /* an event, for want of memory */
  cb_status status; /* of `failed`, the first body that could not be stepped or measured */
  int failed, iterations;
  char cause[1024];
} cb_fluid_run_part;

/* What has been compared of a body since the start: goes with the state, as numbers alone. */
typedef struct cb_body_watch {
  double moved; /* not 0: from where it stood */
  cb_energy_change energy;
  double momentum_change, momentum_scale;
} cb_body_watch;

/* Two bodies whose gap is below the size of the smaller one. */
typedef struct cb_fluid_pair {
  int i, j;
  double gap, size;
} cb_fluid_pair;

struct cb_fluid_run {
  const cb_fluid *fluid;
  const cb_integrator *integrator; /* what those of the parts are like */
  int n, threads;
  const cb_body_start *start;
  cb_rigid_state *state;
  int32_t *warned; /* [n]: bits of cb_fluid_run_doubt */
  cb_body_watch *watch; /* [n] */
  double t, t_low;
  int64_t step;
  cb_fluid_run_part *part; /* [threads] */
  int iterations;       /* most of the last step's bodies */
  /* what is measured of each body, before it is copied to the fields that were asked for */
  cb_immersed_row *row;                                /* [n] */
  int n_wrenches;                                      /* of all bodies, by name */
  const char **wrench;                                 /* [n_wrenches] */
  int (*wrench_of)[CB_RUN_FIELDS];                     /* [n][a body's own]: its index in `wrench` */
  cb_falling_plate *plate;                             /* [n] */
  cb_falling *falling;                                 /* [n]; NULL: not asked for */
  struct cb_fluid_ball *ball;                          /* [n]; NULL: they cannot come near; run/fluid_near.c */
  struct cb_fluid_span *span;                          /* [n] */
  double slack;                                        /* that balls were apart beyond what is near */
  bool near_at_start;
  cb_fluid_pair near;                                  /* then */
  struct cb_body_change *change;                       /* [n]; run/fluid_change.c */
};
typedef struct cb_fluid_run cb_fluid_run;

/* Each part by its own thread; the first failure in order of bodies is the status, with its text. */
cb_status cb_fluid_run_each(cb_run *run,
                            cb_status (*one)(cb_run *run, cb_fluid_run_part *part, int body, void *context),
                            void *context, int *failed);
/* Of a cb_body_stepper whose self is an integrator. */
cb_status cb_fluid_run_method(void *self, const cb_rigid_problem *p, double h, cb_rigid_state *s, int *iterations);
cb_status cb_fluid_run_step(cb_run *run, cb_sink *sink, double h);
void cb_fluid_run_tell(cb_fluid_run_part *part, const cb_event_row *event, char *words);
/* Tells what is to be doubted of the step of length h that has led to the body's state. */
void cb_fluid_run_doubt_step(cb_run *run, cb_fluid_run_part *part, int body, double h);
/* Whether a pair of bodies is near at the start, or has come near by a step. */
cb_status cb_fluid_run_near_create(cb_run *run);
cb_status cb_fluid_run_near(cb_run *run, cb_sink *sink);
extern const char *const cb_fluid_run_doubts[CB_DOUBTS];
cb_status cb_fluid_run_layout(cb_run *run);
cb_status cb_fluid_run_measure(cb_run *run, const char **what);
/* Where `falling_regime` is asked for: the plates, and where they are at the start and after each step
 * (run/falling_plate.c). */
cb_status cb_fluid_run_falls(cb_run *run);
void cb_fluid_run_fall(cb_run *run);
/* Keeps what is conserved of the start, and compares a row with it. */
cb_status cb_fluid_run_remember(cb_run *run);
void cb_fluid_run_compare(cb_run *run, bool last);
