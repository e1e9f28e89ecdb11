/* What the readers of mesh files share: a cursor over words, and the mesh as far as it has been read. */
#ifndef CB_NUMERICS_MESH_BUILDER_H
#define CB_NUMERICS_MESH_BUILDER_H

#include "numerics/mesh.h"
#include <stdbool.h>

/* Indices that grow in number. */
typedef struct cb_index_list {
  int *data;
  size_t count, room;
} cb_index_list;

typedef struct cb_mesh_builder {
  const char *name, *bytes;
  size_t n;
  double (*vertices)[3]; /* room for as many as the file can hold */
  size_t n_vertices, room;
  cb_index_list edges, triangles, corners; /* by twos, by threes; corners of the polygon or line that is being read */
  cb_index_list groups;                    /* of the triangles */
  struct cb_word *group_names;
  int n_groups, group; /* group: of the triangles to come, -1 for none */
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

/* Fails with `name:line:column: error: `, the place of byte `at`. */
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

/* One more corner. */
cb_status cb_mesh_add_corner(cb_mesh_builder *b, int vertex);

/* Does an edge of the polygon or line (closed: with the one from the last corner to the first) lead from a vertex to
 * itself? Into *vertex (from 0). */
bool cb_mesh_repeats(const cb_mesh_builder *b, bool closed, int *vertex);

/* The corners become a polygon (edges around it and a fan of triangles) or an open line, and are forgotten. */
cb_status cb_mesh_end_polygon(cb_mesh_builder *b);
cb_status cb_mesh_end_line(cb_mesh_builder *b);

/* Triangles from here on belong to the group that the rest of the line names; to none where it names nothing. */
cb_status cb_mesh_begin_group(cb_mesh_builder *b, cb_cursor *cursor);

cb_status cb_mesh_read_obj(cb_mesh_builder *b);
cb_status cb_mesh_read_ply(cb_mesh_builder *b);
cb_status cb_mesh_read_stl(cb_mesh_builder *b);
cb_status cb_mesh_read_off(cb_mesh_builder *b);

/* Do the bytes look like it? */
bool cb_mesh_is_stl(const cb_mesh_builder *b);
bool cb_mesh_is_off(const cb_mesh_builder *b);

#endif
