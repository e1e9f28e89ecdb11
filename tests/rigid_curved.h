/* Bodies in spaces of constant curvature for the tests. The inertia of a body includes the added mass of the fluid, and
 * is about the origin of the body frame. */
#pragma once

#include "rigid.h"
#include <curvebody/pose.h>

/* A body with a constant inertia matrix. */
typedef struct curved_body {
  cb_rigid_constant inertia;
  cb_rigid_problem problem;
} curved_body;

static inline cb_status curved_inertia(void *self, double t, const cb_pose *g, double K[6][6], double mu0[6]) {
  const curved_body *b = self;
  memcpy(K, b->inertia.K, sizeof b->inertia.K);
  memcpy(mu0, b->inertia.mu0, sizeof b->inertia.mu0);
  return CB_OK;
}

static inline void curved_body_of(double curvature, const double K[6][6], curved_body *b) {
  const double none[6] = {0};
  check_ok(cb_rigid_constant_of(K, none, &b->inertia));
  b->problem =
      (cb_rigid_problem){.self = b, .inertia = curved_inertia, .constant = &b->inertia, .curvature = curvature};
}

static inline void curved_diagonal(double curvature, const double diagonal[6], curved_body *b) {
  double K[6][6] = {{0}};
  for (int i = 0; i < 6; i++) K[i][i] = diagonal[i];
  curved_body_of(curvature, K, b);
}

/* The diagonal of the inertia of the quadric x^2/.6^2 + y^2/.5^2 + z^2/.4^2 = w^2 in the coordinates (x, y, z, w) of
 * the embedding. The quadric has the density 2, and its added mass in a fluid of density 1, computed with fundamental
 * solutions, is included. The first row is for the curvature -1, the second for the curvature 1. */
static const double triaxial[2][6] = {
    {.153152374963, .225957875295, .253728968099, 1.800765700651, 1.980288469072, 2.235983633676},
    {.052880001815, .065195767598, .072921764525, .855772377550, .887035036068, .955726559202}};
static const double triaxial_twist[6] = {.7, -.4, .5, .6, .3, -.8};
static const cb_pose base = {{1, 0, 0, 0}, {0, 0, 0}};

/* Computes the point y = (x, w) of the embedding at the origin of the body frame. K is the curvature of the space. */
static inline void curved_place(double K, const cb_pose *g, double y[4]) {
  const double r = sqrt(cb_dot3(g->x, g->x)), k = sqrt(fabs(K)) * r;
  const double f = r == 0 ? 1 : K > 0 ? sin(k) / k : K < 0 ? sinh(k) / k : 1;
  for (int i = 0; i < 3; i++) y[i] = f * g->x[i];
  y[3] = K > 0 ? cos(k) : K < 0 ? cosh(k) : 1;
}
