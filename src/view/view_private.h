/* Declarations that are shared by the files that fill a page. Internal to src/view.
 *
 * The frames of the page are rows of the record. The page draws in the space of the record if that is a product of a
 * quadric and flat axes whose points have four numbers: curved axes, then flat axes, and as the fourth number the last
 * coordinate of the quadric. Otherwise it draws the plot coordinates of the points in E3.
 */
#pragma once

#include "yaml/yaml.h"
#include "view/page.h"

#include <curvebody/configuration.h>

typedef struct cb_view {
  const char *path;
  cb_reader *reader;
  cb_page *page;
  const cb_reader_field *fields;
  size_t n_fields;
  uint64_t rows, n_frames, *frame; /* the row of each frame */
  cb_tree *tree;                   /* the resolved scenario; NULL: it cannot be read */
  cb_scenario *scenario;           /* the scenario, opened; NULL: it cannot be opened */
  const cb_drawing *drawing;
  cb_space *space; /* NULL: plot coordinates in E3 */
} cb_view;

/* Returns the index of the field; -1 if it does not exist. */
int cb_view_field(const cb_view *v, const char *name);
/* Reads a constant array as numbers, malloc'd. If it does not exist, *n is 0 and *out is NULL. */
cb_status cb_view_constant(const cb_view *v, const char *name, double **out, size_t *n);
/* Reads the n labels of a dimension. *out is NULL if the dimension has no labels or a different number of them. */
cb_status cb_view_labels(const cb_view *v, const char *name, size_t n, const char *const **out);
/* Reads a field at the rows of all frames, [frames][count], malloc'd. */
cb_status cb_view_frames(const cb_view *v, int field, double **out);
static inline cb_status cb_view_memory(const cb_view *v) {
  return cb_fail(CB_ERROR_MEMORY, "%s: no memory for its page", v->path);
}

/* --- the parts of a page, each a member of its JSON --- */
/* The functions that end with _size estimate the bytes of one frame, before frames are chosen. The others write the
 * parts to the page. */
cb_status cb_view_particles_size(const cb_view *v, size_t *size);
cb_status cb_view_particles(const cb_view *v);
extern const cb_drawing cb_drawing_points, cb_drawing_bodies;
cb_status cb_view_shapes(const cb_view *v);
cb_status cb_view_series(const cb_view *v);
cb_status cb_view_events(const cb_view *v);

/* --- frames that are moved by parallel transport --- */
/* Returns the index of coordinate e of the embedding among the four numbers with which the page gives a point. */
int cb_carry_slot(const cb_space *g, int e);
/* Moves the frame `before`, an isometry local to the origin `from`, by parallel transport along the geodesic to the
 * point y, which is local to the origin `to`. The result `after` is local to `to`. */
void cb_carry_on(const cb_space *g, const cb_origin *from, const cb_isometry *before, const cb_origin *to,
                 const double *y, cb_isometry *after);
/* Writes the isometry as a row-major matrix that acts on the page's four numbers of a point. In a product, the fourth
 * column contains the translation along the flat axes. */
void cb_carry_matrix(const cb_space *g, const cb_isometry *a, double m[16]);
