/* The entries of a matrix that is filled again and again in one order, in compressed columns.
 *
 * They are noted the first time, with rows, columns and values. Once they are compressed each goes to its place, where
 * those of one row and column are added.
 */
#pragma once

#include "core/arena.h"
#include <curvebody/status.h>

typedef struct cb_entries {
  size_t next, nonzeros;
  double *value; /* of the matrix; NULL: they are noted */
  int *place;    /* in it, of each entry */
  size_t room;
  int *row, *column; /* of those that are noted, and their values */
  double *made;
  bool lost; /* there was no memory to note them all */
} cb_entries;

typedef struct cb_columns {
  int *start, *row; /* [n+1], [start[n]] ascending in each column */
  double *value;    /* as noted */
} cb_columns;

void cb_entries_note(cb_entries *e, int row, int column, double value);
static inline void cb_entries_add(cb_entries *e, int row, int column, double value) {
  if (e->value)
    e->value[e->place[e->next++]] += value;
  else
    cb_entries_note(e, row, column, value);
}

/* Compresses what was noted, for n unknowns, and gives each entry its place; *out is in the arena. */
cb_status cb_entries_compress(cb_entries *e, int n, cb_arena *arena, cb_columns *out);
/* The same for a full matrix by columns. */
cb_status cb_entries_fill(cb_entries *e, int n);
/* From now on entries, the first one next, are added to value[nonzeros], which is cleared. */
void cb_entries_begin(cb_entries *e, double *value);
void cb_entries_free(cb_entries *e);
