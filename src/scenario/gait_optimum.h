/* What a scenario asks of optimal gaits, and what there is to tell of its own gait among those that do the same. */
#pragma once

#include "scenario/bundle.h"
#include "optimum/find.h"
#include "optimum/verdict.h"

/* What cb_holonomy finds of a gait that was found, by itself. */
typedef struct cb_gait_check {
  double cost, element; /* off: relative, and the largest of the numbers */
} cb_gait_check;

/* The gaits that `optimum` of the scenario, which is there, asks for, and a check of the best with that error (of
 * cb_holonomy). watch: NULL or as of cb_optimum_find_watched. The caller frees. Errors: as cb_optimum_find, with the
 * place of the key where that is to blame. */
cb_status cb_gait_optima_find(const cb_bundle_scenario *motion, double error, const cb_find_watch *watch,
                              cb_optima **out, cb_gait_check *check);

/* What its own gait is compared by: what `optimum` asks for, or without that key the element of its cycle in b. */
cb_optimum_problem cb_gait_verdict_problem(const cb_bundle_scenario *motion, const cb_bundle *b);
/* Errors: as cb_verdict_of, with the place of the key where that is to blame. */
cb_status cb_gait_verdict_find(const cb_bundle_scenario *motion, const cb_bundle *b, cb_verdict *out);

/* A failure of a search for what `optimum` asks, with the place of the key where that is to blame. */
cb_status cb_gait_placed_search(const cb_bundle_scenario *motion, cb_status status);

/* amount^2/cost */
double cb_gait_efficiency(double amount, double cost);
