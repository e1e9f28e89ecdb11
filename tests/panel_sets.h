/* Panels for the tests of potential flow: grids on the sides of a cube that are mapped onto ellipsoids, and triangles
 * at random places. */
#pragma once

#include "check.h"
#include "potential/panels.h"

typedef struct panel_set {
  int n, room;
  double (*x)[3]; /* three corners per panel */
} panel_set;

static inline panel_set panel_set_room(int room) {
  return (panel_set){.room = room, .x = malloc((size_t)room * 3 * sizeof(double[3]))};
}

static inline void panel_set_add(panel_set *s, const double a[3], const double b[3], const double c[3]) {
  assert_true(s->n < s->room);
  memcpy(s->x[3 * s->n], a, sizeof(double[3]));
  memcpy(s->x[3 * s->n + 1], b, sizeof(double[3]));
  memcpy(s->x[3 * s->n + 2], c, sizeof(double[3]));
  s->n++;
}

/* Adds 12 m^2 panels of an ellipsoid with the half axes `size` and the centre `at`. They are the images of m x m
 * squares on each side of a cube. If `grading` is larger than 1, panels near the middles of the sides are smaller. */
static inline void panel_set_ellipsoid(panel_set *s, int m, const double size[3], const double at[3], double grading) {
  for (int side = 0; side < 6; side++)
    for (int cell = 0; cell < m * m; cell++) {
      const int axis = side / 2, up = side & 1;
      double p[4][3];
      for (int k = 0; k < 4; k++) {
        const int corner[2] = {cell / m + (k == 1 || k == 2), cell % m + (k >= 2)};
        double r = 1;
        p[k][axis] = up ? 1 : -1;
        for (int c = 0; c < 2; c++) {
          const double u = 2.0 * corner[c] / m - 1, t = tan(atan(1) * copysign(pow(fabs(u), grading), u));
          p[k][(axis + 1 + c) % 3] = t;
          r += t * t;
        }
        for (int a = 0; a < 3; a++) p[k][a] = at[a] + size[a] * p[k][a] / sqrt(r);
      }
      panel_set_add(s, p[0], p[up ? 1 : 2], p[up ? 2 : 1]);
      panel_set_add(s, p[0], p[up ? 2 : 3], p[up ? 3 : 2]);
    }
}

/* Adds n triangles at random places in a cube of side 2. Their sizes are from `least` to `most`. */
static inline void panel_set_anywhere(panel_set *s, int n, double least, double most, uint64_t *seed) {
  for (int i = 0; i < n; i++) {
    double p[3][3], middle[3];
    const double size = least * pow(most / least, check_uniform(seed, 0, 1));
    for (int a = 0; a < 3; a++) middle[a] = check_uniform(seed, -1, 1);
    for (int k = 0; k < 3; k++)
      for (int a = 0; a < 3; a++) p[k][a] = middle[a] + check_uniform(seed, -size, size) / 2;
    panel_set_add(s, p[0], p[1], p[2]);
  }
}

/* Creates panels from the set, and frees the set. */
static inline cb_panels *panel_set_close(panel_set *s) {
  int(*face)[3] = malloc((size_t)s->n * sizeof *face);
  for (int i = 0; i < 3 * s->n; i++) face[i / 3][i % 3] = i;
  cb_panels *p;
  check_ok(cb_panels_create(s->n, (const double(*)[3])s->x, (const int(*)[3])face, &p));
  free(face);
  free(s->x);
  return p;
}

static inline cb_panels *panels_of_ellipsoid(int m, double a, double b, double c) {
  panel_set s = panel_set_room(12 * m * m);
  panel_set_ellipsoid(&s, m, (double[3]){a, b, c}, (double[3]){0}, 1);
  return panel_set_close(&s);
}
