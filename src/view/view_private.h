/* Declarations that are shared by the files that fill a page. Internal to src/view.
 *
 * The frames of the page are rows of the record. The page draws in the space of the record if this space is a product
 * of a quadric and flat axes whose points have four numbers: first the curved axes, then the flat axes, and as the
 * fourth number the last coordinate of the quadric. In other spaces the page draws the plot coordinates of the points
 * in E3.
 *
 * The page is JSON text, and the arrays to which the text refers. The bytes of an array are shuffled (grouped by
 * significance, as in HDF5), deflated by zlib, and written in base64. The JSON text contains {"array": number, "type":
 * "f4" | "f8" | "i4", "shape": [..]} instead.
 */
#pragma once

#include "core/text.h"
#include "yaml/yaml.h"
#include <curvebody/configuration.h>

#include <stdint.h>

/* --- JSON text and arrays --- */

typedef struct cb_page {
  cb_text json, arrays;
  int count;
} cb_page;

typedef enum cb_page_type { CB_PAGE_F4, CB_PAGE_F8, CB_PAGE_I4 } cb_page_type;

/* The functions below append JSON. key: the name of a member of an object; NULL: an item of a list. A lack of memory is
 * reported when the page is complete. */
void cb_page_begin(cb_page *p, const char *key, char bracket);
void cb_page_end(cb_page *p, char bracket);
void cb_page_text(cb_page *p, const char *key, const char *text);
void cb_page_number(cb_page *p, const char *key, double value);
void cb_page_texts(cb_page *p, const char *key, size_t n, const char *const *text);
/* Appends an array of n0 n1 n2 values. n1 or n2 is 0 if there is no such dimension. */
cb_status cb_page_array(cb_page *p, const char *key, cb_page_type type, size_t n0, size_t n1, size_t n2,
                        const double *values);

/* The scripts and styles of the page, which are packed when the program is built (embed.c). The list ends with a NULL
 * name. It is empty in a build without three.js and dygraphs. */
typedef struct cb_asset {
  const char *name;
  const char *packed;
  size_t length;
} cb_asset;
extern const cb_asset cb_view_assets[];

/* --- the record --- */

typedef struct cb_view {
  const char *path;
  cb_reader *reader;
  cb_page *page;
  const cb_reader_field *fields;
  size_t n_fields;
  uint64_t rows, n_frames, *frame; /* frame[i]: the row of the record that frame i shows */
  cb_tree *tree;                   /* the resolved scenario; NULL: it cannot be read */
  cb_scenario *scenario;           /* the scenario, opened; NULL: it cannot be opened */
  const cb_drawing *drawing;
  cb_space *space; /* NULL: the plot coordinates are points of E3 */
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
/* Writes the fixed points of the world from which particles of the system (NULL: none) have a given distance. The first
 * particle of the system has the number `first` among the n positions of the page. */
cb_status cb_view_pivots(const cb_view *v, const cb_system *system, size_t first, size_t n);
extern const cb_drawing cb_drawing_points, cb_drawing_bodies;
cb_status cb_view_shapes(const cb_view *v);
cb_status cb_view_series(const cb_view *v);
cb_status cb_view_events(const cb_view *v);

/* Fills the page of a file of arrays that a sweep or `curvebody gait` wrote. *found: whether the file is such a file;
 * if not, the page is unchanged. *title: its title, malloc'd, or NULL. */
cb_status cb_view_tables(const char *path, cb_page *page, char **title, bool *found);

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
