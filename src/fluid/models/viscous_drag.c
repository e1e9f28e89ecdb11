/* Friction in a layer of fixed thickness on a closed body in potential flow, linear in the twist:
 *
 *   F = D Y,  s_b = grad phi_b - u_b, phi_b the potential and u_b = w × x + v the body's velocity in its motion b
 *   printed:   D_ab =  nu int u_a.s_b dA      force and torque as printed in the source; not symmetric in general
 *   rayleigh:  D_ab = -nu int s_a.s_b dA      the derivative of -nu/2 int |s|^2 dA: symmetric, never gains energy
 *
 * F is the wrench and Y = (w, v) the twist; a and b number the six unit twists, and x is a point of the surface. s is
 * the slip of the fluid along the surface: it is tangential, because grad phi and u have the same normal velocity. nu
 * is in kg/(m^2 s) and does not depend on the density. For a sphere of radius r both forms give -8 pi/3 nu r^4 for
 * rotation; for translation the printed form gives -4 pi nu r^2 and Rayleigh's -6 pi nu r^2.
 *
 * Source: Wang (2019), Hunan University, bachelor's thesis on the motion of one rigid body under water, section 3.2,
 * eq. 25. The potential in the thesis has the wrong sign; here it is that of potential/kirchhoff.h, for the shape at
 * time 0. grad phi along the faces comes from values at vertices, which are means of the values of the surrounding
 * faces, weighted by area. The error is of the order of the size of the faces.
 */
#include "fluid/fluid_shared.h"

#include "numerics/vec3.h"
#include "potential/kirchhoff.h"
#include "potential/panels.h"

#include <stdlib.h>
#include <string.h>

enum { PRINTED, RAYLEIGH };

typedef struct viscous_drag {
  double nu;
  int form;
} viscous_drag;

typedef struct drag_body {
  double D[6][6]; /* the matrix D of the file head for nu = 1 */
} drag_body;

static const cb_param params[] = {
    {"nu", CB_PARAM_REAL, offsetof(viscous_drag, nu), "1", "kg/(m^2 s)", ">= 0", NULL, "friction of the layer"},
    {"form", CB_PARAM_CHOICE, offsetof(viscous_drag, form), "rayleigh", "", "", "printed|rayleigh",
     "force as printed in the source, or by Rayleigh's function, with which energy never grows"},
    {0},
};

/* Computes value[vertices] from the values phi[faces], as means weighted by area. weight[vertices] is a work array. */
static void to_vertices(const cb_surface *s, const cb_panels *p, const double *phi, double *weight, double *value) {
  memset(weight, 0, (size_t)s->vertices * sizeof *weight);
  memset(value, 0, (size_t)s->vertices * sizeof *value);
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3; k++) {
      weight[s->face[f][k]] += p->area[f];
      value[s->face[f][k]] += p->area[f] * phi[f];
    }
  for (int v = 0; v < s->vertices; v++)
    if (weight[v] > 0) value[v] /= weight[v];
}

/* Finds the gradient g of the linear function that has the given values at the corners of a face. The face has the
 * normal n and the given area. */
static void gradient_of(const double corner[3][3], const double n[3], double area, const double value[3], double g[3]) {
  memset(g, 0, 3 * sizeof *g);
  for (int k = 0; k < 3; k++) {
    const double *a = corner[(k + 1) % 3], *b = corner[(k + 2) % 3], edge[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    double across[3];
    cb_cross3(n, edge, across);
    for (int i = 0; i < 3; i++) g[i] += value[k] / (2 * area) * across[i];
  }
}

static void add_face(const cb_surface *s, const cb_panels *p, int f, int form, const double *value, double D[6][6]) {
  double u[6][3] = {{0}}, slip[6][3];
  for (int b = 0; b < 6; b++) {
    if (b < 3) {
      double axis[3] = {0};
      axis[b] = 1;
      cb_cross3(axis, p->centre[f], u[b]);
    } else
      u[b][b - 3] = 1;
    const double *at = value + (size_t)b * (size_t)s->vertices, across = cb_dot3(u[b], p->normal[f]);
    const double corners[3] = {at[s->face[f][0]], at[s->face[f][1]], at[s->face[f][2]]};
    gradient_of((const double(*)[3])p->corner[f], p->normal[f], p->area[f], corners, slip[b]);
    for (int k = 0; k < 3; k++) slip[b][k] -= u[b][k] - across * p->normal[f][k];
  }
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++)
      D[a][b] += p->area[f] * (form == PRINTED ? cb_dot3(u[a], slip[b]) : -cb_dot3(slip[a], slip[b]));
}

static cb_status find_drag(const cb_surface *s, int form, double D[6][6]) {
  const size_t faces = (size_t)s->faces, vertices = (size_t)s->vertices;
  const double(*x)[3] = (const double(*)[3])s->x;
  const int(*face)[3] = (const int(*)[3])s->face;
  cb_kirchhoff *k = NULL;
  cb_panels *p = NULL;
  double *w = malloc((12 * faces + 7 * vertices) * sizeof *w), *phi = w + 6 * faces, *weight = phi + 6 * faces;
  cb_status status = w ? cb_panels_create(s->faces, x, face, &p)
                       : cb_fail(CB_ERROR_MEMORY, "no memory for the drag of %d faces", s->faces);
  if (!status) status = cb_kirchhoff_create(s->vertices, x, s->faces, face, NULL, &k);
  for (size_t f = 0; !status && f < faces; f++) {
    double m[6];
    cb_cross3(p->centre[f], p->normal[f], m);
    memcpy(m + 3, p->normal[f], 3 * sizeof *m);
    for (size_t a = 0; a < 6; a++) w[a * faces + f] = m[a];
  }
  if (!status) status = cb_kirchhoff_solve(k, 6, w, phi);
  for (size_t a = 0; !status && a < 6; a++) to_vertices(s, p, phi + a * faces, weight, weight + (a + 1) * vertices);
  for (int f = 0; !status && f < s->faces; f++) add_face(s, p, f, form, weight + vertices, D);
  cb_kirchhoff_free(k);
  cb_panels_free(p);
  free(w);
  return status;
}

static cb_status prepare(const cb_fluid_model *m, const cb_surface *surface, const cb_mass *mass, void **body) {
  (void)mass;
  cb_status status = cb_fluid_model_check_closed(m, surface, "`local`, or a thin closed part in its place");
  if (status) return status;
  drag_body *own = calloc(1, sizeof *own);
  if (!own) return cb_fail(CB_ERROR_MEMORY, "no memory for a drag");
  status = find_drag(surface, ((const viscous_drag *)m->params)->form, own->D);
  if (status)
    free(own);
  else
    *body = own;
  return status;
}

static void release(const cb_fluid_model *m, void *body) {
  (void)m;
  free(body);
}

static cb_status on_twist(const cb_fluid_model *m, const void *body, int place, double density, const double V[6],
                          double (*F)[6], double (*dF)[6][6]) {
  const drag_body *own = body;
  const double nu = ((const viscous_drag *)m->params)->nu;
  (void)place;
  (void)density;
  for (int a = 0; a < 6; a++)
    for (int b = 0; b < 6; b++) {
      F[0][a] += nu * own->D[a][b] * V[b];
      if (dF) dF[0][a][b] = nu * own->D[a][b];
    }
  return CB_OK;
}

const cb_fluid_model_class cb_fluid_model_viscous_drag = {
    .name = "viscous_drag",
    .title = "linear friction in potential flow",
    .doc =
        "drag matrix of a layer of fixed thickness on a closed body, from the potential flow around its shape at time "
        "0; no added mass",
    .params = params,
    .params_size = sizeof(viscous_drag),
    .prepare = prepare,
    .release = release,
    .on_twist = on_twist,
};
