/* This file adds arrays with compensation of round-off, by several threads (dd.h). */
#include "numerics/dd.h"

#include "core/threads.h"

typedef struct addition {
  double *high, *low;
  const double *increment;
  bool keep;
} addition;

static void add(void *context, int begin, int end) {
  const addition *a = context;
  for (int i = begin; i < end; i++) {
    cb_compensated_add_one(&a->high[i], &a->low[i], a->increment[i]);
    if (!a->keep) a->low[i] = 0;
  }
}

void cb_compensated_add(size_t count, double *high, double *low, const double *increment, bool keep, int threads) {
  addition a = {high, low, increment, keep};
  cb_threads_range(threads, (int)count, add, &a);
}
