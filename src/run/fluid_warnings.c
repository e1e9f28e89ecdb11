/* What a run of bodies warns of, each once a body: a row of /event, and words that say what to try.
 *
 *   turn        the angle by which a step turned the body, of a method that errs by a power of it
 *   delta       how many times a part's delta is what it is capped at, where the cap sets in after the start
 *   near        the gap of two bodies, below the smaller one's size (run/fluid_near.c)
 *   divergence  of the flow at the body's vertices, relative to its gradient
 */
#include "run/fluid_private.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *const cb_fluid_run_doubts[CB_DOUBTS] = {"turn", "delta", "divergence", "near"};

/* At 0.2 a body falls a hundredth short; a step that would do turns it by half of that. */
static const double most_turn = 0.2, good_turn = 0.1;

/* What splines leave between the points of a grid: of the flow of Taylor and Green with 8 points a wave .006 at most, .08
 * towards borders that are not periodic, with 16 a tenth of that. */
static const double most_divergence = 0.1;

static bool known(const cb_run *run, int body, cb_fluid_run_doubt what) { return run->fluid->warned[body] >> what & 1; }

__attribute__((format(printf, 6, 7))) static void warn(cb_run *run, cb_fluid_run_part *part, int body,
                                                       cb_fluid_run_doubt what, double number, const char *format,
                                                       ...) {
  const cb_fluid_run *b = run->fluid;
  const cb_event_row row = {
      .time = b->state[body].t, .kind = CB_EVENT_WARN, .i = body, .j = -2 - (int)what, .gap = number};
  char text[512];
  const int named = snprintf(text, sizeof text, "body `%.200s`: ", b->start[body].name);
  va_list list;
  va_start(list, format);
  vsnprintf(text + named, sizeof text - (size_t)named, format, list);
  va_end(list);
  b->warned[body] |= 1 << what;
  char *words = strdup(text);
  if (words)
    cb_fluid_run_tell(part, &row, words);
  else
    part->lost = true;
}

/* Rounded down to two digits. */
static double round_down(double h) {
  const double unit = pow(10, floor(log10(h)) - 1);
  return floor(h / unit) * unit;
}

static void doubt_turn(cb_run *run, cb_fluid_run_part *part, int body, double h) {
  const double angle = run->fluid->state[body].turn;
  if (angle > most_turn)
    warn(run, part, body, CB_DOUBT_TURN, angle,
         "a step of %g turns it by %.3g, and its path errs by the square of that; an integrator.step of %g would do", h,
         angle, round_down(h * good_turn / angle));
}

static void doubt_delta(cb_run *run, cb_fluid_run_part *part, int body) {
  int number;
  const cb_local_part *of = cb_swimmer_cap(part->swimmer[body - part->first], &number);
  if (of)
    warn(run, part, body, CB_DOUBT_DELTA, of->delta_uncapped / of->delta, "part `%.200s` (%.3g times the cap): %s",
         cb_immersed_surface(run->fluid->start[body].body)->name[number], of->delta_uncapped / of->delta,
         cb_local_doubt(of));
}

static void doubt_divergence(cb_run *run, cb_fluid_run_part *part, int body) {
  const double divergence = cb_swimmer_divergence(part->swimmer[body - part->first]);
  if (divergence > most_divergence)
    warn(run, part, body, CB_DOUBT_DIVERGENCE, divergence,
         "the flow about it has a divergence, %.2g of its gradient, but the fluid is incompressible%s", divergence,
         cb_flow_slope(run->fluid->fluid->flow) > 0 ? ": is the grid too coarse, or left?" : "");
}

void cb_fluid_run_doubt_step(cb_run *run, cb_fluid_run_part *part, int body, double h) {
  if (!known(run, body, CB_DOUBT_TURN)) doubt_turn(run, part, body, h);
  if (!known(run, body, CB_DOUBT_DELTA)) doubt_delta(run, part, body);
  if (!known(run, body, CB_DOUBT_DIVERGENCE)) doubt_divergence(run, part, body);
}
