/* Digests: of the scenario's text, and of the files that it names. A record holds neither meshes nor poses, but can tell
 * whether they are still what the run was begun with. */
#include "scenario/private.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>

enum { LARGEST = 1 << 30 };

void cb_scenario_sha256(const void *data, size_t n, char hex[CB_SCENARIO_DIGEST]) {
  struct sha256_ctx context;
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&context);
  sha256_update(&context, n, data);
  sha256_digest(&context, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++) snprintf(hex + 2 * i, 3, "%02x", digest[i]);
}

/* The digest of the digests. */
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
  const bool full = (s->files & (s->files - 1)) == 0; /* room for the next power of two */
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
