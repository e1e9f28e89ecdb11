/* Geodesic panels, and what they do at a point (potential/curved.h). */
#ifndef CB_POTENTIAL_CURVED_PRIVATE_H
#define CB_POTENTIAL_CURVED_PRIVATE_H

#include "core/arena.h"
#include "potential/curved_kernel.h"

#include <curvebody/status.h>

typedef struct cb_curved_panels {
  int n;
  double K, r;                           /* r = sqrt|K| */
  double (*centre)[4];                   /* (r x, w) */
  double (*plane)[4], (*flux)[6], *area; /* flux: the mean */
  double *lanes;                         /* of CB_CURVED_LANES rows (potential/curved_kernel.h) */
  size_t stride;
  bool few; /* so small that D takes few points far off, too */
  const cb_curved_kernels *kernels;
} cb_curved_panels;

/* CB_ERROR_MEMORY. What it takes lies in the arena. */
cb_status cb_curved_panels_take(cb_curved_panels *p, cb_arena *arena, int n, double K);
/* Faces on vertices at normal coordinates x. CB_ERROR_DOMAIN for one of no area or that reaches too far, by its number
 * from 1. */
cb_status cb_curved_panels_lay(cb_curved_panels *p, const double (*x)[3], const int (*face)[3]);
/* What n panels from number `first` on do at (r x, w); self: as of cb_panels_range. D may be NULL. */
void cb_curved_panels_range(const cb_curved_panels *p, const double x[4], int first, int n, int self, double *S,
                            double *D);
size_t cb_curved_panels_bytes(int n);

#endif
