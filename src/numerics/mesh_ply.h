/* A PLY file between its header (mesh_ply.c) and its rows (mesh_ply_rows.c). */
#pragma once

#include "numerics/mesh_builder.h"

enum { CB_PLY_MOST_ELEMENTS = 16, CB_PLY_MOST_PROPERTIES = 64 };

typedef enum cb_ply_encoding { CB_PLY_TEXT, CB_PLY_LITTLE, CB_PLY_BIG, CB_PLY_UNKNOWN } cb_ply_encoding;

/* Integers first. */
typedef enum cb_ply_type {
  CB_PLY_INT8, CB_PLY_UINT8, CB_PLY_INT16, CB_PLY_UINT16, CB_PLY_INT32, CB_PLY_UINT32, CB_PLY_FLOAT32, CB_PLY_FLOAT64
} cb_ply_type;

typedef enum cb_ply_kind { CB_PLY_VERTEX, CB_PLY_FACE, CB_PLY_EDGE, CB_PLY_OTHER } cb_ply_kind;

/* What a property is to the mesh; from CORNERS on these are indices. */
typedef enum cb_ply_role {
  CB_PLY_IGNORED, CB_PLY_X, CB_PLY_Y, CB_PLY_Z, CB_PLY_CORNERS, CB_PLY_FIRST, CB_PLY_SECOND
} cb_ply_role;

typedef struct cb_ply_property {
  bool list;
  cb_ply_type type, length_type; /* length_type: of lists */
  cb_ply_role role;
} cb_ply_property;

typedef struct cb_ply_element {
  cb_word name, count_word;
  cb_ply_kind kind;
  unsigned long long count; /* rows, as the header claims */
  int n_properties;
  unsigned roles; /* bit r: a property of role r is there */
  cb_ply_property properties[CB_PLY_MOST_PROPERTIES];
} cb_ply_element;

typedef struct cb_ply {
  cb_mesh_builder *b;
  cb_cursor cursor;
  cb_ply_encoding encoding;
  unsigned long long n_vertices;
  int n_elements;
  cb_ply_element elements[CB_PLY_MOST_ELEMENTS];
} cb_ply;

cb_status cb_ply_read_rows(cb_ply *ply);
