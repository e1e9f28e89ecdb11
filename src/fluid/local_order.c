/* The order in which the local fluid model keeps faces, vertices and edges.
 *
 * Faces follow Morton's curve through their centres in the first pose, part by part, so that what lies near in space
 * lies near in memory; vertices follow in the order of their first use, edges in that of their first vertex. An edge
 * between two faces of a block is kept with one of them, others in lists.
 */
#include "fluid/local_private.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *room(size_t n, size_t size) { return calloc(n + 1, size); }

/* --- faces --- */

typedef struct placed_face {
  uint64_t code;
  int part, face;
} placed_face;

static int compare_faces(const void *a_, const void *b_) {
  const placed_face *a = a_, *b = b_;
  if (a->part != b->part) return a->part < b->part ? -1 : 1;
  if (a->code != b->code) return a->code < b->code ? -1 : 1;
  return a->face < b->face ? -1 : 1;
}

/* The 20 low bits, each followed by two zeros. */
static uint64_t spaced(uint64_t a) {
  a = (a | a << 32) & UINT64_C(0x1f00000000ffff);
  a = (a | a << 16) & UINT64_C(0x1f0000ff0000ff);
  a = (a | a << 8) & UINT64_C(0x100f00f00f00f00f);
  a = (a | a << 4) & UINT64_C(0x10c30c30c30c30c3);
  return (a | a << 2) & UINT64_C(0x1249249249249249);
}

static cb_status admissible(const cb_surface *s) {
  if (s->faces < 1 || s->faces > 100000000 || s->vertices > 100000000)
    return cb_fail(CB_ERROR_ARGUMENT, "a surface of %d faces and %d vertices: expected 1 to 100000000", s->faces,
                   s->vertices);
  for (int i = 0; i < s->vertices; i++)
    if (!isfinite(s->x[i][0] + s->x[i][1] + s->x[i][2]))
      return cb_fail(CB_ERROR_DOMAIN, "vertex %d is at (%g, %g, %g)", s->number[i], s->x[i][0], s->x[i][1], s->x[i][2]);
  for (int f = 0; f < s->faces; f++) {
    const int *v = s->face[f];
    for (int k = 0; k < 3; k++) {
      if (v[k] < 0 || v[k] >= s->vertices)
        return cb_fail(CB_ERROR_DOMAIN, "face %d has vertex %d of %d", f + 1, v[k] + 1, s->vertices);
      if (v[k] == v[(k + 1) % 3]) return cb_fail(CB_ERROR_DOMAIN, "face %d has vertex %d twice", f + 1, v[k] + 1);
    }
    if (s->part[f] < 0 || s->part[f] >= s->parts)
      return cb_fail(CB_ERROR_DOMAIN, "face %d is of part %d of %d", f + 1, s->part[f] + 1, s->parts);
  }
  return CB_OK;
}

static void sort_faces(const cb_surface *s, placed_face *face) {
  double low[3], size = 0;
  for (int k = 0; k < 3; k++) {
    double high = low[k] = s->x[0][k];
    for (int i = 1; i < s->vertices; i++) {
      low[k] = fmin(low[k], s->x[i][k]);
      high = fmax(high, s->x[i][k]);
    }
    size = fmax(size, high - low[k]);
  }
  const double per = size > 0 ? ((1 << 20) - 1) / (3 * size) : 0;
  for (int f = 0; f < s->faces; f++) {
    const int *v = s->face[f];
    face[f] = (placed_face){.part = s->part[f], .face = f};
    for (int k = 0; k < 3; k++) {
      const double at = s->x[v[0]][k] + s->x[v[1]][k] + s->x[v[2]][k] - 3 * low[k];
      face[f].code |= spaced((uint64_t)fmax(0, at * per)) << k;
    }
  }
  qsort(face, (size_t)s->faces, sizeof *face, compare_faces);
}

/* Places of each part's members in groups, and blocks of them: count[parts] becomes where each begins. */
static int place_parts(int parts, int *count, cb_local_kind kind, int at, cb_local_block *block, int *blocks) {
  for (int p = 0; p < parts; p++) {
    const int n = (count[p] + CB_LOCAL_GROUP - 1) / CB_LOCAL_GROUP * CB_LOCAL_GROUP;
    for (int i = 0; i < n; i += CB_LOCAL_BLOCK)
      block[(*blocks)++] = (cb_local_block){
          .part = p, .begin = at + i, .end = at + (n < i + CB_LOCAL_BLOCK ? n : i + CB_LOCAL_BLOCK), .kind = kind};
    count[p] = at;
    at += n;
  }
  return at;
}

static size_t block_room(int members, int parts) { return (size_t)members / CB_LOCAL_BLOCK + 2 * (size_t)parts; }

/* number: [vertices], the place of each of the caller's vertices. */
static cb_status order_faces(const cb_surface *s, cb_local *l, int *number) {
  const size_t slots = (size_t)s->faces + (size_t)s->parts * CB_LOCAL_GROUP;
  placed_face *face = room((size_t)s->faces, sizeof *face);
  int *begin = room((size_t)s->parts, sizeof *begin), *next = room((size_t)s->parts, sizeof *next);
  l->face_block = room(block_room(s->faces, s->parts), sizeof *l->face_block);
  l->original = room((size_t)s->vertices, sizeof *l->original);
  l->face_of = room(slots, sizeof *l->face_of);
  bool missing = !face || !begin || !next || !l->face_block || !l->original || !l->face_of;
  for (int k = 0; k < 3; k++) missing |= !(l->corner[k] = room(slots, sizeof *l->corner[k]));
  if (!missing) {
    sort_faces(s, face);
    for (int f = 0; f < s->faces; f++) begin[s->part[f]]++;
    l->slots = place_parts(s->parts, begin, CB_LOCAL_INNER, 0, l->face_block, &l->face_blocks);
    memcpy(next, begin, (size_t)s->parts * sizeof *next);
    for (int i = 0; i < s->vertices; i++) number[i] = -1;
    int used = 0;
    for (int i = 0; i < s->faces; i++) {
      const int slot = next[face[i].part]++, *v = s->face[face[i].face];
      l->face_of[slot] = face[i].face;
      for (int k = 0; k < 3; k++) {
        if (number[v[k]] < 0) l->original[number[v[k]] = used++] = v[k];
        l->corner[k][slot] = 8 * number[v[k]];
      }
    }
    for (int i = 0; i < s->vertices; i++)
      if (number[i] < 0) l->original[number[i] = used++] = i;
    /* A face of no area: a corner of the part's last. */
    for (int p = 0; p < s->parts; p++)
      for (int slot = next[p], last = p + 1 < s->parts ? begin[p + 1] : l->slots; slot < last; slot++) {
        l->face_of[slot] = l->face_of[next[p] - 1];
        for (int k = 0; k < 3; k++) l->corner[k][slot] = l->corner[0][next[p] - 1];
      }
  }
  free(face);
  free(begin);
  free(next);
  return missing ? cb_fail(CB_ERROR_MEMORY, "no memory for a surface of %d faces", s->faces) : CB_OK;
}

/* --- edges --- */

typedef struct half_edge {
  int high, slot; /* its lower vertex is the bucket's */
  bool down;      /* the face runs from high to low */
} half_edge;

typedef struct whole_edge {
  int end[2], slot[2];
  int owner; /* which of the faces has it, -1: none */
} whole_edge;

static int compare_halves(const void *a_, const void *b_) {
  const half_edge *a = a_, *b = b_;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* Halves in buckets by their lower vertex: bucket v is half[first[v]] to half[first[v + 1]]. */
static void fill_buckets(const cb_surface *s, const cb_local *l, const int *slot_of, half_edge *half, int *first) {
  for (int turn = 0; turn < 2; turn++) {
    for (int f = 0; f < s->faces; f++)
      for (int k = 0; k < 3; k++) {
        const int slot = slot_of[f], a = l->corner[k][slot] / 8, b = l->corner[(k + 1) % 3][slot] / 8;
        const int low = a < b ? a : b;
        if (turn == 0)
          first[low + 1]++;
        else
          half[first[low]++] = (half_edge){a < b ? b : a, slot, b < a};
      }
    if (turn == 0)
      for (int v = 0; v < s->vertices; v++) first[v + 1] += first[v];
    else /* first[v] has come to the end of its bucket */
      for (int v = s->vertices; v > 0; v--) first[v] = first[v - 1];
  }
  first[0] = 0;
}

static cb_status join_halves(const cb_surface *s, const cb_local *l, half_edge *half, const int *first,
                             whole_edge *edge, int *edges) {
  for (int v = 0; v < s->vertices; v++) {
    qsort(half + first[v], (size_t)(first[v + 1] - first[v]), sizeof *half, compare_halves);
    for (int i = first[v], n; i < first[v + 1]; i += n) {
      for (n = 1; i + n < first[v + 1] && half[i + n].high == half[i].high;) n++;
      const int a = l->original[v], b = l->original[half[i].high];
      if (n > 2)
        return cb_fail(CB_ERROR_DOMAIN, "the edge between vertices %d and %d has %d faces: expected at most two",
                       s->number[a], s->number[b], n);
      const half_edge *h = half + i;
      if (n == 2 && h[0].down == h[1].down)
        return cb_fail(CB_ERROR_DOMAIN, "faces %d and %d look to opposite sides at the edge between vertices %d and %d",
                       l->face_of[h[0].slot] + 1, l->face_of[h[1].slot] + 1, s->number[a], s->number[b]);
      edge[(*edges)++] = (whole_edge){.end = {h->down ? h->high : v, h->down ? v : h->high},
                                      .slot = {h->slot, n == 2 ? h[1].slot : -1},
                                      .owner = -1};
    }
  }
  return CB_OK;
}

/* Which corner of the face in a slot is the vertex. */
static int corner_of(const cb_local *l, int slot, int vertex) {
  int k = 0;
  while (k < 2 && l->corner[k][slot] != 8 * vertex) k++;
  return k;
}

/* Who has an edge within a block: its later face, but a face has two at most; it may pass one on to a neighbour of its
 * chunk, and what is left over has no owner. owned[slots] counts. */
static void own_edges(const cb_local *l, const int *block_of, whole_edge *edge, int edges, int *owned) {
  for (int i = 0; i < edges; i++) {
    whole_edge *e = edge + i;
    if (e->slot[1] < 0 || block_of[e->slot[0]] != block_of[e->slot[1]]) continue;
    e->owner = 1;
    owned[e->slot[1]]++;
  }
  for (int i = 0; i < edges; i++) {
    whole_edge *e = edge + i;
    if (e->owner < 0 || owned[e->slot[1]] <= 2) continue;
    const int begin = l->face_block[block_of[e->slot[0]]].begin;
    owned[e->slot[1]]--;
    if ((e->slot[0] - begin) / CB_LOCAL_CHUNK == (e->slot[1] - begin) / CB_LOCAL_CHUNK && owned[e->slot[0]] < 2) {
      e->owner = 0;
      owned[e->slot[0]]++;
    } else {
      e->owner = -1;
    }
  }
}

/* The side of its owner that the edge is: from corner k on. */
static int side_of(const cb_local *l, const whole_edge *e) {
  return corner_of(l, e->slot[e->owner], e->end[e->owner]);
}

/* Corners of faces are turned until what they have is the side from corner 0 on (beside[0]) and that which ends there
 * (beside[1]). sides: [slots], with zeros. */
static cb_status order_beside(cb_local *l, const int *block_of, const whole_edge *edge, int edges, int *sides) {
  for (int k = 0; k < 2; k++)
    if (!(l->beside[k] = room((size_t)l->slots, sizeof *l->beside[k])))
      return cb_fail(CB_ERROR_MEMORY, "no memory for the edges of %d faces", l->faces);
  for (int i = 0; i < edges; i++)
    if (edge[i].owner >= 0) sides[edge[i].slot[edge[i].owner]] |= 1 << side_of(l, edge + i);
  for (int slot = 0; slot < l->slots; slot++) {
    static const int turns[8] = {0, 0, 1, 1, 2, 0, 2, 0}; /* corner that becomes the first */
    int corner[3];
    for (int k = 0; k < 3; k++) corner[k] = l->corner[(k + turns[sides[slot]]) % 3][slot];
    for (int k = 0; k < 3; k++) l->corner[k][slot] = corner[k];
    for (int k = 0; k < 2; k++) l->beside[k][slot] = 4 * (slot - l->face_block[block_of[slot]].begin);
  }
  for (int i = 0; i < edges; i++) {
    const whole_edge *e = edge + i;
    if (e->owner >= 0)
      l->beside[side_of(l, e) != 0][e->slot[e->owner]] =
          4 * (e->slot[!e->owner] - l->face_block[block_of[e->slot[0]]].begin);
  }
  return CB_OK;
}

/* Faces of edges that no face has: rim_of[slots] becomes their places in the rim. */
static cb_status order_rim(cb_local *l, const whole_edge *edge, int edges, int *rim_of) {
  memset(rim_of, 0, (size_t)l->slots * sizeof *rim_of);
  for (int i = 0; i < edges; i++)
    for (int k = 0; k < 2; k++)
      if (edge[i].owner < 0 && edge[i].slot[k] >= 0) rim_of[edge[i].slot[k]] = 1;
  int n = 0;
  for (int slot = 0; slot < l->slots; slot++) n += rim_of[slot];
  l->rim_slot = room((size_t)n, sizeof *l->rim_slot);
  l->rim_first = room((size_t)l->face_blocks + 1, sizeof *l->rim_first);
  l->rim = room(4 * (size_t)n, sizeof *l->rim);
  if (!l->rim_slot || !l->rim_first || !l->rim)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the edges of %d faces", l->faces);
  n = 0;
  for (int b = 0; b < l->face_blocks; l->rim_first[++b] = n)
    for (int slot = l->face_block[b].begin; slot < l->face_block[b].end; slot++) {
      if (!rim_of[slot]) continue;
      l->rim_slot[n] = slot;
      rim_of[slot] = n++;
    }
  return CB_OK;
}

/* An edge that no face has in the lists of its one or two parts; count: where each (kind, part) goes on. */
static void enter(const cb_surface *s, cb_local *l, const whole_edge *e, const int *rim_of, int *count, bool write) {
  if (e->owner >= 0) return;
  const int p = s->part[l->face_of[e->slot[0]]], q = e->slot[1] < 0 ? p : s->part[l->face_of[e->slot[1]]];
  const cb_local_kind kind = e->slot[1] < 0 ? CB_LOCAL_BORDER : p == q ? CB_LOCAL_INNER : CB_LOCAL_SHARED;
  if (kind == CB_LOCAL_BORDER) l->open[p] = true;
  const int sides = kind == CB_LOCAL_SHARED ? 2 : 1;
  for (int side = 0; side < sides; side++) {
    const int at = count[kind * s->parts + (side ? q : p)]++;
    if (!write) continue;
    for (int k = 0; k < 2; k++) {
      l->edge_face[k][at] = 4 * rim_of[e->slot[e->slot[k] < 0 ? 0 : k]];
      l->edge_end[k][at] = 8 * e->end[k];
    }
  }
}

static cb_status order_edges(const cb_surface *s, cb_local *l) {
  const size_t halves = 3 * (size_t)s->faces;
  int *slot_of = room((size_t)s->faces, sizeof *slot_of), *first = room((size_t)s->vertices + 1, sizeof *first),
      *block_of = room((size_t)l->slots, sizeof *block_of), *owned = room((size_t)l->slots, sizeof *owned),
      *count = room(3 * (size_t)s->parts, sizeof *count);
  half_edge *half = room(halves, sizeof *half);
  whole_edge *edge = room(halves, sizeof *edge);
  l->open = room((size_t)s->parts, sizeof *l->open);
  cb_status status = slot_of && first && block_of && owned && count && half && edge && l->open
                         ? CB_OK
                         : cb_fail(CB_ERROR_MEMORY, "no memory for the edges of %d faces", s->faces);
  int edges = 0;
  if (!status) {
    for (int b = 0; b < l->face_blocks; b++)
      for (int slot = l->face_block[b].begin; slot < l->face_block[b].end; slot++) block_of[slot] = b;
    for (int slot = l->slots - 1; slot >= 0; slot--) slot_of[l->face_of[slot]] = slot;
    fill_buckets(s, l, slot_of, half, first);
    status = join_halves(s, l, half, first, edge, &edges);
  }
  if (!status) {
    own_edges(l, block_of, edge, edges, owned);
    memset(owned, 0, (size_t)l->slots * sizeof *owned);
    status = order_beside(l, block_of, edge, edges, owned);
  }
  if (!status) status = order_rim(l, edge, edges, owned);
  if (!status) {
    for (int e = 0; e < edges; e++) enter(s, l, edge + e, owned, count, false);
    int entries = 0;
    for (int i = 0; i < 3 * s->parts; i++) entries += count[i] + CB_LOCAL_GROUP;
    l->edge_block = room(3 * block_room(entries, s->parts), sizeof *l->edge_block);
    bool missing = !l->edge_block;
    for (int k = 0; k < 2; k++) {
      l->edge_face[k] = room((size_t)entries, sizeof *l->edge_face[k]); /* what stays 0 has no length */
      l->edge_end[k] = room((size_t)entries, sizeof *l->edge_end[k]);
      missing |= !l->edge_face[k] || !l->edge_end[k];
    }
    if (missing) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d edges", edges);
  }
  if (!status) {
    for (int kind = 0; kind < 3; kind++)
      l->edges = place_parts(s->parts, count + kind * s->parts, (cb_local_kind)kind, l->edges, l->edge_block,
                             &l->edge_blocks);
    for (int e = 0; e < edges; e++) enter(s, l, edge + e, owned, count, true);
  }
  free(slot_of);
  free(first);
  free(block_of);
  free(owned);
  free(count);
  free(half);
  free(edge);
  return status;
}

/* Vertices that each block of faces is the first to use. */
static cb_status order_rows(cb_local *l) {
  l->row_first = room((size_t)l->face_blocks + 1, sizeof *l->row_first);
  if (!l->row_first) return cb_fail(CB_ERROR_MEMORY, "no memory for %d blocks", l->face_blocks);
  for (int b = 0, next = 0; b < l->face_blocks; l->row_first[++b] = next)
    for (int slot = l->face_block[b].begin; slot < l->face_block[b].end; slot++)
      for (int k = 0; k < 3; k++)
        if (l->corner[k][slot] / 8 >= next) next = l->corner[k][slot] / 8 + 1;
  return CB_OK;
}

cb_status cb_local_order(const cb_surface *s, cb_local *l) {
  cb_status status = admissible(s);
  if (status) return status;
  int *number = room((size_t)s->vertices, sizeof *number);
  if (!number) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  l->vertices = s->vertices;
  l->faces = s->faces;
  l->parts = s->parts;
  status = order_faces(s, l, number);
  free(number);
  if (!status && !(l->part_block = room((size_t)s->parts + 1, sizeof *l->part_block)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->parts);
  for (int p = 0, b = 0; p <= s->parts && !status; l->part_block[p++] = b)
    while (b < l->face_blocks && l->face_block[b].part < p) b++;
  if (!status) status = order_edges(s, l);
  if (!status) status = order_rows(l);
  return status ? status : cb_local_order_shares(s, l);
}
