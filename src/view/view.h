/* What the files that fill a page share. Internal to src/view.
 *
 * Frames of the page are rows of the record. The page's space is that of the record where it is one of quadrics, told
 * in four numbers: curved axes, then flat ones, and the quadric's last coordinate fourth; otherwise E3, of pictures.
 */
#pragma once

#include "yaml/yaml.h"
#include "view/page.h"

#include <curvebody/scenario.h>

typedef struct cb_view {
  const char *path;
  cb_reader *reader;
  cb_page *page;
  const cb_reader_field *fields;
  size_t n_fields;
  uint64_t rows, n_frames, *frame; /* the row of each frame */
  cb_tree *tree;                   /* the resolved scenario, NULL: it cannot be read */
  cb_scenario *scenario;           /* the same, opened; NULL where that fails */
  cb_geometry *space;              /* NULL: E3, of pictures */
} cb_view;

/* The number of the field, -1: none. */
int cb_view_field(const cb_view *v, const char *name);
/* A constant array as numbers, from malloc; *n 0 and NULL where there is none. */
cb_status cb_view_constant(const cb_view *v, const char *name, double **out, size_t *n);
/* The n words of that name; NULL: it has none, or not so many. */
cb_status cb_view_labels(const cb_view *v, const char *name, size_t n, const char *const **out);
/* The rows of frames of a field, [frames][count], from malloc. */
cb_status cb_view_frames(const cb_view *v, int field, double **out);
static inline cb_status cb_view_memory(const cb_view *v) {
  return cb_fail(CB_ERROR_MEMORY, "%s: no memory for its page", v->path);
}

/* --- the parts of a page, each a member of its JSON --- */
/* Bytes of a frame, before any are chosen. */
cb_status cb_view_particles_size(const cb_view *v, size_t *size);
cb_status cb_view_particles(const cb_view *v);
size_t cb_view_bodies_size(const cb_view *v);
cb_status cb_view_bodies(const cb_view *v);
cb_status cb_view_shapes(const cb_view *v);
cb_status cb_view_series(const cb_view *v);
cb_status cb_view_events(const cb_view *v);

/* --- frames that are carried along --- */
/* Where coordinate e of the embedding is among the page's four. */
int cb_carry_slot(const cb_geometry *g, int e);
/* after: the frame with place y local to origin `to`, carried from `before`, local to `from`, along the geodesic. Both
 * isometries are local to their origins. */
void cb_carry_on(const cb_geometry *g, const cb_origin *from, const cb_isometry *before, const cb_origin *to,
                 const double *y, cb_isometry *after);
/* In the page's four numbers, row-major; what a flat axis of a product is moved by stands in its fourth column. */
void cb_carry_matrix(const cb_geometry *g, const cb_isometry *a, double m[16]);
