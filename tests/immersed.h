/* Bodies in a fluid for the tests. tank_of and tank_fill create a body from a mesh and options; tank_empty frees it. */
#pragma once

#include "fluid/immersed_run.h"
#include "fluid_mesh.h"
#include "rigid.h"

static const cb_pose at_origin = {{1, 0, 0, 0}, {0, 0, 0}};

/* Makes a sphere by dividing each face of an octahedron into n x n triangles. It has all symmetries of the
 * octahedron. */
static inline mesh mesh_ball(int n, double radius) {
  const int side = 2 * n + 1;
  mesh m = mesh_room(4 * n * n + 2, 8 * n * n);
  int *at = malloc(sizeof(int) * (size_t)(side * side * side));
  for (int i = 0; i < side * side * side; i++) at[i] = -1;
  for (int octant = 0; octant < 8; octant++)
    for (int i = 0; i < n; i++)
      for (int j = 0; i + j < n; j++)
        for (int down = 0; down <= (i + j < n - 1); down++) {
          int corner[3];
          for (int c = 0; c < 3; c++) {
            const int p = i + (down ? c != 2 : c == 1), q = j + (down ? c != 0 : c == 2);
            const int k[3] = {octant & 1 ? -p : p, octant & 2 ? -q : q, octant & 4 ? p + q - n : n - p - q};
            int *number = at + ((k[0] + n) * side + k[1] + n) * side + k[2] + n;
            const double size = radius / sqrt(k[0] * k[0] + k[1] * k[1] + k[2] * k[2]);
            if (*number < 0) *number = mesh_vertex(&m, k[0] * size, k[1] * size, k[2] * size);
            corner[c] = *number;
          }
          const bool mirrored = ((octant & 1) + (octant >> 1 & 1) + (octant >> 2 & 1)) % 2;
          mesh_face(&m, corner[0], corner[mirrored ? 2 : 1], corner[mirrored ? 1 : 2]);
        }
  free(at);
  return m;
}

/* A body with its fluid and options. All parts have the same material unless a test changes it. */
typedef struct tank {
  cb_fluid fluid;
  const cb_fluid_model *model[4];
  cb_surface *surface;
  cb_poses *poses;
  cb_material material[8];
  cb_immersed_options options;
  cb_immersed *body;
  cb_immersed_workspace *workspace;
  const cb_rigid_problem *problem;
} tank;

static inline tank tank_of(mesh m, double density, double thickness) {
  tank k = {.surface = mesh_surface(m), .options = {.added_mass = true, .drag = true}};
  for (int p = 0; p < 8; p++) k.material[p] = (cb_material){density, thickness};
  return k;
}
static inline void tank_water(tank *k, double density) {
  cb_medium *medium;
  check_ok(cb_medium_uniform(density, &medium));
  k->fluid.medium = medium;
}
static inline void tank_flow(tank *k, double x, double y, double z) {
  cb_flow *flow;
  check_ok(cb_flow_uniform((double[3]){x, y, z}, &flow));
  k->fluid.flow = flow;
}
static inline void tank_model(tank *k, const cb_fluid_model *model) { k->model[k->fluid.n_models++] = model; }
static inline void tank_fill(tank *k) {
  k->options.material = k->material;
  k->fluid.models = k->model;
  check_ok(cb_immersed_create(&k->fluid, k->surface, k->poses, &k->options, NULL, NULL, NULL, &k->body));
  check_ok(cb_immersed_workspace_create(k->body, &k->workspace));
  k->problem = cb_immersed_workspace_problem(k->workspace);
}
static inline void tank_empty(tank *k) {
  cb_immersed_workspace_free(k->workspace);
  cb_immersed_free(k->body);
  cb_poses_free(k->poses);
  cb_surface_free(k->surface);
  cb_medium_free((cb_medium *)k->fluid.medium);
  cb_flow_free((cb_flow *)k->fluid.flow);
}

/* Sets the motion of all parts by expressions. */
static inline void tank_moves(tank *k, const char *x, const char *y, const char *z) {
  const cb_poses_motion motion = {NULL, {x, y, z}};
  check_ok(cb_poses_from_expressions(k->surface, &motion, 1, NULL, NULL, NULL, NULL, &k->poses));
}

/* Returns the pose g exp(xi), where xi is a twist in the axes of the body. */
static inline cb_pose pose_along(const cb_pose *g, const double xi[6]) {
  cb_pose move, out;
  cb_se3_tau(CB_SE3_EXPONENTIAL, xi, &move);
  cb_pose_multiply(g, &move, &out);
  return out;
}
static inline cb_pose pose_moved(const cb_pose *g, int axis, double by) {
  double xi[6] = {0};
  xi[axis] = by;
  return pose_along(g, xi);
}

/* Computes the momentum mu = K Y + mu0 of the body at the time t, the pose g and the twist Y. */
static inline void momentum_of(const tank *k, double t, const cb_pose *g, const double Y[6], double mu[6]) {
  double K[6][6], mu0[6];
  check_ok(k->problem->inertia(k->problem->self, t, g, K, mu0));
  for (int i = 0; i < 6; i++) {
    mu[i] = mu0[i];
    for (int j = 0; j < 6; j++) mu[i] += K[i][j] * Y[j];
  }
}
/* Computes the sum F of all wrenches, and the derivative dF/dY unless dF is NULL. */
static inline void wrenches_of(const tank *k, double t, const cb_pose *g, const double Y[6], double F[6],
                               double dF[6][6]) {
  double own[6] = {0}, derivative[6][6] = {{0}};
  memset(F, 0, 6 * sizeof *F);
  if (dF) memset(dF, 0, 36 * sizeof **dF);
  for (int source = 0; source < 2; source++) {
    memset(own, 0, sizeof own);
    memset(derivative, 0, sizeof derivative);
    if (source == 0 && k->problem->wrench)
      check_ok(k->problem->wrench(k->problem->self, t, g, Y, own, dF ? derivative : NULL));
    if (source == 1 && k->problem->inertia_wrench)
      check_ok(k->problem->inertia_wrench(k->problem->self, t, g, Y, own, dF ? derivative : NULL));
    for (int i = 0; i < 6; i++) {
      F[i] += own[i];
      for (int j = 0; dF && j < 6; j++) dF[i][j] += derivative[i][j];
    }
  }
}

/* Returns the energies and the other measures at a state, and writes all wrenches to `wrench`. */
static inline cb_immersed_row row_of(const tank *k, const cb_rigid_state *s, double wrench[][6]) {
  cb_immersed_row row = {.wrench = (double(*)[6])wrench};
  check_ok(cb_immersed_workspace_measure(k->workspace, s, &row));
  return row;
}
/* Returns the index of the wrench with this name, or -1. */
static inline int wrench_named(const tank *k, const char *name) {
  for (int i = 0; i < cb_immersed_wrenches(k->body); i++)
    if (strcmp(cb_immersed_wrench_name(k->body, i), name) == 0) return i;
  return -1;
}

/* Compares derivatives of the body with central differences: of the wrenches by the twist and of the momentum mu by the
 * pose, to `tolerance`, and of the wrenches by the pose, to `along`. Both are relative to the maximum derivative. */
static inline void check_derivatives(const tank *k, double t, const cb_pose *g, const double Y[6], double tolerance,
                                     double along) {
  enum { POSE = 6 };
  const double h = 1e-5;
  double F[6], dF[6][6], dmu[6][6] = {{0}}, dg[6][6] = {{0}}, scale[2] = {0, 0}, worst[3] = {0};
  wrenches_of(k, t, g, Y, F, dF);
  check_ok(k->problem->pose_derivative(k->problem->self, t, g, Y, dmu, dg));
  double found[12][2][6];
  for (int j = 0; j < 12; j++) {
    double change[2][2][6];
    for (int side = 0; side < 2; side++) {
      double at[6];
      memcpy(at, Y, sizeof at);
      const double by = side ? -h : h;
      if (j < POSE) at[j] += by;
      const cb_pose moved = j < POSE ? *g : pose_moved(g, j - POSE, by);
      momentum_of(k, t, &moved, at, change[side][0]);
      wrenches_of(k, t, &moved, at, change[side][1], NULL);
    }
    for (int what = 0; what < 2; what++)
      for (int i = 0; i < 6; i++) {
        found[j][what][i] = (change[0][what][i] - change[1][what][i]) / (2 * h);
        scale[what] = fmax(scale[what], fabs(found[j][what][i]));
      }
  }
  for (int j = 0; j < 6; j++)
    for (int i = 0; i < 6; i++) {
      worst[0] = fmax(worst[0], fabs(dF[i][j] - found[j][1][i]) / scale[1]);
      worst[1] = fmax(worst[1], fabs(dg[i][j] - found[POSE + j][1][i]) / scale[1]);
      worst[2] = fmax(worst[2], fabs(dmu[i][j] - found[POSE + j][0][i]) / scale[0]);
    }
  for (int i = 0; i < 3; i++) check_at_most(worst[i], i == 1 ? along : tolerance);
}
