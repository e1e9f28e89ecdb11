/* Title, texts and attributes of a record: what produced it. */
#include "core/isa.h"
#include "scenario/kind.h"

#include <curvebody/constraint.h>
#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sundials/sundials_version.h>
#include <yaml.h>

#ifndef CURVEBODY_GIT_COMMIT
#define CURVEBODY_GIT_COMMIT "unknown"
#endif

static const char *compiler(void) {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

const cb_record_layout *cb_scenario_layout(cb_scenario *s) {
  cb_record_layout *layout = cb_run_layout(s->run);
  /* of its headers: HDF5 goes on with no other, and asking it takes memory */
  snprintf(s->hdf5, sizeof s->hdf5, "%d.%d.%d", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
  if (SUNDIALSGetVersion(s->sundials, sizeof s->sundials)) strcpy(s->sundials, "unknown");
  snprintf(s->moved, sizeof s->moved, "%.17g", cb_run_start_moved(s->run));
  snprintf(s->turned, sizeof s->turned, "%.17g", cb_run_start_turned(s->run));
  cb_scenario_sha256(cb_tree_source(s->tree), strlen(cb_tree_source(s->tree)), s->source_digest);
  const bool constrained = s->system && cb_system_constraints(s->system) > 0;
  const char *const pairs[] = {"curvebody_version",
                               CB_VERSION,
                               "git_commit",
                               CURVEBODY_GIT_COMMIT,
                               "scenario_sha256",
                               s->source_digest,
                               "compiler",
                               compiler(),
                               "isa",
                               cb_isa_name(),
                               s->kind->attribute,
                               s->kind->subject(s),
                               "integrator",
                               s->integrator->kind->name,
                               "solver",
                               s->integrator->solver,
                               "gsl_version",
                               gsl_version,
                               "sundials_version",
                               s->sundials,
                               "hdf5_version",
                               s->hdf5,
                               "libyaml_version",
                               yaml_get_version_string(),
                               *s->inputs ? "inputs_sha256" : "inputs",
                               *s->inputs ? s->inputs : "none",
                               constrained ? "start_moved" : NULL,
                               s->moved,
                               "start_turned",
                               s->turned,
                               NULL};
  memcpy(s->attributes, pairs, sizeof pairs);
  layout->title = s->title;
  layout->scenario_source = cb_tree_source(s->tree);
  layout->scenario_resolved = s->resolved;
  layout->attributes = s->attributes;
  return layout;
}
