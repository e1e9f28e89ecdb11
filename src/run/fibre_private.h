/* What a run along a fibre holds: shared by its files. */
#ifndef CB_RUN_FIBRE_PRIVATE_H
#define CB_RUN_FIBRE_PRIVATE_H

#include "run/fibre.h"
#include "run/run_private.h"

struct cb_fibre {
  cb_fibre_path path;
  cb_integrator *integrator;
  cb_fibre_state state;
  int64_t step;
  /* what a row is made from */
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  double xi[CB_GROUP_DIM];
  const struct cb_fibre_field *measured[CB_RUN_FIELDS]; /* by field */
  bool metric;                                          /* M is wanted */
};
typedef struct cb_fibre cb_fibre;

cb_status cb_fibre_layout(cb_run *run);
cb_status cb_fibre_measure(cb_run *run, const char **what);

#endif
