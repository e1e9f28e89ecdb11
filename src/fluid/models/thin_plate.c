/* Forces on a thin plate, with the added mass of an ellipsoid: the planar equations of Andersen, Pesavento & Wang (J.
 * Fluid Mech. 541 (2005) 65, doi:10.1017/S0022112005005847) for a plate of area S = pi a_1 a_2 with the normal n:
 *
 *   kutta    f = rho C_T S (n.v/|v|) (n × v) × v               circulation of translation
 *   magnus   f = rho C_R S (a∘w) × v                           circulation of rotation
 *   drag     f = -(rho/2) S (A - B (v_t^2 - v_n^2)/|v|^2) |v| v
 *            g = -(pi/2) rho S (mu_1 U a^2∘w + mu_2 a^3∘w |w|)
 *
 * f and g are force and torque, and ∘ multiplies vectors by components. rho is the density of the fluid, rho_s that of
 * the plate. v_n and v_t are the components of the velocity v along n and in the plane of the plate. w is the component
 * of the angular velocity in this plane, and a_i the half width of the plate across axis i. No torque acts about the
 * normal. A, B, C_T, C_R, mu_1, mu_2 and the speed U are parameters. The thinnest axis of an ellipsoid is its normal.
 * SI units.
 *
 * With added mass and weight these are the paper's equations for a span of S/(2 a), in units of the half chord a and of
 * the speed U = ((rho_s/rho - 1) G b)^(1/2), with the acceleration G of gravity and half the thickness b.
 */
#include "fluid/ellipsoid.h"
#include "numerics/vec3.h"

#include <math.h>

typedef struct thin_plate {
  double translation, rotation, a, b, mu1, mu2, speed;
  const cb_node *geoms;
} thin_plate;

static const cb_param params[] = {
    {"translation", CB_PARAM_REAL, offsetof(thin_plate, translation), "1.2", "", ">= 0", NULL,
     "C_T, coefficient of circulation from translation"},
    {"rotation", CB_PARAM_REAL, offsetof(thin_plate, rotation), "pi", "", ">= 0", NULL,
     "C_R, coefficient of circulation from rotation"},
    {"a", CB_PARAM_REAL, offsetof(thin_plate, a), "1.4", "", ">= 0", NULL, "A, mean drag"},
    {"b", CB_PARAM_REAL, offsetof(thin_plate, b), "1", "", ">= 0", NULL,
     "B, half the difference between the drag across the plate and along it"},
    {"mu1", CB_PARAM_REAL, offsetof(thin_plate, mu1), "0.2", "", ">= 0", NULL,
     "coefficient of the torque that is linear in the angular velocity"},
    {"mu2", CB_PARAM_REAL, offsetof(thin_plate, mu2), "0.2", "", ">= 0", NULL,
     "coefficient of the torque that is quadratic in the angular velocity"},
    {"speed", CB_PARAM_REAL, offsetof(thin_plate, speed), "0", "m/s", ">= 0", NULL,
     "U, the speed that multiplies mu1: sqrt((density/density of the fluid - 1) g b), b half the thickness"},
    CB_ELLIPSOID_GEOMS(thin_plate, ""),
    {0},
};

static cb_status prepare_posed(const cb_fluid_model *m, const cb_surface *surface, const bool *moves,
                               const cb_mass *mass, void **body) {
  (void)mass;
  return cb_ellipsoids_read(((const thin_plate *)m->params)->geoms, surface, moves, NULL, CB_ELLIPSOID_EXACT,
                            (cb_ellipsoids **)body);
}

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  return prepare_posed(m, surface, NULL, mass, body);
}

/* The plate that replaces an ellipsoid: the axis of its normal, its area, and its half width across each axis (0 for
 * the normal). */
typedef struct plate {
  int normal;
  double area, a[3];
} plate;

static plate plate_of(const cb_ellipsoid *e) {
  const double *r = e->r;
  const int k = r[0] < r[1] ? (r[0] < r[2] ? 0 : 2) : (r[1] < r[2] ? 1 : 2), i = (k + 1) % 3, j = (k + 2) % 3;
  plate p = {.normal = k, .area = M_PI * r[i] * r[j]};
  p.a[i] = r[j];
  p.a[j] = r[i];
  return p;
}

static void along(const thin_plate *own, const plate *p, double rho, const double v[3], double *kutta, double *drag,
                  double (*dkutta)[6], double (*ddrag)[6]) {
  const double s = sqrt(cb_dot3(v, v)), across = v[p->normal], lift = rho * own->translation * p->area,
               back = rho / 2 * p->area, mean = own->a - own->b;
  if (!(s > 0)) return;
  const double size = mean * s + 2 * own->b * across * across / s;
  for (int i = 0; i < 3; i++) {
    const double n = i == p->normal;
    kutta[3 + i] += lift * across * (across * v[i] / s - n * s);
    drag[3 + i] -= back * size * v[i];
    for (int j = 0; dkutta && j < 3; j++) {
      const double same = i == j, m = j == p->normal, u = v[j] / s, ratio = across / s;
      dkutta[3 + i][3 + j] +=
          lift * ((2 * ratio * m - ratio * ratio * u) * v[i] + ratio * across * same - n * (m * s + across * u));
      ddrag[3 + i][3 + j] -= back * ((mean * u + 2 * own->b * ratio * (2 * m - ratio * u)) * v[i] + size * same);
    }
  }
}

static void turning(const thin_plate *own, const plate *p, double rho, const double V[6], double *magnus, double *drag,
                    double (*dmagnus)[6], double (*ddrag)[6]) {
  const double lift = rho * own->rotation * p->area, back = M_PI / 2 * rho * p->area;
  double w[3], turn[3], force[3], size = 0;
  for (int i = 0; i < 3; i++) {
    w[i] = p->a[i] > 0 ? V[i] : 0;
    turn[i] = lift * p->a[i] * w[i];
    size += w[i] * w[i];
  }
  size = sqrt(size);
  cb_cross3(turn, V + 3, force);
  for (int i = 0; i < 3; i++) {
    const double slow = back * own->mu1 * own->speed * p->a[i] * p->a[i], fast = back * own->mu2 * pow(p->a[i], 3);
    magnus[3 + i] += force[i];
    drag[i] -= (slow + fast * size) * w[i];
    if (!dmagnus) continue;
    const double axis[3] = {i == 0, i == 1, i == 2};
    double by_spin[3], by_speed[3];
    cb_cross3(axis, V + 3, by_spin);
    cb_cross3(turn, axis, by_speed);
    for (int j = 0; j < 3; j++) {
      dmagnus[3 + j][i] += lift * p->a[i] * by_spin[j];
      dmagnus[3 + j][3 + i] += by_speed[j];
      if (p->a[i] > 0) ddrag[i][j] -= (i == j ? slow + fast * size : 0) + (size > 0 ? fast * w[i] * w[j] / size : 0);
    }
  }
}

enum { KUTTA, MAGNUS, DRAG, TERMS };

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double twist[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const cb_ellipsoid *e = ((const cb_ellipsoids *)body)->of + place;
  const plate p = plate_of(e);
  double V[6];
  cb_ellipsoid_turn(e, twist, V);
  along(m->params, &p, density, V + 3, F[KUTTA], F[DRAG], dF ? dF[KUTTA] : NULL, dF ? dF[DRAG] : NULL);
  turning(m->params, &p, density, V, F[MAGNUS], F[DRAG], dF ? dF[MAGNUS] : NULL, dF ? dF[DRAG] : NULL);
  for (int k = 0; k < TERMS; k++) cb_ellipsoid_turn_back(e, F[k], dF ? dF[k] : NULL);
  return CB_OK;
}

static cb_status added_mass(const cb_fluid_model *m, const void *body, const cb_surface *surface, const double (*x)[3],
                            const double (*v)[3], cb_added_mass *out) {
  (void)m;
  (void)surface;
  (void)x;
  (void)v;
  cb_ellipsoids_add_mass(body, out->K);
  return CB_OK;
}

static const char *const terms[] = {"kutta", "magnus", "drag", NULL};

static void added_mass_of(const cb_fluid_model *m, const void *body, int place, double K[6][6]) {
  (void)m;
  cb_ellipsoid_mass(((const cb_ellipsoids *)body)->of + place, K);
}

const cb_fluid_model_class cb_fluid_model_thin_plate = {
    .name = "thin_plate",
    .title = "thin plates",
    .doc = "lift and drag of falling plates by Andersen, Pesavento and Wang; the added mass of ellipsoids",
    .params = params,
    .params_size = sizeof(thin_plate),
    .prepare = prepare,
    .prepare_posed = prepare_posed,
    .release = cb_ellipsoids_release,
    .terms = terms,
    .places = cb_ellipsoids_places,
    .part_of = cb_ellipsoids_part_of,
    .on_twist = on_twist,
    .added_mass_of = added_mass_of,
    .added_mass = added_mass,
};
