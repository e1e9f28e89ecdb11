/* Mass properties from the exact integrals of 1, x and x x^T. See mass.h.
 *
 * Over the tetrahedron (o, a, b, c), all from o: V = <a, b × c>/6, int x = V (a+b+c)/4,
 *   int x x^T = V/20 (a a^T + b b^T + c c^T + (a+b+c)(a+b+c)^T)
 * and over the triangle: A, A (a+b+c)/3, A/12 (a a^T + b b^T + c c^T + (a+b+c)(a+b+c)^T).
 * The point o is the mean of a part's corners, so that a body far from its origin loses no digits.
 */
#include "fluid/curved_moments.h"
#include "fluid/mass_private.h"
#include "fluid/surface.h"
#include "numerics/vec3.h"

#include <gsl/gsl_eigen.h>
#include <math.h>

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
    /* hat(c)_jk = -c_i */
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
    return cb_fail(CB_ERROR_ARGUMENT, "part %d %s: density %g, thickness %g: expected numbers that are not negative",
                   p + 1, name, density, thickness);
  if (closed || !(density > 0) || thickness > 0) return CB_OK;
  char border[CB_SURFACE_BORDER_TEXT];
  const cb_status status = cb_surface_border_text(s, p, "weld", border);
  if (status) return status;
  return cb_fail(CB_ERROR_DOMAIN, "part `%s` is open: expected a thickness > 0, without one it has no mass%s%s", name,
                 *border ? "; " : "", border);
}

cb_status cb_mass_of(const cb_surface *s, const double (*x)[3], const cb_material *material, cb_mass *out) {
  if (!x) x = (const double(*)[3])s->x;
  for (int i = 0; i < s->vertices; i++)
    if (!isfinite(x[i][0] + x[i][1] + x[i][2]))
      return cb_fail(CB_ERROR_DOMAIN, "vertex %d is at (%g, %g, %g)", s->number[i], x[i][0], x[i][1], x[i][2]);
  if (s->curvature != 0) return cb_curved_mass_of(s, x, material, out);
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
  const double trace = J[0][0] + J[1][1] + J[2][2], room = 1e-9 * trace;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3;
    if (!isfinite(J[i][0] + J[i][1] + J[i][2]) || !(fabs(J[i][j] - J[j][i]) <= fabs(room)))
      return cb_fail(CB_ERROR_DOMAIN, "expected a symmetric inertia, found %g and %g", J[i][j], J[j][i]);
  }
  cb_mass whole = {.mass = 0};
  double moment[3], axis[3][3];
  for (int i = 0; i < 9; i++) whole.inertia[i / 3][i % 3] = J[i / 3][i % 3];
  const cb_status status = cb_mass_principal(&whole, moment, axis); /* ascending */
  if (status) return status;
  if (!(moment[0] > 0))
    return cb_fail(CB_ERROR_DOMAIN, "expected moments of inertia > 0, found %g, %g, %g", moment[0], moment[1],
                   moment[2]);
  if (moment[2] > moment[0] + moment[1] + room)
    return cb_fail(CB_ERROR_DOMAIN,
                   "no body has the moments of inertia %g, %g, %g: expected none above the sum of the others",
                   moment[0], moment[1], moment[2]);
  return CB_OK;
}

/* The inertia in a curved space about its centre. */
static void about_centre(const cb_mass *m, double I[6][6]) {
  cb_curved_moments own;
  double p[4];
  cb_curved_of_inertia(m->curvature, m->mass, m->inertia, &own);
  cb_curved_point(m->curvature, m->centre, p);
  for (int i = 0; i < 3; i++) p[i] = -p[i];
  cb_curved_move(m->curvature, p, &own);
  cb_curved_inertia(m->curvature, &own, I);
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
  gsl_eigen_symmv_workspace *room = gsl_eigen_symmv_alloc(3);
  if (!room) return cb_fail(CB_ERROR_MEMORY, "no memory for principal axes");
  gsl_matrix_view matrix = gsl_matrix_view_array(J, 3, 3), vectors = gsl_matrix_view_array(columns, 3, 3);
  gsl_vector_view values = gsl_vector_view_array(value, 3);
  gsl_eigen_symmv(&matrix.matrix, &values.vector, &vectors.matrix, room);
  gsl_eigen_symmv_free(room);
  gsl_eigen_symmv_sort(&values.vector, &vectors.matrix, GSL_EIGEN_SORT_VAL_ASC);
  for (int i = 0; i < 3; i++) {
    moment[i] = value[i];
    for (int j = 0; j < 3; j++) axis[i][j] = columns[3 * j + i];
  }
  /* Of two directions the one whose largest component is positive. */
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
