/* Finds the pieces and the edges of a mesh, and thin bodies (mesh_pieces.h). */
#include "potential/mesh_pieces.h"

#include "core/arena.h"
#include "numerics/vec3.h"
#include "potential/tree_kernels.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* An edge of a face. low < high: the vertices at its ends; across: the vertex of the face opposite to the edge. */
typedef struct side {
  int low, high, face, across;
  bool forward; /* the vertices of the face are listed in the order low, high */
} side;

/* An edge of a border. end: the copies of its two vertices. Copies are numbered from 0; their places (cb_pieces) come
 * after those of the vertices. across: the vertex of its face opposite to the edge. */
typedef struct border {
  int end[2], across;
} border;

typedef struct pieces {
  cb_arena *arena;
  cb_pieces seen;
  int vertices, borders;
  border *border;
  int *first, *edges; /* the border edges at copy c are edges[first[c]..first[c + 1]) */
  int *copied;        /* [copies]: the vertex of each copy */
} pieces;

/* Data that is used while the pieces are found. */
typedef struct search {
  int faces, *up; /* up: [faces], a union-find forest; each root is a face that represents its piece */
  bool *sheet;    /* [faces]: for a root, whether its piece is a sheet */
  bool *reached;  /* [faces]: true: the fluid reaches the face */
  double *volume; /* [faces]: for a root, the volume of its piece */
  side *side;
  int *copy; /* [vertices]: the number of the copy of a vertex on a border; -1: the vertex has no copy */
} search;

static int compare(const void *a, const void *b) {
  const side *p = a, *q = b;
  if (p->low != q->low) return p->low < q->low ? -1 : 1;
  if (p->high != q->high) return p->high < q->high ? -1 : 1;
  return (p->face > q->face) - (p->face < q->face);
}

static int root_of(int *up, int i) {
  while (up[i] != i) i = up[i] = up[up[i]];
  return i;
}

static int run_of(const search *s, int i) {
  int end = i;
  while (end < 3 * s->faces && s->side[end].low == s->side[i].low && s->side[end].high == s->side[i].high) end++;
  return end - i;
}

static int piece_of(const search *s, int side_) { return root_of(s->up, s->side[side_].face); }

/* Returns whether `at` lies in a cavity. A cavity is bounded by a closed piece that points inwards; the winding number
 * of this piece is -1 at points in the cavity. */
static bool in_cavity(const double (*x)[3], int faces, const int (*face)[3], const int *piece, const double *volume,
                      const double at[3]) {
  double angle = 0;
  for (int f = 0; f < faces; f++) {
    double c[3][3];
    if (!(volume[piece[f]] < 0)) continue;
    for (int k = 0; k < 9; k++) c[k / 3][k % 3] = x[face[f][k / 3]][k % 3] - at[k % 3];
    angle += cb_solid_angle3((const double(*)[3])c);
  }
  return angle < -2 * 3.141592653589793;
}

/* Sets reached[f] to whether the fluid reaches face f, which belongs to the piece piece[f]. The fluid reaches no face
 * of a piece whose volume is not positive, and none of a piece that lies in a cavity. */
static void find_reached(const double (*x)[3], int faces, const int (*face)[3], const int *piece, const double *volume,
                         bool *reached) {
  bool any = false;
  for (int f = 0; f < faces; f++) {
    any = any || volume[piece[f]] < 0;
    reached[f] = volume[piece[f]] > 0;
  }
  for (int f = 0; f < faces && any; f++)
    if (piece[f] == f && reached[f]) reached[f] = !in_cavity(x, faces, face, piece, volume, x[face[f][0]]);
  for (int f = 0; f < faces; f++) reached[f] = reached[f] && reached[piece[f]];
}

static void list_sides(search *s, const int (*face)[3]) {
  for (int f = 0; f < s->faces; f++) {
    s->up[f] = f;
    for (int k = 0; k < 3; k++) {
      const int a = face[f][k], b = face[f][(k + 1) % 3];
      s->side[3 * f + k] = (side){a < b ? a : b, a < b ? b : a, f, face[f][(k + 2) % 3], a < b};
    }
  }
  qsort(s->side, 3 * (size_t)s->faces, sizeof *s->side, compare);
}

/* Joins the two faces of a solid at an edge where a sheet ends on the solid. These two faces are those whose pieces
 * have no border. */
static void join(search *s, int first, int n) {
  int of[2] = {-1, -1}, count = 0;
  for (int i = first; i < first + n; i++) {
    if (s->sheet[piece_of(s, i)]) continue;
    if (count < 2) of[count] = i;
    count++;
  }
  if (count == 2 && s->side[of[0]].forward != s->side[of[1]].forward) s->up[piece_of(s, of[0])] = piece_of(s, of[1]);
}

static cb_status connect(search *s, const double (*x)[3], const int (*face)[3]) {
  list_sides(s, face);
  for (int i = 0, n; i < 3 * s->faces; i += n)
    if ((n = run_of(s, i)) == 2) s->up[piece_of(s, i)] = piece_of(s, i + 1);
  for (int i = 0, n; i < 3 * s->faces; i += n)
    if ((n = run_of(s, i)) == 1) s->sheet[piece_of(s, i)] = true;
  for (int i = 0, n; i < 3 * s->faces; i += n)
    if ((n = run_of(s, i)) > 2) join(s, i, n);
  for (int i = 0, n; i < 3 * s->faces; i += n) {
    n = run_of(s, i);
    for (int a = i; a < i + n; a++) {
      const int piece = piece_of(s, a);
      int own = 0;
      for (int b = i; b < i + n; b++) own += piece == piece_of(s, b);
      if (own == 2 || s->sheet[piece]) continue;
      const double *at = x[s->side[i].low];
      return cb_fail(
          CB_ERROR_DOMAIN,
          "none of the %d faces that meet at an edge at (%g, %g, %g) has a border elsewhere, so that solids and sheets "
          "cannot be distinguished: expected two faces at each edge of a solid, and sheets with a border",
          n, at[0], at[1], at[2]);
    }
  }
  return CB_OK;
}

static void measure(search *s, const double (*x)[3], const int (*face)[3]) {
  for (int f = 0; f < s->faces; f++) {
    const int piece = root_of(s->up, f), *c = face[f];
    double n2[3], from[3];
    cb_normal3(x[c[0]], x[c[1]], x[c[2]], n2);
    for (int k = 0; k < 3; k++) from[k] = x[c[0]][k] - x[face[piece][0]][k];
    s->volume[piece] += cb_dot3(from, n2) / 6;
  }
}

static int copy_of(search *s, pieces *p, int vertex) {
  if (s->copy[vertex] < 0) {
    s->copy[vertex] = p->seen.places - p->vertices;
    p->copied[s->copy[vertex]] = vertex;
    p->seen.places++;
  }
  return s->copy[vertex];
}

static void find_borders(search *s, pieces *p) {
  for (int i = 0, n; i < 3 * s->faces; i += n)
    if ((n = run_of(s, i)) == 1) {
      const side *e = s->side + i;
      p->border[p->borders++] = (border){{copy_of(s, p, e->low), copy_of(s, p, e->high)}, e->across};
    }
  const int copies = p->seen.places - p->vertices;
  for (int b = 0; b < p->borders; b++)
    for (int k = 0; k < 2; k++) p->first[p->border[b].end[k] + 1]++;
  for (int c = 0; c < copies; c++) p->first[c + 1] += p->first[c];
  for (int b = p->borders; b-- > 0;)
    for (int k = 0; k < 2; k++) p->edges[--p->first[p->border[b].end[k] + 1]] = b;
  for (int c = 0; c < copies; c++) p->first[c] = p->first[c + 1];
  p->first[copies] = 2 * p->borders;
}

static cb_status inward(void) {
  return cb_fail(
      CB_ERROR_DOMAIN,
      "no piece of the surface points outwards, so that the fluid would be inside: expected faces that point outwards");
}

static cb_status fill(search *s, pieces *p, const double (*x)[3], const int (*face)[3]) {
  cb_pieces *o = &p->seen;
  const cb_status status = connect(s, x, face);
  if (status) return status;
  measure(s, x, face);
  for (int v = 0; v < p->vertices; v++) s->copy[v] = -1;
  find_borders(s, p);
  for (int f = 0; f < s->faces; f++) {
    s->up[f] = root_of(s->up, f);
    /* the fluid is on both sides of a sheet, so the sheet is treated as a piece with positive volume */
    if (s->sheet[s->up[f]]) s->volume[s->up[f]] = INFINITY;
  }
  find_reached(x, s->faces, face, s->up, s->volume, s->reached);
  for (int sheets = 0; sheets < 2; sheets++) {
    for (int f = 0; f < s->faces; f++) {
      if (!s->reached[f] || s->sheet[s->up[f]] != (sheets == 1)) continue;
      o->kept[o->n] = f;
      for (int k = 0; k < 3; k++)
        o->corner[o->n][k] = sheets && s->copy[face[f][k]] >= 0 ? p->vertices + s->copy[face[f][k]] : face[f][k];
      o->n++;
    }
    if (!sheets) o->solids = o->n;
  }
  return o->n ? CB_OK : inward();
}

cb_status cb_pieces_create(int vertices, const double (*x)[3], int faces, const int (*face)[3], cb_pieces **out) {
  pieces *p = cb_arena_object(sizeof *p, "the pieces of a surface");
  if (!p) return CB_ERROR_MEMORY;
  const size_t n = (size_t)faces;
  search s = {.faces = faces,
              .up = malloc(n * sizeof *s.up),
              .sheet = calloc(n, sizeof *s.sheet),
              .reached = malloc(n * sizeof *s.reached),
              .volume = calloc(n, sizeof *s.volume),
              .side = malloc(3 * n * sizeof *s.side),
              .copy = malloc((size_t)vertices * sizeof *s.copy)};
  p->vertices = p->seen.places = vertices;
  p->seen.kept = cb_arena_alloc(p->arena, n, sizeof *p->seen.kept);
  p->seen.corner = cb_arena_alloc(p->arena, n, sizeof *p->seen.corner);
  p->border = cb_arena_alloc(p->arena, 3 * n, sizeof *p->border);
  p->first = cb_arena_alloc(p->arena, (size_t)vertices + 2, sizeof *p->first);
  p->edges = cb_arena_alloc(p->arena, 6 * n, sizeof *p->edges);
  p->copied = cb_arena_alloc(p->arena, (size_t)vertices, sizeof *p->copied);
  cb_status status = s.up && s.sheet && s.reached && s.volume && s.side && s.copy && !cb_arena_lost(p->arena)
                         ? fill(&s, p, x, face)
                         : cb_fail(CB_ERROR_MEMORY, "no memory for the pieces of %d faces", faces);
  free(s.up);
  free(s.sheet);
  free(s.reached);
  free(s.volume);
  free(s.side);
  free(s.copy);
  if (status) {
    cb_arena_free(p->arena);
    return status;
  }
  *out = &p->seen;
  return CB_OK;
}

cb_status cb_pieces_outward(int vertices, const double (*x)[3], int faces, const int (*face)[3], bool *reached,
                            int *kept, int *n) {
  int *up = malloc((size_t)vertices * sizeof *up), *first = malloc((size_t)vertices * sizeof *first);
  int *piece = calloc((size_t)faces, sizeof *piece);
  double *volume = calloc((size_t)faces, sizeof *volume);
  cb_status status = CB_OK;
  *n = 0;
  if (!up || !first || !piece || !volume)
    status = cb_fail(CB_ERROR_MEMORY, "no memory for the pieces of %d faces", faces);
  for (int i = 0; i < vertices && !status; i++) {
    up[i] = i;
    first[i] = -1;
  }
  for (int f = 0; f < faces && !status; f++)
    for (int c = 1; c < 3; c++) up[root_of(up, face[f][c])] = root_of(up, face[f][0]);
  for (int f = 0; f < faces && !status; f++) {
    const int root = root_of(up, face[f][0]);
    double n2[3], from[3];
    if (first[root] < 0) first[root] = f;
    piece[f] = first[root];
    cb_normal3(x[face[f][0]], x[face[f][1]], x[face[f][2]], n2);
    for (int c = 0; c < 3; c++) from[c] = x[face[f][0]][c] - x[root][c];
    volume[piece[f]] += cb_dot3(from, n2) / 6;
  }
  if (!status) find_reached(x, faces, face, piece, volume, reached);
  for (int f = 0; f < faces && !status; f++)
    if (reached[f]) kept[(*n)++] = f;
  free(up);
  free(first);
  free(piece);
  free(volume);
  return status || *n ? status : inward();
}

static pieces *all_of(const cb_pieces *p) { return (pieces *)((char *)p - offsetof(pieces, seen)); }

void cb_pieces_free(cb_pieces *p) {
  if (p) cb_arena_free(all_of(p)->arena);
}

/* Returns the distance by which an edge of a border moves. Sets n to the unit vector that is perpendicular to the edge,
 * in the plane of its triangle, and points into the triangle. */
static double reach_of(const pieces *p, const double (*x)[3], const border *b, double n[3]) {
  const double *from = x[p->copied[b->end[0]]], *to = x[p->copied[b->end[1]]], *across = x[b->across];
  double edge[3], length2 = 0, along = 0;
  for (int k = 0; k < 3; k++) {
    edge[k] = to[k] - from[k];
    n[k] = across[k] - from[k];
    length2 += edge[k] * edge[k];
    along += edge[k] * n[k];
  }
  for (int k = 0; k < 3; k++) n[k] -= along / length2 * edge[k];
  const double height = sqrt(cb_dot3(n, n));
  for (int k = 0; k < 3; k++) n[k] /= height;
  return CB_SHEET_REACH * sqrt(0.5 * height * sqrt(length2));
}

/* Sets the displacement s of a vertex of a border, in the direction of the sum of the unit vectors of its edges
 * (reach_of). Two edges with the same distance both move by this distance. The length of s is at most twice the mean
 * distance of the edges; this limit matters if the edges meet in a spike. */
static void inset(const pieces *p, const double (*x)[3], int copy, double s[3]) {
  const int count = p->first[copy + 1] - p->first[copy];
  double sum[3] = {0}, far = 0;
  for (int i = 0; i < count; i++) {
    double n[3];
    far += reach_of(p, x, p->border + p->edges[p->first[copy] + i], n);
    for (int k = 0; k < 3; k++) sum[k] += n[k];
  }
  const double scale = far / fmax(cb_dot3(sum, sum), 0.25 * count * count);
  for (int k = 0; k < 3; k++) s[k] = scale * sum[k];
}

void cb_pieces_place(const cb_pieces *pieces_, const double (*x)[3], double (*y)[3]) {
  const pieces *p = all_of(pieces_);
  memcpy(y, x, (size_t)p->vertices * sizeof *y);
  for (int c = 0; c < p->seen.places - p->vertices; c++) {
    double s[3];
    inset(p, x, c, s);
    for (int k = 0; k < 3; k++) y[p->vertices + c][k] = x[p->copied[c]][k] + s[k];
  }
}

/* --- edges --- */

cb_status cb_panel_edges(int n, const int (*face)[3], const int *which, cb_panel_edge **out, int *edges) {
  const size_t sides = 3 * (size_t)n;
  side *all = malloc(sides * sizeof *all);
  cb_panel_edge *edge = malloc(sides * sizeof *edge);
  if (!all || !edge) {
    free(all);
    free(edge);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the edges of %d faces", n);
  }
  for (size_t i = 0; i < sides; i++) {
    const int *c = face[which ? which[i / 3] : (int)(i / 3)], a = c[i % 3], b = c[(i + 1) % 3];
    all[i] = (side){.low = a < b ? a : b, .high = a < b ? b : a, .face = (int)(i / 3)};
  }
  qsort(all, sides, sizeof *all, compare);
  *edges = 0;
  for (size_t i = 0; i + 1 < sides; i++)
    if (all[i].low == all[i + 1].low && all[i].high == all[i + 1].high)
      edge[(*edges)++] = (cb_panel_edge){{all[i].low, all[i].high}, {all[i].face, all[i + 1].face}};
  free(all);
  *out = edge;
  return CB_OK;
}

double cb_panel_bend(const cb_panels *p, const cb_panel_edge *edge) {
  const int i = edge->panel[0], j = edge->panel[1];
  double d[3], cross[3];
  for (int c = 0; c < 3; c++) d[c] = p->centre[j][c] - p->centre[i][c];
  if (cb_dot3(p->normal[i], d) >= 0) return 0;
  cb_cross3(p->normal[i], p->normal[j], cross);
  return atan2(sqrt(cb_dot3(cross, cross)), cb_dot3(p->normal[i], p->normal[j]));
}

/* --- thin bodies ---
 *
 * These functions find the panels of thin closed bodies that face each other, and place rims (equations in
 * mesh_pieces.h). A tree of balls finds the panel opposite to a centre.
 */

/* Values of q (the measure of the error, mesh_pieces.h) above this maximum are replaced by it. The mean of q can then
 * reach 2 only if q > 0 on at least a sixteenth of the area. */
static const double maximum = 32;

/* A line from x along the unit vector d, which ends at `length`. */
typedef struct line {
  const double *x;
  double d[3], length;
} line;

static bool passes(const line *l, const cb_tree_cell *ball) {
  double from[3], left = 0;
  for (int a = 0; a < 3; a++) from[a] = ball->centre[a] - l->x[a];
  const double along = fmax(0, fmin(l->length, cb_dot3(from, l->d)));
  for (int a = 0; a < 3; a++) left += pow(from[a] - along * l->d[a], 2);
  return left <= pow(ball->radius, 2) * (1 + 1e-12);
}

/* Returns the length at which the line leaves the body through panel j, or the length of the line if it does not leave
 * there. */
static double exit_of(const line *l, const cb_panels *p, int j) {
  const double across = cb_dot3(l->d, p->normal[j]), least = -1e-12 * p->area[j];
  double to[3], at[3], n2[3];
  if (across <= 0) return l->length;
  for (int a = 0; a < 3; a++) to[a] = p->centre[j][a] - l->x[a];
  const double t = cb_dot3(to, p->normal[j]) / across;
  if (!(t >= 0 && t < l->length)) return l->length;
  for (int a = 0; a < 3; a++) at[a] = l->x[a] + t * l->d[a];
  for (int k = 0; k < 3; k++) {
    cb_normal3(p->corner[j][k], p->corner[j][(k + 1) % 3], at, n2);
    if (cb_dot3(n2, p->normal[j]) < least) return l->length;
  }
  return t;
}

/* Returns the first panel through which the line leaves the body, and shortens the line so that it ends at this panel.
 * Returns -1 if there is no such panel. */
static int facing(const cb_panel_tree *tree, const cb_panels *p, int self, line *l) {
  int stack[CB_TREE_LEVELS + 2] = {0}, found = -1;
  for (int top = 1; top > 0;) {
    const cb_tree_cell *c = &tree->cell[stack[--top]];
    if (!passes(l, c)) continue;
    if (c->child) {
      stack[top++] = c->child;
      stack[top++] = c->child + 1;
      continue;
    }
    for (int i = c->first; i < c->first + c->n; i++) {
      const int j = tree->order[i];
      const double t = j == self ? l->length : exit_of(l, p, j);
      if (t < l->length) {
        l->length = t;
        found = j;
      }
    }
  }
  return found;
}

/* Adds the contribution of panel i to the sums in *out, and sets ratio[i]. If its q (mesh_pieces.h) is larger than
 * *worst, *worst becomes this q, and the data of panel i are stored in *out. */
static void add(const cb_panel_tree *tree, const cb_panels *p, int i, double *ratio, double *worst, cb_thickness *out) {
  const double h = sqrt(p->area[i]);
  line l = {.x = p->centre[i], .length = h};
  double between[3], across[3];
  for (int a = 0; a < 3; a++) l.d[a] = -p->normal[i][a];
  const int j = facing(tree, p, i, &l);
  const double x = j < 0 ? 1 : l.length / h;
  out->mean += p->area[i] * x;
  if (ratio) ratio[i] = x;
  if (j < 0) return;
  for (int a = 0; a < 3; a++) between[a] = p->centre[j][a] - p->centre[i][a];
  cb_cross3(between, p->normal[i], across);
  const double square = cb_dot3(across, across), q = square > 0 ? fmin(square / (l.length * h), maximum) : 0;
  out->mismatch += p->area[i] * q;
  if (out->worst >= 0 && q <= *worst) return;
  *worst = q;
  out->worst = i;
  out->t = l.length;
  out->h = h;
  out->o = sqrt(square);
}

cb_status cb_thickness_find(const cb_panels *p, int n, double *ratio, cb_thickness *out) {
  cb_arena *arena = cb_arena_create();
  cb_panel_tree tree;
  if (!arena || !cb_tree_build(arena, n, (const double(*)[3])p->centre, CB_TREE_LEAF, &tree)) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the thickness of %d panels", n);
  }
  cb_far_balls(&tree, p);
  cb_thickness found = {.worst = -1};
  double area = 0, worst = 0;
  for (int i = 0; i < n; i++) {
    add(&tree, p, i, ratio, &worst, &found);
    area += p->area[i];
  }
  found.mean /= area;
  found.mismatch /= area;
  cb_arena_free(arena);
  *out = found;
  return CB_OK;
}

/* --- rims --- */

/* Each member is a sum over the panels at those rims that meet at a vertex, and each panel has a weight w. `direction`
 * is the sum of w times the inward direction of the panel. `distance` is the sum of w times the distance by which the
 * panel is moved, which is w CB_SHEET_REACH sqrt(area). `weight` is the sum of w.
 */
typedef struct pull {
  double direction[3], distance, weight;
} pull;

/* Sets `out` to the unit vector from the edge between a and b into a panel, perpendicular to the edge and to the
 * normal. */
static void inwards(const cb_panels *p, int panel, const double a[3], const double b[3], double out[3]) {
  double edge[3], towards[3];
  for (int k = 0; k < 3; k++) {
    edge[k] = b[k] - a[k];
    towards[k] = p->centre[panel][k] - a[k];
  }
  const double along = cb_dot3(towards, edge) / cb_dot3(edge, edge);
  for (int k = 0; k < 3; k++) out[k] = towards[k] - along * edge[k];
  const double length = sqrt(cb_dot3(out, out));
  for (int k = 0; k < 3; k++) out[k] /= length;
}

/* Returns the weight of an edge at which the surface bends by the angle `bend`: 1 for a right angle, and 0 for an angle
 * that differs from a right angle by 45 degrees or more. */
static double share_of_bend(double bend) {
  const double s = fmax(0, 1 - fabs(bend - M_PI / 2) / (M_PI / 4));
  return s * s * (3 - 2 * s);
}

static void pull_rim(const cb_panels *p, const cb_panel_edge *e, const double *ratio, const double (*y)[3], pull *at) {
  const double share = share_of_bend(cb_panel_bend(p, e));
  const double *from = y[e->end[0]], *to = y[e->end[1]];
  const double edge[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
  for (int s = 0; s < 2 && share > 0; s++) {
    const int i = e->panel[s];
    const double t = ratio[i] * sqrt(p->area[i]), height = 2 * p->area[e->panel[1 - s]] / sqrt(cb_dot3(edge, edge));
    const double across = fmin(1, fmax(0, 5 * t / height - 4)), thin = fmin(1, fmax(0, 3 - 4 * ratio[i]));
    const double w = share * across * thin * (1 - ratio[i]) / (1 + 5.8 * ratio[i]);
    double d[3];
    if (!(w > 0)) continue;
    inwards(p, i, from, to, d);
    for (int v = 0; v < 2; v++) {
      pull *q = at + e->end[v];
      for (int k = 0; k < 3; k++) q->direction[k] += w * d[k];
      q->distance += w * w * CB_SHEET_REACH * sqrt(p->area[i]);
      q->weight += w;
    }
  }
}

cb_status cb_rims_place(const cb_panels *p, int n, const int (*corner)[3], const double *ratio, int vertices,
                        double (*y)[3]) {
  cb_panel_edge *edge = NULL;
  int edges;
  const cb_status status = cb_panel_edges(n, corner, NULL, &edge, &edges);
  pull *at = calloc((size_t)vertices, sizeof *at);
  for (int e = 0; e < edges && at && !status; e++) pull_rim(p, edge + e, ratio, (const double(*)[3])y, at);
  for (int v = 0; v < vertices && at && !status; v++) {
    const double *d = at[v].direction, size = fmax(cb_dot3(d, d), 0.25 * at[v].weight * at[v].weight);
    for (int k = 0; k < 3 && size > 0; k++) y[v][k] += at[v].distance / size * d[k];
  }
  const bool lost = !at;
  free(edge);
  free(at);
  return status ? status : lost ? cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", vertices) : CB_OK;
}
