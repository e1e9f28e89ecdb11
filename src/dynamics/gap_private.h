/* The kinds of gaps: what each file of gap_*.c gives to gap.c. */
#pragma once

#include "dynamics/contact_private.h"
#include "dynamics/gap.h"

/* The frames of the two components that were measured last. */
typedef struct cb_gap_frames {
  int a, b; /* -1: none */
  bool same; /* they are one frame */
  cb_frames frames;
} cb_gap_frames;

/* The frame and the centre of a wall that were measured last. */
typedef struct cb_gap_anchor {
  int a; /* -1: none */
  const double *centre;
  cb_anchor anchor;
} cb_gap_anchor;

struct cb_gaps {
  const cb_system *system;
  const cb_geometry *space;
  const cb_contact_set *set;
  cb_arena *arena;
  bool moves;         /* has the space moving origins? Otherwise all are the identity */
  cb_origin *origin;  /* one a component, if they move */
  const cb_bases *bases; /* borrowed; NULL: frames are known by their origins alone */
  cb_origin identity; /* of the space */
  cb_gap_frames *last;
  cb_gap_anchor last_anchor;
};

/* The origin of a particle's component. */
static inline const cb_origin *cb_gap_origin(const cb_gaps *gaps, int particle) {
  return gaps->moves ? &gaps->origin[gaps->system->component[particle]] : &gaps->identity;
}

/* The frames of two particles, relative to one place. */
static inline void cb_gap_pair(const cb_gaps *gaps, int i, int j, cb_origin pair[2]) {
  const int *component = gaps->system->component;
  pair[0] = *cb_gap_origin(gaps, i);
  pair[1] = *cb_gap_origin(gaps, j);
  if (gaps->moves && gaps->bases && component[i] != component[j])
    cb_bases_pair(gaps->space, gaps->bases, component[i], component[j], pair);
}

/* Distance of two particles, and of one from a point of the world, with gradient[2k], gradient[k] for order 1. */
cb_status cb_gap_distance(cb_gaps *gaps, int i, int j, const double *x, const double *y, int order, double *d,
                          double *gradient);
cb_status cb_gap_distance_from(cb_gaps *gaps, int i, const double *x, const double *centre, int order, double *d,
                               double *gradient);

/* Signed distance of a particle from a plane, without its radius. */
cb_status cb_gap_plane(const cb_gaps *gaps, const cb_wall *wall, int i, const double *x, int order, double *d,
                       double *gradient);

/* An expression of the coordinates of a chart (NULL: the embedding) of particle i, t and r. */
typedef struct cb_gap_formula {
  const cb_expression *expression;
  const cb_chart *chart;
  int particle;
  const cb_expression *whole, *guard; /* of a branch of a wall; NULL: it holds everywhere */
} cb_gap_formula;
cb_status cb_gap_expression(const cb_gaps *gaps, const cb_gap_formula *f, double t, const double *x, int order,
                            cb_gap_value *out);
/* The largest |s''|, sampled. */
double cb_gap_expression_bend(const cb_gaps *gaps, const cb_gap_formula *f, double t, const double *x, double speed,
                              double acceleration, double duration);

/* Surfaces. The gap is side * distance - radii. */
cb_status cb_gap_surface(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, int order, cb_gap_value *out);
double cb_gap_surface_bend(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, const double *speed,
                           const double *acceleration, double duration);

/* A figure of points in one frame of the embedding of a quadric or flat space, and what is measured of it. */
typedef struct cb_gap_figure {
  double distance;                                 /* signed */
  double gradient[CB_GAP_PARTICLES][CB_COORD_MAX]; /* ordinary partial derivatives in the points */
  double weight[CB_GAP_PARTICLES]; /* of the nearest points in their points; for an edge and an edge, along each */
  bool active;
} cb_gap_figure;
/* Point 0 from the geodesic plane through the points 1 .. dim; in dimension 2, with point 3 on its inner side. */
cb_status cb_gap_face_figure(const cb_geometry *g, const double x[][CB_COORD_MAX], cb_gap_figure *out);
/* The geodesics through 0, 1 and through 2, 3; dimension 3. */
cb_status cb_gap_edge_figure(const cb_geometry *g, const double x[][CB_COORD_MAX], cb_gap_figure *out);
/* The points of a gap in the frame of its first particle; jacobian[p]: d(point)/dx, embedding x k. */
cb_status cb_gap_gather(const cb_gaps *gaps, const cb_gap *gap, const double *const *x, double point[][CB_COORD_MAX],
                        double jacobian[][CB_COORD_MAX * CB_COORD_MAX]);
