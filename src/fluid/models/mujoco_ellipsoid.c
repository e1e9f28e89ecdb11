/* MuJoCo's ellipsoid model: added mass (by velocities alone, without -m∘v' and -I∘w'), Magnus, Kutta, drag and viscous
 * forces on each geom's ellipsoid (fluid/ellipsoid_terms.h).
 *
 * As the code computes it, which its documentation is not: 3.14, or 2.2 with floors of 1e-15 that take the lift from
 * small and slow bodies. Where the flow or the density varies each geom feels that at its centre.
 */
#include "fluid/ellipsoid_terms.h"

#include <string.h>

typedef struct mujoco_ellipsoid {
  double viscosity, coefficient[CB_ELLIPSOID_COEFFICIENTS];
  int compat, kappa;
  const cb_node *geoms;
} mujoco_ellipsoid;

#define COEFFICIENT(name, index, fallback, doc)                                                                    \
  {                                                                                                                \
    name, CB_PARAM_REAL, offsetof(mujoco_ellipsoid, coefficient) + (index) * sizeof(double), fallback, "", ">= 0", \
        NULL, doc                                                                                                  \
  }
static const cb_param params[] = {
    {"viscosity", CB_PARAM_REAL, offsetof(mujoco_ellipsoid, viscosity), "0", "Pa s", ">= 0", NULL, "of the fluid"},
    COEFFICIENT("blunt", CB_ELLIPSOID_BLUNT, "0.5", "drag of the section across the velocity"),
    COEFFICIENT("slender", CB_ELLIPSOID_SLENDER, "0.25", "drag of the rest of the greatest section"),
    COEFFICIENT("angular", CB_ELLIPSOID_ANGULAR, "1.5", "drag of spinning"),
    COEFFICIENT("kutta", CB_ELLIPSOID_KUTTA, "1", "lift at an angle of attack"),
    COEFFICIENT("magnus", CB_ELLIPSOID_MAGNUS, "1", "lift of spinning"),
    {"geoms", CB_PARAM_NODE, offsetof(mujoco_ellipsoid, geoms), "", "", "", NULL,
     "list of {type: sphere|capsule|cylinder|ellipsoid|box|mesh, size: [..], position: [..], quaternion: [..], "
     "coefficients: [blunt, slender, angular, kutta, magnus]}; one of the half sides of the body's box"},
    {"compat", CB_PARAM_CHOICE, offsetof(mujoco_ellipsoid, compat), "3.14", "", "", "3.14|2.2", "version"},
    {"kappa", CB_PARAM_CHOICE, offsetof(mujoco_ellipsoid, kappa), "mujoco", "", "", "exact|mujoco",
     "integrals of the added mass: exact, or by MuJoCo's rule of 15 points"},
    {0},
};

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  const mujoco_ellipsoid *own = m->params;
  (void)mass;
  return cb_ellipsoids_read(own->geoms, surface, own->coefficient, (cb_ellipsoid_rule)own->kappa,
                            (cb_ellipsoids **)body);
}

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double twist[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const mujoco_ellipsoid *own = m->params;
  const cb_ellipsoid *e = ((const cb_ellipsoids *)body)->of + place;
  const cb_ellipsoid_kind kind = {.floor = own->compat ? 1e-15 : 0, .slender_spin = true};
  cb_ellipsoid_stream stream;
  double turned[6];
  if (e->turned) cb_ellipsoid_turn(e, twist, turned);
  const double *V = e->turned ? turned : twist;
#define SLOPES(term) (dF ? dF[CB_TERM_##term] : NULL)
  cb_ellipsoid_added_mass(e, density, V, F[CB_TERM_ADDED_MASS], SLOPES(ADDED_MASS));
  cb_ellipsoid_magnus(e, &kind, density, V, F[CB_TERM_MAGNUS], SLOPES(MAGNUS));
  if (cb_ellipsoid_stream_of(e, V + 3, &stream)) {
    cb_ellipsoid_kutta(e, &kind, &stream, density, V + 3, F[CB_TERM_KUTTA], SLOPES(KUTTA));
    cb_ellipsoid_drag(e, &kind, &stream, density, V + 3, F[CB_TERM_DRAG], SLOPES(DRAG));
  }
  cb_ellipsoid_spin(e, &kind, density, V, F[CB_TERM_DRAG], SLOPES(DRAG));
  cb_ellipsoid_viscous(e, own->viscosity, V, F[CB_TERM_VISCOUS], SLOPES(VISCOUS));
  for (int k = 0; e->turned && k < CB_ELLIPSOID_TERMS; k++) cb_ellipsoid_turn_back(e, F[k], dF ? dF[k] : NULL);
  return CB_OK;
}

static const char *const terms[] = {"added_mass", "magnus", "kutta", "drag", "viscous", NULL};

const cb_fluid_model_class cb_fluid_model_mujoco_ellipsoid = {
    .name = "mujoco_ellipsoid",
    .title = "MuJoCo's ellipsoids",
    .doc = "MuJoCo's forces on ellipsoids that stand for a body's geoms; no acceleration terms, no buoyancy of its own",
    .params = params,
    .params_size = sizeof(mujoco_ellipsoid),
    .prepare = prepare,
    .release = cb_ellipsoids_release,
    .places = cb_ellipsoids_places,
    .terms = terms,
    .on_twist = on_twist,
};
