/* `coupling: exact`: the potential flow around all bodies, by panels on their surfaces (potential/several.h).
 *
 *   K of all bodies and its derivative from one system of equations; what is added to each body is K minus its own block
 * for the body alone, on the same panels. The own added mass of each body is that of its model, which may be more
 * accurate. Valid for rigid closed bodies of which no two are nearer than their panels resolve. Near a plane the images
 * of all bodies are added. Source: see potential/several.h. SI units.
 */
#include "fluid/body_coupling.h"

#include "core/failure.h"
#include "numerics/vec3.h"
#include "potential/several.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct data {
  cb_several *several;
  double density;
  int n, faces; /* the smallest number of faces of a body */
} data;

static void release(void *self) {
  data *d = self;
  if (!d) return;
  cb_several_free(d->several);
  free(d);
}

static cb_status prepare(const cb_body_coupling *c, const cb_coupled_fluid *of, int *which, void **out) {
  cb_several_body *body = calloc((size_t)of->n, sizeof *body);
  data *d = calloc(1, sizeof *d);
  cb_status status = body && d ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", of->n);
  for (int i = 0; i < of->n && !status; i++) {
    const cb_surface *s = cb_immersed_surface(of->body[i]);
    *which = i;
    if (cb_immersed_poses(of->body[i]))
      status =
          cb_fail(CB_ERROR_UNSUPPORTED,
                  "`coupling: exact` is for rigid bodies, and this one changes its shape: expected dipole or none");
    if (!status) body[i] = (cb_several_body){s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face};
  }
  if (!status) {
    const cb_kirchhoff_options options = {.wall = cb_coupling_mirror(c)};
    *which = -1;
    d->density = of->density;
    d->n = of->n;
    for (int i = 0; i < of->n; i++) d->faces = i && d->faces < body[i].faces ? d->faces : body[i].faces;
    status = cb_several_create(of->n, body, &options, &d->several);
  }
  free(body);
  if (status)
    release(d);
  else
    *out = d;
  return status;
}

static cb_status apply(void *self, double t, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                       double (*slope)[6], double *energy) {
  const data *d = self;
  (void)t;
  const cb_status status = cb_several_apply(d->several, g, Y, momentum, slope, NULL);
  for (int i = 0; i < d->n && !status; i++) {
    double twice = 0;
    for (int k = 0; k < 6; k++) {
      momentum[i][k] *= d->density;
      twice += momentum[i][k] * Y[i][k];
      if (slope) slope[i][k] *= d->density;
    }
    if (energy) energy[i] = twice / 2;
  }
  return status;
}

/* Returns the largest linear momentum that the others add to a body if all move with a unit velocity along `axis`,
 * relative to a third of the trace of its own linear tensor. */
static cb_status strength(const data *d, const cb_pose *g, int axis, double (*Y)[6], double (*momentum)[6],
                          cb_several_report *report, double *largest) {
  for (int i = 0; i < d->n; i++) {
    double R[3][3];
    cb_pose_rotation(&g[i], R);
    memset(Y[i], 0, sizeof Y[i]);
    memcpy(Y[i] + 3, R[axis], sizeof R[axis]);
  }
  const cb_status status = cb_several_apply(d->several, g, (const double(*)[6])Y, momentum, NULL, report);
  for (int i = 0; i < d->n && !status; i++) {
    double K[6][6];
    cb_several_own(d->several, i, K);
    const double *p = momentum[i] + 3;
    *largest = fmax(*largest, 3 * sqrt(cb_dot3(p, p)) / (K[3][3] + K[4][4] + K[5][5]));
  }
  return status;
}

/* Two errors add up. The panels make the coupling of spheres too small by 5/faces to 18/faces, as measured with 320 and
 * 512 faces (potential/several.h). The panels of a film between two bodies are too coarse if they are wider than the
 * gap: this error grows in proportion to (size/gap)^2, from about 1 % where a gap is as wide as a panel
 * (potential/moving.h). */
static cb_status estimate(void *self, double t, const cb_pose *g, cb_coupling_error *out) {
  const data *d = self;
  cb_several_report report;
  double largest = 0;
  cb_status status = CB_OK;
  (void)t;
  double(*Y)[6] = calloc(2 * (size_t)d->n, sizeof *Y);
  if (!Y) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", d->n);
  for (int axis = 0; axis < 3 && !status; axis++) status = strength(d, g, axis, Y, Y + d->n, &report, &largest);
  free(Y);
  if (status) return status;
  const double ratio = report.resolved / report.gap;
  *out = (cb_coupling_error){.01 * ratio * ratio + 18 * largest / d->faces, {report.body[0], report.body[1]}};
  return CB_OK;
}

const cb_body_coupling_class cb_body_coupling_exact = {
    .name = "exact",
    .title = "the potential flow around all bodies, by panels on their surfaces",
    .doc =
        "The added mass of all rigid closed bodies together, with its derivative along their motion. A step of two "
        "bodies of 500 faces takes about 0.15 s.",
    .params = cb_coupling_plane_params,
    .params_size = sizeof(cb_coupling_plane),
    .prepare = prepare,
    .release = release,
    .apply = apply,
    .estimate = estimate};
