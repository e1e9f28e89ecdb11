/* Ball: the points within `radius` of the origin. Each face of an icosahedron is divided into n^2 faces, n =
 * resolution/4 (rounded up), with vertices on the sphere. Edges are divided evenly by the odd factor of n and then
 * halved repeatedly, so that the vertices remain if the resolution is doubled. If the exponential chart embeds the ball
 * in a curved space, the result is a geodesic ball. */
#include "fluid/shape.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>

typedef struct params {
  double radius;
  int resolution;
} params;

static const cb_param rows[] = {
    CB_SHAPE_LENGTH(params, radius, "1", "radius"), CB_SHAPE_RESOLUTION(params, "32"), {.name = NULL}};

enum { CORNERS = 12, FACES = 20 };
#define T 1.6180339887498949
static const double corner[CORNERS][3] = {{-1, T, 0},  {1, T, 0},  {-1, -T, 0}, {1, -T, 0}, {0, -1, T},  {0, 1, T},
                                          {0, -1, -T}, {0, 1, -T}, {T, 0, -1},  {T, 0, 1},  {-T, 0, -1}, {-T, 0, 1}};
static const int face[FACES][3] = {{0, 11, 5},  {0, 5, 1},  {0, 1, 7},  {0, 7, 10}, {0, 10, 11}, {1, 5, 9}, {5, 11, 4},
                                   {11, 10, 2}, {10, 7, 6}, {7, 1, 8},  {3, 9, 4},  {3, 4, 2},   {3, 2, 6}, {3, 6, 8},
                                   {3, 8, 9},   {4, 9, 5},  {2, 4, 11}, {6, 2, 10}, {8, 6, 7},   {9, 8, 1}};

/* A face of the icosahedron, as a grid of points: row i has the points 0 .. i. Row 0 is corner 0, and row n is the side
 * between corners 1 and 2. */
typedef struct grid {
  int n;
  double (*x)[3], radius;
  /* vertex: the number of each point in the shape. side: the number of the first vertex inside a side, counted from the
   * corner with the lower number; 0: the side has no vertices yet */
  int *vertex, side[CORNERS][CORNERS];
} grid;

static int at(int i, int j) { return i * (i + 1) / 2 + j; }

static void put(const grid *g, double x[3]) {
  const double factor = g->radius / sqrt(cb_dot3(x, x));
  for (int k = 0; k < 3; k++) x[k] *= factor;
}

static void middle(const grid *g, int a, int b, int out) {
  for (int k = 0; k < 3; k++) g->x[out][k] = g->x[a][k] + g->x[b][k];
  put(g, g->x[out]);
}

static void place(const grid *g, const int c[3]) {
  int step = 1;
  while ((g->n / step) % 2 == 0) step *= 2;
  for (int i = 0; i <= g->n; i += step)
    for (int j = 0; j <= i; j += step) {
      double *x = g->x[at(i, j)];
      for (int k = 0; k < 3; k++) x[k] = (g->n - i) * corner[c[0]][k] + (i - j) * corner[c[1]][k] + j * corner[c[2]][k];
      put(g, x);
    }
  for (int h = step / 2; h > 0; h /= 2)
    for (int i = 0; i <= g->n; i += h)
      for (int j = 0; j <= i; j += h) {
        const bool row = (i / h) % 2, column = (j / h) % 2;
        if (row || column)
          middle(g, at(row ? i - h : i, column ? j - h : j), at(row ? i + h : i, column ? j + h : j), at(i, j));
      }
}

/* Sets the vertices inside the side from corner `from` to corner `to`; point m of the side is number(n, m) in the grid.
 * The surface stores these vertices in order from the corner with the lower number, so that two faces share them. */
static void take_side(grid *g, cb_shape *b, int from, int to, int (*number)(int n, int m)) {
  const bool up = from < to;
  int *first = up ? &g->side[from][to] : &g->side[to][from];
  const bool made = *first > 0;
  if (!made) *first = b->vertices;
  for (int k = 1; k < g->n; k++) {
    const int own = number(g->n, up ? k : g->n - k);
    g->vertex[own] = made ? *first + k - 1 : cb_shape_vertex(b, g->x[own]);
  }
}

static int first_side(int n, int m) {
  (void)n;
  return at(m, 0);
}
static int second_side(int n, int m) {
  (void)n;
  return at(m, m);
}
static int last_side(int n, int m) { return at(n, m); }

static void add_face(grid *g, cb_shape *b, const int c[3]) {
  const int n = g->n, *v = g->vertex;
  place(g, c);
  g->vertex[0] = c[0];
  g->vertex[at(n, 0)] = c[1];
  g->vertex[at(n, n)] = c[2];
  take_side(g, b, c[0], c[1], first_side);
  take_side(g, b, c[0], c[2], second_side);
  take_side(g, b, c[1], c[2], last_side);
  for (int i = 2; i < n; i++)
    for (int j = 1; j < i; j++) g->vertex[at(i, j)] = cb_shape_vertex(b, g->x[at(i, j)]);
  for (int i = 0; i < n; i++)
    for (int j = 0; j <= i; j++) {
      cb_shape_face(b, v[at(i, j)], v[at(i + 1, j)], v[at(i + 1, j + 1)]);
      if (j < i) cb_shape_face(b, v[at(i, j)], v[at(i + 1, j + 1)], v[at(i, j + 1)]);
    }
}

static cb_status make(const void *given, cb_surface **out) {
  const params *p = given;
  cb_shape b = {.failed = false};
  grid g = {.n = cb_shape_quarter(p->resolution), .radius = p->radius};
  const size_t points = (size_t)at(g.n, g.n) + 1;
  g.x = malloc(points * sizeof *g.x);
  g.vertex = malloc(points * sizeof *g.vertex);
  cb_shape_part(&b, "body");
  for (int c = 0; c < CORNERS; c++) {
    double x[3] = {corner[c][0], corner[c][1], corner[c][2]};
    put(&g, x);
    cb_shape_vertex(&b, x);
  }
  b.failed = b.failed || !g.x || !g.vertex;
  for (int f = 0; f < FACES && !b.failed; f++) add_face(&g, &b, face[f]);
  free(g.x);
  free(g.vertex);
  return cb_shape_finish(&b, out);
}

const cb_shape_class cb_shape_ball = {
    .name = "ball",
    .title = "ball",
    .doc =
        "Closed; 20 (resolution/4)^2 faces of similar size; a geodesic ball if a curved space maps it by the "
        "exponential chart.",
    .params = rows,
    .params_size = sizeof(params),
    .make = make,
};
