/* How a number of an axis follows from one in [0, 1): by its quantile function. */
#pragma once

#include <curvebody/node.h>

typedef enum cb_quantile_kind {
  CB_QUANTILE_NUMBER,
  CB_QUANTILE_UNIFORM,
  CB_QUANTILE_LOG,
  CB_QUANTILE_NORMAL,
  CB_QUANTILE_EXPONENTIAL
} cb_quantile_kind;

/* number: a. uniform: a to b. log: a to b, even in its logarithm. normal: mean a, standard deviation b. exponential:
 * mean a. */
typedef struct cb_quantile {
  cb_quantile_kind kind;
  double a, b;
} cb_quantile;

/* A number, or uniform(a, b), log_uniform(a, b), normal(mean, deviation), exponential(mean). */
cb_status cb_quantile_read(const cb_node *node, cb_quantile *law);
double cb_quantile_at(const cb_quantile *law, double u);
/* The i-th of n even steps from a to b, both of which are met exactly. */
double cb_quantile_step(const cb_quantile *law, size_t i, size_t n);
