/* What the readers of mesh files share: a cursor over words, and the mesh as far as it has been read. */
#pragma once

#include "numerics/mesh.h"
#include <stdbool.h>

/* Indices that grow in number. */
typedef struct cb_index_list {
  int *data;
  size_t count, room;
} cb_index_list;

typedef struct cb_mesh_builder {
  const char *name, *bytes;
  size_t n, binary;      /* bytes, and those from where on they are no text */
  int base;              /* the number of the first vertex */
  double (*vertices)[3]; /* room for as many as the file can hold */
  size_t n_vertices, room;
  cb_index_list edges;                /* by twos */
  cb_index_list corners, ends;        /* of polygons, then those of the polygon or line that is being read */
  cb_index_list places, groups;       /* of polygons: the byte where each stands, and its group */
  struct cb_word *group_names;
  int n_groups, group; /* group: of the polygons to come, -1 for none */
} cb_mesh_builder;

enum { CB_MESH_MOST_GROUPS = 4096 };

/* Bytes [at, at + length) of the file. */
typedef struct cb_word {
  size_t at, length;
} cb_word;

/* Where a reader of words stands. */
typedef struct cb_cursor {
  size_t at;
  bool obj; /* `#` begins a comment and a backslash joins the next line to this one */
} cb_cursor;

/* The next word of the line; false at its end: the cursor then stands at the line break or the end of the file. */
bool cb_next_word(const cb_mesh_builder *b, cb_cursor *cursor, cb_word *word);

/* To the beginning of the next line; false at the end of the file. */
bool cb_next_line(const cb_mesh_builder *b, cb_cursor *cursor);

bool cb_word_is(const cb_mesh_builder *b, cb_word word, const char *text);

/* Fails with `name:line:column: error: `, the place of byte `at`; where bytes are no text, the place where they begin,
 * and `byte AT: `. */
cb_status cb_mesh_fail(const cb_mesh_builder *b, size_t at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
cb_status cb_mesh_no_memory(const cb_mesh_builder *b);

/* "expected WHAT, found 'word'", or the end of the line or file where there is no word. */
cb_status cb_mesh_expected(const cb_mesh_builder *b, cb_word word, const char *what);
cb_status cb_mesh_expected_more(const cb_mesh_builder *b, const cb_cursor *cursor, const char *what);

/* A finite number, an integer; `what` names it in the message. */
cb_status cb_mesh_number(const cb_mesh_builder *b, cb_word word, const char *what, double *value);
cb_status cb_mesh_integer(const cb_mesh_builder *b, cb_word word, const char *what, long long *value);

/* Takes room for vertices. */
cb_status cb_mesh_room(cb_mesh_builder *b, size_t n_vertices);

/* One more corner of the polygon or line; how many it has. */
cb_status cb_mesh_add_corner(cb_mesh_builder *b, int vertex);
size_t cb_mesh_corners(const cb_mesh_builder *b);

/* Does an edge of the polygon or line (closed: with the one from the last corner to the first) lead from a vertex to
 * itself? Into *vertex (from 0). */
bool cb_mesh_repeats(const cb_mesh_builder *b, bool closed, int *vertex);

/* The corners become a polygon, which stands at byte `at`, with the edges around it, or an open line. */
cb_status cb_mesh_end_polygon(cb_mesh_builder *b, size_t at);
cb_status cb_mesh_end_line(cb_mesh_builder *b);

/* Polygons from here on belong to the group that the rest of the line names; to none where it names nothing. */
cb_status cb_mesh_begin_group(cb_mesh_builder *b, cb_cursor *cursor);

/* The mesh of what was read. */
cb_status cb_mesh_finish(cb_mesh_builder *b, const cb_mesh_reading *how, cb_mesh **out);

cb_status cb_mesh_read_obj(cb_mesh_builder *b);
cb_status cb_mesh_read_ply(cb_mesh_builder *b);
cb_status cb_mesh_read_stl(cb_mesh_builder *b);
cb_status cb_mesh_read_off(cb_mesh_builder *b);

/* Do the bytes look like it? */
bool cb_mesh_is_stl(const cb_mesh_builder *b);
bool cb_mesh_is_off(const cb_mesh_builder *b);
