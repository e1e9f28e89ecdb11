/* Extrapolated steps of y' = f(y): the modified midpoint rule with 2, 4, 6, ... parts, extrapolated by h^2 (Aitken and
 * Neville). Source: Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993), section II.9.
 */
#pragma once

#include <curvebody/status.h>
#include <string.h>

enum { CB_EXTRAPOLATION_MAX = 48 };

typedef struct cb_extrapolation {
  cb_status (*rate)(void *problem, const double *y, double *f);
  void *problem;
  int size;                  /* of y; at most CB_EXTRAPOLATION_MAX */
  const double *start, *at0; /* y at the start of the step, and f there */
} cb_extrapolation;

/* y(H) - y(0) by m midpoint substeps. */
static inline cb_status cb_midpoint(const cb_extrapolation *e, double H, int m, double *out) {
  const double h = H / m;
  double before[CB_EXTRAPOLATION_MAX] = {0}, now[CB_EXTRAPOLATION_MAX], y[CB_EXTRAPOLATION_MAX],
         f[CB_EXTRAPOLATION_MAX];
  for (int i = 0; i < e->size; i++) now[i] = h * e->at0[i];
  for (int k = 1; k < m; k++) {
    for (int i = 0; i < e->size; i++) y[i] = e->start[i] + now[i];
    const cb_status status = e->rate(e->problem, y, f);
    if (status) return status;
    for (int i = 0; i < e->size; i++) {
      const double next = before[i] + 2 * h * f[i];
      before[i] = now[i];
      now[i] = next;
    }
  }
  memcpy(out, now, (size_t)e->size * sizeof *out);
  return CB_OK;
}

/* Row j = 0, 1, ... of the table, whose rows j - 1 and before are known, for a step of length H: table[j * size + i]
 * becomes its last increment y(H) - y(0), and error (from row 1 on) how far that is from the one before it. */
static inline cb_status cb_extrapolation_row(const cb_extrapolation *e, double H, int j, double *table,
                                             double *error) {
  double last[CB_EXTRAPOLATION_MAX];
  const cb_status status = cb_midpoint(e, H, 2 * (j + 1), last);
  if (status) return status;
  for (int k = 0; k < j; k++) { /* table[k] holds T_{j-1,k} and becomes T_{j,k} */
    const double ratio = (double)(j + 1) / (j - k), denominator = 1 / (ratio * ratio - 1);
    for (int i = 0; i < e->size; i++) {
      double *at = table + k * e->size + i;
      error[i] = (last[i] - *at) * denominator;
      *at = last[i];
      last[i] += error[i];
    }
  }
  memcpy(table + j * e->size, last, (size_t)e->size * sizeof *table);
  return CB_OK;
}
