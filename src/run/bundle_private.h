/* What a run along a fibre holds: shared by its files. */
#ifndef CB_RUN_BUNDLE_PRIVATE_H
#define CB_RUN_BUNDLE_PRIVATE_H

#include "run/bundle.h"
#include "run/run_private.h"

struct cb_bundle_run {
  cb_bundle_path path;
  cb_integrator *integrator;
  cb_bundle_state state;
  int64_t step;
  /* what a row is made from */
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX];
  double xi[CB_GROUP_DIM];
  bool metric; /* M is wanted */
};
typedef struct cb_bundle_run cb_bundle_run;

cb_status cb_bundle_run_layout(cb_run *run);
cb_status cb_bundle_run_measure(cb_run *run, const char **what);

#endif
