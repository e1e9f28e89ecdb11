/* The local model by faces: added mass, lift and drag (fluid/local.h), computed here face by face. Bodies use the
 * vectorised sums over faces instead.
 *
 *   f = -(rho/2) A |u| <u, n> n,   df/du = -(rho/2) A n (|u| n + <u, n> u/|u|)^T
 *   kinetic = sum delta/(24 A) s_c S_c (twice that on a sheet),  s_c = <x_c', a> - A mean,  S_c = s_c + s_1 + s_2 + s_3
 *
 * f is the force on a face with area A and normal n that moves with u relative to the fluid of density rho. `kinetic`
 * is the energy of the fluid, for density 1, if only the shape moves. The sum is over faces and their corners c, which
 * move with x_c' (fluid/terms/flow.c). a = A n is the area vector, delta as in fluid/local.h, and `mean` the mean
 * normal velocity of the part.
 */
#include <curvebody/fluid_model.h>

#include "fluid/local_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>

void cb_fluid_local_on_face(const cb_fluid_model *m, const void *body, const cb_fluid_face *face, const double u[3],
                            double *f, double *df) {
  (void)m;
  (void)body;
  const double *n = face->normal, speed = sqrt(cb_dot3(u, u)), across = cb_dot3(u, n),
               k = -0.5 * face->density * face->area;
  if (!(speed > 0)) return;
  for (int i = 0; i < 3; i++) {
    f[i] += k * speed * across * n[i];
    for (int j = 0; df && j < 3; j++) df[3 * i + j] += k * n[i] * (speed * n[j] + across / speed * u[j]);
  }
}

/* Returns the kinetic energy of the fluid for vertices at x with the velocities v (equation above). l must have been
 * set to this pose. */
static double kinetic(const cb_local *l, const cb_surface *s, const double (*x)[3], const double (*v)[3],
                      const cb_local_part *part) {
  double sum = 0;
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f], p = s->part[f];
    double a[3], own[3], all = 0;
    cb_area3(x[c[0]], x[c[1]], x[c[2]], a);
    const double area = sqrt(cb_dot3(a, a));
    for (int k = 0; k < 3; k++) all += own[k] = cb_dot3(v[c[k]], a) - area * l->mean[p];
    for (int k = 0; k < 3 && area > 0; k++)
      sum += part[p].delta * (s->open[p] ? 2 : 1) / (24 * area) * own[k] * (own[k] + all);
  }
  return sum;
}

cb_status cb_fluid_local_added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface,
                                    const double (*x)[3], const double (*v)[3], cb_added_mass *out) {
  (void)m;
  (void)body;
  cb_local *l = NULL;
  cb_local_part *part = calloc((size_t)surface->parts, sizeof *part);
  cb_status status = part ? cb_local_create(surface, &l)
                          : cb_fail(CB_ERROR_MEMORY, "no memory for the added mass of %d parts", surface->parts);
  if (!status) {
    cb_local_pose(l, x, v);
    cb_local_removed_normal_velocity(l, true);
    cb_local_added_mass(l, 1, NULL, out->K, out->mu0, part); /* mu0 is 0 for a shape at rest */
    out->kinetic = v ? kinetic(l, surface, x, v, part) : 0;
  }
  cb_local_free(l);
  free(part);
  return status;
}

const cb_fluid_model_class cb_fluid_model_local = {
    .name = "local",
    .title = "local model of faces",
    .doc = "added mass, lift and drag on each face; the default of a fluid without `model`",
    .on_face = cb_fluid_local_on_face,
    .added_mass = cb_fluid_local_added_mass,
};
