/* Checks whether a surface is a body: first its faces and edges, then the closed pieces of each part. The pieces must
 * be oriented outwards and must not be inside each other.
 *
 *   volume   V = (1/6) sum [a b c] over a piece
 *   winding  w(x) = (1/(4 pi)) sum 2 atan2([a b c], |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|),
 *            a, b, c: corners of a face relative to x:
 *            1 inside a closed piece that is oriented outward, 0 outside
 *
 * [a b c] is a . (b × c), and the sums are over faces. Coordinates are at most 1e70, so that fourth powers of lengths
 * do not overflow. Source of the solid angle: A. van Oosterom & J. Strackee, IEEE Trans. Biomed. Eng. 30 (1983) 125,
 * eq. 8, doi:10.1109/TBME.1983.325207.
 */
#include "fluid/surface_mesh.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A closed piece whose volume is less than this share of area^(3/2) has no inside. This limit is far above
 * round-off. */
static const double flat = 1e-10;
/* Number of vertices, spread over a piece, for which it is checked whether they are inside another piece. */
enum { PROBES = 8 };

static void corners(const cb_surface *s, int f, const double from[3], double out[3][3]) {
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) out[i][k] = s->x[s->face[f][i]][k] - from[k];
}

static double triple(double p[3][3]) {
  double n[3];
  cb_cross3(p[1], p[2], n);
  return cb_dot3(p[0], n);
}

static cb_status check_sizes(const cb_surface *s) {
  for (int v = 0; v < s->vertices; v++)
    for (int k = 0; k < 3; k++)
      if (!(fabs(s->x[v][k]) <= 1e70))
        return cb_fail(CB_ERROR_DOMAIN, "vertex %d at (%g, %g, %g): expected coordinates up to 1e70", s->number[v],
                       s->x[v][0], s->x[v][1], s->x[v][2]);
  return CB_OK;
}

/* ---- faces ---- */

static double twice_area(const cb_surface *s, int f, double *longest) {
  double p[3][3], n[3];
  corners(s, f, s->x[s->face[f][0]], p);
  cb_cross3(p[1], p[2], n);
  const double side[3] = {p[2][0] - p[1][0], p[2][1] - p[1][1], p[2][2] - p[1][2]};
  *longest = sqrt(fmax(fmax(cb_dot3(p[1], p[1]), cb_dot3(p[2], p[2])), cb_dot3(side, side)));
  return sqrt(cb_dot3(n, n));
}

static cb_status check_areas(const cb_surface *s) {
  for (int f = 0; f < s->faces; f++) {
    double longest, area = twice_area(s, f, &longest);
    if (!cb_face_is_flat(area, longest)) continue;
    const int *c = s->face[f];
    const double *a = s->x[c[0]];
    return cb_fail(CB_ERROR_DOMAIN, "part '%s': face %d (vertices %d, %d, %d) at (%g, %g, %g) has no area",
                   s->name[s->part[f]], f + 1, s->number[c[0]], s->number[c[1]], s->number[c[2]], a[0], a[1], a[2]);
  }
  return CB_OK;
}

/* Returns the corner of a side's face that is not on this side. */
static int third(const cb_surface *s, const cb_side *side) {
  const int *c = s->face[side->face];
  for (int k = 0; k < 3; k++)
    if (c[k] != side->lo && c[k] != side->hi) return c[k];
  return -1;
}

typedef struct corner {
  int third, side;
} corner;

static int compare_corners(const void *a, const void *b) {
  const corner *p = a, *q = b;
  if (p->third != q->third) return p->third < q->third ? -1 : 1;
  return (p->side > q->side) - (p->side < q->side);
}

/* Checks that no face is listed twice. Two faces are the same if they have an edge and the third corner in common. So
 * for each edge the third corners of its faces are compared. Two faces that coincide with opposite orientation are
 * allowed if they belong to different parts, which touch there. */
static cb_status check_twice(const cb_surface *s, const cb_side *side) {
  size_t n = 3 * (size_t)s->faces;
  corner *list = malloc(n * sizeof *list);
  if (!list) return cb_fail(CB_ERROR_MEMORY, "no memory for a check of %d faces", s->faces);
  cb_status status = CB_OK;
  for (size_t i = 0, end; !status && i < n; i = end) {
    /* the sides of this edge in all parts */
    end = cb_sides_same(side, n, i, NULL);
    if (end == i + 1) continue;
    size_t count = end - i;
    for (size_t j = 0; j < count; j++) list[j] = (corner){third(s, &side[i + j]), (int)j};
    qsort(list, count, sizeof *list, compare_corners);
    for (size_t j = 1; j < count && !status; j++) {
      const cb_side *a = &side[i + (size_t)list[j - 1].side], *b = &side[i + (size_t)list[j].side];
      if (list[j - 1].third != list[j].third) continue;
      if (a->forward != b->forward && s->part[a->face] != s->part[b->face]) continue;
      const int *c = s->face[b->face];
      const double *x = s->x[c[0]];
      status =
          cb_fail(CB_ERROR_DOMAIN, "part '%s': faces %d and %d have the same vertices %d, %d, %d, at (%g, %g, %g)%s",
                  s->name[s->part[b->face]], a->face + 1, b->face + 1, s->number[c[0]], s->number[c[1]],
                  s->number[c[2]], x[0], x[1], x[2],
                  a->forward != b->forward
                      ? ", with opposite orientations: pieces touch there, or there is no space between them"
                      : "");
    }
  }
  free(list);
  return status;
}

/* ---- edges ---- */

static cb_status fail_edge(const cb_surface *s, const cb_side *side, const char *what) {
  const double *a = s->x[side->lo], *b = s->x[side->hi];
  return cb_fail(CB_ERROR_DOMAIN,
                 "part '%s': %s the edge of vertices %d and %d, from (%g, %g, %g) to (%g, %g, %g), face %d",
                 s->name[s->part[side->face]], what, s->number[side->lo], s->number[side->hi], a[0], a[1], a[2], b[0],
                 b[1], b[2], side->face + 1);
}

/* Fails with a message about the first edge that has one face, and the number of such edges. */
static cb_status fail_border(const cb_surface *s, const cb_side *side, size_t first) {
  const size_t n = 3 * (size_t)s->faces;
  int count = 0;
  char what[80];
  for (size_t i = first, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, s->part);
    count += end == i + 1;
  }
  snprintf(what, sizeof what, "not closed: %d edge%s with one face, the first is", count, count > 1 ? "s" : "");
  return fail_edge(s, &side[first], what);
}

/* Returns whether as many faces run along an edge in one direction as in the other. */
static bool runs_both_ways(const cb_side *side, size_t n) {
  size_t forward = 0;
  for (size_t i = 0; i < n; i++) forward += side[i].forward;
  return 2 * forward == n;
}

static cb_status check_edges(const cb_surface *s, const cb_side *side, bool open) {
  size_t n = 3 * (size_t)s->faces;
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, s->part);
    if (end == i + 1 && !open) return fail_border(s, side, i);
    if (end > i + 2)
      return fail_edge(s, &side[i + 2],
                       runs_both_ways(side + i, end - i) ? "not one surface: pieces touch, with more than two faces, at"
                                                         : "not a surface: more than two faces at");
    if (end == i + 2 && side[i].forward == side[i + 1].forward)
      return fail_edge(s, &side[i + 1], "faces with opposite orientations at");
  }
  return CB_OK;
}

/* ---- closed pieces ---- */

typedef struct piece {
  int part, first; /* first: the index in `order` of the piece's first face */
  int faces;
  bool open;
  double volume, area, low[3], high[3];
} piece;

typedef struct pieces {
  int *order; /* the faces, piece by piece */
  piece *piece;
  int count;
  /* The closed pieces sorted by low[0], as a tree: the middle piece of a range is its root, and `reach` is the largest
   * high[0] in the range. */
  struct place {
    const piece *p;
    double reach;
  } * tree;
  int closed;
} pieces;

static void measure(const cb_surface *s, const int *face, piece *p) {
  /* Coordinates are relative to a vertex of the piece, so that no digits are lost for a distant piece. */
  const double *from = s->x[s->face[face[0]][0]];
  memcpy(p->low, from, sizeof p->low);
  memcpy(p->high, from, sizeof p->high);
  for (int i = 0; i < p->faces; i++) {
    double c[3][3], longest;
    corners(s, face[i], from, c);
    p->volume += triple(c) / 6;
    p->area += twice_area(s, face[i], &longest) / 2;
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) {
        double x = s->x[s->face[face[i]][j]][k];
        p->low[k] = fmin(p->low[k], x);
        p->high[k] = fmax(p->high[k], x);
      }
  }
}

static cb_status find_pieces(const cb_surface *s, const cb_side *side, pieces *out) {
  size_t n = 3 * (size_t)s->faces, faces = (size_t)s->faces;
  int *parent = malloc(2 * faces * sizeof *parent), *at = parent ? parent + faces : NULL;
  out->order = malloc(faces * sizeof *out->order);
  out->piece = calloc(faces, sizeof *out->piece);
  if (!parent || !out->order || !out->piece) {
    free(parent);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a check of %d faces", s->faces);
  }
  for (int f = 0; f < s->faces; f++) parent[f] = f;
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, s->part);
    for (size_t j = i + 1; j < end; j++) cb_union_join(parent, side[i].face, side[j].face);
  }
  for (int f = 0; f < s->faces; f++) {
    int root = cb_union_find(parent, f);
    at[f] = root == f ? out->count++ : at[root];
    out->piece[at[f]].part = s->part[f];
    out->piece[at[f]].faces++;
  }
  for (int p = 1; p < out->count; p++) out->piece[p].first = out->piece[p - 1].first + out->piece[p - 1].faces;
  for (int p = 0; p < out->count; p++) out->piece[p].faces = 0;
  for (int f = 0; f < s->faces; f++) {
    piece *p = &out->piece[at[f]];
    out->order[p->first + p->faces++] = f;
  }
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, s->part);
    if (end == i + 1) out->piece[at[side[i].face]].open = true;
  }
  for (int p = 0; p < out->count; p++) measure(s, out->order + out->piece[p].first, &out->piece[p]);
  free(parent);
  return CB_OK;
}

static int compare_places(const void *a, const void *b) {
  const struct place *p = a, *q = b;
  if (p->p->low[0] != q->p->low[0]) return p->p->low[0] < q->p->low[0] ? -1 : 1;
  return (p->p > q->p) - (p->p < q->p);
}

static double set_reach(struct place *tree, int begin, int end) {
  if (begin == end) return -INFINITY;
  const int root = begin + (end - begin) / 2;
  const double sides = fmax(set_reach(tree, begin, root), set_reach(tree, root + 1, end));
  return tree[root].reach = fmax(tree[root].p->high[0], sides);
}

static cb_status grow_tree(pieces *all) {
  all->tree = calloc((size_t)all->count + 1, sizeof *all->tree);
  if (!all->tree) return cb_fail(CB_ERROR_MEMORY, "no memory for a check of %d pieces", all->count);
  for (int i = 0; i < all->count; i++)
    if (!all->piece[i].open) all->tree[all->closed++].p = &all->piece[i];
  qsort(all->tree, (size_t)all->closed, sizeof *all->tree, compare_places);
  set_reach(all->tree, 0, all->closed);
  return CB_OK;
}

static double winding(const cb_surface *s, const int *face, const piece *p, const double x[3]) {
  for (int k = 0; k < 3; k++)
    if (x[k] < p->low[k] || x[k] > p->high[k]) return 0;
  double angle = 0;
  for (int i = 0; i < p->faces; i++) {
    double c[3][3];
    corners(s, face[i], x, c);
    angle += cb_solid_angle3((const double(*)[3])c);
  }
  return angle / 12.566370614359172;
}

/* Returns the winding number of x in the closed pieces of a range of the tree except `self`. If own_part is set, only
 * pieces of the same part count. *around is the index of the smallest piece found so far that contains x or an earlier
 * probe; before the first call it is the index of `self`. */
static double winding_of_others(const cb_surface *s, const pieces *all, int begin, int end, const piece *self,
                                bool own_part, const double x[3], int *around) {
  const int root = begin + (end - begin) / 2;
  if (begin == end || all->tree[root].reach < x[0]) return 0;
  double w = winding_of_others(s, all, begin, root, self, own_part, x, around);
  const piece *q = all->tree[root].p;
  if (q->low[0] > x[0]) return w; /* the pieces after q begin at even larger coordinates */
  if (q != self && (!own_part || q->part == self->part)) {
    const double one = winding(s, all->order + q->first, q, x);
    if (one > .5 && (all->piece + *around == self || q->volume < all->piece[*around].volume))
      *around = (int)(q - all->piece);
    w += one;
  }
  return w + winding_of_others(s, all, root + 1, end, self, own_part, x, around);
}

/* Returns whether all probes of piece i are inside other closed pieces: their winding number in these pieces is above
 * 1/2. If own_part is set, only pieces of the same part count. *around becomes the index of the smallest piece that
 * contains a probe, or i if there is none. */
static bool lies_inside(const cb_surface *s, const pieces *all, int i, bool own_part, int *around) {
  const piece *p = &all->piece[i];
  *around = i;
  int probes = p->faces < PROBES ? p->faces : PROBES;
  for (int n = 0; n < probes; n++) {
    const double *x = s->x[s->face[all->order[p->first + (int)((long long)n * p->faces / probes)]][0]];
    if (!(winding_of_others(s, all, 0, all->closed, p, own_part, x, around) > .5)) return false;
  }
  return true;
}

static bool has_volume(const piece *p) { return fabs(p->volume) > flat * pow(p->area, 1.5); }

static cb_status check_piece(const cb_surface *s, const pieces *all, int i) {
  const piece *p = &all->piece[i];
  const int face = all->order[p->first];
  const double *x = s->x[s->face[face][0]];
  const char *name = s->name[p->part];
  int around;
  if (!has_volume(p))
    return cb_fail(CB_ERROR_DOMAIN, "part '%s': closed but without volume, around face %d at (%g, %g, %g)", name,
                   face + 1, x[0], x[1], x[2]);
  if (p->volume < 0) {
    if (lies_inside(s, all, i, true, &around)) return CB_OK; /* the piece is a cavity */
    if (lies_inside(s, all, i, false, &around))
      return cb_fail(
          CB_ERROR_DOMAIN,
          "part '%s': a cavity inside part '%s', around face %d at (%g, %g, %g): give both the same group in "
          "the mesh",
          name, s->name[all->piece[around].part], face + 1, x[0], x[1], x[2]);
    return cb_fail(CB_ERROR_DOMAIN, "part '%s': faces point inward (volume %g), around face %d at (%g, %g, %g)", name,
                   p->volume, face + 1, x[0], x[1], x[2]);
  }
  if (!lies_inside(s, all, i, false, &around)) return CB_OK;
  return cb_fail(CB_ERROR_DOMAIN,
                 "part '%s': the closed piece around face %d at (%g, %g, %g) lies inside the closed piece of face %d "
                 "of part '%s': expected pieces outside each other",
                 name, face + 1, x[0], x[1], x[2], all->order[all->piece[around].first] + 1,
                 s->name[all->piece[around].part]);
}

static void end_pieces(pieces *all) {
  free(all->order);
  free(all->piece);
  free(all->tree);
}

/* The function expects that each part of s is one piece. */
cb_status cb_surface_unite_cavities(cb_surface *s, bool *any) {
  cb_side *side = cb_sides_sorted(s->vertices, s->faces, (const int(*)[3])s->face, s->part);
  int *whose = malloc((size_t)s->parts * sizeof *whose), *number = malloc((size_t)s->parts * sizeof *number);
  pieces all = {.order = NULL};
  cb_status status = side && whose && number ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->parts);
  if (!status) status = find_pieces(s, side, &all);
  if (!status) status = grow_tree(&all);
  for (int p = 0; p < s->parts && !status; p++) whose[p] = number[p] = p;
  for (int i = 0, around; i < all.count && !status; i++) {
    const piece *p = &all.piece[i];
    if (p->open || !(p->volume < 0) || !has_volume(p) || !lies_inside(s, &all, i, false, &around)) continue;
    whose[p->part] = all.piece[around].part;
    *any = true;
  }
  int parts = 0;
  for (int p = 0; p < s->parts && *any && !status; p++)
    if (whose[p] == p) number[p] = parts++;
  for (int f = 0; f < s->faces && *any && !status; f++) s->part[f] = number[whose[s->part[f]]];
  free(side);
  free(whose);
  free(number);
  end_pieces(&all);
  return status;
}

cb_status cb_surface_check(const cb_surface *s, bool open) {
  cb_status status = check_sizes(s);
  if (status) return status;
  cb_side *side = cb_sides_sorted(s->vertices, s->faces, (const int(*)[3])s->face, s->part);
  if (!side) return cb_fail(CB_ERROR_MEMORY, "no memory for a check of %d faces", s->faces);
  pieces all = {.order = NULL};
  status = check_areas(s);
  if (!status) status = check_twice(s, side);
  if (!status) status = check_edges(s, side, open);
  if (!status) status = find_pieces(s, side, &all);
  if (!status) status = grow_tree(&all);
  for (int i = 0; i < all.count && !status; i++)
    if (!all.piece[i].open) status = check_piece(s, &all, i);
  free(side);
  end_pieces(&all);
  return status;
}
