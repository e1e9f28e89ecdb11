/* The periodic motion of a scenario whose shape moves by itself (run/shape_cycle.h), and the values of keys for which
 * it is best (scenario/cycle.c). */
#pragma once

#include "run/shape_cycle.h"
#include "scenario/bundle_scenario.h"

typedef struct cb_motion_cycle {
  cb_shape_cycle of;
  double log[CB_GROUP_DIM]; /* the logarithm of the displacement g of one period; nan if it is not unique */
  bool has_log;
  double distance; /* the norm of the translation in log or, if the group has no translations, of the complete log */
  double per_work; /* distance/W, where W is the work of one period */
  /* distance^2/(W T). For a shape that is driven completely against drag, W T is at least the square of the length,
   * with equality at constant power. In this case the number is the efficiency of the gait. If W is not positive,
   * `efficiency` is nan. */
  double efficiency;
  double error; /* relative change of the log and of W when the steps are halved; nan: not found */
} cb_motion_cycle;

typedef struct cb_cycle_options {
  double tolerance;           /* steps are halved until `error` is at most this; 0: only once */
  bool rough;                 /* the steps are not halved, and no multipliers are computed */
  const cb_shape_cycle *near; /* first guess; NULL: the start of the scenario */
} cb_cycle_options;

/* Finds the periodic motion of the scenario, for which no run was made. Without a key `integrator` the scenario gets
 * one, with 200 steps per period. Warns if the error is large. Failures have the place in the scenario if a key causes
 * them. */
cb_status cb_motion_cycle_find(cb_scenario *s, const cb_cycle_options *options, cb_motion_cycle *out);

/* Sets the start of the scenario to the start of a periodic motion. The scenario must have an integrator. Appends the
 * scenario to out as a text that is valid in any folder. */
cb_status cb_scenario_with_start(cb_scenario *s, const cb_shape_cycle *cycle, cb_text *out);

/* --- values of keys for which a periodic motion is best --- */

enum { CB_CYCLE_KEYS = 6 };

typedef struct cb_cycle_key {
  char name[128]; /* the path of the key, as in --set */
  double low, high;
} cb_cycle_key;

/* The quantity that the search maximises: the distance of a cycle; |log[component]| if component is not -1; or the
 * efficiency. The search has `starts` first guesses: the values of the scenario, and random ones. */
typedef struct cb_cycle_search {
  int keys;
  cb_cycle_key key[CB_CYCLE_KEYS];
  bool efficiency;
  int component, starts;
  uint64_t seed;
} cb_cycle_search;

typedef struct cb_cycle_optimum {
  double value[CB_CYCLE_KEYS], objective;
  int bound[CB_CYCLE_KEYS]; /* -1, 1: the value is at its lower or upper bound; 0: it is not */
  double gradient;          /* largest derivative of log(objective) by a value that is divided by its range */
  bool converged;
  int found, failed,
      evaluations;       /* number of starts that found the best values, of failed starts, and of computed motions */
  cb_shape_cycle motion; /* the best motion */
} cb_cycle_optimum;

/* Finds the values of the keys at which the objective is largest. *best becomes the scenario with these values, which
 * the caller frees before s. */
cb_status cb_cycle_optimise(cb_scenario *s, const cb_cycle_search *search, cb_cycle_optimum *out, cb_scenario **best);
