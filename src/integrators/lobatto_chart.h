/* Lobatto IIIA-IIIB in one fixed chart, with or without constraints: what integrators/lobatto.c hands over to where
 * the space has `chart` set. See lobatto_chart.c for the method. */
#ifndef CB_INTEGRATORS_LOBATTO_CHART_H
#define CB_INTEGRATORS_LOBATTO_CHART_H

#include <curvebody/integrator.h>

typedef struct cb_lobatto_chart cb_lobatto_chart;

typedef struct cb_lobatto_chart_options {
  int stages, solver, iterations; /* solver: of integrators/solver.h */
  double tolerance;               /* error of the stages relative to the moves in the step; 0: round-off */
  bool compensated;
} cb_lobatto_chart_options;

cb_status cb_lobatto_chart_create(cb_integrator *in, const cb_lobatto_chart_options *options, cb_lobatto_chart **out);
void cb_lobatto_chart_free(cb_lobatto_chart *m);
void cb_lobatto_chart_reset(cb_lobatto_chart *m);
cb_status cb_lobatto_chart_step(cb_lobatto_chart *m, cb_state *state, double h);

#endif
