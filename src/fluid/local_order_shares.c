/* Shares of vertices in the area of each part at the first pose, a third of each of its faces': the weights of the
 * part's apex. Part by part, in the caller's order.
 */
#include "fluid/local_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>

static void *room(size_t n, size_t size) { return calloc(n + 1, size); }

static int compare_shares(const void *a_, const void *b_) {
  const cb_local_share *a = a_, *b = b_;
  return a->from < b->from ? -1 : a->from > b->from;
}

cb_status cb_local_order_shares(const cb_surface *s, cb_local *l) {
  double *share = room((size_t)s->vertices, sizeof *share);
  int *seen = room((size_t)s->vertices, sizeof *seen);
  cb_status status = share && seen ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  for (int pass = 0; pass < 2 && !status; pass++) {
    for (int i = 0; i < s->vertices; i++) seen[i] = -1;
    int at = 0;
    for (int b = 0; b < l->face_blocks;) {
      const int p = l->face_block[b].part, first = at;
      double whole = 0;
      for (; b < l->face_blocks && l->face_block[b].part == p; b++)
        for (int slot = l->face_block[b].begin; slot < l->face_block[b].end; slot++) {
          int v[3];
          double e1[3], e2[3], a[3];
          for (int k = 0; k < 3; k++) v[k] = l->original[l->corner[k][slot] / 8];
          for (int i = 0; i < 3; i++) {
            e1[i] = s->x[v[1]][i] - s->x[v[0]][i];
            e2[i] = s->x[v[2]][i] - s->x[v[0]][i];
          }
          cb_cross3(e1, e2, a);
          const double area = sqrt(cb_dot3(a, a)) / 2;
          whole += area;
          for (int k = 0; k < 3; k++) {
            if (seen[v[k]] != p) {
              share[v[k]] = 0;
              if (pass == 1) l->share[at].from = v[k];
              at++;
            }
            seen[v[k]] = p;
            share[v[k]] += area / 3;
          }
        }
      if (pass == 0) continue;
      for (int i = first; i < at; i++) l->share[i].share = whole > 0 ? share[l->share[i].from] / whole : 0;
      qsort(l->share + first, (size_t)(at - first), sizeof *l->share, compare_shares);
      for (int i = first; i < at; i += CB_LOCAL_BLOCK)
        l->share_block[l->share_blocks++] =
            (cb_local_block){.part = p, .begin = i, .end = at < i + CB_LOCAL_BLOCK ? at : i + CB_LOCAL_BLOCK};
    }
    if (pass == 1) break;
    const size_t blocks = (size_t)at / CB_LOCAL_BLOCK + (size_t)s->parts;
    l->share = room((size_t)at, sizeof *l->share);
    l->share_block = room(blocks, sizeof *l->share_block);
    l->share_sum = room(blocks, sizeof *l->share_sum);
    if (!l->share || !l->share_block || !l->share_sum)
      status = cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  }
  free(share);
  free(seen);
  return status;
}
