/* Whether a file is a record in itself: what it names lies in it, and what HDF5 would do to read it is what a record
 * needs. Everything that can be reached from the root is looked at, once, and before HDF5 does (record_structure.h).
 *
 * Refused are links to other files, links of a kind that programs define, and soft links where something of the layout
 * should be (others are aliases, and are not followed); datasets whose numbers lie in other files (external storage, a
 * virtual dataset), which reading and writing would open; datasets that a filter other than ours passes through, which
 * HDF5 would load a plugin for; and series of chunks that are too large or too many.
 */
#include "core/failure.h"
#include "core/file.h"
#include "io/record_driver.h"
#include "io/record_internal.h"
#include "io/record_structure.h"
#include "io/record_superblock.h"
#include "io/record_taken.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { MOST_OBJECTS = 20000, MOST_KEPT = 128, LARGEST_CHUNK = 64 << 20, MOST_UNWRITTEN = 1 << 20, MOST_IN_ROW = 1 << 12 };

typedef struct place {
  haddr_t address;
  char *name; /* from the root, the first by which it was found */
  bool ours;  /* of the layout; what has another name too is looked at twice */
  bool again; /* the second time */
} place;

typedef struct walk {
  const char *path;
  cb_source source;
  uint64_t bytes; /* of the file */
  place *found; /* those before `at` have been looked at */
  size_t count, room, at;
  int kept; /* datasets that were left open */
} walk;

static cb_status refuse(const walk *w, const char *name, const char *why) {
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: /%s %s", w->path, name, why);
}

/* Takes the name. */
static cb_status add(walk *w, haddr_t address, char *name) {
  const bool ours = cb_layout_takes(name);
  bool again = false;
  for (size_t i = 0; i < w->count; i++) {
    const bool same = w->found[i].address == address;
    if (same && w->found[i].ours == ours) return free(name), CB_OK;
    again |= same;
  }
  if (w->count == w->room) {
    size_t room = w->room ? 2 * w->room : 128;
    place *found = realloc(w->found, room * sizeof *found);
    if (!found) return free(name), cb_fail(CB_ERROR_MEMORY, "no memory for the names of %s", w->path);
    w->found = found, w->room = room;
  }
  w->found[w->count++] = (place){address, name, ours, again};
  if (w->count <= MOST_OBJECTS) return CB_OK;
  return cb_fail_placed(CB_ERROR_INPUT, "%s: error: more than %d objects, expected a record", w->path, MOST_OBJECTS);
}

static cb_status visit_link(void *context, hid_t group, const char *name, const H5L_info_t *link) {
  walk *w = context;
  const char *in = w->found[w->at].name;
  size_t length = strlen(in) + strlen(name) + 2;
  char *whole = malloc(length);
  (void)group;
  if (!whole) return cb_fail(CB_ERROR_MEMORY, "no memory for the names of %s", w->path);
  snprintf(whole, length, "%s%s%s", in, *in ? "/" : "", name);
  if (link->type == H5L_TYPE_HARD) return add(w, link->u.address, whole);
  cb_status status = CB_OK;
  if (link->type == H5L_TYPE_EXTERNAL) status = refuse(w, whole, "is a link to another file");
  else if (link->type != H5L_TYPE_SOFT) status = refuse(w, whole, "is a link of a kind that records do not have");
  else if (cb_layout_takes(whole)) status = refuse(w, whole, "is a soft link, expected what it leads to");
  free(whole);
  return status;
}

/* Chunks of what grows pass through memory, and HDF5 goes through them all, written or not, to cut it. */
static cb_status check_chunks(const walk *w, const char *name, hid_t dataset, const cb_structure *is, bool whole) {
  hsize_t written = 0;
  if (!is->chunk_rank || is->chunk_rank != is->rank || is->most[0] != H5S_UNLIMITED) return CB_OK;
  const hid_t space = H5Dget_space(dataset);
  const bool read = H5Dget_num_chunks(dataset, space, &written) >= 0;
  H5Sclose(space);
  if (!read) return whole ? cb_hdf5_fail(w->path, "read where the chunks of /%s are", name) : CB_OK;
  uint64_t bytes = is->element, in_row = 1;
  for (int d = 0; d < is->rank; d++) bytes *= is->chunk[d]; /* HDF5 takes less than 4 GiB */
  if (bytes > LARGEST_CHUNK) return refuse(w, name, "has chunks of more than 64 MiB");
  if (is->now[0] / is->chunk[0] > written + MOST_UNWRITTEN) return refuse(w, name, "is longer than what was written of it");
  bool more = false;
  for (int d = 1; d < is->rank; d++) more |= !cb_times(&in_row, is->now[d] / is->chunk[d] + (is->now[d] % is->chunk[d] != 0));
  if (is->now[0] && (more || in_row > written + MOST_IN_ROW)) return refuse(w, name, "has wider rows than were written of it");
  return CB_OK;
}

static cb_status check_filter(const walk *w, const char *name, const cb_structure *is) {
  char why[100];
  if (is->filter < 0) return CB_OK;
  snprintf(why, sizeof why, "passes through filter %d, expected none but shuffle and deflate", (int)is->filter);
  return refuse(w, name, why);
}

/* Where a writer is at work, what is half written, or beyond the end that it had, is looked at again; and once after it. */
static const char *fault_of(walk *w, cb_structure *is) {
  const char *fault = NULL;
  cb_source source = w->source;
  if (w->found[w->at].again) source.taken = NULL;
  for (int attempt = 0; attempt < 8; attempt++) {
    struct stat info;
    fault = cb_structure_look(source, w->bytes, w->found[w->at].address, is);
    const bool written = fault && cb_driver_written(w->source.file);
    if (!fault || (attempt && !written)) break;
    if (written) nanosleep(&(struct timespec){0, 1000000L << attempt}, NULL);
    if (stat(w->path, &info) == 0) w->bytes = (uint64_t)info.st_size;
  }
  return fault;
}

/* What cannot be opened is passed over, unless all is to be whole: nobody else can then. Datasets stay open until the file
 * is closed: who opens them again, as all that reads a record does several times, has them for a part of the work. Not of any
 * number, as each keeps up to a MiB of chunks. */
static cb_status check_object(walk *w, hid_t file, bool whole) {
  cb_structure is;
  const char *name = w->found[w->at].name, *fault = fault_of(w, &is);
  if (fault && cb_driver_written(w->source.file)) return cb_superblock_in_use(w->path);
  if (fault || is.elsewhere) return refuse(w, name, fault ? fault : is.elsewhere);
  cb_status status = check_filter(w, name, &is);
  if (status) return status;
  const hid_t object = H5Oopen_by_addr(file, w->found[w->at].address);
  if (object < 0) return whole ? cb_hdf5_fail(w->path, "read /%s", name) : CB_OK;
  const H5I_type_t type = H5Iget_type(object);
  if (type == H5I_DATASET) status = check_chunks(w, name, object, &is, whole);
  if (type == H5I_GROUP) status = cb_hdf5_each_link(object, w->path, H5_INDEX_NAME, visit_link, w);
  if (type != H5I_DATASET || w->kept++ >= MOST_KEPT) H5Oclose(object);
  return status;
}

/* The bytes of the file, and where its root is. */
static cb_status start(hid_t file, const char *path, walk *w, uint64_t *root) {
  struct stat info;
  if (stat(path, &info) < 0) return cb_fail_file(path, "read", errno);
  *w = (walk){.path = path, .source = cb_source_of(file), .bytes = (uint64_t)info.st_size};
  return cb_source_root(w->source, root) ? CB_OK : cb_hdf5_fail(path, "read");
}

cb_status cb_record_check_root(hid_t file, const char *path) {
  walk w = {0};
  uint64_t root;
  cb_status status = start(file, path, &w, &root);
  const char *fault = status ? NULL : cb_structure_fault(w.source, w.bytes, root);
  return fault ? refuse(&w, "", fault) : status;
}

cb_status cb_record_check(hid_t file, const char *path, bool whole, cb_taken *taken) {
  walk w = {0};
  uint64_t root;
  cb_status status = start(file, path, &w, &root);
  if (status) return status;
  w.source.taken = taken;
  cb_taken_add(taken, 0, CB_SUPERBLOCK_BYTES, false);
  char *name = strdup("");
  status = name ? add(&w, root, name) : cb_fail(CB_ERROR_MEMORY, "no memory to check %s", path);
  for (; !status && w.at < w.count; w.at++) status = check_object(&w, file, whole);
  for (size_t i = 0; i < w.count; i++) free(w.found[i].name);
  free(w.found);
  return status;
}
