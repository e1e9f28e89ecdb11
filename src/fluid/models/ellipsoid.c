/* The ellipsoid model with corrections: MuJoCo's terms of force (fluid/ellipsoid.h) with corrections, each of which has
 * a switch.
 *
 *   inertia  true: the added mass K = sum X^T diag(I, m) X is part of the inertia, so that the terms with accelerations
 *            are included; false: only the terms with velocities
 *   area     the area of the drag: the shadow of the ellipsoid along the velocity, or, as in MuJoCo, the section
 *            through its outline as seen along the velocity
 *   lift     lift from spin is proportional to area times chord, (4 pi/3) r_i max(r_j, r_k)^2 about axis i, or to the
 *            volume. The circulation of a plate is proportional to area times chord (Andersen, Pesavento & Wang, J.
 *            Fluid Mech. 541 (2005) 65, doi:10.1017/S0022112005005847)
 *   spin     drag of rotation uses `angular` only, or `slender`, too
 *
 * For each ellipsoid I and m are the added inertias and masses, X maps the twist of the body to that of the centre in
 * the ellipsoid's axes, and r_i are the semi-axes. With the default coefficients plates flutter, tumble and fall
 * chaotically as in that paper. Without corrections the model is mujoco_ellipsoid. SI units.
 */
#include "fluid/ellipsoid.h"

typedef struct ellipsoid {
  double viscosity, coefficient[CB_ELLIPSOID_COEFFICIENTS];
  bool inertia;
  int area, lift, spin, kappa;
  const cb_node *geoms;
} ellipsoid;

static const cb_param params[] = {
    CB_ELLIPSOID_ROWS(ellipsoid, "1.2", "0", "0.75", "1.2", "2"),
    {"inertia", CB_PARAM_BOOL, offsetof(ellipsoid, inertia), "true", "", "", NULL,
     "the added mass is part of the inertia; false: it only gives forces that depend on the velocity"},
    {"area", CB_PARAM_CHOICE, offsetof(ellipsoid, area), "shadow", "", "", "shadow|section",
     "area in the drag. shadow: of the projection along the velocity; section: of MuJoCo's section, normal to the "
     "vector s_i^2 v_i, with the half axes s_i"},
    {"lift", CB_PARAM_CHOICE, offsetof(ellipsoid, lift), "chord", "", "", "chord|volume",
     "lift from rotation: by area times chord, or by volume"},
    {"spin", CB_PARAM_CHOICE, offsetof(ellipsoid, spin), "angular", "", "", "angular|slender",
     "drag of rotation: by `angular` only, or by `slender`, too"},
    {"kappa", CB_PARAM_CHOICE, offsetof(ellipsoid, kappa), "exact", "", "", "exact|mujoco",
     "integrals of the added mass: exact, or by MuJoCo's rule with 15 points"},
    {0},
};

static cb_status prepare_posed(const cb_fluid_model *m, const cb_surface *surface, const bool *moves,
                               const cb_mass *mass, void **body) {
  const ellipsoid *own = m->params;
  (void)mass;
  return cb_ellipsoids_read(own->geoms, surface, moves, own->coefficient, (cb_ellipsoid_rule)own->kappa,
                            (cb_ellipsoids **)body);
}

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  return prepare_posed(m, surface, NULL, mass, body);
}

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const ellipsoid *own = m->params;
  const cb_ellipsoid_kind kind = {.shadow = own->area == 0,
                                  .chord = own->lift == 0,
                                  .slender_spin = own->spin == 1,
                                  .inertia = own->inertia,
                                  .viscosity = own->viscosity};
  cb_ellipsoid_terms(((const cb_ellipsoids *)body)->of + place, &kind, density, V, F, dF);
  return CB_OK;
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  (void)surface;
  (void)x;
  (void)v;
  if (((const ellipsoid *)m->params)->inertia) cb_ellipsoids_add_mass(body, out->K);
  return CB_OK;
}

static void added_mass_of(const cb_fluid_model *m, const void *body, int place, double K[6][6]) {
  if (((const ellipsoid *)m->params)->inertia) cb_ellipsoid_mass(((const cb_ellipsoids *)body)->of + place, K);
}

const cb_fluid_model_class cb_fluid_model_ellipsoid = {
    .name = "ellipsoid",
    .title = "ellipsoids",
    .doc = "added mass, lift and drag of ellipsoids that replace a body: MuJoCo's model with corrections",
    .params = params,
    .params_size = sizeof(ellipsoid),
    .prepare = prepare,
    .prepare_posed = prepare_posed,
    .release = cb_ellipsoids_release,
    .terms = cb_ellipsoid_term_names,
    .places = cb_ellipsoids_places,
    .part_of = cb_ellipsoids_part_of,
    .on_twist = on_twist,
    .added_mass_of = added_mass_of,
    .added_mass = added_mass,
};
