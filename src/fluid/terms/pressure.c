/* Pressure of the undisturbed flow: the wrench int rho (x × a, a) dV over the body. a = Du/Dt = du/dt + G u is the
 * acceleration of the fluid in the body's axes, with its velocity u, the gradient G and the density rho.
 *
 * Closed parts are cut into tetrahedra from the mean o of a part's corners to its faces. On each tetrahedron a is
 * linear. At o, a is the mean of its values at the corners of the part.
 *
 *   int a dV = V/4 sum a_i,   int x × a dV = V/20 sum (x_i + sum x) × a_i
 *
 * The x_i are the four corners of a tetrahedron of volume V, and a_i is a at them. The integrals are exact if a is a
 * linear function of the place. For sheets the integrals are over faces times the thickness, with A/3 and A/12 for the
 * area A. rho is the density of the medium at the face. The integrals are thus sums over the vertices, each with a
 * weight w and an arm h: the force is sum w a, and the torque sum h × a.
 */
#include "fluid/immersed_private.h"

#include <math.h>
#include <string.h>

/* Adds the weights w and arms h that belong to the n corners x of a simplex. `content` is rho times the volume of the
 * simplex, or rho times area and thickness for a face. */
static void add_simplex(int n, const double *x[], double content, cb_immersed_weight *to[]) {
  double sum[3] = {0};
  for (int c = 0; c < n; c++)
    for (int i = 0; i < 3; i++) sum[i] += x[c][i];
  for (int c = 0; c < n; c++) {
    to[c]->w += content / n;
    for (int i = 0; i < 3; i++) to[c]->h[i] += content / (n * (n + 1)) * (x[c][i] + sum[i]);
  }
}

static void find_apices(cb_immersed_workspace *s) {
  const cb_surface *surface = s->b->surface;
  cb_immersed_apex *apex = s->pressure.apex;
  memset(apex, 0, (size_t)surface->parts * sizeof *apex);
  for (int f = 0; f < surface->faces; f++) {
    cb_immersed_apex *own = apex + surface->part[f];
    for (int c = 0; c < 3; c++, own->corners++)
      for (int i = 0; i < 3; i++) own->x[i] += s->form.x[surface->face[f][c]][i];
  }
  for (int p = 0; p < surface->parts; p++)
    for (int i = 0; i < 3; i++) apex[p].x[i] /= apex[p].corners;
}

/* Finds the weights and arms of the vertices. An apex is the mean of the corners of its part, so the weight of the apex
 * is divided among these corners. */
static void weigh_vertices(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  const cb_surface *surface = b->surface;
  cb_immersed_weight *vertex = s->pressure.vertex;
  memset(vertex, 0, (size_t)surface->vertices * sizeof *vertex);
  find_apices(s);
  for (int i = 0; i < surface->faces; i++) {
    const int face = b->listed[i], *corner = surface->face[face], part = surface->part[face];
    cb_immersed_apex *apex = s->pressure.apex + part;
    const double rho = s->field.mixed ? s->field.rho[face] : s->field.density,
                 *x[4] = {s->form.x[corner[0]], s->form.x[corner[1]], s->form.x[corner[2]], apex->x};
    cb_immersed_weight *to[4] = {vertex + corner[0], vertex + corner[1], vertex + corner[2], &apex->weight};
    double e0[3], e1[3], e2[3], normal[3];
    for (int k = 0; k < 3; k++) {
      e0[k] = x[0][k] - x[3][k];
      e1[k] = x[1][k] - x[0][k];
      e2[k] = x[2][k] - x[0][k];
    }
    cb_cross3(e1, e2, normal);
    if (i < b->closed_faces)
      add_simplex(4, x, rho * cb_dot3(e0, normal) / 6, to);
    else
      add_simplex(3, x, rho * b->thickness[part] * sqrt(cb_dot3(normal, normal)) / 2, to);
  }
  for (int f = 0; f < surface->faces; f++) {
    const cb_immersed_apex *apex = s->pressure.apex + surface->part[f];
    for (int c = 0; c < 3; c++) {
      cb_immersed_weight *own = vertex + surface->face[f][c];
      own->w += apex->weight.w / apex->corners;
      for (int k = 0; k < 3; k++) own->h[k] += apex->weight.h[k] / apex->corners;
    }
  }
  s->pressure.known = true;
  s->pressure.density = s->field.mixed ? NAN : s->field.density;
}

static cb_status create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_weights *p = &s->pressure;
  const size_t n = cb_immersed_varies(b) ? (size_t)b->surface->vertices : 0;
  p->vertex = cb_arena_alloc(s->arena, n, sizeof *p->vertex);
  p->apex = cb_arena_alloc(s->arena, n ? (size_t)b->surface->parts : 0, sizeof *p->apex);
  s->field.rate = cb_arena_alloc(s->arena, n, sizeof *s->field.rate);
  if (p->vertex && p->apex && s->field.rate) return CB_OK;
  return cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d vertices", b->surface->vertices);
}

/* Adds the wrench of the pressure of a uniform flow, rho V (c_v × a, a), with the volume V that the body displaces, its
 * centre c_v, the density rho and the acceleration a of the fluid. */
static void press_uniform(const cb_immersed_workspace *s, const cb_immersed_moment *m, double *F, cb_tensor dg) {
  double a[3], centre[3];
  cb_apply3_transposed(m->r, s->wind.rate, a);
  for (int i = 0; i < 3; i++) {
    a[i] *= s->field.density * s->form.volume;
    centre[i] = s->form.volume != 0 ? s->form.moment[i] / s->form.volume : 0;
  }
  cb_immersed_push(centre, a, F, dg);
}

static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const cb_status status = cb_immersed_field_at(s, m->t, m->g);
  if (status) return status;
  const cb_immersed_field *f = &s->field;
  if (!f->mixed && !s->b->around.varying) press_uniform(s, m, to->F, to->dg);
  if ((!f->mixed && !s->b->around.varying) || !to->F) return CB_OK;
  if (!s->pressure.known || f->mixed || s->pressure.density != f->density) weigh_vertices(s);
  for (int v = 0; v < s->b->surface->vertices; v++) {
    const cb_immersed_weight *own = s->pressure.vertex + v;
    double a[3], advected[3], torque[3];
    if (s->b->around.varying) {
      memcpy(a, f->rate[v], sizeof a);
      cb_apply3((const double(*)[3])f->gradient[v], f->u[v], advected);
    } else {
      cb_apply3_transposed(m->r, s->wind.rate, a);
      memset(advected, 0, sizeof advected);
    }
    for (int k = 0; k < 3; k++) a[k] += advected[k];
    cb_cross3(own->h, a, torque);
    for (int k = 0; k < 3; k++) {
      to->F[k] += torque[k];
      to->F[3 + k] += own->w * a[k];
    }
  }
  return CB_OK;
}

static bool acts(const cb_immersed *b) { return cb_immersed_is_surrounded(b) && cb_immersed_displaces(b); }

const cb_immersed_term_class cb_immersed_term_pressure = {
    .name = "pressure",
    .order = 30,
    .acts = acts,
    .create = create,
    .wrench = wrench,
};
