/* The regime of a falling plate. A rule classifies the motion so far. The rule gets a row at each step for the
 * observable `falling_regime`, and the rows of a record for `curvebody classify`.
 *
 *   angle    of the plate's normal from the vertical, continued through full revolutions: where the normal passes the
 *            vertical, its horizontal part reverses, and the angle continues past 0, pi, 2 pi ...
 *   mark     a time at which the angle reverses (by a parabola through three rows), if the angle differs by at least
 *            0.01 from that of the previous mark; or a time at which the angle has moved 2 pi since the previous mark
 *   interval the time and the change of the angle between consecutive marks
 * The second half of the time so far is classified, by its last 64 marks.
 *   steady   the angle stays within a range of 0.02; this includes a spiral, in which the direction of a constant tilt
 *            rotates
 *   periodic the intervals repeat after m of them, where m <= 16 is the smallest such number: each agrees in time and
 *            angle to 0.02 of the means, for at least three periods and six intervals. The regime is tumble if the
 *            angle advances by more than pi/2 per period, otherwise flutter
 *   chaotic  there are at least 24 intervals, they do not repeat, and the motion is not settling
 *   otherwise undecided: the motion is too short, or it is still settling. It is settling if, for some m <= 4, one of
 *            these is true: the angle of every interval is larger in absolute value than that of the interval m before
 *            it; or it is larger in none of them; or the largest difference of intervals m apart, relative to the
 *            means, is in the last third at most half of that in the first third, and at most 0.1
 * The rule needs at least 20 rows per swing. Angles are in rad. All members of cb_falling are of type double, because
 * the restart state stores them as an array of numbers.
 */
#pragma once

#include "fluid/immersed_run.h"
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
  double t, angle, x[3]; /* time, angle of the plate, and its centre; the last component of x points up */
} cb_falling_mark;

typedef struct cb_falling {
  double rows, marks, samples, stride; /* numbers of rows, marks and samples so far; a sample is every stride-th row */
  double known, heading[2]; /* heading: the last horizontal direction of the normal; known 0: there was none */
  double side, turns;       /* continued angle = side times the angle in 0 .. pi, plus 2 pi turns; side is 1 or -1 */
  cb_falling_mark before, last;           /* the last two rows */
  cb_falling_mark mark[CB_FALLING_MARKS]; /* mark k has the index k modulo CB_FALLING_MARKS */
  cb_falling_mark sample[CB_FALLING_SAMPLES];
} cb_falling;

/* Adds a row: the plate's unit normal and its centre at time t. *f must be {0} before the first row. */
void cb_falling_add(cb_falling *f, double t, const double normal[3], const double x[3]);

/* The result of the rule at the beginning of this file. A number that does not exist for a regime is nan. */
typedef struct cb_falling_class {
  cb_falling_regime regime;
  double period, turns;  /* flutter and tumble: the period, and full revolutions per period, with sign */
  double angle;          /* steady and flutter: mean, -pi/2 to pi/2 */
  double swing;          /* flutter: the amplitude of the angle, half its mean change between turning points, rad */
  double turn_rate;      /* mean rate of the plate's angle, rad per unit of time */
  double drift, descent; /* mean horizontal speed, and mean downward speed */
} cb_falling_class;
cb_falling_class cb_falling_judge(const cb_falling *f);

/* The plate of a run: the direction of its normal and its centre, from a row of the record.
 *
 *   system    a system with coordinates x, y (up) and theta: normal (-sin theta, cos theta)
 *   body      in a fluid: the normal is the axis of its largest moment of inertia, up is opposite to gravity
 */

typedef struct cb_falling_plate {
  const char *field;           /* the field of the record from which the normal and the centre follow */
  int at[3];                   /* system: the indices of x, y and theta among its coordinates */
  bool body;                   /* true: the plate is a body in a fluid; false: it is a system */
  double normal[3], centre[3]; /* body: in the body frame */
  double axes[3][3];           /* body: two horizontal axes and up, in the world */
} cb_falling_plate;

/* Finds the coordinates x, y and theta of a system. Returns CB_ERROR_ARGUMENT, of the kind CB_FAILURE_OBSERVABLE
 * (core/failure.h), if the system does not have them. */
cb_status cb_falling_plate_of_system(const cb_system *s, cb_falling_plate *out);
/* Finds the plate of a body, from its mass properties at time t. Returns CB_ERROR_ARGUMENT without gravity. */
cb_status cb_falling_plate_of_body(const cb_immersed *b, double t, cb_falling_plate *out);
/* Finds the plate of a run of particles or of bodies in a fluid; body: index of the body. Returns CB_ERROR_ARGUMENT for
 * other runs, and for a body without gravity. */
cb_status cb_falling_plate_of_run(const cb_run *run, int body, cb_falling_plate *out);

/* Adds a row of the record to *to. row: the coordinates of a system, or the pose of a body (x, y, z, then the
 * quaternion). */
void cb_falling_plate_add(const cb_falling_plate *p, double t, const double *row, cb_falling *to);
