/* Bundles of immersed bodies: A = K^-1 Q and M = R - Q^T A from the form of their kinetic energy. */
#include "fluid/immersed_bundle_private.h"

#include "bundle/form.h"
#include "bundle/bundle_private.h"
#include "core/spare.h"
#include "numerics/curved.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = CB_SHAPE_SURFACE_VARIABLES, SIZE = CB_IMMERSED_FORM };

typedef struct immersed {
  cb_immersed_energy energy;
  cb_shape_surface *taken;
  int (*line)[2];
  cb_spare work; /* of cb_immersed_work */
} immersed;

/* --- work arrays --- */

static cb_status borrow(immersed *own, cb_immersed_work **out) {
  *out = cb_spare_take(&own->work);
  return *out ? CB_OK : cb_immersed_work_create(&own->energy, out);
}

static void give_back(immersed *own, cb_immersed_work *w) {
  if (!cb_spare_leave(&own->work, w)) cb_immersed_work_free(w);
}

/* --- connection --- */

/* The radius of curvature, in which the group counts shifts; 1 in flat space. */
static double radius(const cb_bundle *b) {
  const double K = ((const immersed *)b->self)->energy.shape->surface->curvature;
  return K == 0 ? 1 : 1 / sqrt(fabs(K));
}

/* G as rows of 6 + n numbers, of the group's axes. */
static void pack(const cb_bundle *b, const double G[SIZE][SIZE], double *out) {
  const int n = b->n;
  const double R = radius(b);
  for (int i = 0; i < 6 + n; i++) memcpy(out + i * (6 + n), G[i], (size_t)(6 + n) * sizeof *out);
  if (R == 1) return;
  for (int i = 3; i < 6; i++)
    for (int j = 0; j < 6 + n; j++) {
      out[i * (6 + n) + j] *= R;
      out[j * (6 + n) + i] *= R;
    }
}

static cb_status evaluate(const cb_bundle *b, cb_immersed_work *w, const double *r, double *A, double *dA, double *M,
                          double *dM) {
  immersed *own = b->self;
  const int n = b->n, count = (6 + n) * (6 + n);
  double G[SIZE][SIZE], dG[SHAPES][SIZE][SIZE], form[SIZE * SIZE], dform[SHAPES * SIZE * SIZE];
  const bool derivatives = dA || dM;
  const cb_status status = cb_immersed_form_of(&own->energy, w, r, M || dM, G, derivatives ? dG : NULL);
  if (status) return status;
  pack(b, (const double(*)[SIZE])G, form);
  for (int k = 0; derivatives && k < n; k++) pack(b, (const double(*)[SIZE])dG[k], dform + k * count);
  return cb_form_reduce(b->group, n, form, derivatives ? dform : NULL, A, dA, M, dM);
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  cb_immersed_work *w;
  cb_status status = borrow(b->self, &w);
  if (status) return status;
  status = evaluate(b, w, r, A, dA, M, dM);
  give_back(b->self, w);
  return status;
}

static cb_status form(const cb_bundle *b, const double *r, double *out) {
  immersed *own = b->self;
  double G[SIZE][SIZE];
  cb_immersed_work *w;
  cb_status status = borrow(own, &w);
  if (status) return status;
  status = cb_immersed_form_of(&own->energy, w, r, true, G, NULL);
  give_back(own, w);
  if (!status) pack(b, (const double(*)[SIZE])G, out);
  return status;
}

/* x/(1 + w) of the point that g moves y to, without cancellation far round a sphere. */
static void draw(const cb_bundle *b, double K, const double *m, const double y[3], double out[3]) {
  double at[4], moved[4] = {0};
  const double R = radius(b), length[4] = {R, R, R, 1};
  cb_curved_point(K, y, at);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) moved[i] += length[i] * m[i * 4 + j] * at[j] / length[j];
  const double w = moved[3], over = w < 0 ? K * cb_dot3(moved, moved) / (1 - w) : 1 + w;
  for (int i = 0; i < 3; i++) out[i] = moved[i] / over;
}

static cb_status picture(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  immersed *own = b->self;
  const double K = own->energy.shape->surface->curvature;
  cb_immersed_work *w;
  double(*y)[3], m[25];
  cb_pose pose;
  cb_status status = borrow(own, &w);
  if (status) return status;
  status = cb_immersed_places(&own->energy, w, r, &y);
  if (K == 0) {
    memcpy(pose.q, g, sizeof pose.q);
    memcpy(pose.x, g + 4, sizeof pose.x);
  } else {
    b->group->matrix(b->group, g, m);
  }
  for (int v = 0; !status && v < b->points; v++)
    if (K == 0)
      cb_pose_point(&pose, y[v], x[v]);
    else
      draw(b, K, m, y[v], x[v]);
  give_back(own, w);
  return status;
}

/* --- making --- */

static void destroy(cb_bundle *b) {
  immersed *own = b->self;
  if (!own) return;
  for (cb_immersed_work *w; (w = cb_spare_take(&own->work));) cb_immersed_work_free(w);
  cb_immersed_energy_release(&own->energy);
  cb_immersed_rigid_free(own->energy.rigid);
  cb_moving_mass_free(own->energy.mass);
  cb_shape_surface_free(own->taken);
  free(own->line);
  free(own);
  b->self = NULL;
}

static const cb_bundle_class immersed_class = {
    .name = "immersed",
    .title = "body in an ideal fluid",
    .doc = "swims by its shape with total momentum zero; in vacuum: turns",
    .destroy = destroy,
    .connection = connection,
    .second = cb_bundle_second_by_values,
    .form = form,
    .picture = picture,
};

static cb_status init(cb_bundle *b, const cb_shape_surface *shape, const cb_immersed_bundle_options *o) {
  immersed *own = b->self;
  double mass = 0;
  if (!(o->density >= 0) || !isfinite(o->density))
    return cb_fail(CB_ERROR_ARGUMENT, "a fluid of %g kg/m^3, expected 0 or more", o->density);
  for (int p = 0; p < shape->surface->parts; p++) mass += o->material[p].density;
  for (int i = 0; i < o->n_points; i++) mass += o->points[i].mass;
  if (!(mass > 0) && !(o->density > 0))
    return cb_fail(CB_ERROR_DOMAIN, "the body has no inertia: no mass, and no fluid that moves with it");
  own->energy = (cb_immersed_energy){.shape = shape, .density = o->density};
  if (o->added_mass && o->added_mass->kind->added_mass != cb_fluid_local_added_mass) own->energy.model = o->added_mass;
  cb_status status = cb_moving_mass_create(shape->surface, o->material, o->lumped, o->n_points, o->points,
                                           &own->energy.mass);
  if (!status && o->density > 0) status = cb_immersed_energy_prepare(&own->energy);
  cb_immersed_work *w;
  if (!status && !(status = borrow(own, &w))) {
    status = cb_immersed_begin(&own->energy, w);
    if (!status) status = cb_immersed_rigid_create(&own->energy, w, &own->energy.rigid);
    give_back(own, w);
  }
  return status ? status : cb_shape_surface_of_bundle(shape, b, &own->line);
}

static cb_status make(const cb_shape_surface *shape, cb_shape_surface *taken, const cb_immersed_bundle_options *options,
                      cb_bundle **out) {
  cb_bundle *b = calloc(1, sizeof *b);
  immersed *own = calloc(1, sizeof *own);
  if (!b || !own) {
    free(b), free(own);
    cb_shape_surface_free(taken);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  }
  *b = (cb_bundle){.kind = &immersed_class, .self = own};
  own->taken = taken;
  const cb_status status = init(b, shape, options);
  if (status) {
    cb_bundle_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
}

cb_status cb_bundle_immersed(const cb_shape_surface *shape, const cb_immersed_bundle_options *options,
                             cb_bundle **out) {
  return make(shape, NULL, options, out);
}

cb_status cb_bundle_immersed_take(cb_shape_surface *shape, const cb_immersed_bundle_options *options,
                                  cb_bundle **out) {
  return make(shape, shape, options, out);
}
