/* Entries noted in growing arrays, sorted by counting; see entries.h. */
#include "numerics/entries.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void *array, size_t room, size_t size) {
  void **to = array, *more = realloc(*to, room * size);
  if (more) *to = more;
  return more;
}

void cb_entries_note(cb_entries *e, int row, int column, double value) {
  if (e->next == e->room) {
    const size_t room = 2 * e->room + 1024;
    if (!grow(&e->row, room, sizeof *e->row) || !grow(&e->column, room, sizeof *e->column) ||
        !grow(&e->made, room, sizeof *e->made))
      e->lost = true;
    if (e->lost) return;
    e->room = room;
  }
  e->row[e->next] = row;
  e->column[e->next] = column;
  e->made[e->next++] = value;
}

/* out[]: order[] (NULL: as they are), stably sorted by key in [0, n). */
static void sort_by(int n, const int *key, size_t count, const int *order, int *first, int *out) {
  memset(first, 0, ((size_t)n + 1) * sizeof *first);
  for (size_t t = 0; t < count; t++) first[key[t] + 1]++;
  for (int i = 0; i < n; i++) first[i + 1] += first[i];
  for (size_t t = 0; t < count; t++) {
    const int which = order ? order[t] : (int)t;
    out[first[key[which]]++] = which;
  }
}

static void merge(cb_entries *e, int n, const int *order, cb_columns *out) {
  int made = 0;
  for (size_t t = 0; t < e->next; t++) {
    const int now = order[t], before = order[t ? t - 1 : 0];
    if (!t || e->row[now] != e->row[before] || e->column[now] != e->column[before]) {
      out->row[made++] = e->row[now];
      out->start[e->column[now] + 1]++;
    }
    e->place[now] = made - 1;
    out->value[made - 1] += e->made[now];
  }
  for (int j = 0; j < n; j++) out->start[j + 1] += out->start[j];
  e->nonzeros = (size_t)made;
}

/* What is noted is known no more. */
static cb_status finish(cb_entries *e, int n, bool complete) {
  free(e->row), free(e->column), free(e->made);
  e->row = e->column = NULL;
  e->made = NULL;
  return complete ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a Newton matrix of %d unknowns", n);
}

cb_status cb_entries_fill(cb_entries *e, int n) {
  e->nonzeros = (size_t)n * (size_t)n;
  e->place = malloc((e->next + 1) * sizeof *e->place);
  const bool complete = !e->lost && e->place;
  for (size_t t = 0; complete && t < e->next; t++) e->place[t] = e->row[t] + e->column[t] * n;
  return finish(e, n, complete);
}

cb_status cb_entries_compress(cb_entries *e, int n, cb_arena *arena, cb_columns *out) {
  if (e->next > INT32_MAX)
    return cb_fail(CB_ERROR_UNSUPPORTED, "a Newton matrix of %d unknowns has too many entries; another `solver` may do",
                   n);
  const size_t count = e->next;
  cb_arena *scratch = cb_arena_create();
  int *by_row = cb_arena_alloc(scratch, count, sizeof *by_row), *order = cb_arena_alloc(scratch, count, sizeof *order);
  int *first = cb_arena_alloc(scratch, (size_t)n + 1, sizeof *first);
  out->start = cb_arena_alloc(arena, (size_t)n + 1, sizeof *out->start);
  out->row = cb_arena_alloc(arena, count, sizeof *out->row);
  cb_arena_doubles(arena, count, &out->value);
  e->place = malloc((count + 1) * sizeof *e->place);
  const bool complete = !e->lost && e->place && !cb_arena_lost(scratch) && !cb_arena_lost(arena);
  if (complete) {
    sort_by(n, e->row, count, NULL, first, by_row);
    sort_by(n, e->column, count, by_row, first, order);
    merge(e, n, order, out);
  }
  cb_arena_free(scratch);
  return finish(e, n, complete);
}

void cb_entries_begin(cb_entries *e, double *value) {
  e->next = 0;
  e->value = value;
  memset(value, 0, e->nonzeros * sizeof *value);
}

void cb_entries_free(cb_entries *e) { free(e->place), free(e->row), free(e->column), free(e->made); }
