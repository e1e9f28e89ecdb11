/* Ranges of numbers as parameter tables write them. */
#ifndef CB_TREE_RANGE_H
#define CB_TREE_RANGE_H

#include <stdbool.h>

/* low < x < high, or <= on a closed side; or x != low where `except`. */
typedef struct cb_range {
  double low, high;
  bool low_open, high_open, except;
} cb_range;

/* Reads "", "> 0", ">= 0", "< 1", "<= 1", "!= 0", "[2, 5]", "(0, 1]", "[0, inf)". False if text is none of these. */
bool cb_range_parse(const char *text, cb_range *range);

/* False for nan. */
bool cb_range_holds(const cb_range *range, double x);

#endif
