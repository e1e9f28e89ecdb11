/* Points of a branch as numbers, from which it goes on to the last digit as if it had not been left. */
#include "optimum/family_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Then z, tangent and eigen, [size] each. */
enum { HARMONICS, SIZE, INDEX, FLAT, VALUES, SIGN, WHOLE, STEP, LENGTH, COST, SCALE, HEAD };

cb_status family_state_make(const family_system *y, const family_point *p, double h, bool whole, double **out,
                            int *count) {
  const size_t size = (size_t)p->size;
  double *s = calloc(HEAD + 3 * size, sizeof *s);
  if (!s) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d unknowns", p->size);
  s[HARMONICS] = p->harmonics, s[SIZE] = p->size, s[INDEX] = p->index, s[FLAT] = p->flat;
  s[VALUES] = p->values, s[SIGN] = p->sign, s[WHOLE] = whole, s[STEP] = h;
  s[LENGTH] = p->s, s[COST] = p->cost, s[SCALE] = y->scale;
  memcpy(s + HEAD, p->z, size * sizeof *s);
  memcpy(s + HEAD + size, p->tangent, size * sizeof *s);
  memcpy(s + HEAD + 2 * size, p->eigen, (size_t)p->values * sizeof *s);
  *out = s, *count = (int)(HEAD + 3 * size);
  return CB_OK;
}

static bool whole_within(double x, double low, double high) { return x >= low && x <= high && x == floor(x); }

cb_status family_state_read(family_walk *w, const cb_optimum_problem *o, int count, const double *s, family_point **out,
                            double *h, bool *whole) {
  *out = NULL;
  if (count < HEAD || !whole_within(s[SIZE], 1, count) || !whole_within(s[HARMONICS], 1, s[SIZE]) ||
      HEAD + 3 * (int)s[SIZE] > count || !whole_within(s[VALUES], 0, s[SIZE]) || !(s[SCALE] > 0))
    return CB_OK;
  for (int i = 0; i < HEAD + 3 * (int)s[SIZE]; i++)
    if (!isfinite(s[i])) return CB_OK;
  const cb_status status =
      w->y ? family_harmonics(w, (int)s[HARMONICS]) : family_system_create(o, (int)s[HARMONICS], s[SCALE], &w->y);
  if (status || w->y->size != (int)s[SIZE]) return status;
  const cb_status made = family_point_create(w->y, out);
  if (made) return made;
  const size_t size = (size_t)w->y->size;
  family_point *p = *out;
  memcpy(p->z, s + HEAD, size * sizeof *s);
  memcpy(p->tangent, s + HEAD + size, size * sizeof *s);
  p->values = (int)s[VALUES];
  memcpy(p->eigen, s + HEAD + 2 * size, (size_t)p->values * sizeof *s);
  p->index = (int)s[INDEX], p->flat = (int)s[FLAT], p->sign = (int)s[SIGN];
  p->s = s[LENGTH], p->cost = s[COST];
  *h = s[STEP], *whole = s[WHOLE] != 0;
  return CB_OK;
}
