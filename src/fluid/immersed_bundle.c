/* Bundles of immersed bodies: the connection A = K^-1 Q and the metric M = R - Q^T A from the form ((K, Q), (Q^T, R))
 * of the kinetic energy (see fluid/immersed_bundle.h); and the fluid's part of that form for models other than the
 * local one. */
#include "fluid/immersed_bundle.h"
#include "bundle/bundle_private.h"
#include "core/threads.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "fluid/fluid_shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPES = CB_SHAPE_SURFACE_VARIABLES, SIZE = CB_IMMERSED_FORM };

/* The fluid's part of the form of a body over shape space, for a fluid model that is not the local one. A model that
 * has the member `form` gives this part itself. Otherwise K is the model's added mass. Column i of Q is the model's
 * momentum mu0 in the motion u_i, in which the vertices move with the velocities dx_i. R follows from the model's
 * kinetic energy T in one motion and in the sum of two motions:
 *
 *   R_ij = T(u_i + u_j) - T(u_i) - T(u_j),  R_ii = 2 T(u_i) */

static cb_status of_rest(const cb_immersed_energy *e) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the added mass of the fluid model `%s` is valid only for the body's shape at rest, but a gait "
                 "changes the shape: expected `added_mass: local` or `exact`",
                 e->model->class_->name);
}

/* Lets the model, if there is one, compute its data about the body. Returns CB_ERROR_UNSUPPORTED for a model with a
 * wall, for one that is valid only for the shape at rest, and in a curved space for a model of flat space. */
static cb_status prepare_model(cb_immersed_energy *e) {
  const cb_surface *s = e->shape->surface;
  cb_mass mass;
  double mu[6], up[3], height;
  if (e->model && cb_fluid_model_is_placed(e->model, up, &height))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the added mass of the fluid model `%s` near a wall depends on the position of the body, but the "
                   "form of a bundle may not: expected wall: none, or a run with bodies",
                   e->model->class_->name);
  if (e->model && s->curvature != 0 && !e->model->class_->curved)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "the added mass of the fluid model `%s` is valid only in flat space: expected exact or local in a "
                   "space of curvature %g",
                   e->model->class_->name, s->curvature);
  if (e->model && cb_fluid_model_is_of_rest(e->model, false)) return of_rest(e);
  if (!e->model || !e->model->class_->prepare) return CB_OK;
  cb_status status = cb_moving_mass_at(e->mass, (const double(*)[3])s->x, NULL, &mass, mu);
  if (!status) status = e->model->class_->prepare(e->model, s, &mass, &e->body);
  double K[36] = {0};
  if (!status && e->model->class_->form)
    status = e->model->class_->form(e->model, e->body, s, (const double(*)[3])s->x, 0, NULL, K);
  return status;
}

static void release_model(cb_immersed_energy *e) {
  if (e->body && e->model->class_->release) e->model->class_->release(e->model, e->body);
  e->body = NULL;
}

static cb_status of_motion(const cb_immersed_energy *e, const double (*x)[3], const double (*v)[3],
                           cb_added_mass *out) {
  *out = (cb_added_mass){.kinetic = 0};
  return e->model->class_->added_mass(e->model, e->body, e->shape->surface, x, v, out);
}

/* Finds G, the fluid's part of the form, from the model's kinetic energies (equations above). G has rows of 6 + n
 * numbers. sum[vertices] is a work array. */
static cb_status by_energies(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3], double (*sum)[3],
                             double *G) {
  const int n = e->shape->n, size = 6 + n, vertices = e->shape->surface->vertices;
  cb_added_mass own[CB_SHAPE_SURFACE_VARIABLES];
  for (int i = 0; i < n; i++) {
    cb_status status = of_motion(e, x, dx + i * vertices, &own[i]);
    if (status) return status;
    if (!cb_fluid_model_sees_shape(e->shape->surface, x, dx + i * vertices, &own[i])) return of_rest(e);
    for (int a = 0; a < 6; a++) {
      for (int b = 0; b < 6 && i == 0; b++) G[a * size + b] = own[i].K[a][b];
      G[a * size + 6 + i] = G[(6 + i) * size + a] = own[i].mu0[a];
    }
    G[(6 + i) * size + 6 + i] = 2 * own[i].kinetic;
    for (int j = 0; j < i; j++) {
      cb_added_mass both;
      for (int k = 0; k < vertices; k++)
        for (int c = 0; c < 3; c++) sum[k][c] = dx[i * vertices + k][c] + dx[j * vertices + k][c];
      status = of_motion(e, x, (const double(*)[3])sum, &both);
      if (status) return status;
      G[(6 + i) * size + 6 + j] = G[(6 + j) * size + 6 + i] = both.kinetic - own[i].kinetic - own[j].kinetic;
    }
  }
  return CB_OK;
}

cb_status cb_immersed_energy_of_model(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3],
                                      double (*sum)[3], double G[SIZE][SIZE]) {
  const cb_fluid_model_class *class = e->model->class_;
  const int n = e->shape->n, size = 6 + n;
  double own[SIZE * SIZE] = {0}, total = 0;
  const cb_status status =
      class->form ? class->form(e->model, e->body, e->shape->surface, x, n, dx, own) : by_energies(e, x, dx, sum, own);
  if (status) return status;
  for (int i = 0; i < size * size; i++) {
    G[i / size][i % size] += e->density * own[i];
    total += own[i];
  }
  return isfinite(total) ? CB_OK
                         : cb_fail(CB_STEP_DOMAIN, "the added mass of the fluid model `%s` is not finite", class->name);
}

/* --- the bundle --- */

typedef struct immersed {
  cb_immersed_energy energy;
  cb_shape_surface *taken;
  int (*line)[2];
  cb_spare work; /* spare objects of cb_immersed_work */
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

/* Returns the radius of curvature, which is the group's unit of translations; 1 in flat space. */
static double radius(const cb_bundle *b) {
  const double K = ((const immersed *)b->self)->energy.shape->surface->curvature;
  return K == 0 ? 1 : 1 / sqrt(fabs(K));
}

/* Writes G as rows of 6 + n numbers, with translations measured in radii of curvature, the group's unit. */
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

static cb_status form(const cb_bundle *b, const double *r, double *out, double *slope) {
  immersed *own = b->self;
  const int n = b->n, count = (6 + n) * (6 + n);
  double G[SIZE][SIZE], dG[SHAPES][SIZE][SIZE];
  cb_immersed_work *w;
  cb_status status = borrow(own, &w);
  if (status) return status;
  status = cb_immersed_form_of(&own->energy, w, r, true, G, slope ? dG : NULL);
  give_back(own, w);
  if (status) return status;
  pack(b, (const double(*)[SIZE])G, out);
  for (int k = 0; slope && k < n; k++) pack(b, (const double(*)[SIZE])dG[k], slope + k * count);
  return CB_OK;
}

/* Moves the point with the normal coordinates y by the isometry with the matrix m. The moved point is (x, w). Sets
 * `out` to x/(1 + w), which is computed without cancellation near w = -1 on a sphere. */
static void draw(const cb_bundle *b, double K, const double *m, const double y[3], double out[3]) {
  double at[4], moved[4] = {0};
  const double R = radius(b), length[4] = {R, R, R, 1};
  cb_curved_point(K, y, at);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) moved[i] += length[i] * m[i * 4 + j] * at[j] / length[j];
  const double w = moved[3], over = w < 0 ? K * cb_dot3(moved, moved) / (1 - w) : 1 + w;
  for (int i = 0; i < 3; i++) out[i] = moved[i] / over;
}

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
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
  release_model(&own->energy);
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
    .doc = "a body that swims by changing its shape, with total momentum 0; in vacuum it rotates",
    .destroy = destroy,
    .connection = connection,
    .second = cb_bundle_second_by_values,
    .form = form,
    .resistance = CB_RESISTANCE_INERTIA,
    .plot = plot,
};

static cb_status init(cb_bundle *b, const cb_shape_surface *shape, const cb_immersed_bundle_options *o) {
  immersed *own = b->self;
  double mass = 0;
  if (!(o->density >= 0) || !isfinite(o->density))
    return cb_fail(CB_ERROR_ARGUMENT, "density of the fluid: expected a number >= 0 in kg/m^3, found %g", o->density);
  for (int p = 0; p < shape->surface->parts; p++) mass += o->material[p].density;
  for (int i = 0; i < o->n_points; i++) mass += o->points[i].mass;
  if (!(mass > 0) && !(o->density > 0))
    return cb_fail(CB_ERROR_DOMAIN, "the body has no inertia: expected a mass > 0, or a fluid with a density > 0");
  own->energy = (cb_immersed_energy){.shape = shape, .density = o->density};
  if (o->added_mass && o->added_mass->class_->added_mass != cb_fluid_local_added_mass)
    own->energy.model = o->added_mass;
  cb_status status =
      cb_moving_mass_create(shape->surface, o->material, o->lumped, o->n_points, o->points, &own->energy.mass);
  if (!status && o->density > 0) status = prepare_model(&own->energy);
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
    free(b);
    free(own);
    cb_shape_surface_free(taken);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a bundle");
  }
  *b = (cb_bundle){.class_ = &immersed_class,
                   .self = own,
                   .resistance = CB_RESISTANCE_INERTIA,
                   .in_perfect_fluid = options->density > 0};
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

cb_status cb_bundle_immersed_take(cb_shape_surface *shape, const cb_immersed_bundle_options *options, cb_bundle **out) {
  return make(shape, shape, options, out);
}
