/* The forms of Lobatto IIIA-IIIB: see integrators/lobatto.c for the method, lobatto_embedding.c and lobatto_chart.c for
 * the forms. */
#pragma once

#include <curvebody/integrator.h>

typedef struct cb_lobatto_options {
  int stages, solver, iterations; /* solver: of integrators/solver.h */
  double tolerance;               /* 0: round-off */
  bool compensated;
} cb_lobatto_options;

typedef struct cb_lobatto_form {
  cb_status (*create)(cb_integrator *in, const cb_lobatto_options *options, void **out);
  void (*destroy)(void *form);
  cb_status (*step)(void *form, cb_state *state, double h);
  void (*reset)(void *form);
  void (*moved)(void *form, int component, const cb_isometry *isometry); /* NULL: origins do not move */
} cb_lobatto_form;

extern const cb_lobatto_form cb_lobatto_chart_form, cb_lobatto_embedding_form;
