/* The form G = ((K, Q), (Q^T, R)) of a body whose parts move rigidly, from one inertia per part instead of sums over
 * its faces.
 *
 *   part p at r:  x = O X + t of its rest shape X,  dx_i = W_i × x + V_i,  S_i = (W_i, V_i) its twist in the body frame
 *   2 T = <I_0 xi, xi> + sum_p <I_p Y_p, Y_p>,  Y_p = xi + sum S_i r_i';  I_0: masses that are fixed in the body frame
 *   I_p(r) = Ad^T I_p(0) Ad,  Ad = Ad of (O, t)^-1
 *   K = I_0 + sum I_p,  column i of Q = sum I_p S_i,  R_ij = sum S_i^T I_p S_j
 *   d_a I_p = -ad_a^T I_p - I_p ad_a,  ad_a = ad of S_a,  and d_a S_i = (W_ia, V_ia) from
 *   d_a dx_i = W_ia × x + V_ia + W_i × dx_a
 *
 * T is the kinetic energy, xi the twist of the body frame, r the shape variables and r' their rates, d_a = d/dr_a, and
 * dx_i = d_i x. (O, t) is the pose of part p, and Y_p its twist.
 *
 * I_p(0) is the sum of inertia and local added mass. Its columns are the momenta of the rest shape while one part moves
 * by a unit twist (immersed_bundle_form.c). This is possible if parts share no vertex, because the local model's delta
 * of a part then depends only on its own shape.
 *
 * Whether a part is rigid is checked at each r from its vertices, to round-off: from four of them if the motion is
 * affine in X (expressions like X*cos(a) - Y*sin(a)), otherwise from all. If one part is not rigid, the form is summed
 * over faces. Derived for this project.
 */
#include "fluid/immersed_bundle.h"

#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

enum { SHAPES = CB_SHAPE_SURFACE_VARIABLES, SIZE = CB_IMMERSED_FORM };

/* Round-off of expressions of positions, relative to their size, as a root mean square. */
static const double round_off = 2e-14;
/* Maximum of (|x|^2 + |X|^2)/length^2, where x and X are the positions of a part's first corner at r and at rest, and
 * `length` is the length of the part. Above this limit round-off is too large to recognise a rigid part. */
static const double far = 1000;

typedef struct rigid_part {
  int begin, end; /* range of the part's vertices in the list `vertex` */
  int corner[4];  /* three vertices of a wide triangle, and the one farthest from its plane */
  double inertia[6][6];
} rigid_part;

struct cb_immersed_rigid {
  cb_arena *arena;
  int parts;
  int *vertex;           /* the vertices, sorted by part: all vertices, or only the corners */
  cb_shape_surface *few; /* a shape that finds only the corners; NULL: all vertices are used */
  rigid_part *part;
  double fixed[6][6];
};

void cb_immersed_rigid_free(cb_immersed_rigid *own) {
  if (!own) return;
  cb_shape_surface_free(own->few);
  cb_arena_free(own->arena);
}

/* --- rigid fields --- */

/* Three orthonormal vectors e that belong to three points: the first one is along the first edge, the second one is
 * perpendicular to this edge in the plane of the points, and the third one is normal to the plane. The second edge has
 * the components `along` and `height` along the first two vectors; `length` is the length of the first edge. frame_of
 * returns false if the points are on a line. */
typedef struct frame {
  double e[3][3], length, along, height;
} frame;

static bool frame_of(const double (*x)[3], const int corner[3], frame *f) {
  double a[3], b[3], normal[3];
  for (int k = 0; k < 3; k++) {
    a[k] = x[corner[1]][k] - x[corner[0]][k];
    b[k] = x[corner[2]][k] - x[corner[0]][k];
  }
  cb_cross3(a, b, normal);
  f->length = sqrt(cb_dot3(a, a));
  const double area = sqrt(cb_dot3(normal, normal));
  if (!(area > 0)) return false;
  for (int k = 0; k < 3; k++) {
    f->e[0][k] = a[k] / f->length;
    f->e[2][k] = normal[k] / area;
  }
  cb_cross3(f->e[2], f->e[0], f->e[1]);
  f->along = cb_dot3(b, f->e[0]);
  f->height = cb_dot3(b, f->e[1]);
  return true;
}

static double square(const double *a) { return cb_dot3(a, a); }

static double square_between(const double *a, const double *b) {
  return square((double[3]){a[0] - b[0], a[1] - b[1], a[2] - b[2]});
}

/* Finds the rotation R and the shift t with x = R X + t for all vertices of a part (X: `rest`). Returns false if they
 * do not exist, or if the part is so far from the origin of the body frame, relative to its own size, that digits are
 * lost. */
static bool place_of(const cb_immersed_rigid *own, const rigid_part *p, const double (*rest)[3], const double (*x)[3],
                     double R[3][3], double t[3]) {
  frame from, to;
  double turned[3], off = 0, size = 0;
  if (!frame_of(rest, p->corner, &from) || !frame_of(x, p->corner, &to)) return false;
  if (square(x[p->corner[0]]) + square(rest[p->corner[0]]) > far * to.length * to.length) return false;
  memset(R, 0, 9 * sizeof(double));
  for (int k = 0; k < 3; k++) cb_add_outer3(R, 1, to.e[k], from.e[k]);
  cb_apply3((const double(*)[3])R, rest[p->corner[0]], turned);
  for (int k = 0; k < 3; k++) t[k] = x[p->corner[0]][k] - turned[k];
  for (int at = p->begin; at < p->end; at++) {
    const int v = own->vertex[at];
    double moved[3];
    cb_apply3((const double(*)[3])R, rest[v], moved);
    for (int k = 0; k < 3; k++) moved[k] += t[k];
    off += square_between(moved, x[v]);
    size += square(x[v]) + square(rest[v]);
  }
  return off <= round_off * round_off * size;
}

/* Finds the twist S = (S_w, S_v) for which u - w × y = S_w × x + S_v at all vertices x of the part p. u and y are
 * vectors at the vertices. If w and y are NULL, the term w × y is left out. Returns false if there is no such S. */
static bool twist_of(const cb_immersed_rigid *own, const rigid_part *p, const double (*x)[3], const double (*u)[3],
                     const double *w, const double (*y)[3], double S[6]) {
  frame f;
  double d[3][3], turn[3], off = 0, size = 0;
  if (!frame_of(x, p->corner, &f)) return false;
  for (int c = 0; c < 3; c++) {
    if (y) cb_cross3(w, y[p->corner[c]], turn);
    for (int k = 0; k < 3; k++) d[c][k] = u[p->corner[c]][k] - (y ? turn[k] : 0);
  }
  for (int c = 1; c < 3; c++)
    for (int k = 0; k < 3; k++) d[c][k] -= d[0][k];
  const double w3 = cb_dot3(f.e[1], d[1]) / f.length, w2 = -cb_dot3(f.e[2], d[1]) / f.length,
               w1 = (cb_dot3(f.e[2], d[2]) + f.along * w2) / f.height;
  for (int k = 0; k < 3; k++) S[k] = w1 * f.e[0][k] + w2 * f.e[1][k] + w3 * f.e[2][k];
  cb_cross3(S, x[p->corner[0]], turn);
  for (int k = 0; k < 3; k++) S[3 + k] = d[0][k] - turn[k];
  const double rate = square(S);
  for (int at = p->begin; at < p->end; at++) {
    const int v = own->vertex[at];
    double moved[3];
    cb_cross3(S, x[v], moved);
    for (int k = 0; k < 3; k++) moved[k] += S[3 + k];
    if (y) {
      cb_cross3(w, y[v], turn);
      for (int k = 0; k < 3; k++) moved[k] += turn[k];
      size += square(turn);
    }
    off += square_between(moved, u[v]);
    size += square(u[v]) + rate * square(x[v]);
  }
  return off <= round_off * round_off * size;
}

/* --- making --- */

/* Sorts the vertices part by part. Returns false if two parts share a vertex, if a part has no vertex, or if a vertex
 * has no face. */
static bool sort_vertices(const cb_surface *s, int *of, cb_immersed_rigid *own) {
  for (int v = 0; v < s->vertices; v++) of[v] = -1;
  for (int f = 0; f < s->faces; f++)
    for (int c = 0; c < 3; c++) {
      int *p = &of[s->face[f][c]];
      if (*p >= 0 && *p != s->part[f]) return false;
      *p = s->part[f];
    }
  int count = 0;
  for (int p = 0; p < s->parts; p++) {
    own->part[p].begin = count;
    for (int v = 0; v < s->vertices; v++)
      if (of[v] == p) own->vertex[count++] = v;
    own->part[p].end = count;
    if (count == own->part[p].begin) return false;
  }
  for (int v = 0; v < s->vertices; v++)
    if (of[v] < 0) return false;
  return true;
}

/* Returns the vertex of part p farthest from point a (if b and across are NULL), from the line through a and b (if
 * across is NULL), or from the plane through a with the normal `across`. */
static int farthest(const cb_immersed_rigid *own, const rigid_part *p, const double (*x)[3], const double *a,
                    const double *b, const double *across) {
  double maximum = -1;
  int found = own->vertex[p->begin];
  for (int at = p->begin; at < p->end; at++) {
    const double *y = x[own->vertex[at]];
    const double to[3] = {y[0] - a[0], y[1] - a[1], y[2] - a[2]};
    double normal[3];
    if (b) cb_normal3(a, b, y, normal);
    const double away = across ? fabs(cb_dot3(across, to)) : b ? square(normal) : square(to);
    if (away > maximum) {
      maximum = away;
      found = own->vertex[at];
    }
  }
  return found;
}

static bool choose_corners(const cb_immersed_rigid *own, rigid_part *p, const double (*x)[3]) {
  frame f;
  p->corner[0] = farthest(own, p, x, x[own->vertex[p->begin]], NULL, NULL);
  p->corner[1] = farthest(own, p, x, x[p->corner[0]], NULL, NULL);
  p->corner[2] = farthest(own, p, x, x[p->corner[0]], x[p->corner[1]], NULL);
  if (!frame_of(x, p->corner, &f) || !(f.height > 1e-6 * f.length)) return false;
  p->corner[3] = farthest(own, p, x, x[p->corner[0]], NULL, f.e[2]);
  return true;
}

/* Finds I_p(0) of all parts, and I_0 (equations above). Column a of I_p(0) is the momentum of the rest shape while part
 * p moves by the unit twist a. v[vertices] is a work array. */
static cb_status measure(const cb_immersed_energy *e, cb_immersed_work *w, cb_immersed_rigid *own, double (*v)[3]) {
  const cb_surface *s = e->shape->surface;
  cb_shape_surface alone = *e->shape;
  cb_immersed_energy rest = *e;
  double G[SIZE][SIZE];
  cb_status status = CB_OK;
  alone.n = 1;
  rest.shape = &alone;
  for (int p = 0; p < own->parts; p++)
    for (int a = 0; a < 6 && !status; a++) {
      rigid_part *part = &own->part[p];
      memset(v, 0, (size_t)s->vertices * sizeof *v);
      for (int at = part->begin; at < part->end; at++) {
        const int k = own->vertex[at];
        if (a >= 3)
          v[k][a - 3] = 1;
        else
          cb_cross3((double[3]){a == 0, a == 1, a == 2}, s->x[k], v[k]);
      }
      status = cb_immersed_form_of_motion(&rest, w, (const double(*)[3])s->x, (const double(*)[3])v, false, G);
      for (int b = 0; b < 6 && !status; b++) part->inertia[b][a] = G[b][6];
      if (p == 0 && a == 0) memcpy(own->fixed, (double[6][6]){{0}}, sizeof own->fixed);
      for (int b = 0; b < 6 && !status && p == 0 && a == 0; b++) memcpy(own->fixed[b], G[b], sizeof own->fixed[b]);
    }
  for (int p = 0; p < own->parts && !status; p++)
    for (int a = 0; a < 6; a++)
      for (int b = 0; b < 6; b++) own->fixed[a][b] -= own->part[p].inertia[a][b];
  return status;
}

/* If the motion is affine, four corners of each part determine all its vertices. Only the corners are then computed and
 * checked. */
static cb_status look_at_corners(const cb_shape_surface *shape, cb_immersed_rigid *own) {
  enum { CORNERS = 4 };
  int *corner = cb_arena_alloc(own->arena, (size_t)(CORNERS * own->parts), sizeof *corner);
  if (!corner) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", own->parts);
  for (int p = 0; p < own->parts; p++) memcpy(corner + CORNERS * p, own->part[p].corner, sizeof own->part[p].corner);
  const cb_status status = cb_shape_surface_affine(shape, CORNERS * own->parts, corner, &own->few);
  if (status || !own->few) return status;
  own->vertex = corner;
  for (int p = 0; p < own->parts; p++) {
    own->part[p].begin = CORNERS * p;
    own->part[p].end = CORNERS * (p + 1);
  }
  return CB_OK;
}

/* Makes the matrix exactly symmetric, and sets to 0 the entries that are only round-off relative to `scale`. */
static void tidy(double I[6][6], const double scale[6]) {
  for (int a = 0; a < 6; a++)
    for (int b = 0; b <= a; b++) {
      const double mean = (I[a][b] + I[b][a]) / 2;
      I[a][b] = I[b][a] = fabs(mean) > 1e-14 * scale[a] * scale[b] ? mean : 0;
    }
}

cb_status cb_immersed_rigid_create(const cb_immersed_energy *e, cb_immersed_work *w, cb_immersed_rigid **out) {
  const cb_surface *s = e->shape->surface;
  *out = NULL;
  if (s->curvature != 0 || (e->model && e->density > 0)) return CB_OK;
  cb_arena *arena = cb_arena_create();
  cb_immersed_rigid *own = cb_arena_alloc(arena, 1, sizeof *own);
  int *of = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *of);
  double(*v)[3] = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *v);
  if (own) {
    *own = (cb_immersed_rigid){.arena = arena, .parts = s->parts};
    own->vertex = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *own->vertex);
    own->part = cb_arena_alloc(arena, (size_t)s->parts, sizeof *own->part);
  }
  if (!own || !of || !v || !own->vertex || !own->part) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", s->faces);
  }
  bool can = sort_vertices(s, of, own);
  for (int p = 0; p < s->parts && can; p++) can = choose_corners(own, &own->part[p], (const double(*)[3])s->x);
  if (can) can = !measure(e, w, own, v); /* if `measure` fails, the form of this body reports the reason later */
  const cb_status status = can ? look_at_corners(e->shape, own) : CB_OK;
  if (!can || status) {
    cb_arena_free(arena);
    return status;
  }
  double scale[6];
  for (int a = 0; a < 6; a++) {
    scale[a] = fabs(own->fixed[a][a]);
    for (int p = 0; p < s->parts; p++) scale[a] += fabs(own->part[p].inertia[a][a]);
    scale[a] = sqrt(scale[a]);
  }
  for (int p = 0; p < s->parts; p++) tidy(own->part[p].inertia, scale);
  tidy(own->fixed, scale);
  *out = own;
  return CB_OK;
}

/* --- the form --- */

typedef struct motion {
  double inertia[6][6], S[SHAPES][6], D[SHAPES][SHAPES][6]; /* D[i][a] = d_a S_i */
} motion;

/* Computes ad_S a = (W × a_w, V × a_w + W × a_v) for the twists S = (W, V) and a = (a_w, a_v). */
static void bracket(const double S[6], const double a[6], double out[6]) {
  double turn[3];
  cb_cross3(S, a, out);
  cb_cross3(S + 3, a, out + 3);
  cb_cross3(S, a + 3, turn);
  for (int k = 0; k < 3; k++) out[3 + k] += turn[k];
}

static double dot(const double a[6], const double b[6]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

static void apply(const double I[6][6], const double a[6], double out[6]) {
  for (int i = 0; i < 6; i++) out[i] = dot(I[i], a);
}

/* Computes Ad^T I_p(0) Ad for I_p(0) = `rest` and the pose (R, t) of the part. Column a of Ad is the unit twist
 * a = (w, v) in the part's axes, (R^T w, R^T (v + w × t)). */
static void carry(const double rest[6][6], const double R[3][3], const double t[3], double out[6][6]) {
  double seen[6][6];
  for (int a = 0; a < 6; a++) {
    const double w[3] = {a == 0, a == 1, a == 2};
    double v[3];
    cb_cross3(w, t, v);
    for (int k = 0; k < 3; k++) v[k] += a == 3 + k;
    cb_apply3_transposed(R, w, seen[a]);
    cb_apply3_transposed(R, v, seen[a] + 3);
  }
  for (int a = 0; a < 6; a++) {
    double of[6];
    apply(rest, seen[a], of);
    for (int b = 0; b <= a; b++) out[a][b] = out[b][a] = dot(of, seen[b]);
  }
}

static bool motion_of(const cb_immersed_energy *e, const rigid_part *p, const cb_immersed_places_at *at, bool second,
                      motion *m) {
  const int n = e->shape->n, vertices = e->shape->surface->vertices;
  double R[3][3], t[3];
  if (!place_of(e->rigid, p, (const double(*)[3])e->shape->surface->x, at->x, R, t)) return false;
  for (int i = 0; i < n; i++)
    if (!twist_of(e->rigid, p, at->x, at->dx + i * vertices, NULL, NULL, m->S[i])) return false;
  for (int i = 0; i < n && second; i++)
    for (int a = 0; a < n; a++) {
      const double(*d2x)[3] = at->d2x + (i >= a ? i * (i + 1) / 2 + a : a * (a + 1) / 2 + i) * vertices;
      if (!twist_of(e->rigid, p, at->x, d2x, m->S[i], at->dx + a * vertices, m->D[i][a])) return false;
    }
  carry((const double(*)[6])p->inertia, (const double(*)[3])R, t, m->inertia);
  return true;
}

static void add_form(int n, const motion *m, double G[SIZE][SIZE]) {
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) G[i][j] += m->inertia[i][j];
  for (int i = 0; i < n; i++) {
    double of[6];
    apply((const double(*)[6])m->inertia, m->S[i], of);
    for (int a = 0; a < 6; a++) {
      G[a][6 + i] += of[a];
      G[6 + i][a] += of[a];
    }
    for (int j = 0; j < n; j++) G[6 + i][6 + j] += dot(of, m->S[j]);
  }
}

static void add_derivative(int n, const motion *m, int a, double dG[SIZE][SIZE]) {
  double dI[6][6], turned[6][6], P[SHAPES][6], dP[SHAPES][6]; /* turned: the columns of ad_a; P_i = I S_i */
  const double(*I)[6] = m->inertia, (*d)[6] = (const double(*)[6])dI;
  for (int k = 0; k < 6; k++) {
    double unit[6] = {0}, of[6];
    unit[k] = 1;
    bracket(m->S[a], unit, turned[k]);
    apply(I, turned[k], of);
    for (int i = 0; i < 6; i++) dI[i][k] = -of[i];
  }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) dI[i][j] = dI[j][i] = dI[i][j] + dI[j][i];
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) dG[i][j] += dI[i][j];
  for (int i = 0; i < n; i++) {
    double of[6];
    apply(I, m->S[i], P[i]);
    apply(I, m->D[i][a], dP[i]);
    apply(d, m->S[i], of);
    for (int k = 0; k < 6; k++) {
      dP[i][k] += of[k];
      dG[k][6 + i] += dP[i][k];
      dG[6 + i][k] += dP[i][k];
    }
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) dG[6 + i][6 + j] += dot(dP[i], m->S[j]) + dot(P[i], m->D[j][a]);
}

const cb_shape_surface *cb_immersed_rigid_shape(const cb_immersed_energy *e) {
  return e->rigid && e->rigid->few ? e->rigid->few : e->shape;
}

bool cb_immersed_rigid_form(const cb_immersed_energy *e, const cb_immersed_places_at *at, double G[SIZE][SIZE],
                            double (*dG)[SIZE][SIZE]) {
  const int n = e->shape->n;
  if (!e->rigid) return false;
  memset(G, 0, SIZE * sizeof *G);
  for (int a = 0; dG && a < n; a++) memset(dG[a], 0, sizeof dG[a]);
  for (int i = 0; i < 6; i++) memcpy(G[i], e->rigid->fixed[i], sizeof e->rigid->fixed[i]);
  for (int p = 0; p < e->rigid->parts; p++) {
    motion m;
    if (!motion_of(e, &e->rigid->part[p], at, dG != NULL, &m)) return false;
    add_form(n, &m, G);
    for (int a = 0; dG && a < n; a++) add_derivative(n, &m, a, dG[a]);
  }
  return true;
}
