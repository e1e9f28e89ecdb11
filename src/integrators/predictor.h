/* Stage values of the next step, extrapolated from those of the last one or two.
 *
 * Values y_j at the times c_j of past steps lie on a polynomial in t; it is evaluated at the stages of the step to
 * come: error O(h^s) from one step, O(h^2s) from two. Source: Hairer, Lubich & Wanner, Geometric Numerical Integration,
 * 2nd ed. (2006), VIII.6.1.
 */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>

typedef struct cb_predictor cb_predictor;

/* For s stages at times c[s] in [0, 1] of `count` numbers each; depth: past steps used at most, 1 or 2. */
cb_status cb_predictor_create(int s, const double *c, int depth, size_t count, cb_predictor **out);
void cb_predictor_free(cb_predictor *p);

/* Forgets all past steps. */
void cb_predictor_reset(cb_predictor *p);
/* Keeps stage[s*count] of a step of length h that succeeded. */
void cb_predictor_push(cb_predictor *p, double h, const double *stage);
/* Fills stage[s*count] for a step of length h that begins where the last one ended (h may have another size or sign).
 * Returns the number of past steps used; 0: none were known, and stage is untouched. */
int cb_predictor_next(cb_predictor *p, double h, double *stage);

/* The values kept of the last step (age 0) and the one before (age 1), to be carried by an isometry; NULL if there are
 * none. */
double *cb_predictor_past(cb_predictor *p, int age);
