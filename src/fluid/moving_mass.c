/* Mass properties of a body whose shape changes (see fluid/moving_mass.h).
 *
 * The apex of a part is o = sum q_v x_v over its vertices, with the shares q of the rest shape's area. Places y = x - o
 * and velocities u = x' - o' are relative to the apex. y0, y1, y2 and u0, u1, u2 are those of the corners of a face.
 * The simplex of a face is the tetrahedron from o, of the volume V = <y0, y1 × y2>/6, or the triangle, of the area A:
 *
 *   int y u^T = V/20 (sum y_k u_k^T + (sum y_k)(sum u_k)^T)   and   A/12 (...)
 *
 * The spin int y × u is the antisymmetric part of int y u^T. A solid has the volume V_s = sum V, the first moment
 * F = int y dV, and the centre c = o + F/V_s, which moves by
 *
 *   c' = o' + (F' - V_s' F/V_s)/V_s,   V_s' = sum V',   F' = sum (V' sum y_k + V sum u_k)/4,
 *   V' = (<u0, y1 × y2> + <u1, y2 × y0> + <u2, y0 × y1>)/6
 *
 * The local model gives V_s' = int <u, n> dA and F' = int y <u, n> dA over the surface, which are the same numbers.
 * With the mass m of the part, mu_0 = (c × m c' + spin about c, m c').
 */
#include "fluid/moving_mass.h"
#include "fluid/local_private.h"
#include "fluid/curved_moments.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void cb_moving_mass_free(cb_moving_mass *m) {
  if (!m) return;
  void *const all[] = {m->part, m->face, m->weight, m->share, m->name, m->point, m};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static double face_area(const double (*x)[3], const int face[3]) {
  double normal[3];
  cb_normal3(x[face[0]], x[face[1]], x[face[2]], normal);
  return sqrt(cb_dot3(normal, normal)) / 2;
}

static cb_status take_part(cb_moving_mass *m, const cb_surface *s, const cb_material *material, int p, int begin) {
  const double(*x)[3] = (const double(*)[3])s->x;
  struct cb_moving_part *own = m->part + p;
  cb_moments solid, skin;
  *own = (struct cb_moving_part){.begin = begin, .end = begin, .sheet = material->thickness > 0};
  cb_moments_of_part(s, x, p, &solid, &skin, &own->closed);
  const cb_status status = cb_material_check(s, p, material, own->closed);
  if (status) return status;
  if (s->name && s->name[p]) strncat(m->name[p], s->name[p], sizeof *m->name - 1);
  own->mass = material->density * (own->sheet ? material->thickness * skin.zero : own->closed ? solid.zero : 0);
  if (own->mass < 0)
    return cb_fail(CB_ERROR_DOMAIN, "part `%s` has the volume %g: expected a surface whose faces point outwards",
                   m->name[p], solid.zero);
  for (int f = 0; f < s->faces; f++) {
    if (s->part[f] != p) continue;
    const int at = own->end++;
    const double area = face_area(x, s->face[f]);
    memcpy(m->face[at], s->face[f], sizeof *m->face);
    m->share[at] = skin.zero > 0 ? area / skin.zero : 0;
    m->weight[at] = own->mass * m->share[at];
  }
  return m->curvature == 0 ? CB_OK : cb_moving_mass_curved_part(m, own, x, material->density);
}

/* Replaces the masses of the parts by masses at the vertices, a third of the mass of each face. The point masses of the
 * vertices come first in m->point. */
static void lump(cb_moving_mass *m) {
  for (int i = 0; i < m->vertices; i++) m->point[i] = (cb_point_mass){.vertex = i};
  for (int p = 0; p < m->parts; p++) {
    for (int f = m->part[p].begin; f < m->part[p].end; f++)
      for (int k = 0; k < 3; k++) m->point[m->face[f][k]].mass += m->weight[f] / 3;
    m->part[p].mass = 0;
  }
}

cb_status cb_moving_mass_create(const cb_surface *s, const cb_material *material, bool lumped, int n,
                                const cb_point_mass *points, cb_moving_mass **out) {
  const size_t faces = (size_t)s->faces, parts = (size_t)s->parts;
  const int before = lumped ? s->vertices : 0;
  cb_moving_mass *m = calloc(1, sizeof *m);
  if (m) {
    m->curvature = s->curvature;
    m->vertices = s->vertices;
    m->parts = s->parts;
    m->points = before + n;
    m->part = calloc(parts + 1, sizeof *m->part);
    m->face = calloc(faces + 1, sizeof *m->face);
    m->weight = calloc(faces + 1, sizeof *m->weight);
    m->share = calloc(faces + 1, sizeof *m->share);
    m->name = calloc(parts + 1, sizeof *m->name);
    m->point = calloc((size_t)m->points + 1, sizeof *m->point);
  }
  if (!m || !m->part || !m->face || !m->weight || !m->share || !m->name || !m->point) {
    cb_moving_mass_free(m);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the masses of %d faces", s->faces);
  }
  cb_status status = CB_OK;
  for (int i = 0; i < n && !status; i++) {
    m->point[before + i] = points[i];
    const double *at = points[i].x;
    bool piece = false;
    for (int k = 0; k < 9; k++) piece = piece || points[i].inertia[k / 3][k % 3] != 0;
    const cb_status rigid = piece && points[i].vertex < 0 ? cb_inertia_check(points[i].inertia) : CB_OK;
    if (piece && points[i].vertex >= 0)
      status =
          cb_fail(CB_ERROR_ARGUMENT, "point mass %d at a vertex has an inertia: expected a fixed point mass", i + 1);
    else if (rigid == CB_ERROR_MEMORY)
      status = rigid;
    else if (rigid)
      status = cb_fail(
          CB_ERROR_ARGUMENT,
          "point mass %d: no rigid body has this inertia: expected moments > 0, each at most the sum of the other two",
          i + 1);
    else if (points[i].vertex >= s->vertices)
      status = cb_fail(CB_ERROR_ARGUMENT, "point mass %d is at vertex %d: expected a vertex from 1 to %d", i + 1,
                       points[i].vertex + 1, s->vertices);
    else if (!(points[i].mass >= 0) || !isfinite(points[i].mass) ||
             (points[i].vertex < 0 && !isfinite(at[0] + at[1] + at[2])))
      status = cb_fail(CB_ERROR_ARGUMENT,
                       "point mass %d: expected a mass >= 0 and a finite position, found %g kg at (%g, %g, %g)", i + 1,
                       points[i].mass, at[0], at[1], at[2]);
  }
  for (int p = 0, begin = 0; p < s->parts && !status; p++) {
    status = take_part(m, s, material + p, p, begin);
    begin = m->part[p].end;
  }
  if (status) {
    cb_moving_mass_free(m);
    return status;
  }
  if (lumped) lump(m);
  *out = m;
  return CB_OK;
}

/* --- at a pose --- */

/* Integrals over a part about its apex o, which moves with `rate`. solid_rate is the rate of change of the volume, and
 * solid_first_rate that of the first moment int y dV. */
typedef struct sums {
  cb_moments solid, skin, weight; /* weight: moments of the mass of a sheet */
  double solid_rate, solid_first_rate[3];
  double spin[3], momentum[3]; /* spin = int y × u and momentum = int u over the solid (or over the sheet's mass) */
} sums;

static void corners(const int face[3], const double (*x)[3], const double o[3], double y[3][3]) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) y[k][i] = x ? x[face[k]][i] - o[i] : 0;
}

static void add_motion(sums *s, const double y[3][3], const double u[3][3], double content, double first,
                       double second) {
  double ys[3] = {0}, us[3] = {0}, turn[3];
  for (int k = 0; k < 3; k++) {
    cb_cross3(y[k], u[k], turn);
    for (int i = 0; i < 3; i++) {
      ys[i] += y[k][i];
      us[i] += u[k][i];
      s->spin[i] += content / second * turn[i];
    }
  }
  cb_cross3(ys, us, turn);
  for (int i = 0; i < 3; i++) {
    s->spin[i] += content / second * turn[i];
    s->momentum[i] += content / first * us[i];
  }
}

static void apex(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3], double o[3]) {
  o[0] = o[1] = o[2] = 0;
  for (int f = p->begin; f < p->end && x; f++)
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) o[i] += m->share[f] / 3 * x[m->face[f][k]][i];
}

static void integrate(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3],
                      const double (*v)[3], const double o[3], const double rate[3], sums *s) {
  *s = (sums){0};
  for (int f = p->begin; f < p->end; f++) {
    double y[3][3], u[3][3], n[3][3], normal[3], change = 0;
    corners(m->face[f], x, o, y);
    cb_normal3(y[0], y[1], y[2], normal);
    const double area = sqrt(cb_dot3(normal, normal)) / 2, volume = cb_dot3(y[0], normal) / 6;
    s->skin.zero += area;
    if (p->closed) cb_moments_add_simplex(&s->solid, (const double(*)[3])y, volume, 4, 20);
    if (p->sheet) cb_moments_add_simplex(&s->weight, (const double(*)[3])y, m->weight[f], 3, 12);
    if (!v) continue;
    corners(m->face[f], v, rate, u);
    if (p->sheet) {
      add_motion(s, (const double(*)[3])y, (const double(*)[3])u, m->weight[f], 3, 12);
    } else if (p->closed) {
      add_motion(s, (const double(*)[3])y, (const double(*)[3])u, volume, 4, 20);
      for (int k = 0; k < 3; k++) {
        cb_cross3(y[(k + 1) % 3], y[(k + 2) % 3], n[k]);
        change += cb_dot3(u[k], n[k]) / 6;
      }
      s->solid_rate += change;
      for (int i = 0; i < 3; i++)
        s->solid_first_rate[i] += (change * (y[0][i] + y[1][i] + y[2][i]) + volume * (u[0][i] + u[1][i] + u[2][i])) / 4;
    }
  }
}

/* Takes the apex o of the closed part p, its velocity, and the sums that `integrate` would compute, from the local
 * model.
 */
static void take_sums(const cb_local *l, int p, double o[3], double rate[3], sums *s) {
  double sum[CB_LOCAL_POSE_SUMS];
  cb_local_part_sums(l, p, sum);
  memcpy(o, l->apex[p], 3 * sizeof *o);
  memcpy(rate, l->apex[p] + 4, 3 * sizeof *rate);
  *s = (sums){.skin.zero = sum[CB_LOCAL_AREA], .solid.zero = sum[CB_LOCAL_VOLUME], .solid_rate = sum[CB_LOCAL_FLUX]};
  for (int i = 0, k = CB_LOCAL_TWO; i < 3; i++) {
    s->solid.zero -= o[i] * sum[CB_LOCAL_M + 3 + i] / 3;
    s->solid.one[i] = sum[CB_LOCAL_ONE + i];
    for (int j = i; j < 3; j++, k++) s->solid.two[i][j] = s->solid.two[j][i] = sum[k];
    s->solid_rate -= rate[i] * sum[CB_LOCAL_M + 3 + i];
    s->spin[i] = sum[CB_LOCAL_SPIN + i];
    s->momentum[i] = sum[CB_LOCAL_MOMENTUM + i];
    s->solid_first_rate[i] = sum[CB_LOCAL_FIRST_RATE + i];
  }
}

/* Adds to mu0 the angular momentum of a part about the origin, and its linear momentum m c'. m is the mass of the part,
 * c its centre and o its apex, which moves with rate = o'. The places y and velocities u are relative to the apex, and
 * these integrals are over the mass: F = int y = m (c - o), spin = int y × u and P = int u. drift is m (c' - o'). The
 * uniform velocity (drift - P)/m is added to u, so that the linear momentum is m c'. */
static void add_momentum(double mu0[6], double mass, const double o[3], const double rate[3], const double F[3],
                         const double spin[3], const double P[3], const double drift[3]) {
  double line[3], ox[3], Fx[3], correction[3], of[3], missing[3];
  for (int i = 0; i < 3; i++) {
    line[i] = mass * rate[i] + drift[i];
    missing[i] = (drift[i] - P[i]) / mass;
  }
  cb_cross3(o, line, ox);
  cb_cross3(F, rate, Fx);
  cb_cross3(F, missing, correction);
  for (int i = 0; i < 3; i++) of[i] = ox[i] + Fx[i] + spin[i] + correction[i];
  for (int i = 0; i < 3; i++) {
    mu0[i] += of[i];
    mu0[3 + i] += line[i];
  }
}

/* The sums over all parts. `fluid` has the moments of the displaced volume. */
typedef struct whole {
  cb_moments weight, fluid;
  double area, mu0[6];
} whole;

static cb_status add_part(const cb_moving_mass *m, int number, const cb_local *l, const double (*x)[3],
                          const double (*v)[3], whole *to) {
  const struct cb_moving_part *p = m->part + number;
  double o[3], rate[3], drift[3];
  sums s;
  if (l && l->moving && p->closed && !p->sheet && !l->open[number]) {
    take_sums(l, number, o, rate, &s);
  } else {
    apex(m, p, x, o);
    apex(m, p, v, rate);
    integrate(m, p, x, v, o, rate, &s);
  }
  to->area += s.skin.zero;
  const bool moves = v || (l && l->moving);
  const double volume = s.solid.zero;
  if (p->mass > 0 && !p->sheet && !(volume > 0))
    return cb_fail(CB_STEP_SINGULAR, "part `%s` has the volume %g: expected a volume > 0", m->name[number], volume);
  if (p->mass > 0) {
    cb_moments own = p->sheet ? s.weight : (cb_moments){0};
    const double density = p->sheet ? 1 : p->mass / volume;
    if (!p->sheet) cb_moments_add(&own, density, &s.solid);
    for (int i = 0; i < 3; i++) {
      s.spin[i] *= density;
      s.momentum[i] *= density;
      drift[i] = p->sheet ? s.momentum[i] : density * (s.solid_first_rate[i] - s.solid_rate / volume * s.solid.one[i]);
    }
    if (moves) add_momentum(to->mu0, p->mass, o, rate, own.one, s.spin, s.momentum, drift);
    cb_moments_move(&own, o);
    cb_moments_add(&to->weight, 1, &own);
  }
  cb_moments_move(&s.solid, o);
  cb_moments_add(&to->fluid, 1, &s.solid);
  return CB_OK;
}

/* Adds a point mass at x that moves with v (NULL: at rest). If it has an inertia J, its int rho y y^T dV about x is
 * tr(J)/2 1 - J, with the identity 1. */
static void add_point(const cb_point_mass *point, const double x[3], const double v[3], cb_moments *weight,
                      double mu0[6]) {
  const double mass = point->mass, half = (point->inertia[0][0] + point->inertia[1][1] + point->inertia[2][2]) / 2;
  double turn[3];
  weight->zero += mass;
  for (int i = 0; i < 3; i++) {
    weight->one[i] += mass * x[i];
    for (int j = 0; j < 3; j++) weight->two[i][j] += (i == j ? half : 0) - point->inertia[i][j];
  }
  cb_add_outer3(weight->two, mass, x, x);
  if (!v) return;
  cb_cross3(x, v, turn);
  for (int i = 0; i < 3; i++) {
    mu0[i] += mass * turn[i];
    mu0[3 + i] += mass * v[i];
  }
}

bool cb_moving_mass_is_solid(const cb_moving_mass *m) {
  for (int p = 0; p < m->parts; p++)
    if (!m->part[p].closed || m->part[p].sheet) return false;
  for (int i = 0; i < m->points; i++)
    if (m->point[i].vertex >= 0) return false;
  return true;
}

cb_status cb_moving_mass_with(const cb_moving_mass *m, const cb_local *l, const double (*x)[3], const double (*v)[3],
                              cb_mass *out, double mu0[6]) {
  if (m->curvature != 0) return cb_moving_mass_curved(m, x, v, out, mu0);
  whole to = {.area = 0};
  const cb_moments *weight = &to.weight, *fluid = &to.fluid;
  for (int p = 0; p < m->parts; p++) {
    const cb_status status = add_part(m, p, l, x, v, &to);
    if (status) return status;
  }
  for (int i = 0; i < m->points; i++) {
    const int at = m->point[i].vertex;
    add_point(&m->point[i], at < 0 ? m->point[i].x : x[at], v && at >= 0 ? v[at] : NULL, &to.weight, to.mu0);
  }
  *out = (cb_mass){.mass = weight->zero, .volume = fluid->zero, .area = to.area};
  for (int i = 0; i < 3; i++) {
    if (weight->zero != 0) out->centre[i] = weight->one[i] / weight->zero;
    if (fluid->zero != 0) out->volume_centre[i] = fluid->one[i] / fluid->zero;
  }
  cb_inertia_add(out->inertia, weight->zero, weight->one, (const double(*)[3])weight->two);
  memcpy(mu0, to.mu0, sizeof to.mu0);
  return CB_OK;
}

/* --- energy --- */

/* Returns (1/2) int |u|^2 over a simplex of n corners, for the mass of the simplex and a linear u with the given values
 * at the corners. */
static double simplex_energy(int n, const double *u[], double mass) {
  double sum[3] = {0}, squares = 0;
  for (int c = 0; c < n; c++) {
    squares += cb_dot3(u[c], u[c]);
    for (int i = 0; i < 3; i++) sum[i] += u[c][i];
  }
  return mass / (2 * n * (n + 1)) * (squares + cb_dot3(sum, sum));
}

/* Returns the kinetic energy of a part: a sum over the faces of a sheet, or over the tetrahedra of a solid. To the
 * velocity u of a solid a uniform velocity d is added, so that the momentum of the solid is m c'. The energy per mass
 * is then (u + d)^2/2 = u^2/2 + <u, d> + d^2/2. */
static double part_energy(const cb_moving_mass *m, const struct cb_moving_part *p, const double (*x)[3],
                          const double (*v)[3]) {
  double o[3], rate[3], energy = 0;
  sums s;
  apex(m, p, x, o);
  apex(m, p, v, rate);
  integrate(m, p, x, v, o, rate, &s);
  for (int f = p->begin; f < p->end; f++) {
    const int *c = m->face[f];
    const double *u[4] = {v[c[0]], v[c[1]], v[c[2]], rate};
    double y[3][3], normal[3];
    corners(c, x, o, y);
    cb_cross3(y[1], y[2], normal);
    energy += p->sheet ? simplex_energy(3, u, m->weight[f]) : simplex_energy(4, u, cb_dot3(y[0], normal) / 6);
  }
  if (p->sheet) return energy;
  const double volume = s.solid.zero;
  for (int i = 0; i < 3; i++) {
    const double d = (s.solid_first_rate[i] - s.solid_rate / volume * s.solid.one[i] - s.momentum[i]) / volume;
    energy += d * (volume * rate[i] + s.momentum[i]) + volume * d * d / 2;
  }
  return p->mass / volume * energy;
}

double cb_moving_mass_energy(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3]) {
  if (m->curvature != 0) return cb_moving_mass_curved_energy(m, x, v);
  double sum = 0;
  for (int p = 0; p < m->parts; p++)
    if (m->part[p].mass > 0) sum += part_energy(m, m->part + p, x, v);
  for (int i = 0; i < m->points; i++) {
    const int at = m->point[i].vertex;
    if (at >= 0) sum += m->point[i].mass / 2 * cb_dot3(v[at], v[at]);
  }
  return sum;
}

cb_status cb_moving_mass_at(const cb_moving_mass *m, const double (*x)[3], const double (*v)[3], cb_mass *out,
                            double mu0[6]) {
  return cb_moving_mass_with(m, NULL, x, v, out, mu0);
}
