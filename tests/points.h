/* Bundles of point masses for the tests, made from text. The points have random places and masses, in spaces whose
 * isometries form one of the groups of the library. */
#pragma once

#include <curvebody/holonomy.h>
#include "bundle/points.h"
#include "check.h"
#include "yaml/yaml.h"

static inline cb_status points_create(const char *text, cb_bundle **out) {
  cb_tree *source = NULL;
  check_ok(cb_yaml_read_text("test", text, strlen(text), &source));
  const cb_status status = cb_bundle_create("points", cb_tree_root(source), out);
  cb_tree_free(source);
  return status;
}

static inline cb_bundle *points_from(const char *text) {
  cb_bundle *b = NULL;
  check_ok(points_create(text, &b));
  return b;
}

/* A space, given by its text in a scenario, the chart that random_points_text uses in this space, and its dimension. */
typedef struct points_space {
  const char *node, *chart;
  int dim;
} points_space;
static const points_space points_spaces[] = {{"e2", "cartesian", 2},
                                             {"e3", "cartesian", 3},
                                             {"s2", "translation", 2},
                                             {"s3", "translation", 3},
                                             {"h2", "poincare", 2},
                                             {"h3", "translation", 3},
                                             {"h2xe", "translation", 3},
                                             {"{name: s2, curvature: 2.3}", "stereographic", 2},
                                             {"{name: s3, curvature: 0.6}", "polar", 3},
                                             {"{name: h3, curvature: -0.4}", "poincare", 3},
                                             {"{name: h2xe, curvature: -1.7}", "polar", 3}};
enum { POINTS_MOST = 6, POINTS_SPACES = sizeof points_spaces / sizeof *points_spaces };

/* Writes the text of a bundle of `count` points with two shape variables u and v. Each coordinate is
 * c0 + c1 u + c2 v + c3 u v + c4 sin(u + 2 v). The numbers c0 are those of an irregular figure, and the other
 * coefficients are random in [-0.1, 0.1]. `more` is the text of further keys. The caller frees the result. */
static inline char *random_points_text(uint64_t *seed, const points_space *space, int count, const char *more) {
  static const double corner[POINTS_MOST][3] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1},
                                                {0.1, 0.1, 0.6}, {0.2, -0.3, -0.4}, {0.4, 0.3, -0.3}};
  static const double polar[POINTS_MOST][3] = {{0.6, 1.2, 0.2}, {0.5, 0.6, 2.3}, {0.6, 2.2, 4.4},
                                               {0.7, 1.6, 5.5}, {0.4, 1, 1.2},   {0.6, 2, 3}};
  const bool in_polar = !strcmp(space->chart, "polar");
  const size_t room = 1024 + (size_t)count * 512;
  char *text = malloc(room);
  size_t used = (size_t)snprintf(text, room, "{space: %s, chart: %s, shape: [u, v], %s points: [", space->node,
                                 space->chart, more);
  for (int m = 0; m < count; m++) {
    used +=
        (size_t)snprintf(text + used, room - used, "%s{mass: %.17g, at: [", m ? ", " : "", check_uniform(seed, 0.5, 2));
    for (int c = 0; c < space->dim; c++) {
      const double first = (in_polar ? polar : corner)[m][c] + check_uniform(seed, -0.05, 0.05);
      double k[4];
      for (int i = 0; i < 4; i++) k[i] = check_uniform(seed, -0.1, 0.1);
      used +=
          (size_t)snprintf(text + used, room - used, "%s\"%.17g + %.17g*u + %.17g*v + %.17g*u*v + %.17g*sin(u+2*v)\"",
                           c ? ", " : "", first, k[0], k[1], k[2], k[3]);
    }
    used += (size_t)snprintf(text + used, room - used, "]}");
  }
  snprintf(text + used, room - used, "]}");
  return text;
}

static inline cb_bundle *random_points(uint64_t *seed, const points_space *space, int count) {
  char *text = random_points_text(seed, space, count, "");
  cb_bundle *b = points_from(text);
  free(text);
  return b;
}

/* Creates a gait of two variables with one harmonic each, which are out of phase. */
static inline cb_gait *points_gait(uint64_t *seed, double size) {
  const double mean[2] = {check_uniform(seed, -0.5, 0.5), check_uniform(seed, -0.5, 0.5)};
  const double cosine[2] = {size, 0.3 * size}, sine[2] = {-0.2 * size, 0.8 * size};
  cb_gait *gait = NULL;
  check_ok(cb_gait_fourier(2, 1, mean, cosine, sine, &gait));
  return gait;
}

/* Computes the positions x[points][CB_COORD_MAX] in the world for the shape of the gait at t and the group element
 * g. */
static inline void points_world(const cb_bundle *b, const cb_gait *gait, double t, const double *g,
                                double (*x)[CB_COORD_MAX]) {
  double r[CB_SHAPE_MAX], rate[CB_SHAPE_MAX], body[POINTS_MOST * CB_COORD_MAX];
  cb_isometry move;
  cb_gait_at(gait, t, r, rate);
  check_ok(cb_points_place(b, r, body, NULL));
  cb_points_isometry(b, g, &move);
  const int k = cb_points_space(b)->embedding;
  for (int m = 0; m < cb_points_count(b); m++) cb_isometry_point(cb_points_space(b), &move, body + m * k, x[m]);
}
