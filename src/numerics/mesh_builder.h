/* Definitions shared by the readers of mesh files: a cursor over words, and the part of the mesh that has been read. */
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
  size_t n, binary;      /* the number of bytes; the offset from which on the bytes are not text */
  int base;              /* the index of the first vertex in the file */
  double (*vertices)[3]; /* with the maximum capacity that the file can require */
  size_t n_vertices, capacity;
  cb_index_list edges;          /* two vertices for each edge */
  cb_index_list corners, ends;  /* as in cb_mesh; the corners of the polygon or line that is being read come last */
  cb_index_list places, groups; /* the byte where each polygon begins, and its group */
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
  bool obj; /* `#` begins a comment and a backslash joins the next line to this one */
} cb_cursor;

/* Reads the next word of the line. Returns false at the end of the line, and the cursor is then at the line break or at
 * the end of the file. */
bool cb_next_token(const cb_mesh_builder *b, cb_cursor *cursor, cb_token *word);

/* Moves to the beginning of the next line; returns false at the end of the file. */
bool cb_next_line(const cb_mesh_builder *b, cb_cursor *cursor);

bool cb_token_is(const cb_mesh_builder *b, cb_token word, const char *text);

/* Fails with `name:line:column: error: `, the place of byte `at`, before the message. In a binary part of a file, the place
 * is the beginning of that part, and `byte AT: ` follows. */
cb_status cb_mesh_fail(const cb_mesh_builder *b, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cb_status cb_mesh_no_memory(const cb_mesh_builder *b);

/* Fails with "expected WHAT, found 'word'", or "found the end of the line" (or file) if there is no word. */
cb_status cb_mesh_expected(const cb_mesh_builder *b, cb_token word, const char *what);
cb_status cb_mesh_expected_more(const cb_mesh_builder *b, const cb_cursor *cursor, const char *what);

/* These functions read a finite number, and an integer; `what` names it in the message. */
cb_status cb_mesh_number(const cb_mesh_builder *b, cb_token word, const char *what, double *value);
cb_status cb_mesh_integer(const cb_mesh_builder *b, cb_token word, const char *what, long long *value);

/* Allocates memory for n_vertices vertices. */
cb_status cb_mesh_reserve(cb_mesh_builder *b, size_t n_vertices);

/* Adds a corner to the polygon or line. (The next function returns the number of its corners.) */
cb_status cb_mesh_add_corner(cb_mesh_builder *b, int vertex);
size_t cb_mesh_corners(const cb_mesh_builder *b);

/* Does an edge of the polygon or line (closed: also the edge from the last corner to the first) join a vertex to
 * itself? Writes this vertex, counted from 0, to *vertex. */
bool cb_mesh_repeats(const cb_mesh_builder *b, bool closed, int *vertex);

/* These functions make the corners a polygon, which began at byte `at`, with the edges around it, or an open line. */
cb_status cb_mesh_end_polygon(cb_mesh_builder *b, size_t at);
cb_status cb_mesh_end_line(cb_mesh_builder *b);

/* Sets the group of the next polygons to the name in the rest of the line, or to none if there is no name. */
cb_status cb_mesh_begin_group(cb_mesh_builder *b, cb_cursor *cursor);

/* Makes the mesh from the data that were read. */
cb_status cb_mesh_finish(cb_mesh_builder *b, const cb_mesh_reading *how, cb_mesh **out);

cb_status cb_mesh_read_obj(cb_mesh_builder *b);
cb_status cb_mesh_read_ply(cb_mesh_builder *b);
cb_status cb_mesh_read_stl(cb_mesh_builder *b);
cb_status cb_mesh_read_off(cb_mesh_builder *b);

/* Do the bytes look like STL, or like OFF? */
bool cb_mesh_is_stl(const cb_mesh_builder *b);
bool cb_mesh_is_off(const cb_mesh_builder *b);
