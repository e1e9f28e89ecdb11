/* A step with reflections off the floor: shared by floor_reflect.c (blows, flights, what rests), floor_impulse.c (the
 * problem of impulses) and floor_meet.c (where a flight meets the floor). */
#pragma once

#include "fluid/floor.h"

/* What impulses along n (up in the body's axes) do to a body of inertia K. n, p, q: right-handed, orthonormal. A vertex
 * at c has w = (c × n, n) = W a, a = (1, <c,p>, <c,q>), W = [(0, n), (p × n, 0), (q × n, 0)]. */
typedef struct cb_floor_metric {
  double n[3], p[3], q[3];
  double B[6][3]; /* K^-1 W */
  double C[3][3]; /* C C^T = W^T K^-1 W, lower */
} cb_floor_metric;
/* CB_STEP_SINGULAR where K is singular or not positive. */
cb_status cb_floor_metric_of(const double K[6][6], const double n[3], cb_floor_metric *m);

/* Impulses l >= 0 at vertices, at most three; sum of l a. */
typedef struct cb_floor_impulses {
  int count, vertex[3];
  double l[3], sum[3];
} cb_floor_impulses;
/* The least dY = K^-1 W sum (in <dY, K dY>) with w_i . dY >= bound[i] for i in list[count], up to tolerance.
 * CB_STEP_NO_CONVERGENCE. */
cb_status cb_floor_solve(const cb_floor_metric *m, int count, const int *list, const double (*x)[3],
                         const double *bound, double tolerance, cb_floor_impulses *out);
/* w_i . K^-1 W sum */
double cb_floor_response(const cb_floor_metric *m, const double c[3], const double sum[3]);

struct cb_floor_work {
  int room;
  double *numbers, *bound, *base; /* base: how low a vertex may get, 0 or where it began */
  double *gap[3], *rate[3];       /* of three looks: the flight's start and the two ends of a trial */
  int *list;
  bool *held;
  int hits, hit_room;
  cb_floor_hit *hit;
};

/* A state seen from the floor. x, v: until the shape is next asked for. */
typedef struct cb_floor_look {
  cb_rigid_state s;
  int side; /* of the work arrays */
  double n[3], K[6][6], Y[6];
  const double (*x)[3], (*v)[3];
  double least, round_off, farthest, quickest; /* gaps; lengths and own speeds of vertices */
  bool rated;                                  /* K, Y and rates are known */
} cb_floor_look;

typedef struct cb_floor_run {
  const cb_floor *f;
  const cb_floor_shape *shape;
  const cb_body_stepper *stepper;
  const cb_rigid_problem *p;
  cb_floor_work *w;
  double h, near, rest; /* the whole step; what comes within `near` comes together, what is back within `rest` rests */
  int count, iterations;
  bool holds;
  cb_floor_impulses pushed; /* at the start of the last held trial, and its length */
  double pushed_for;
  cb_floor_look look[3]; /* 0: where the flight begins */
} cb_floor_run;

/* Gaps and rates of a->s. */
cb_status cb_floor_rates(cb_floor_run *e, cb_floor_look *a);
/* No vertex is faster with twist Y. */
double cb_floor_speed(const cb_floor_look *a, const double Y[6]);
bool cb_floor_touches(const cb_floor_run *e, const cb_floor_look *a, int i);
/* The state after a time tau of flight, with its gaps. */
cb_status cb_floor_fly(cb_floor_run *e, double tau, cb_floor_look *out);

/* The first meeting of a vertex that is not held within a flight of length tau at most: *out is its state, *vertex -1
 * where there is none, *tau = 0 where a vertex that touches does not leave. */
cb_status cb_floor_meet(cb_floor_run *e, double *tau, cb_floor_look **out, int *vertex);
