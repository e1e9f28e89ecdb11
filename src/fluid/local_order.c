/* The order in which the local fluid model stores faces, vertices and edges.
 *
 * Part by part, faces follow Morton's curve through their centres in the first pose, so that neighbours in space are
 * neighbours in memory. Vertices are in the order of their first use, edges in the order of their first vertex. An edge
 * between two faces of a block is stored with one of these faces, if the face has a place for it: this face holds the
 * edge, and the edge is summed with the face. Other edges are in lists.
 */
#include "fluid/local_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *allocate(size_t n, size_t size) { return calloc(n + 1, size); }

/* --- shares --- */

/* The share of a vertex in the area of a part at the first pose: a third of the areas of its faces in the part, divided
 * by the area of the part. The shares are the weights of the part's apex. They are stored part by part, in the caller's
 * order of the vertices. */

static int compare_shares(const void *a_, const void *b_) {
  const cb_local_share *a = a_, *b = b_;
  return a->from < b->from ? -1 : a->from > b->from;
}

static cb_status order_shares(const cb_surface *s, cb_local *l) {
  double *share = allocate((size_t)s->vertices, sizeof *share);
  int *seen = allocate((size_t)s->vertices, sizeof *seen);
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
    l->share = allocate((size_t)at, sizeof *l->share);
    l->share_block = allocate(blocks, sizeof *l->share_block);
    l->share_sum = allocate(blocks, sizeof *l->share_sum);
    if (!l->share || !l->share_block || !l->share_sum)
      status = cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  }
  free(share);
  free(seen);
  return status;
}

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

/* Spreads the 20 low bits of a: two zero bits follow each of them. */
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
      return cb_fail(CB_ERROR_DOMAIN, "vertex %d is at (%g, %g, %g): expected finite coordinates", s->number[i],
                     s->x[i][0], s->x[i][1], s->x[i][2]);
  for (int f = 0; f < s->faces; f++) {
    const int *v = s->face[f];
    for (int k = 0; k < 3; k++) {
      if (v[k] < 0 || v[k] >= s->vertices)
        return cb_fail(CB_ERROR_DOMAIN, "face %d has vertex %d: expected 1 to %d", f + 1, v[k] + 1, s->vertices);
      if (v[k] == v[(k + 1) % 3])
        return cb_fail(CB_ERROR_DOMAIN, "face %d has vertex %d twice: expected three different vertices", f + 1,
                       v[k] + 1);
    }
    if (s->part[f] < 0 || s->part[f] >= s->parts)
      return cb_fail(CB_ERROR_DOMAIN, "face %d is of part %d: expected 1 to %d", f + 1, s->part[f] + 1, s->parts);
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

/* Places the count[p] faces (or edges) of each part in whole groups, from entry `at` on, and divides them into blocks.
 * count[parts] becomes the first entry of each part. Returns the entry after the last one. */
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

static size_t block_capacity(int members, int parts) { return (size_t)members / CB_LOCAL_BLOCK + 2 * (size_t)parts; }

/* Orders the faces and vertices. number[vertices] receives the index at which each of the caller's vertices is stored.
 */
static cb_status order_faces(const cb_surface *s, cb_local *l, int *number) {
  const size_t slots = (size_t)s->faces + (size_t)s->parts * CB_LOCAL_GROUP;
  placed_face *face = allocate((size_t)s->faces, sizeof *face);
  int *begin = allocate((size_t)s->parts, sizeof *begin), *next = allocate((size_t)s->parts, sizeof *next);
  l->face_block = allocate(block_capacity(s->faces, s->parts), sizeof *l->face_block);
  l->original = allocate((size_t)s->vertices, sizeof *l->original);
  l->face_of = allocate(slots, sizeof *l->face_of);
  bool missing = !face || !begin || !next || !l->face_block || !l->original || !l->face_of;
  for (int k = 0; k < 3; k++) missing |= !(l->corner[k] = allocate(slots, sizeof *l->corner[k]));
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
    /* Padding is a face without area: its three corners are one corner of the part's last face. */
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
  /* high: the higher vertex of the edge; slot: the slot of the face. The lower vertex is the number of the bucket. */
  int high, slot;
  bool down; /* the face runs from high to low */
} half_edge;

typedef struct whole_edge {
  int end[2], slot[2]; /* the two vertices of the edge, and the slots of its two faces */
  int owner;           /* the index (0 or 1) of the face with which the edge is summed; -1: neither face */
} whole_edge;

static int compare_halves(const void *a_, const void *b_) {
  const half_edge *a = a_, *b = b_;
  if (a->high != b->high) return a->high < b->high ? -1 : 1;
  return a->slot < b->slot ? -1 : a->slot > b->slot;
}

/* Sorts half edges into buckets by their lower vertex: bucket v is half[first[v]] to half[first[v + 1]]. */
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
    else /* first[v] has reached the end of bucket v */
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
        return cb_fail(CB_ERROR_DOMAIN,
                       "faces %d and %d have opposite orientations at the edge between vertices %d and %d: expected "
                       "the same orientation",
                       l->face_of[h[0].slot] + 1, l->face_of[h[1].slot] + 1, s->number[a], s->number[b]);
      edge[(*edges)++] = (whole_edge){.end = {h->down ? h->high : v, h->down ? v : h->high},
                                      .slot = {h->slot, n == 2 ? h[1].slot : -1},
                                      .owner = -1};
    }
  }
  return CB_OK;
}

/* Returns the corner at which the face in a slot has this vertex. */
static int corner_of(const cb_local *l, int slot, int vertex) {
  int k = 0;
  while (k < 2 && l->corner[k][slot] != 8 * vertex) k++;
  return k;
}

/* Chooses the face that holds an edge between two faces of one block. This is the face with the larger slot. A face
 * holds at most two edges; a third one goes to the other face if that face is in the same chunk and holds fewer than
 * two, otherwise to no face. owned[slots] counts the edges of each face. */
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

/* Returns the corner k at which the edge starts in the face that holds it. */
static int side_of(const cb_local *l, const whole_edge *e) { return corner_of(l, e->slot[e->owner], e->end[e->owner]); }

/* Renumbers the corners of each face cyclically. If the face holds one edge, this edge becomes the side that starts at
 * corner 0, and its neighbour is in beside[0]. If the face holds two edges, the other edge becomes the side that ends
 * at corner 0, and its neighbour is in beside[1]. sides[slots] is a work array that is 0 at first. */
static cb_status order_beside(cb_local *l, const int *block_of, const whole_edge *edge, int edges, int *sides) {
  for (int k = 0; k < 2; k++)
    if (!(l->beside[k] = allocate((size_t)l->slots, sizeof *l->beside[k])))
      return cb_fail(CB_ERROR_MEMORY, "no memory for the edges of %d faces", l->faces);
  for (int i = 0; i < edges; i++)
    if (edge[i].owner >= 0) sides[edge[i].slot[edge[i].owner]] |= 1 << side_of(l, edge + i);
  for (int slot = 0; slot < l->slots; slot++) {
    static const int turns[8] = {0, 0, 1, 1, 2, 0, 2, 0}; /* the corner that becomes corner 0 */
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

/* Lists the faces of the rim, which have an edge that no face holds. rim_of[slots] becomes the index of each of these
 * faces in the list. */
static cb_status order_rim(cb_local *l, const whole_edge *edge, int edges, int *rim_of) {
  memset(rim_of, 0, (size_t)l->slots * sizeof *rim_of);
  for (int i = 0; i < edges; i++)
    for (int k = 0; k < 2; k++)
      if (edge[i].owner < 0 && edge[i].slot[k] >= 0) rim_of[edge[i].slot[k]] = 1;
  int n = 0;
  for (int slot = 0; slot < l->slots; slot++) n += rim_of[slot];
  l->rim_slot = allocate((size_t)n, sizeof *l->rim_slot);
  l->rim_first = allocate((size_t)l->face_blocks + 1, sizeof *l->rim_first);
  l->rim = allocate(4 * (size_t)n, sizeof *l->rim);
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

/* Enters an edge that no face holds into the lists of its one or two parts. If `write` is not set, the edge is only
 * counted. count[kind * parts + part] is the next entry of the list of each kind of edge and part. */
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
  int *slot_of = allocate((size_t)s->faces, sizeof *slot_of), *first = allocate((size_t)s->vertices + 1, sizeof *first),
      *block_of = allocate((size_t)l->slots, sizeof *block_of), *owned = allocate((size_t)l->slots, sizeof *owned),
      *count = allocate(3 * (size_t)s->parts, sizeof *count);
  half_edge *half = allocate(halves, sizeof *half);
  whole_edge *edge = allocate(halves, sizeof *edge);
  l->open = allocate((size_t)s->parts, sizeof *l->open);
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
    l->edge_block = allocate(3 * block_capacity(entries, s->parts), sizeof *l->edge_block);
    bool missing = !l->edge_block;
    for (int k = 0; k < 2; k++) {
      /* Entries that stay 0 are edges without length. */
      l->edge_face[k] = allocate((size_t)entries, sizeof *l->edge_face[k]);
      l->edge_end[k] = allocate((size_t)entries, sizeof *l->edge_end[k]);
      missing |= !l->edge_face[k] || !l->edge_end[k];
    }
    if (missing) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d edges", edges);
  }
  if (!status) {
    for (int kind = 0; kind < 3; kind++)
      l->edges =
          place_parts(s->parts, count + kind * s->parts, (cb_local_kind)kind, l->edges, l->edge_block, &l->edge_blocks);
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

/* Finds row_first[block], the first vertex that is not used before this block. The vertices are in the order of their
 * first use, so that each block is the first to use a certain range of vertices. */
static cb_status order_rows(cb_local *l) {
  l->row_first = allocate((size_t)l->face_blocks + 1, sizeof *l->row_first);
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
  int *number = allocate((size_t)s->vertices, sizeof *number);
  if (!number) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  l->vertices = s->vertices;
  l->faces = s->faces;
  l->parts = s->parts;
  status = order_faces(s, l, number);
  free(number);
  if (!status && !(l->part_block = allocate((size_t)s->parts + 1, sizeof *l->part_block)))
    status = cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->parts);
  for (int p = 0, b = 0; p <= s->parts && !status; l->part_block[p++] = b)
    while (b < l->face_blocks && l->face_block[b].part < p) b++;
  if (!status) status = order_edges(s, l);
  if (!status) status = order_rows(l);
  return status ? status : order_shares(s, l);
}
