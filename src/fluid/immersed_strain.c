/* The linear fit of the flow around a rigid body, and the added mass of the body in it.
 *
 *   u(x) = u_c + w × (x - c) + E (x - c),   E = sum_k e_k B_k,   e_k = B_k : grad u at c
 *   2 T/rho = <K V, V> - 2 <C e, V> + <N e, e>
 *   de = B_k : (G hat(xi_omega) - hat(xi_omega) G)       G = grad u in the body's axes
 *
 * c is the centre of the body's surface, w half the vorticity and E the strain at c. B_1 .. B_5 are orthonormal
 * symmetric matrices of trace 0 (the fluid is incompressible). T is the kinetic energy of the flow around the body
 * relative to the flow u, and V the twist of the body at c relative to (w, u_c). For the fluid around it, a body at
 * rest in the strain E is a body that deforms with the velocity -E (x - c). C and N are therefore parts of the form G
 * of a body that deforms with the five velocities B_k (x - c) (cb_fluid_model_class.linear_form). SI units; de is the
 * change of e for a small change xi of the pose. */
#include "fluid/immersed_private.h"

#include <string.h>

enum { STRAINS = CB_IMMERSED_STRAINS, FORM = 6 + STRAINS };

#define HALF 0.70710678118654752440  /* 2^(-1/2) */
#define SIXTH 0.40824829046386301637 /* 6^(-1/2) */
static const double basis[STRAINS][3][3] = {{{HALF, 0, 0}, {0, -HALF, 0}, {0, 0, 0}},
                                            {{-SIXTH, 0, 0}, {0, -SIXTH, 0}, {0, 0, 2 * SIXTH}},
                                            {{0, 0, 0}, {0, 0, HALF}, {0, HALF, 0}},
                                            {{0, 0, HALF}, {0, 0, 0}, {HALF, 0, 0}},
                                            {{0, HALF, 0}, {HALF, 0, 0}, {0, 0, 0}}};

void cb_immersed_strain_of(const double G[3][3], double e[CB_IMMERSED_STRAINS]) {
  for (int k = 0; k < STRAINS; k++) {
    e[k] = 0;
    for (int i = 0; i < 9; i++) e[k] += basis[k][i / 3][i % 3] * G[i / 3][i % 3];
  }
}

void cb_immersed_turn_gradient(const double G[3][3], int j, double out[3][3]) {
  const int a = (j + 1) % 3, b = (j + 2) % 3; /* hat(e_j) has the entries -1 at (a, b) and 1 at (b, a) */
  memset(out, 0, 9 * sizeof **out);
  for (int i = 0; i < 3; i++) {
    out[i][a] += G[i][b];
    out[i][b] -= G[i][a];
    out[a][i] += G[b][i];
    out[b][i] -= G[a][i];
  }
}

static void find_centre(const cb_surface *s, double c[3]) {
  double whole = 0;
  memset(c, 0, 3 * sizeof *c);
  for (int f = 0; f < s->faces; f++) {
    const int *corner = s->face[f];
    double a[3];
    cb_area3(s->x[corner[0]], s->x[corner[1]], s->x[corner[2]], a);
    const double area = sqrt(cb_dot3(a, a));
    whole += area;
    for (int i = 0; i < 9; i++) c[i % 3] += area * s->x[corner[i / 3]][i % 3] / 3;
  }
  for (int i = 0; i < 3; i++) c[i] /= whole;
}

cb_status cb_immersed_find_strained(cb_immersed *b) {
  cb_immersed_strained *out = cb_arena_alloc(b->arena, 1, sizeof *out);
  const cb_fluid_model *model = b->inertia.model;
  double form[FORM][FORM] = {{0}}, c[3];
  if (!out) return cb_fail(CB_ERROR_MEMORY, "no memory for the added mass of a body");
  find_centre(b->surface, out->centre);
  const cb_status status =
      model->class_->linear_form(model, b->inertia.body, b->surface, STRAINS, basis, out->centre, &form[0][0]);
  if (status) return status;
  for (int i = 0; i < 3; i++) c[i] = -out->centre[i];
  memset(out->K, 0, sizeof out->K);
  cb_add_carried6((const double(*)[6])b->added.K, c, out->K);
  for (int k = 0; k < STRAINS; k++) {
    double torque[3];
    cb_cross3(c, form[6 + k] + 3, torque);
    for (int i = 0; i < 6; i++) out->C[i][k] = form[6 + k][i] + (i < 3 ? torque[i] : 0);
    for (int l = 0; l < STRAINS; l++) out->N[k][l] = form[6 + k][6 + l];
  }
  b->strained = out;
  b->inertia.places = 1;
  b->inertia.at = (const double(*)[3])out->centre;
  return CB_OK;
}
