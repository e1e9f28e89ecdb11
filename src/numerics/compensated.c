#include "numerics/compensated.h"

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

double cb_compensated_norm(int count, const double *form, const double *x, const double *low, double value) {
  double sum = -value, rest = 0;
  for (int a = 0; a < count; a++) {
    const double product = x[a] * x[a], error = fma(x[a], x[a], -product);
    const double term = form[a] * product, next = sum + term, back = next - sum;
    rest += (sum - (next - back)) + (term - back) + form[a] * (error + 2 * x[a] * low[a]);
    sum = next;
  }
  return sum + rest;
}
