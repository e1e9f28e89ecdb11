/* Bodies for the tests of several bodies in one fluid (potential/several.h). */
#pragma once

#include "potential.h"
#include "potential/several.h"

enum { SEVERAL_MAX = 8 };

static inline cb_several_body several_body(const solid_mesh *m) {
  return (cb_several_body){m->vertices, (const double(*)[3])m->x, m->faces, (const int(*)[3])m->face, NULL};
}

/* Prepares one body for each of n meshes. options may be NULL. */
static inline cb_several *several_of(int n, const solid_mesh *mesh, const cb_kirchhoff_options *options) {
  cb_several_body body[SEVERAL_MAX];
  cb_several *s = NULL;
  assert_true(n <= SEVERAL_MAX);
  for (int i = 0; i < n; i++) body[i] = several_body(mesh + i);
  check_ok(cb_several_create(n, body, options, &s));
  return s;
}

/* Returns the pose g, rotated by e around axis k of the body (k < 3) or shifted by e along axis k - 3. */
static inline cb_pose several_moved(const cb_pose *g, int k, double e) {
  double xi[6] = {0};
  cb_pose by, out;
  xi[k] = e;
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &by);
  cb_pose_multiply(g, &by, &out);
  return out;
}

/* Three ellipsoids of 72 faces in a generic position, with generic twists. */
enum { SEVERAL_GENERIC = 3 };

static const cb_pose several_pose[SEVERAL_GENERIC] = {{{0.8, 0.36, 0.48, 0}, {0.3, -0.5, 0.2}},
                                                      {{0.6, 0, 0.64, 0.48}, {2.1, 0.3, -0.2}},
                                                      {{0.48, -0.8, 0.36, 0}, {0.9, 1.4, 1.1}}};
static const double several_twist[SEVERAL_GENERIC][6] = {
    {0.3, -0.7, 0.5, 0.2, 0.4, -0.6}, {-0.2, 0.4, 0.1, -0.8, 0.3, 0.5}, {0.6, 0.1, -0.4, 0.3, -0.5, 0.2}};

static inline void several_generic(solid_mesh m[SEVERAL_GENERIC]) {
  m[0] = ellipsoid_mesh(3, 1, 0.6, 0.4);
  m[1] = ellipsoid_mesh(3, 0.5, 0.9, 0.35);
  m[2] = ellipsoid_mesh(3, 0.6, 0.5, 0.7);
}

static inline void several_free(cb_several *s, int n, solid_mesh *m) {
  cb_several_free(s);
  for (int i = 0; i < n; i++) free_mesh(m + i);
}

/* Returns <a, b> of n wrenches and twists. */
static inline double several_dot(int n, const double (*a)[6], const double (*b)[6]) {
  double sum = 0;
  for (int k = 0; k < 6 * n; k++) sum += a[k / 6][k % 6] * b[k / 6][k % 6];
  return sum;
}
