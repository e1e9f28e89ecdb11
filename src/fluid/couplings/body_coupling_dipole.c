/* `coupling: dipole`: bodies feel the leading term of the flow of the others (fluid/dipoles.h).
 *
 *   d_i = D_i Y_i + own_i,   own_i = (linear part of mu_i)/rho + d/dt int x dV
 * d_i: moment of the dipole of body i; mu_i: momentum that the motion of its shape gives to the fluid; the integral is
 * over the displaced volume. A body that changes its shape has D_i, own_i and its centroid at the time t. Other
 * symbols: fluid/dipoles.h. Valid for bodies whose distances are larger than their sizes; `estimate` estimates the
 * error. SI units.
 */
#include "fluid/body_coupling.h"

#include "core/failure.h"
#include "fluid/dipoles.h"
#include "fluid/immersed_run.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct data {
  cb_dipoles *dipoles;
  double density;
  int n;
  cb_immersed_workspace **moving; /* [n]: the workspace of a body that changes its shape; otherwise NULL */
} data;

static void release(void *self) {
  data *d = self;
  if (!d) return;
  for (int i = 0; d->moving && i < d->n; i++) cb_immersed_workspace_free(d->moving[i]);
  free(d->moving);
  cb_dipoles_free(d->dipoles);
  free(d);
}

/* Finds the data *out of a body at time t, and the moment `own` that the motion of its shape causes. */
static cb_status shape_at(const data *d, cb_immersed_workspace *w, double t, cb_dipole_body *out, double own[3]) {
  cb_immersed_fluid_share share;
  const cb_status status = cb_immersed_workspace_fluid_share(w, t, &share);
  if (status) return status;
  *out = (cb_dipole_body){.volume = share.volume};
  memcpy(out->K, share.A, sizeof out->K);
  for (int k = 0; k < 3; k++) {
    out->centroid[k] = share.volume > 0 ? share.moment[k] / share.volume : 0;
    own[k] = share.mu[3 + k] / d->density + share.rate[k];
  }
  return CB_OK;
}

/* Returns the radius of the smallest ball about the centroid that contains all vertices of the surface as read. */
static double radius_of(const cb_surface *s, const double centroid[3]) {
  double square = 0;
  for (int i = 0; i < s->vertices; i++) {
    double r[3];
    for (int k = 0; k < 3; k++) r[k] = s->x[i][k] - centroid[k];
    square = fmax(square, cb_dot3(r, r));
  }
  return sqrt(square);
}

static cb_status make_bodies(data *d, const cb_coupled_fluid *of, cb_dipole_body *body, int *which) {
  cb_status status = CB_OK;
  for (int i = 0; i < of->n && !status; i++) {
    cb_immersed_workspace *w;
    double own[3];
    *which = i;
    if (i && of->body[i] == of->body[i - 1] && !cb_immersed_poses(of->body[i])) {
      body[i] = body[i - 1];
      body[i].name = of->name ? of->name[i] : NULL;
      continue;
    }
    status = cb_immersed_workspace_create(of->body[i], &w);
    if (status) return status;
    status = shape_at(d, w, 0, &body[i], own);
    if (!status) body[i].radius = radius_of(cb_immersed_surface(of->body[i]), body[i].centroid);
    body[i].name = of->name ? of->name[i] : NULL;
    if (cb_immersed_poses(of->body[i]))
      d->moving[i] = w;
    else
      cb_immersed_workspace_free(w);
  }
  return status;
}

static cb_status prepare(const cb_body_coupling *c, const cb_coupled_fluid *of, int *which, void **out) {
  const cb_mirror wall = cb_coupling_plane_of(c);
  cb_dipole_body *body = calloc((size_t)of->n, sizeof *body);
  data *d = calloc(1, sizeof *d);
  if (d) d->moving = calloc((size_t)of->n, sizeof *d->moving);
  cb_status status = body && d && d->moving ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", of->n);
  if (!status) {
    d->density = of->density;
    d->n = of->n;
    status = make_bodies(d, of, body, which);
  }
  if (!status) {
    *which = -1;
    status = cb_dipoles_create_in(of->fluid->curvature, of->n, body, of->density, &d->dipoles);
  }
  if (!status) status = cb_dipoles_set_plane(d->dipoles, &wall);
  free(body);
  if (status)
    release(d);
  else
    *out = d;
  return status;
}

/* Updates the data of the bodies that change their shapes to the shapes at time t. */
static cb_status move_shapes(const data *d, double t) {
  cb_status status = CB_OK;
  for (int i = 0; i < d->n && !status; i++) {
    cb_dipole_body body;
    double own[3];
    if (!d->moving[i]) continue;
    status = shape_at(d, d->moving[i], t, &body, own);
    if (!status) status = cb_dipoles_shape(d->dipoles, i, &body, own);
  }
  return status;
}

static cb_status apply(void *self, double t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                       double (*slope)[6], double *energy) {
  const data *d = self;
  cb_status status = move_shapes(d, t);
  if (!status) status = cb_dipoles_apply(d->dipoles, g, Y, momentum, slope);
  for (int i = 0; energy && i < d->n && !status; i++) energy[i] = cb_dipoles_energy(d->dipoles, i);
  return status;
}

static cb_status estimate(void *self, double t, const cb_pose *g, cb_coupling_error *out) {
  const data *d = self;
  const cb_status status = move_shapes(d, t);
  if (!status) out->error = cb_dipoles_error(d->dipoles, g, &out->body[0], &out->body[1]);
  return status;
}

static cb_status incoming(void *self, double t, const cb_pose *g, const double (*Y)[6], int body, int points,
                          const double (*x)[3], double (*u)[3]) {
  const data *d = self;
  const cb_status status = move_shapes(d, t);
  return status ? status : cb_dipoles_flow(d->dipoles, g, Y, body, points, x, u);
}

const cb_body_coupling_class cb_body_coupling_dipole = {
    .name = "dipole",
    .title = "each body moves in the dipole flow of the others, the leading term for distant bodies",
    .doc =
        "A step takes at most 0.1 us per pair of 125 bodies, and 0.02 us per pair of 1000 bodies. The error is of the "
        "order of (size/distance)^2 of the coupling; "
        "`check` prints an estimate. Bodies may change their shapes.",
    .params = cb_coupling_plane_params,
    .params_size = sizeof(cb_coupling_plane),
    .prepare = prepare,
    .release = release,
    .apply = apply,
    .estimate = estimate,
    .plane = cb_coupling_plane_of,
    .incoming = incoming};
