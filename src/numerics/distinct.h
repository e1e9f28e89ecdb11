/* Points of R^3 that differ: equal ones, number by number, are one (-0 is 0). */
#pragma once

#include <curvebody/status.h>
#include <stddef.h>

typedef struct cb_distinct {
  double (*x)[3]; /* [n], the caller's, with room for `most` */
  size_t n;
  int *slot; /* points, -1 for none */
  size_t mask;
} cb_distinct;

cb_status cb_distinct_begin(cb_distinct *d, size_t most, double (*x)[3]);
void cb_distinct_end(cb_distinct *d);

/* The number of the point among x, where it goes if it is new; it may stand in x itself, from n on. */
int cb_distinct_add(cb_distinct *d, const double point[3]);
