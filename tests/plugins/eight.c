/* A plugin: figures of eight as gaits of two shape variables, and the time above a level as a reduction.
 *
 *   r_1 = a sin 2 pi t,  r_2 = b sin 4 pi t
 *   above(f, level) = sum over pairs of consecutive rows of the time in which the line between them is above the level
 *
 * r_1 and r_2 are the shape variables, and a and b are the width and height of the figure. t is the time within a
 * cycle, from 0 to 1. f is a recorded quantity.
 */
#include <curvebody/plugin.h>

#include <math.h>

/* --- the gait: its numbers are a, b --- */

typedef struct eight {
  double width, height;
} eight;

static void at(const cb_gait *g, double t, double *r, double *rate) {
  const double *x = cb_gait_numbers(g), turn = 2 * acos(-1.0);
  if (r) {
    r[0] = x[0] * sin(turn * t);
    r[1] = x[1] * sin(2 * turn * t);
  }
  if (rate) {
    rate[0] = x[0] * turn * cos(turn * t);
    rate[1] = 2 * x[1] * turn * cos(2 * turn * t);
  }
}

extern const cb_gait_kind_class my_eight;

static cb_status read_eight(const cb_bundle *b, const cb_node *value, const void *params, cb_gait **out) {
  const eight *p = (const eight *)params;
  const double x[] = {p->width, p->height};
  if (b->n != 2) return cb_node_fail(value, "expected a bundle with 2 shape variables, found %d", b->n);
  return cb_gait_create(&my_eight, 2, 0, NULL, 2, x, out);
}

static const cb_param of_eight[] = {{"width", CB_PARAM_REAL, offsetof(eight, width), NULL, "", "> 0", NULL, "a"},
                                    {"height", CB_PARAM_REAL, offsetof(eight, height), "1", "", "> 0", NULL, "b"},
                                    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_gait_kind_class my_eight = {.name = "eight",
                                     .title = "A figure of eight",
                                     .doc = "r1 = a sin(2 pi t), r2 = b sin(4 pi t)",
                                     .params = of_eight,
                                     .params_size = sizeof(eight),
                                     .read = read_eight,
                                     .at = at};

/* --- the reduction: its state is the number of rows, the sum, and the time and the value of the last row --- */

enum { ROWS, SUM, TIME, VALUE };

static void take(const double *argument, double t, double x, double *state) {
  const double from = state[VALUE], to = x - argument[0];
  if (state[ROWS] > 0) {
    const double share = from > 0 && to > 0 ? 1 : from > 0 || to > 0 ? fmax(from, to) / fabs(from - to) : 0;
    state[SUM] += share * (t - state[TIME]);
  }
  state[TIME] = t;
  state[VALUE] = to;
}

static double value(const double *argument, const double *state) {
  (void)argument;
  return state[SUM];
}

static const cb_param of_above[] = {{"level", CB_PARAM_REAL, 0, "0", "", "", NULL, "the level"},
                                    {NULL, CB_PARAM_REAL, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_reduction_class above = {.name = "above",
                                         .title = "f, level",
                                         .doc = "time during which f is above the level, linear between rows",
                                         .arguments = of_above,
                                         .take = take,
                                         .value = value};

CB_PLUGIN(CB_PLUGIN_GAIT(&my_eight), CB_PLUGIN_REDUCTION(&above));
