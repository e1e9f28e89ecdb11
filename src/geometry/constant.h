/* Spaces of constant curvature, and products of one and a line: params and init of a class whose one parameter is the
 * curvature, from what that is by default and may be, and from the dimensions of the factors. */
#pragma once

#include <curvebody/geometry.h>

/* clang-format off */
#define CB_CONSTANT_CURVATURE(fallback, range, doc, ...)                                                             \
  static const cb_param params[] = {                                                                                 \
      {"curvature", CB_PARAM_REAL, 0, fallback, "1/length^2", range, NULL, doc}, {0}};                               \
  static cb_status init(cb_geometry *g, const void *p) {                                                             \
    static const int dim[] = {__VA_ARGS__};                                                                          \
    return cb_geometry_init_product(g, sizeof dim / sizeof *dim, dim, (double[]){*(const double *)p, 0});            \
  }
/* These as members of the class. */
#define CB_CONSTANT_CURVATURE_CLASS .params = params, .params_size = sizeof(double), .init = init
/* clang-format on */
