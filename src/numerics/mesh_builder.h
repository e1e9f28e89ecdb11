/* Definitions that the readers of mesh files share: a cursor over words, and the part of the mesh that has been
 * read. */
#pragma once

#include "numerics/mesh.h"
#include <stdbool.h>

/* A growing list of indices. */
typedef struct cb_index_list {
  int *data;
  size_t count, capacity;
} cb_index_list;

typedef struct cb_mesh_builder {
  const char *name, *bytes;
  size_t n, binary;      /* n: number of bytes; binary: from this offset on the bytes are not text */
  int base;              /* the number that the file gives to its first vertex: 0 or 1 */
  double (*vertices)[3]; /* [capacity]; capacity: the maximum number of vertices that the file can contain */
  size_t n_vertices, capacity;
  cb_index_list edges;          /* two vertices per edge */
  cb_index_list corners, ends;  /* as in cb_mesh; the corners of the polygon or line that is being read come last */
  cb_index_list places, groups; /* for each polygon: the byte where it begins, and its group */
  struct cb_token *group_names;
  int n_groups, group; /* group: the group of the next polygons, -1 for none */
} cb_mesh_builder;

enum { CB_MESH_MAX_GROUPS = 4096 };

/* Bytes [at, at + length) of the file. */
typedef struct cb_token {
  size_t at, length;
} cb_token;

/* The position of a reader of words. */
typedef struct cb_cursor {
  size_t at;
  bool obj; /* the file is OBJ: `#` begins a comment, and a backslash at the end of a line joins the next line to it */
} cb_cursor;

/* Reads the next word of the line. Returns false at the end of the line; the cursor is then at the line break or at the
 * end of the file. */
bool cb_next_token(const cb_mesh_builder *b, cb_cursor *cursor, cb_token *word);

/* Moves to the beginning of the next line; returns false at the end of the file. */
bool cb_next_line(const cb_mesh_builder *b, cb_cursor *cursor);

bool cb_token_is(const cb_mesh_builder *b, cb_token word, const char *text);

/* Fails with a message that begins with `name:line:column: error: `, the place of byte `at`. In a binary part of a
 * file, this place is the beginning of that part, and `byte AT: ` follows. */
cb_status cb_mesh_fail(const cb_mesh_builder *b, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cb_status cb_mesh_no_memory(const cb_mesh_builder *b);

/* Fails with "expected WHAT, found 'word'". cb_mesh_expected_more is for a missing word: "found the end of the line"
 * (or file). */
cb_status cb_mesh_expected(const cb_mesh_builder *b, cb_token word, const char *what);
cb_status cb_mesh_expected_more(const cb_mesh_builder *b, const cb_cursor *cursor, const char *what);

/* These functions read a finite number or an integer; `what` is its name in messages. */
cb_status cb_mesh_number(const cb_mesh_builder *b, cb_token word, const char *what, double *value);
cb_status cb_mesh_integer(const cb_mesh_builder *b, cb_token word, const char *what, long long *value);

/* Allocates memory for n_vertices vertices. */
cb_status cb_mesh_reserve(cb_mesh_builder *b, size_t n_vertices);

/* cb_mesh_add_corner adds a corner to the polygon or line that is being read. cb_mesh_corners returns the number of its
 * corners. */
cb_status cb_mesh_add_corner(cb_mesh_builder *b, int vertex);
size_t cb_mesh_corners(const cb_mesh_builder *b);

/* Returns whether an edge of the polygon or line joins a vertex to itself, and writes this vertex, counted from 0, to
 * *vertex. `closed` includes the edge from the last corner to the first. */
bool cb_mesh_repeats(const cb_mesh_builder *b, bool closed, int *vertex);

/* cb_mesh_end_polygon makes the corners a polygon, which began at byte `at`, with the edges around it. cb_mesh_end_line
 * makes them an open line. */
cb_status cb_mesh_end_polygon(cb_mesh_builder *b, size_t at);
cb_status cb_mesh_end_line(cb_mesh_builder *b);

/* Sets the group of the next polygons to the name in the rest of the line, or to none if there is no name. */
cb_status cb_mesh_begin_group(cb_mesh_builder *b, cb_cursor *cursor);

/* Makes the mesh from the data that were read. The caller frees *out with cb_mesh_free. */
cb_status cb_mesh_finish(cb_mesh_builder *b, const cb_mesh_reading *how, cb_mesh **out);

cb_status cb_mesh_read_obj(cb_mesh_builder *b);
cb_status cb_mesh_read_ply(cb_mesh_builder *b);
cb_status cb_mesh_read_stl(cb_mesh_builder *b);
cb_status cb_mesh_read_off(cb_mesh_builder *b);

/* These functions return whether the bytes of the file look like STL, or like OFF. */
bool cb_mesh_is_stl(const cb_mesh_builder *b);
bool cb_mesh_is_off(const cb_mesh_builder *b);
