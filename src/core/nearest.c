/* The nearest name, for suggestions: the least number of insertions, deletions, substitutions and exchanges of
 * neighbours that turn one into the other (restricted edit distance: Boytsov 2011, doi:10.1145/1963190.1963191). */
#include <curvebody/node.h>
#include <string.h>

enum { LONGEST = 64 };

static size_t min2(size_t a, size_t b) { return a < b ? a : b; }

/* d[i][j]: distance between the first i letters of a and the first j of b; three rows are kept. */
static size_t edit_distance(const char *a, size_t m, const char *b, size_t n) {
  size_t rows[3][LONGEST + 1];
  size_t *before = rows[0], *last = rows[1], *now = rows[2];
  for (size_t j = 0; j <= n; j++) last[j] = j;
  for (size_t i = 1; i <= m; i++) {
    now[0] = i;
    for (size_t j = 1; j <= n; j++) {
      size_t d = min2(last[j], now[j - 1]) + 1;
      d = min2(d, last[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d = min2(d, before[j - 2] + 1);
      now[j] = d;
    }
    size_t *free_row = before;
    before = last;
    last = now;
    now = free_row;
  }
  return last[n];
}

const char *cb_nearest_name(const char *text, const char *const *names, size_t count) {
  if (!text) return NULL;
  size_t length = strlen(text);
  if (length > LONGEST) return NULL;
  size_t limit = length / 3 > 2 ? length / 3 : 2;
  /* Something of what was written must remain: two letters are not "near" every other two. */
  if (limit >= length) limit = length ? length - 1 : 0;

  const char *nearest = NULL;
  size_t least = limit + 1;
  for (size_t i = 0; i < count; i++) {
    size_t n = strlen(names[i]);
    if (n > LONGEST || (n > length ? n - length : length - n) >= least) continue;
    size_t distance = edit_distance(text, length, names[i], n);
    if (distance < least) {
      least = distance;
      nearest = names[i];
    }
  }
  return nearest;
}
