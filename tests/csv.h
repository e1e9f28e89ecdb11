/* Reads tables of reference numbers (CSV files). The first row has the names of the columns; the other rows have words
 * and then numbers. */
#pragma once

#include "check.h"

enum { CSV_COLUMNS = 40 };

typedef struct csv {
  FILE *file;
  int columns, words; /* the first `words` columns are text */
  char name[CSV_COLUMNS][32], word[4][32];
  double number[CSV_COLUMNS];
} csv;

static inline bool csv_line(csv *c, bool names) {
  char line[2048];
  if (!fgets(line, sizeof line, c->file)) return false;
  int i = 0;
  for (char *rest = line, *at; (at = strsep(&rest, ",\n")) && i < CSV_COLUMNS && (rest || *at); i++)
    if (names)
      snprintf(c->name[i], sizeof c->name[i], "%s", at);
    else if (i < c->words)
      snprintf(c->word[i], sizeof c->word[i], "%s", at);
    else
      c->number[i] = atof(at);
  if (names) c->columns = i;
  assert_int_equal(i, c->columns);
  return true;
}

/* Opens a table and reads the names of its columns. `path` is relative to the folder tests. The first `words` columns
 * are text. */
static inline csv csv_open(const char *path, int words) {
  char whole[512];
  csv c = {.words = words};
  snprintf(whole, sizeof whole, "%s/%s", CB_TESTS_DIR, path);
  c.file = fopen(whole, "r");
  assert_non_null(c.file);
  assert_true(csv_line(&c, true));
  return c;
}

static inline bool csv_next(csv *c) { return csv_line(c, false); }

/* Returns the numbers of the current row from the column with this name on. The array belongs to c. The test fails if
 * there is no such column. */
static inline const double *csv_numbers(const csv *c, const char *name) {
  for (int i = c->words; i < c->columns; i++)
    if (!strcmp(c->name[i], name)) return c->number + i;
  fail_msg("no column %s", name);
  return NULL;
}
