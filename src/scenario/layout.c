/* Title, texts and attributes of a record, which document its origin, and the digests of its inputs. */
#include "core/isa.h"
#include "scenario/scenario_class.h"
#include "scenario/private.h"
#include <curvebody/constraint.h>

#include <gsl/gsl_version.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <sundials/sundials_version.h>
#include <yaml.h>
#include <nettle/sha2.h>
#include <stdlib.h>

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
  /* the version of the headers is also that of the library: HDF5 works with no other version */
  snprintf(s->hdf5, sizeof s->hdf5, "%d.%d.%d", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
  if (SUNDIALSGetVersion(s->sundials, sizeof s->sundials)) strcpy(s->sundials, "unknown");
  snprintf(s->moved, sizeof s->moved, "%.17g", cb_run_start_position_change(s->run));
  snprintf(s->turned, sizeof s->turned, "%.17g", cb_run_start_velocity_change(s->run));
  cb_scenario_sha256(cb_tree_source(s->tree), strlen(cb_tree_source(s->tree)), s->source_digest);
  const cb_system *system = cb_scenario_system(s);
  const bool constrained = system && cb_system_constraints(system) > 0;
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
                               s->class->attribute,
                               s->class->subject(s),
                               "integrator",
                               s->integrator->class_->name,
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
                               constrained ? "start_position_change" : NULL,
                               s->moved,
                               "start_velocity_change",
                               s->turned,
                               NULL};
  memcpy(s->attributes, pairs, sizeof pairs);
  layout->title = s->title;
  layout->scenario_source = cb_tree_source(s->tree);
  layout->scenario_resolved = s->resolved;
  layout->attributes = s->attributes;
  return layout;
}

/* --- digests of the scenario's text and of its input files ---
 *
 * A record contains neither meshes nor poses, but the digests show whether a mesh or poses have changed since the start
 * of the run.
 */

enum { LARGEST = 1 << 30 };

void cb_scenario_sha256(const void *data, size_t n, char hex[CB_SCENARIO_DIGEST]) {
  struct sha256_ctx context;
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&context);
  sha256_update(&context, n, data);
  sha256_digest(&context, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* Replaces s->inputs by the digest of the text of s->inputs followed by the digest of the data. */
void cb_scenario_add_data(cb_scenario *s, const void *data, size_t n) {
  char own[CB_SCENARIO_DIGEST], both[2 * CB_SCENARIO_DIGEST];
  cb_scenario_sha256(data, n, own);
  const int length = snprintf(both, sizeof both, "%s%s", s->inputs, own);
  cb_scenario_sha256(both, (size_t)length, s->inputs);
}

cb_status cb_scenario_add_input(cb_scenario *s, const char *path) {
  char *data;
  size_t n;
  const cb_status status = cb_read_whole_file(path, LARGEST, &data, &n);
  if (status) return status;
  cb_scenario_add_data(s, data, n);
  free(data);
  return CB_OK;
}

cb_status cb_scenario_add_file(cb_scenario *s, const char *path) {
  const bool full = (s->files & (s->files - 1)) == 0; /* the capacity is the next power of two */
  const char **file = full ? cb_arena_alloc(s->arena, s->files ? 2 * s->files : 1, sizeof *file) : s->file;
  const char *copy = cb_arena_strdup(s->arena, path);
  if (!file || !copy) return cb_fail(CB_ERROR_MEMORY, "no memory for the name %s", path);
  for (size_t i = 0; full && i < s->files; i++) file[i] = s->file[i];
  s->file = file;
  s->file[s->files++] = copy;
  return CB_OK;
}

cb_status cb_scenario_file(cb_scenario *s, const cb_node *node, const char **path) {
  char *name = cb_node_path(node);
  const cb_status status = name ? cb_scenario_add_file(s, name) : cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  free(name);
  if (!status) *path = s->file[s->files - 1];
  return status;
}

cb_files cb_scenario_files(const cb_scenario *s) { return (cb_files){s->file, s->files}; }

const char *cb_scenario_inputs(const cb_scenario *s) { return s->inputs; }
