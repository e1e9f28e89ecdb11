/* The axes of a sweep, which are read from `over`; their values; and the designs that set the values. */
#pragma once

#include "sweep/plan.h"
#include <curvebody/node.h>
#include <curvebody/status.h>

#include <stddef.h>
#include <stdint.h>

/* --- the number of an axis from a number in [0, 1), by its quantile function --- */

typedef enum cb_quantile_kind {
  CB_QUANTILE_NUMBER,
  CB_QUANTILE_UNIFORM,
  CB_QUANTILE_LOG,
  CB_QUANTILE_NORMAL,
  CB_QUANTILE_EXPONENTIAL
} cb_quantile_kind;

/* number: a. uniform: from a to b. log: from a to b, uniform in the logarithm. normal: mean a, standard deviation b.
 * exponential: mean a. */
typedef struct cb_quantile {
  cb_quantile_kind kind;
  double a, b;
} cb_quantile;

/* An axis while it is read. */
typedef struct cb_axis_draft {
  cb_quantile distribution[CB_SWEEP_COMPONENTS]; /* the distributions of computed numbers */
  size_t distributions;                          /* 0: the values are listed */
  bool range;                                    /* the numbers go from `from` to `to`; false: they are random */
  size_t count;                                  /* the given number of values; 0: a list or the design sets it */
  uint64_t seed;
  const cb_node *node;
} cb_axis_draft;

/* Whether a computed axis has its own count: CB_AXIS_COUNTED in the designs grid and together, CB_AXIS_BY_DESIGN in the
 * other designs, which set the count. CB_AXIS_UNKNOWN: the design could not be read, so both are accepted. */
typedef enum cb_axis_counted { CB_AXIS_COUNTED, CB_AXIS_BY_DESIGN, CB_AXIS_UNKNOWN } cb_axis_counted;
cb_status cb_axis_read(cb_sweep_plan *plan, const cb_node *node, cb_axis_counted counted, cb_sweep_axis *axis,
                       cb_axis_draft *draft);
/* Returns how many numbers of each point of a design the axis uses. */
size_t cb_axis_draws(const cb_axis_draft *draft);
/* Fills a single axis with evenly spaced values, or with its own random numbers; `stream` must differ between axes. */
cb_status cb_axis_fill(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, uint64_t stream);
/* Fills an axis from points[count][stride] of a design; the numbers of this axis begin at index `first` of a point. */
cb_status cb_axis_place(cb_sweep_plan *plan, cb_sweep_axis *axis, const cb_axis_draft *draft, size_t count,
                        const double *points, size_t stride, size_t first);

/* --- designs: points of numbers in [0, 1) that fill the unit cube of the axes ---
 *
 * latin_hypercube: each of n equal parts of every axis has one point; McKay, Beckman & Conover, Technometrics 21 (1979)
 * 239, doi:10.1080/00401706.1979.10489755. sobol and halton: sequences of GSL; if the seed is not 0, one random shift
 * modulo 1 moves all points; Cranley & Patterson, SIAM J. Numer. Anal. 13 (1976) 904, doi:10.1137/0713071. random:
 * independent numbers.
 */

typedef enum cb_design { CB_DESIGN_RANDOM, CB_DESIGN_LATIN_HYPERCUBE, CB_DESIGN_SOBOL, CB_DESIGN_HALTON } cb_design;

/* Returns the maximum number of axes of a design; 0: no maximum. */
size_t cb_design_axes_max(cb_design design);

/* Fills point[count][axes]. Designs with the same seed and different `stream` have different numbers. CB_ERROR_MEMORY;
 * CB_ERROR_ARGUMENT: too many axes. */
cb_status cb_design_points(cb_design design, size_t count, size_t axes, uint64_t seed, uint64_t stream, double *point);
