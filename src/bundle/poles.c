/* Singular shapes along gaits and between nodes of a grid (declared in bundle_private.h). */
#include "bundle/bundle_private.h"

#include <math.h>
#include <string.h>

enum { CELLS_MAX = 256 };

/* The tolerance of the integration along a path; poles with a smaller residue are not detected. */
static const double seen = 1e-6;

cb_status cb_gait_regular(const cb_bundle *b, const cb_gait *gait) {
  return cb_bundle_has_no_poles(b, gait, seen, false);
}

/* Tests the straight line from one shape to another. */
static cb_status line_regular(const cb_bundle *b, const double *from, const double *to) {
  const size_t n = (size_t)b->n;
  double corner[2 * CB_SHAPE_MAX];
  cb_gait *line;
  memcpy(corner, from, n * sizeof *corner);
  memcpy(corner + n, to, n * sizeof *corner);
  cb_status status = cb_gait_polygon(b->n, 2, corner, &line);
  if (status) return status;
  status = cb_bundle_has_no_poles(b, line, seen, true);
  cb_gait_free(line);
  return status;
}

/* Returns whether a component of A differs between the four corners of a cell by more than half of the largest
 * component. The result is false if a number is not finite. */
static bool differs(int size, const double *const *A) {
  static const double much = .5;
  double maximum = 0, off = 0;
  for (int k = 0; k < size; k++) {
    double low = A[0][k], high = A[0][k];
    for (int c = 0; c < 4; c++) {
      if (!isfinite(A[c][k])) return false;
      low = fmin(low, A[c][k]);
      high = fmax(high, A[c][k]);
    }
    maximum = fmax(maximum, fmax(high, -low));
    off = fmax(off, high - low);
  }
  return off > much * maximum;
}

cb_status cb_grid_regular(const cb_bundle *b, const int *v, const int *points, const double *const *value,
                          const double *at, const double *A) {
  static const int ways[4][4] = {
      {0, 0, 1, 0}, {0, 0, 0, 1}, {0, 0, 1, 1}, {0, 1, 1, 0}}; /* corner (k, l) at the beginning and at the end of each
                                                                * line */
  const int size = b->group->dim * b->n;
  int looked = 0;
  for (int k = 0; k + 1 < points[0]; k++)
    for (int l = 0; l + 1 < points[1] && looked < CELLS_MAX; l++) {
      const double *corner[4];
      for (int c = 0; c < 4; c++)
        corner[c] = A + ((size_t)(k + c / 2) * (size_t)points[1] + (size_t)(l + c % 2)) * (size_t)size;
      if (!differs(size, corner)) continue;
      looked++;
      for (int way = 0; way < 4; way++) {
        double from[CB_SHAPE_MAX], to[CB_SHAPE_MAX];
        memcpy(from, at, sizeof from);
        memcpy(to, at, sizeof to);
        from[v[0]] = value[0][k + ways[way][0]];
        from[v[1]] = value[1][l + ways[way][1]];
        to[v[0]] = value[0][k + ways[way][2]];
        to[v[1]] = value[1][l + ways[way][3]];
        const cb_status status = line_regular(b, from, to);
        if (status) return status;
      }
    }
  return CB_OK;
}
