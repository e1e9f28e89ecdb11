/* MuJoCo's ellipsoid model: added mass, Magnus, Kutta, drag and viscous forces on the ellipsoid of each geom
 * (fluid/ellipsoid.h). Of the added mass only the terms with velocities are used, not the terms with accelerations.
 *
 * The forces are those of MuJoCo's code, which differs from its documentation: version 3.14, or version 2.2 with lower
 * bounds of 1e-15 that remove the lift from small and slow bodies. If the flow or the density varies, the value at the
 * centre of each geom is used. */
#include "fluid/ellipsoid.h"

typedef struct mujoco_ellipsoid {
  double viscosity, coefficient[CB_ELLIPSOID_COEFFICIENTS];
  int compat, kappa;
  const cb_node *geoms;
} mujoco_ellipsoid;

static const cb_param params[] = {
    CB_ELLIPSOID_ROWS(mujoco_ellipsoid, "0.5", "0.25", "1.5", "1", "1"),
    {"compat", CB_PARAM_CHOICE, offsetof(mujoco_ellipsoid, compat), "3.14", "", "", "3.14|2.2",
     "version of MuJoCo whose forces are used"},
    {"kappa", CB_PARAM_CHOICE, offsetof(mujoco_ellipsoid, kappa), "mujoco", "", "", "exact|mujoco",
     "integrals of the added mass: exact, or by MuJoCo's rule with 15 points"},
    {0},
};

static cb_status prepare_posed(const cb_fluid_model *m, const cb_surface *surface, const bool *moves,
                               const cb_mass *mass, void **body) {
  const mujoco_ellipsoid *own = m->params;
  (void)mass;
  return cb_ellipsoids_read(own->geoms, surface, moves, own->coefficient, (cb_ellipsoid_rule)own->kappa,
                            (cb_ellipsoids **)body);
}

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  return prepare_posed(m, surface, NULL, mass, body);
}

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const mujoco_ellipsoid *own = m->params;
  const cb_ellipsoid_kind kind = {.viscosity = own->viscosity, .floor = own->compat ? 1e-15 : 0, .slender_spin = true};
  cb_ellipsoid_terms(((const cb_ellipsoids *)body)->of + place, &kind, density, V, F, dF);
  return CB_OK;
}

const cb_fluid_model_class cb_fluid_model_mujoco_ellipsoid = {
    .name = "mujoco_ellipsoid",
    .title = "MuJoCo's ellipsoids",
    .doc = "MuJoCo's forces on ellipsoids that replace a body's geoms; no terms of acceleration, no buoyancy",
    .params = params,
    .params_size = sizeof(mujoco_ellipsoid),
    .prepare = prepare,
    .prepare_posed = prepare_posed,
    .release = cb_ellipsoids_release,
    .places = cb_ellipsoids_places,
    .part_of = cb_ellipsoids_part_of,
    .terms = cb_ellipsoid_term_names,
    .on_twist = on_twist,
};
