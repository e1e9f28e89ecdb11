/* The regime of a falling plate, by a rule from where it is, row after row: at each step for the observable, and as
 * recorded for `curvebody classify`.
 *
 *   angle    of the plate's normal from the vertical, followed through whole turns: where the normal passes the
 *            vertical its horizontal part turns about, and the angle goes on past 0, pi, 2 pi ...
 *   mark     where the angle turns back (a parabola through three rows) by at least 0.01 from the mark before, or is
 *            2 pi from that; interval: time and angle from a mark to the next
 *   Judged is the second half of the time so far, by the last 64 marks in it.
 *   steady   the angle stays within 0.02; so it does in a spiral, where a lean goes round
 *   periodic intervals repeat after m of them, m <= 16 the least, each in time and angle to 0.02 of their means, for at
 *            least three periods: tumble where the angle goes on by more than pi/2 a period, else flutter
 *   chaotic  at least 24 intervals that do not repeat
 *   otherwise undecided: it is too short, or settles still, after every m <= 4 intervals by swings that all grow or all
 *            shrink, or by differences of which the last third is below half of the first and 0.1
 * Rows are to be dense, 20 a swing or more. Angles in rad; all is numbers, a part of the restart state.
 */
#pragma once

#include "fluid/immersed.h"
#include <curvebody/run.h>

typedef enum cb_falling_regime {
  CB_FALLING_UNDECIDED,
  CB_FALLING_STEADY,
  CB_FALLING_FLUTTER,
  CB_FALLING_TUMBLE,
  CB_FALLING_CHAOTIC
} cb_falling_regime;
extern const char *const cb_falling_names[];

enum { CB_FALLING_MARKS = 64, CB_FALLING_SAMPLES = 128 };

typedef struct cb_falling_mark {
  double t, angle, x[3]; /* the last of x is up */
} cb_falling_mark;

typedef struct cb_falling {
  double rows, marks, samples, stride;    /* rows and marks so far; one sample every `stride` rows */
  double known, heading[2];               /* horizontal direction of the normal; known once it is not vertical */
  double side, turns;                     /* angle = side (angle in 0 .. pi) + 2 pi turns */
  cb_falling_mark before, last;           /* the last two rows */
  cb_falling_mark mark[CB_FALLING_MARKS]; /* mark k at k modulo their number */
  cb_falling_mark sample[CB_FALLING_SAMPLES];
} cb_falling;

/* The next row, after f = {0}: unit normal and centre. */
void cb_falling_add(cb_falling *f, double t, const double normal[3], const double x[3]);

/* What is not of a regime is nan. */
typedef struct cb_falling_verdict {
  cb_falling_regime regime;
  double period, turns;  /* flutter and tumble: time, and whole turns in it, with sign */
  double angle;          /* steady and flutter: mean, -pi/2 to pi/2 */
  double swing;          /* flutter: mean of half the angle from turn to turn */
  double turn_rate;      /* mean rate of the angle */
  double drift, descent; /* mean speed across, and down */
} cb_falling_verdict;
cb_falling_verdict cb_falling_judge(const cb_falling *f);

/* The plate of a run: where its normal points and its centre is, from a row of the record.
 *
 *   system    one with coordinates x, y (up) and theta: normal (-sin theta, cos theta)
 *   body      in a fluid: the normal is the axis of its greatest moment of inertia, up is against gravity
 */

typedef struct cb_falling_plate {
  int at[3]; /* system: places of x, y and theta in its coordinates */
  bool body;
  double normal[3], centre[3]; /* body: in its frame */
  double axes[3][3];           /* body: across, across and up, in the world */
} cb_falling_plate;

/* CB_ERROR_ARGUMENT (an observable's failure) where the system has no such coordinates, or there is no gravity. */
cb_status cb_falling_plate_of_system(const cb_system *s, cb_falling_plate *out);
/* Of either run; body: which. CB_ERROR_ARGUMENT for other runs. */
cb_status cb_falling_plate_of_run(const cb_run *run, int body, cb_falling_plate *out);

/* A row: the coordinates, or the pose (x, y, z, then the quaternion). */
void cb_falling_plate_add(const cb_falling_plate *p, double t, const double *row, cb_falling *to);
