/* Mass properties from the exact integrals of 1, x and x x^T over solids and sheets (see curvebody/mass.h), in curved
 * spaces and in flat space.
 *
 * In flat space, over the tetrahedron with the corners o, a, b, c, where x, a, b and c are measured from o, the volume
 * is V = <a, b × c>/6, int x dV = V (a + b + c)/4, and
 *
 *   int x x^T dV = V/20 (a a^T + b b^T + c c^T + (a + b + c)(a + b + c)^T)
 *
 * The same integrals over the triangle (a, b, c) of the area A are A, A (a + b + c)/3 and A/12 times the last bracket.
 * The point o is the mean of a part's corners, so that no digits are lost for a body far from its origin.
 */
#include "fluid/curved_moments.h"
#include "fluid/surface_mesh.h"
#include "numerics/vec3.h"
#include "numerics/numerics_curved.h"

#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Integrals over cones and faces in a curved space (fluid/curved_moments.h). */

/* These functions return the integrals over t from 0 to d of s_K(t)^2 = (1 - c_K(2 t))/(2 K) and of
 * s_K(t)^4 = (3 - 4 c_K(2 t) + c_K(4 t))/(8 K^2), with the sine s_K and the cosine c_K of the space. Where the terms of
 * these formulas cancel, series are used. */
double cb_curved_f2(double K, double d) {
  const cb_trig t = cb_trig_of(K);
  const double z = -K * d * d;
  double sum = 0, term = 1. / 3;
  if (fabs(z) > 0.5) return (d - cb_trig_s(t, d) * cb_trig_c(t, d)) / (2 * K);
  for (int n = 1; n < 15; n++, term *= 4 * z / (2 * n * (2 * n + 1))) sum += term;
  return d * d * d * sum;
}

double cb_curved_f4(double K, double d) {
  const cb_trig t = cb_trig_of(K);
  const double z = -K * d * d;
  double sum = 0, high = 256. / 960, low = 64. / 960;
  if (fabs(z) > 0.5) {
    const double S = cb_trig_s(t, d);
    return (3 * cb_curved_f2(K, d) - S * S * S * cb_trig_c(t, d)) / (4 * K);
  }
  for (int n = 2; n < 18; n++) {
    sum += high - low;
    const double next = z / ((2 * n + 2) * (2 * n + 3));
    high *= 16 * next;
    low *= 4 * next;
  }
  return d * d * d * d * d * sum;
}

void cb_curved_add(cb_curved_moments *to, double factor, const cb_curved_moments *m) {
  for (int i = 0; i < 4; i++) {
    to->first[i] += factor * m->first[i];
    for (int j = 0; j < 4; j++) to->M[i][j] += factor * m->M[i][j];
  }
}

static void cb_curved_add_point(double mass, const double y[4], cb_curved_moments *m) {
  for (int i = 0; i < 4; i++) {
    m->first[i] += mass * y[i];
    for (int j = 0; j < 4; j++) m->M[i][j] += mass * y[i] * y[j];
  }
}

/* Adds to m the moments of the face with the corners y, multiplied by `factor`. Returns the area of the face. */
static double add_curved_skin(double K, const double y[3][4], double factor, cb_curved_moments *m) {
  double plane[4], q[4];
  const double N = cb_curved_plane(K, y[0], y[1], y[2], plane);
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double c = cb_curved_node(K, y, k, q);
    cb_curved_add_point(factor * cb_curved_rule[k][3] * N / (2 * c * sqrt(c)), q, m);
  }
  return cb_curved_area(K, y[0], y[1], y[2], N);
}

/* The factor `det` is a.(b × c) = -N nu_w for the corners a, b, c, the plane (nu, nu_w) of the face and its norm N. The
 * product a.(b × c) does not need the plane, so it is also right for a face whose plane contains the apex. */
void cb_curved_add_cone(double K, const double y[3][4], cb_curved_moments *m) {
  const cb_trig t = cb_trig_of(K);
  double bc[3], q[4];
  cb_cross3(y[1], y[2], bc);
  const double det = cb_dot3(y[0], bc);
  for (int k = 0; k < CB_CURVED_POINTS; k++) {
    const double c = cb_curved_node(K, y, k, q), S = sqrt(cb_dot3(q, q));
    if (!(S > 0) && q[3] > 0) continue; /* the point is the apex, and it adds nothing, because det is 0 */
    const double d = cb_trig_arc(t, S, q[3]), half = cb_trig_s(t, d / 2), F2 = cb_curved_f2(K, d),
                 F4 = cb_curved_f4(K, d), F3 = 4. / 3 * half * half * half * half * (2 + q[3]),
                 W = cb_curved_rule[k][3] * det / (2 * c * sqrt(c) * S * S * S);
    for (int i = 0; i < 3; i++) {
      const double u = q[i] / S;
      for (int j = 0; j < 3; j++) m->M[i][j] += W * F4 * u * q[j] / S;
      m->M[i][3] += W * S * S * S * S / 4 * u;
      m->M[3][i] += W * S * S * S * S / 4 * u;
      m->first[i] += W * F3 * u;
    }
    m->M[3][3] += W * (F2 - K * F4);
    m->first[3] += W * S * S * S / 3;
  }
}

void cb_curved_move(double K, const double p[4], cb_curved_moments *m) {
  const double back[4] = {-p[0], -p[1], -p[2], p[3]};
  double half[4][4], row[4];
  for (int i = 0; i < 4; i++) cb_curved_towards(K, back, m->M[i], half[i]);
  for (int j = 0; j < 4; j++) {
    const double column[4] = {half[0][j], half[1][j], half[2][j], half[3][j]};
    cb_curved_towards(K, back, column, row);
    for (int i = 0; i < 4; i++) m->M[i][j] = row[i];
  }
  memcpy(row, m->first, sizeof row);
  cb_curved_towards(K, back, row, m->first);
}

double cb_curved_content(double K, const cb_curved_moments *m) {
  return m->M[3][3] + K * (m->M[0][0] + m->M[1][1] + m->M[2][2]);
}

/* Adds the moments of the complete sphere, for a solid that was found as the negative of its complement. */
static void add_sphere(double K, cb_curved_moments *m) {
  const double R = 1 / sqrt(K), quarter = 9.8696044010893586 / 2 * R * R * R; /* a quarter of 2 pi^2 R^3 */
  for (int i = 0; i < 4; i++) m->M[i][i] += i < 3 ? quarter / K : quarter;
}

/* Finds a centre p, a point about which c = 0 (fluid/curved_moments.h), by Newton's method. The method starts at the
 * mean position, which is in the direction of m->first, or at the base point if there is no such position. A step p
 * changes c by -(M_ww 1 - K P) p to first order. */
static void curved_centre(double K, const cb_curved_moments *m, double p[4]) {
  const double square = cb_curved_form(K, m->first, m->first), content = cb_curved_content(K, m);
  double at[4] = {0, 0, 0, 1};
  if (square > 1e-12 * content * content && m->first[3] > -0.999999 * sqrt(square))
    for (int i = 0; i < 4; i++) at[i] = m->first[i] / sqrt(square);
  for (int n = 0; n < 30; n++) {
    const double back[4] = {-at[0], -at[1], -at[2], at[3]};
    cb_curved_moments own = *m;
    cb_curved_move(K, back, &own);
    double H[3][3], adj[3][3], step[3] = {0}, size = 0, length = 0;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) H[i][j] = (i == j ? own.M[3][3] : 0) - K * own.M[i][j];
    for (int i = 0; i < 3; i++) cb_cross3(H[(i + 1) % 3], H[(i + 2) % 3], adj[i]);
    const double det = cb_dot3(H[0], adj[0]);
    for (int i = 0; i < 3; i++) size += fabs(H[i][i]);
    if (!(size > 1e-9 * fabs(content))) break; /* H is 0 up to round-off, for example for half a sphere */
    /* the centre is not unique: some points nearby are also centres */
    if (!(fabs(det) > 1e-12 * size * size * size)) break;
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) step[i] += adj[j][i] * own.M[j][3] / det;
    length = sqrt(cb_dot3(step, step));
    const double maximum = 0.5 / sqrt(fabs(K)), factor = length > maximum ? maximum / length : 1;
    double move[4], next[4];
    for (int i = 0; i < 3; i++) step[i] *= factor;
    cb_curved_point(K, step, move);
    cb_curved_towards(K, back, move, next);
    memcpy(at, next, sizeof at);
    if (length * sqrt(fabs(K)) < 1e-15) break;
  }
  memcpy(p, at, sizeof at);
}

static void curved_inertia(double K, const cb_curved_moments *m, double I[6][6]) {
  const double trace = m->M[0][0] + m->M[1][1] + m->M[2][2], mass = m->M[3][3] + K * trace;
  memset(I, 0, 36 * sizeof(double));
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int l = 0; l < 3; l++) {
      I[i][l] = (i == l ? trace : 0) - m->M[i][l];
      I[3 + i][3 + l] = (i == l ? mass : 0) - K * I[i][l];
    }
    I[j][3 + k] = I[3 + k][j] = -m->M[i][3];
    I[k][3 + j] = I[3 + j][k] = m->M[i][3];
  }
}

void cb_curved_of_inertia(double K, double mass, const double (*I)[6], cb_curved_moments *m) {
  const double half = (I[0][0] + I[1][1] + I[2][2]) / 2;
  memset(m, 0, sizeof *m);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) m->M[i][j] = (i == j ? half : 0) - I[i][j];
    m->M[i][3] = m->M[3][i] = I[(i + 2) % 3][3 + (i + 1) % 3];
  }
  m->M[3][3] = mass - K * half;
}

/* Surfaces in a curved space (fluid/curved_moments.h). */

/* Finds the corners of face f after the transvection that moves the point `from` to the base point. */
static void corners(const cb_surface *s, const double (*y)[4], int f, const double from[4], double out[3][4]) {
  for (int k = 0; k < 3; k++) cb_curved_towards(s->curvature, from, y[s->face[f][k]], out[k]);
}

static double cones(const cb_surface *s, const double (*y)[4], int p, const double apex[4], cb_curved_moments *m) {
  *m = (cb_curved_moments){.first = {0}};
  for (int f = 0; f < s->faces; f++) {
    double at[3][4];
    if (s->part[f] != p) continue;
    corners(s, y, f, apex, at);
    cb_curved_add_cone(s->curvature, (const double(*)[4])at, m);
  }
  return cb_curved_content(s->curvature, m);
}

/* The apex is the mean of the corners. It is the base point if the sum of the corners is too short to give a mean, or
 * if the mean is near the antipode of the base point, which a transvection cannot reach. */
void cb_curved_apex(const cb_surface *s, const double (*y)[4], int p, double apex[4]) {
  double sum[4] = {0};
  long n = 0;
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3 && s->part[f] == p; k++, n++)
      for (int i = 0; i < 4; i++) sum[i] += y[s->face[f][k]][i];
  const double square = cb_curved_form(s->curvature, sum, sum), root = sqrt(fmax(square, 0));
  const double base[4] = {0, 0, 0, 1};
  const bool good = square > 0.04 * (double)n * (double)n && sum[3] > -0.9 * root;
  for (int i = 0; i < 4; i++) apex[i] = good ? sum[i] / root : base[i];
}

void cb_curved_of_part(const cb_surface *s, const double (*y)[4], int p, cb_curved_moments *solid,
                       cb_curved_moments *skin, double *area) {
  double apex[4];
  cb_curved_apex(s, y, p, apex);
  *solid = *skin = (cb_curved_moments){.first = {0}};
  *area = 0;
  for (int f = 0; f < s->faces; f++) {
    double at[3][4];
    if (s->part[f] != p) continue;
    corners(s, y, f, apex, at);
    *area += add_curved_skin(s->curvature, (const double(*)[4])at, 1, skin);
  }
  /* If the antipode of the apex is inside the part, the sum over the cones is the negative of the integral over the
   * complement. */
  if (!s->open[p] && cones(s, y, p, apex, solid) < 0 && s->curvature > 0) add_sphere(s->curvature, solid);
  cb_curved_move(s->curvature, apex, solid);
  cb_curved_move(s->curvature, apex, skin);
}

void cb_curved_mass(double K, const cb_curved_moments *weight, const cb_curved_moments *fluid, double area,
                    cb_mass *out) {
  double p[4];
  *out = (cb_mass){
      .mass = cb_curved_content(K, weight), .volume = cb_curved_content(K, fluid), .area = area, .curvature = K};
  if (out->mass != 0) {
    curved_centre(K, weight, p);
    cb_curved_normal(K, p, out->centre);
  }
  if (out->volume != 0) {
    curved_centre(K, fluid, p);
    cb_curved_normal(K, p, out->volume_centre);
  }
  curved_inertia(K, weight, out->inertia);
}

static cb_status curved_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out) {
  cb_curved_moments weight = {.first = {0}}, fluid = weight;
  double area = 0;
  double(*y)[4] = malloc((size_t)s->vertices * sizeof *y);
  if (!y) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  for (int v = 0; v < s->vertices; v++) cb_curved_point(s->curvature, x[v], y[v]);
  cb_status status = CB_OK;
  for (int p = 0; p < s->parts && !status; p++) {
    cb_curved_moments solid, skin;
    double own;
    const bool closed = !s->open[p];
    if ((status = cb_material_check(s, p, material + p, closed))) break;
    cb_curved_of_part(s, (const double(*)[4])y, p, &solid, &skin, &own);
    area += own;
    if (closed) cb_curved_add(&fluid, 1, &solid);
    if (material[p].thickness > 0)
      cb_curved_add(&weight, material[p].density * material[p].thickness, &skin);
    else if (closed)
      cb_curved_add(&weight, material[p].density, &solid);
  }
  free(y);
  if (!status) cb_curved_mass(s->curvature, &weight, &fluid, area, out);
  return status;
}

/* --- flat space --- */

void cb_moments_add_simplex(cb_moments *m, const double x[3][3], double content, double first, double second) {
  double sum[3];
  for (int i = 0; i < 3; i++) sum[i] = x[0][i] + x[1][i] + x[2][i];
  m->zero += content;
  for (int i = 0; i < 3; i++) {
    m->one[i] += content / first * sum[i];
    for (int j = 0; j < 3; j++)
      m->two[i][j] += content / second * (x[0][i] * x[0][j] + x[1][i] * x[1][j] + x[2][i] * x[2][j] + sum[i] * sum[j]);
  }
}

void cb_moments_move(cb_moments *m, const double o[3]) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) m->two[i][j] += o[i] * m->one[j] + m->one[i] * o[j] + m->zero * o[i] * o[j];
  for (int i = 0; i < 3; i++) m->one[i] += m->zero * o[i];
}

void cb_moments_add(cb_moments *to, double factor, const cb_moments *m) {
  to->zero += factor * m->zero;
  for (int i = 0; i < 3; i++) {
    to->one[i] += factor * m->one[i];
    for (int j = 0; j < 3; j++) to->two[i][j] += factor * m->two[i][j];
  }
}

void cb_moments_of_part(const cb_surface *s, const double (*x)[3], int part, cb_moments *solid, cb_moments *skin,
                        bool *closed) {
  double o[3] = {0}, sum[3] = {0};
  long corners = 0;
  *solid = *skin = (cb_moments){0};
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3 && s->part[f] == part; k++, corners++)
      for (int i = 0; i < 3; i++) o[i] += x[s->face[f][k]][i];
  for (int i = 0; i < 3 && corners; i++) o[i] /= (double)corners;
  for (int f = 0; f < s->faces; f++) {
    if (s->part[f] != part) continue;
    double at[3][3], normal[3];
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) at[k][i] = x[s->face[f][k]][i] - o[i];
    cb_normal3(at[0], at[1], at[2], normal);
    for (int i = 0; i < 3; i++) sum[i] += normal[i] / 2;
    cb_moments_add_simplex(solid, at, cb_dot3(at[0], normal) / 6, 4, 20);
    cb_moments_add_simplex(skin, at, sqrt(cb_dot3(normal, normal)) / 2, 3, 12);
  }
  *closed = !s->open[part] && sqrt(cb_dot3(sum, sum)) <= 1e-9 * skin->zero;
  cb_moments_move(solid, o);
  cb_moments_move(skin, o);
}

void cb_inertia_add(double I[6][6], double mass, const double first[3], const double P[3][3]) {
  const double trace = P[0][0] + P[1][1] + P[2][2];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    for (int l = 0; l < 3; l++) I[i][l] += (i == l ? trace : 0) - P[i][l];
    I[3 + i][3 + i] += mass;
    /* subtracts and adds m hat(c), where hat(c)_jk = -c_i and first = m c */
    I[j][3 + k] -= first[i];
    I[k][3 + j] += first[i];
    I[3 + k][j] -= first[i];
    I[3 + j][k] += first[i];
  }
}

cb_status cb_material_check(const cb_surface *s, int p, const cb_material *material, bool closed) {
  const double density = material->density, thickness = material->thickness;
  const char *name = s->name && s->name[p] ? s->name[p] : "";
  if (!(density >= 0) || !(thickness >= 0) || !isfinite(density + thickness))
    return cb_fail(CB_ERROR_ARGUMENT, "part %d %s: density %g, thickness %g: expected numbers >= 0", p + 1, name,
                   density, thickness);
  if (closed || !(density > 0) || thickness > 0) return CB_OK;
  char border[CB_SURFACE_BORDER_TEXT];
  const cb_status status = cb_surface_border_text(s, p, "weld", border);
  if (status) return status;
  return cb_fail(CB_ERROR_DOMAIN, "part `%s` is open: expected a thickness > 0, because it has no mass without one%s%s",
                 name, *border ? "; " : "", border);
}

cb_status cb_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out) {
  if (!x) x = (const double(*)[3])s->x;
  for (int i = 0; i < s->vertices; i++)
    if (!isfinite(x[i][0] + x[i][1] + x[i][2]))
      return cb_fail(CB_ERROR_DOMAIN, "vertex %d is at (%g, %g, %g): expected finite coordinates", s->number[i],
                     x[i][0], x[i][1], x[i][2]);
  if (s->curvature != 0) return curved_mass_of(s, x, material, out);
  cb_moments weight = {0}, fluid = {0};
  double area = 0;
  for (int p = 0; p < s->parts; p++) {
    cb_moments solid, skin;
    bool closed;
    cb_moments_of_part(s, x, p, &solid, &skin, &closed);
    const cb_status status = cb_material_check(s, p, material + p, closed);
    if (status) return status;
    const double density = material[p].density, thickness = material[p].thickness;
    area += skin.zero;
    if (closed) cb_moments_add(&fluid, 1, &solid);
    if (thickness > 0)
      cb_moments_add(&weight, density * thickness, &skin);
    else if (closed)
      cb_moments_add(&weight, density, &solid);
  }
  *out = (cb_mass){.mass = weight.zero, .volume = fluid.zero, .area = area};
  for (int i = 0; i < 3; i++) {
    if (weight.zero != 0) out->centre[i] = weight.one[i] / weight.zero;
    if (fluid.zero != 0) out->volume_centre[i] = fluid.one[i] / fluid.zero;
  }
  cb_inertia_add(out->inertia, weight.zero, weight.one, (const double(*)[3])weight.two);
  return CB_OK;
}

cb_status cb_inertia_check(const double J[3][3]) {
  const double trace = J[0][0] + J[1][1] + J[2][2], slack = 1e-9 * trace;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3;
    if (!isfinite(J[i][0] + J[i][1] + J[i][2]) || !(fabs(J[i][j] - J[j][i]) <= fabs(slack)))
      return cb_fail(CB_ERROR_DOMAIN, "expected a symmetric inertia, found %g and %g", J[i][j], J[j][i]);
  }
  cb_mass whole = {.mass = 0};
  double moment[3], axis[3][3];
  for (int i = 0; i < 9; i++) whole.inertia[i / 3][i % 3] = J[i / 3][i % 3];
  const cb_status status = cb_mass_principal(&whole, moment, axis); /* the moments are in ascending order */
  if (status) return status;
  if (!(moment[0] > 0))
    return cb_fail(CB_ERROR_DOMAIN, "expected moments of inertia > 0, found %g, %g, %g", moment[0], moment[1],
                   moment[2]);
  if (moment[2] > moment[0] + moment[1] + slack)
    return cb_fail(
        CB_ERROR_DOMAIN,
        "no body has the moments of inertia %g, %g, %g: expected that each is at most the sum of the other two",
        moment[0], moment[1], moment[2]);
  return CB_OK;
}

/* Finds the inertia about the centre of mass in a curved space. */
static void about_centre(const cb_mass *m, double I[6][6]) {
  cb_curved_moments own;
  double p[4];
  cb_curved_of_inertia(m->curvature, m->mass, m->inertia, &own);
  cb_curved_point(m->curvature, m->centre, p);
  for (int i = 0; i < 3; i++) p[i] = -p[i];
  cb_curved_move(m->curvature, p, &own);
  curved_inertia(m->curvature, &own, I);
}

cb_status cb_mass_principal(const cb_mass *m, double moment[3], double axis[3][3]) {
  const double *c = m->centre;
  double J[9], value[3], columns[9];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      J[3 * i + j] = m->inertia[i][j] - m->mass * ((i == j ? cb_dot3(c, c) : 0) - c[i] * c[j]);
  if (m->curvature != 0) {
    double about[6][6];
    about_centre(m, about);
    for (int i = 0; i < 9; i++) J[i] = about[i / 3][i % 3];
  }
  gsl_eigen_symmv_workspace *slack = gsl_eigen_symmv_alloc(3);
  if (!slack) return cb_fail(CB_ERROR_MEMORY, "no memory for principal axes");
  gsl_matrix_view matrix = gsl_matrix_view_array(J, 3, 3), vectors = gsl_matrix_view_array(columns, 3, 3);
  gsl_vector_view values = gsl_vector_view_array(value, 3);
  gsl_eigen_symmv(&matrix.matrix, &values.vector, &vectors.matrix, slack);
  gsl_eigen_symmv_free(slack);
  gsl_eigen_symmv_sort(&values.vector, &vectors.matrix, GSL_EIGEN_SORT_VAL_ASC);
  for (int i = 0; i < 3; i++) {
    moment[i] = value[i];
    for (int j = 0; j < 3; j++) axis[i][j] = columns[3 * j + i];
  }
  /* Each axis has two directions; the one in which its largest component is positive is chosen. */
  for (int i = 0; i < 2; i++) {
    int k = 0;
    for (int j = 1; j < 3; j++)
      if (fabs(axis[i][j]) > fabs(axis[i][k]) + 1e-9) k = j;
    const double sign = axis[i][k] < 0 ? -1 : 1;
    for (int j = 0; j < 3; j++) axis[i][j] *= sign;
  }
  cb_cross3(axis[0], axis[1], axis[2]);
  return CB_OK;
}
