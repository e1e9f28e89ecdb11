/* Added mass of parts that a model treats separately, such as ellipsoids, if flow or density vary. Each part moves
 * relative to the flow at its place c, in a fluid with the mean density rho of the body's faces. For a model without
 * parts the rigid body is one part, which also feels the strain e of the flow (immersed_field.c).
 *
 *   L = (rho/2) sum <K V, V>,  V = X Y - W;   momentum  rho sum X^T K V = I_f Y + mu_f
 *   dL/dxi = (q/2) sum <K V, V> + rho sum <K V, dV>,  q = drho/dxi,   rho = sum A rho_f/sum A
 *   d(dL/dxi)/dY = q (sum X^T K V)^T + rho sum (dV/dxi)^T K X
 *
 * If a part moves with a part of the surface (immersed_followed.c), V contains its own motion in the body frame. L is
 * the Lagrangian, K the added mass of a part about its place for density 1, Y the twist of the body, and xi a small
 * change of the pose. A is the area of a face and rho_f the density at it. V, X, W and dV are those of
 * fluid/immersed_problem.c. The gradients of the vorticity and of the strain are neglected.
 *
 * With the strain, in a fluid of one density,
 *
 *   L = (rho/2) (<K V, V> - 2 <C e, V> + <N e, e>),   P = K V - C e,   Q = N e - C^T V
 *   momentum rho X^T P; dL/dxi_j = rho (<P, d_j V> + <Q, d_j e>); d_k dL/dxi_j = rho (<K d_k V - C d_k e, d_j V> +
 *   <N d_k e - C^T d_k V, d_j e> + <P, d_k d_j V> + <Q, d_k d_j e>)
 *
 * with the derivatives d_j along component j of xi. The kinetic energy of the fluid around the body, less that of the
 * undisturbed flow everywhere, is L - rho int <u, v> dV + (rho/2) int |u|^2 dV over the body, where v is the velocity
 * of its points and u irrotational. The last two terms give the pressure of the undisturbed flow (terms/pressure.c).
 * For a perfect fluid and an irrotational flow with the same gradient everywhere both terms together are therefore
 * exact. (Derived for this project; compare Taylor 1928, Proc. R. Soc. Lond. A 120, 260, and Galper & Miloh 1995, J.
 * Fluid Mech. 295, 91.) In a flow with vorticity the disturbance gets vorticity, too, which L neglects. For a sphere L
 * has the lift (m/2) (u - v) × curl u of Auton (1987), J. Fluid Mech. 183, 199, with the displaced mass m, that
 * is, all terms of first order in the vorticity. For other bodies terms of this order are missing: for a circular
 * cylinder across a shear flow L has half of the lift 2 m (u - v) × curl u.
 */
#include "fluid/immersed_private.h"
#include "numerics/small.h"

#include <math.h>
#include <string.h>

enum { STRAINS = CB_IMMERSED_STRAINS };

static cb_status create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  const cb_fluid_model *model = b->inertia.model;
  const int n = b->inertia.places;
  s->part_added_mass = cb_arena_alloc(s->arena, (size_t)n, sizeof *s->part_added_mass);
  if (!s->part_added_mass) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", n);
  for (int p = 0; p < n; p++) {
    cb_immersed_place_at(&s->part_added_mass[p].at, b->inertia.at[p], b->around.density);
    if (b->strained)
      memcpy(s->part_added_mass[p].K, b->strained->K, sizeof b->strained->K);
    else
      model->class_->added_mass_of(model, b->inertia.body, p, s->part_added_mass[p].K);
  }
  return CB_OK;
}

/* Computes own = K V - C e and out = X^T own for a part with the strain e (symbols above). */
static void momentum_of(const cb_immersed *b, const cb_immersed_part_added_mass *part, const double V[6],
                        const double e[STRAINS], double own[6], double out[6]) {
  cb_apply6((const double(*)[6])part->K, V, own);
  for (int i = 0; b->strained && i < 6; i++) own[i] -= cb_dot(STRAINS, b->strained->C[i], e);
  memcpy(out, own, 6 * sizeof *out);
  cb_immersed_carry_back(&part->at, out);
}

/* Computes Q = N e - C^T V, or 0 for a body on which the strain has no effect. */
static void stress_of(const cb_immersed *b, const double V[6], const double e[STRAINS], double Q[STRAINS]) {
  for (int k = 0; k < STRAINS; k++) {
    Q[k] = b->strained ? cb_dot(STRAINS, b->strained->N[k], e) : 0;
    for (int i = 0; b->strained && i < 6; i++) Q[k] -= b->strained->C[i][k] * V[i];
  }
}

/* Finds the derivative of the strain along component j of xi, for the gradient G of the flow. */
static void strain_along(const double G[3][3], int j, double de[STRAINS]) {
  double turned[3][3] = {{0}};
  if (j < 3) cb_immersed_turn_gradient(G, j, turned);
  cb_immersed_strain_of((const double(*)[3])turned, de);
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
    if (b->strained) cb_immersed_strain_of((const double(*)[3])part->at.gradient, part->e);
    const double *e = part->e;
    const double minus[STRAINS] = {-e[0], -e[1], -e[2], -e[3], -e[4]}; /* K W + C e = K W - C (-e) */
    momentum_of(b, part, part->at.W, minus, own, share);
    cb_add6(-f->density, share, f->mu_f);
  }
  return CB_OK;
}

/* Finds d2V = d_k d_j V and d2e = d_k d_j e (symbols above). */
static void second_along(const cb_immersed_fluid_sample *at, int j, int k, double d2V[6], double d2e[STRAINS]) {
  cb_immersed_fluid_sample turned = *at;
  double dW[6], dG[3][3] = {{0}};
  cb_immersed_twist_along(at, k, dW);
  for (int i = 0; i < 6; i++) turned.W[i] = -dW[i];
  if (k < 3) cb_immersed_turn_gradient((const double(*)[3])at->gradient, k, dG);
  memcpy(turned.gradient, dG, sizeof dG);
  cb_immersed_twist_along(&turned, j, d2V);
  strain_along((const double(*)[3])dG, j, d2e);
}

/* Adds the derivative of the wrench of the strained part along the pose to dg. P and Q are those of the present motion.
 */
static void add_strained_slope(const cb_immersed_workspace *s, const double P[6], const double Q[STRAINS],
                               cb_tensor dg) {
  const cb_immersed_part_added_mass *part = s->part_added_mass;
  const double(*G)[3] = (const double(*)[3])part->at.gradient;
  for (int k = 0; k < 6; k++) {
    double dV[6], de[STRAINS], dP[6], unused[6], dQ[STRAINS];
    cb_immersed_twist_along(&part->at, k, dV);
    strain_along(G, k, de);
    momentum_of(s->b, part, dV, de, dP, unused);
    stress_of(s->b, dV, de, dQ);
    for (int j = 0; j < 6; j++) {
      double V[6], e[STRAINS], d2V[6], d2e[STRAINS];
      cb_immersed_twist_along(&part->at, j, V);
      strain_along(G, j, e);
      second_along(&part->at, j, k, d2V, d2e);
      dg[j][k] +=
          s->field.density * (cb_dot(6, dP, V) + cb_dot(STRAINS, dQ, e) + cb_dot(6, P, d2V) + cb_dot(STRAINS, Q, d2e));
    }
  }
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_immersed_field *f = &s->field;
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  for (int p = 0; p < s->b->inertia.places; p++) {
    const cb_immersed_part_added_mass *part = s->part_added_mass + p;
    double V[6], KV[6], P[6], Q[STRAINS];
    cb_immersed_relative_twist(&part->at, m->Y, V);
    momentum_of(s->b, part, V, part->e, KV, P);
    stress_of(s->b, V, part->e, Q);
    if (s->b->strained && to->dg) add_strained_slope(s, KV, Q, to->dg);
    for (int j = 0; j < 6; j++) {
      double dV[6], de[STRAINS] = {0}, KdV[6], unused[6], energy = 0, power = 0;
      cb_immersed_twist_along(&part->at, j, dV);
      if (s->b->strained) strain_along((const double(*)[3])part->at.gradient, j, de);
      for (int i = 0; i < 6; i++) {
        energy += KV[i] * V[i] / 2;
        power += KV[i] * dV[i];
      }
      if (s->b->strained) power += cb_dot(STRAINS, Q, de);
      if (to->F) to->F[j] += f->density_slope[j] * energy + f->density * power;
      if (!to->dF) continue;
      momentum_of(s->b, part, dV, de, unused, KdV);
      for (int i = 0; i < 6; i++) to->dF[j][i] += f->density_slope[j] * P[i] + f->density * KdV[i];
    }
  }
  return CB_OK;
}

static void kinetic(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  double sum = 0;
  for (int p = 0; p < s->b->inertia.places; p++) {
    const cb_immersed_part_added_mass *part = s->part_added_mass + p;
    double V[6], P[6], unused[6], Q[STRAINS];
    cb_immersed_relative_twist(&part->at, m->Y, V);
    momentum_of(s->b, part, V, part->e, P, unused);
    for (int i = 0; i < 6; i++) sum += s->field.density / 2 * P[i] * V[i];
    if (!s->b->strained) continue;
    stress_of(s->b, V, part->e, Q);
    sum += s->field.density / 2 * cb_dot(STRAINS, Q, part->e);
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
