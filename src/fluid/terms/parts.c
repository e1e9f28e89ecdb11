/* Added mass of parts that a model treats separately, such as ellipsoids, if flow or density vary. Each part moves
 * relative to the flow at its place c, in a fluid with the mean density rho of the body's faces.
 *
 *   L = (rho/2) sum <K V, V>,  V = X Y - W;   momentum  rho sum X^T K V = I_f Y + mu_f
 *   dL/dxi = (q/2) sum <K V, V> + rho sum <K V, dV>,  q = drho/dxi,   rho = sum A rho_f/sum A
 *   d(dL/dxi)/dY = q (sum X^T K V)^T + rho sum (dV/dxi)^T K X
 *
 * If a part moves with a part of the surface (immersed_followed.c), V contains its own motion in the body frame. L is
 * the Lagrangian, K the added mass of a part about its place for density 1, Y the twist of the body, and xi a small
 * change of the pose. A is the area of a face and rho_f the density at it. V, X, W and dV are those of
 * fluid/immersed_twist.c. The gradient of the vorticity is neglected.
 */
#include "fluid/immersed_private.h"

#include <math.h>
#include <string.h>

static cb_status create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  const cb_fluid_model *model = b->inertia.model;
  const int n = b->inertia.places;
  s->part_added_mass = cb_arena_alloc(s->arena, (size_t)n, sizeof *s->part_added_mass);
  if (!s->part_added_mass) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", n);
  for (int p = 0; p < n; p++) {
    cb_immersed_place_at(&s->part_added_mass[p].at, b->inertia.at[p], b->around.density);
    model->class_->added_mass_of(model, b->inertia.body, p, s->part_added_mass[p].K);
  }
  return CB_OK;
}

/* Computes own = K V and out = X^T K V for a part (symbols above). */
static void momentum_of(const cb_immersed_part_added_mass *part, const double V[6], double own[6], double out[6]) {
  cb_apply6((const double(*)[6])part->K, V, own);
  memcpy(out, own, 6 * sizeof *out);
  cb_immersed_carry_back(&part->at, out);
}

/* If the density is mixed, finds its mean over the faces and the derivative q of this mean along the pose. */
static void find_density(cb_immersed_workspace *s) {
  const cb_surface *surface = s->b->surface;
  cb_immersed_field *f = &s->field;
  double whole = 0, sum = 0, *q = f->density_slope;
  memset(f->density_slope, 0, sizeof f->density_slope);
  if (!f->mixed) return;
  for (int n = 0; n < surface->faces; n++) {
    const int *corner = surface->face[n];
    double a[3];
    cb_area3(s->form.x[corner[0]], s->form.x[corner[1]], s->form.x[corner[2]], a);
    const double area = sqrt(cb_dot3(a, a));
    whole += area;
    sum += area * f->rho[n];
  }
  for (int k = 0; k < f->slopes; k++) {
    const int n = f->sloped[k], *corner = surface->face[n];
    double a[3], arm[3];
    cb_area3(s->form.x[corner[0]], s->form.x[corner[1]], s->form.x[corner[2]], a);
    const double share = sqrt(cb_dot3(a, a)) / whole;
    for (int c = 0; c < 3; c++) {
      cb_cross3(s->form.x[corner[c]], f->slope[n][c], arm);
      for (int i = 0; i < 3; i++) {
        q[i] += share * arm[i];
        q[3 + i] += share * f->slope[n][c][i];
      }
    }
  }
  f->density = sum / whole;
}

static cb_status field(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  cb_immersed_moment m;
  cb_immersed_moment_of(f->t, &f->g, NULL, &m);
  find_density(s);
  cb_added_mass whole = b->added;
  if (b->inertia.follows) cb_immersed_followed_added_mass(s, &whole);
  for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] = f->density * whole.K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) f->mu_f[i] = f->density * whole.mu0[i];
  for (int p = 0; p < b->inertia.places; p++) {
    cb_immersed_part_added_mass *part = s->part_added_mass + p;
    double own[6], share[6];
    const cb_status status = cb_immersed_look(b, &m, &part->at);
    if (status) return status;
    momentum_of(part, part->at.W, own, share);
    cb_add6(-f->density, share, f->mu_f);
  }
  return CB_OK;
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed_field *f = &s->field;
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  for (int p = 0; p < s->b->inertia.places; p++) {
    const cb_immersed_part_added_mass *part = s->part_added_mass + p;
    double V[6], KV[6], P[6];
    cb_immersed_relative_twist(&part->at, m->Y, V);
    momentum_of(part, V, KV, P);
    for (int j = 0; j < 6; j++) {
      double dV[6], KdV[6], unused[6], energy = 0, power = 0;
      cb_immersed_twist_along(&part->at, j, dV);
      for (int i = 0; i < 6; i++) {
        energy += KV[i] * V[i] / 2;
        power += KV[i] * dV[i];
      }
      if (to->F) to->F[j] += f->density_slope[j] * energy + f->density * power;
      if (!to->dF) continue;
      momentum_of(part, dV, unused, KdV);
      for (int i = 0; i < 6; i++) to->dF[j][i] += f->density_slope[j] * P[i] + f->density * KdV[i];
    }
  }
  return CB_OK;
}

static void kinetic(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  double sum = 0;
  for (int p = 0; p < s->b->inertia.places; p++) {
    const cb_immersed_part_added_mass *part = s->part_added_mass + p;
    double V[6], KV[6];
    cb_immersed_relative_twist(&part->at, m->Y, V);
    cb_apply6((const double(*)[6])part->K, V, KV);
    for (int i = 0; i < 6; i++) sum += s->field.density / 2 * KV[i] * V[i];
  }
  *energy += sum;
}

const cb_immersed_term_class cb_immersed_term_parts = {
    .name = "flow",
    .order = 11,
    .acts = cb_immersed_by_parts,
    .create = create,
    .wrench = wrench,
    .inertia = cb_immersed_add_inertia,
    .field = field,
    .kinetic = kinetic,
};
