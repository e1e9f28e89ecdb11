/* Checks fluid models that use only a body's shape at rest, for a body whose poses move the shape.
 *
 * Forces at places (on_twist) use only what `prepare` computed at rest, and so does an added mass of separate parts
 * (added_mass_of). Any other added mass counts as one that uses the vertices of the poses if its momentum mu0 or its
 * energy `kinetic` is not 0 while the shape has a normal velocity somewhere, int |v.n| dA > 0 (velocity v of the shape,
 * normal n, area A).
 */
#include "fluid/immersed_private.h"

#include "fluid/fluid_model_shared.h"

#include <math.h>
#include <stdlib.h>

bool cb_fluid_model_is_of_rest(const cb_fluid_model *m, bool forces) {
  return forces ? m->class_->on_twist != NULL : m->class_->added_mass_of != NULL;
}

/* Returns int |v.n| dA over the faces, with the mean of v on each face. *maximum becomes int |v| dA, the largest value
 * that is possible. */
static double flux(const cb_surface *s, const double (*x)[3], const double (*v)[3], double *maximum) {
  double sum = 0;
  *maximum = 0;
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f];
    double a[3], mean[3];
    cb_area3(x[c[0]], x[c[1]], x[c[2]], a);
    for (int k = 0; k < 3; k++) mean[k] = (v[c[0]][k] + v[c[1]][k] + v[c[2]][k]) / 3;
    sum += fabs(cb_dot3(mean, a));
    *maximum += sqrt(cb_dot3(mean, mean) * cb_dot3(a, a));
  }
  return sum;
}

bool cb_fluid_model_sees_shape(const cb_surface *s, const double (*x)[3], const double (*v)[3],
                               const cb_added_mass *found) {
  double maximum, change = fabs(found->kinetic), still = 0;
  for (int i = 0; i < 6; i++) change += fabs(found->mu0[i]);
  for (int i = 0; i < 36; i++) still += fabs(found->K[i / 6][i % 6]);
  return change > 0 || !(still > 0) || !(flux(s, x, v, &maximum) > 1e-9 * maximum);
}

/* --- the motion of the poses --- */

/* The results at the sampled times: the largest distance of a vertex from its position in the surface, with that vertex
 * and its time `time`; and the largest flux (see `flux`) with its time t. */
typedef struct motion {
  double distance, time, t, flux;
  int vertex;
  double (*x)[3], (*v)[3];
} motion;

static cb_status look(const cb_immersed *b, double t, motion *m) {
  const cb_surface *s = b->surface;
  double maximum;
  const cb_status status = cb_poses_at(b->poses, t, m->x, m->v);
  if (status) return status == CB_ERROR_MEMORY ? status : CB_OK; /* the run reports the failure at such a time */
  for (int i = 0; i < s->vertices; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = m->x[i][k] - s->x[i][k];
    const double distance = sqrt(cb_dot3(d, d));
    if (distance > m->distance) {
      m->distance = distance;
      m->vertex = i;
      m->time = t;
    }
  }
  const double of = flux(s, (const double(*)[3])m->x, (const double(*)[3])m->v, &maximum);
  if (of > m->flux) {
    m->flux = of;
    m->t = t;
  }
  return CB_OK;
}

/* Looks at sampled times, among them 0. For a sequence they are its poses (at most 511 of them) and a time after each
 * of them. For expressions they range from 6e-5 to 2e5 s and are not multiples of periods that users choose. Each is
 * larger than the previous one by 4.4 %, so that a motion is found if it lasts at least a twentieth of the time at
 * which it occurs. A surface of more than 1024 vertices has fewer times. */
static cb_status look_at_all(const cb_immersed *b, motion *m) {
  enum { MAXIMUM = 256, FEWEST = 12, SCALES = 512, PLACES = 1 << 19 };
  const int n = cb_poses_count(b->poses), step = n > MAXIMUM ? n / MAXIMUM : 1;
  cb_status status = CB_OK;
  for (int i = 0; i < n && !status; i += step) {
    const double t = cb_poses_time(b->poses, i);
    status = look(b, t, m);
    if (!status && i + 1 < n) status = look(b, t + 0.381966 * (cb_poses_time(b->poses, i + 1) - t), m);
  }
  const int scales = (int)fmin(SCALES, fmax(FEWEST, (double)PLACES / b->surface->vertices));
  const double ratio = pow(7.3, (FEWEST - 1.0) / (scales - 1));
  for (int k = 0; k < scales && n == 0 && !status; k++) status = look(b, 0.618034e-4 * pow(ratio, k), m);
  return status ? status : look(b, 0, m);
}

static double size_of(const cb_surface *s) {
  double size = 0;
  for (int i = 0; i < s->vertices; i++) size = fmax(size, sqrt(cb_dot3(s->x[i], s->x[i])));
  return size;
}

static cb_status refuse(const cb_immersed *b, const motion *m, const char *name, bool forces) {
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s the fluid model `%s` %s valid only for the body's shape at rest, but its poses move vertex %d by "
                 "%.3g m at t = %.3g: expected %s, or a body without `poses`",
                 forces ? "the forces of" : "the added mass of", name, forces ? "are" : "is",
                 b->surface->number[m->vertex], m->distance, m->time,
                 forces ? "`local`" : "`added_mass: local` or `exact`");
}

static cb_status check(const cb_immersed *b, motion *m) {
  const cb_fluid_model *of = b->inertia.model;
  cb_status status = look_at_all(b, m);
  if (status || !(m->distance > 1e-9 * size_of(b->surface))) return status;
  for (int i = 0; i < b->models.n; i++)
    if (cb_fluid_model_is_of_rest(b->models.of[i].model, true))
      return refuse(b, m, b->models.of[i].model->class_->name, true);
  if (!of || b->placed) return CB_OK;
  if (cb_fluid_model_is_of_rest(of, false)) return refuse(b, m, of->class_->name, false);
  if (cb_poses_at(b->poses, m->t, m->x, m->v)) return CB_OK;
  const double(*x)[3] = (const double(*)[3])m->x, (*v)[3] = (const double(*)[3])m->v;
  cb_added_mass found = {.kinetic = 0};
  status = of->class_->added_mass(of, b->inertia.body, b->surface, x, v, &found);
  if (status) return status == CB_ERROR_MEMORY ? status : CB_OK; /* the run reports this failure at that time */
  return cb_fluid_model_sees_shape(b->surface, x, v, &found) ? CB_OK : refuse(b, m, of->class_->name, false);
}

cb_status cb_immersed_check_rest(const cb_immersed *b) {
  const size_t vertices = (size_t)b->surface->vertices;
  motion m = {.x = malloc(vertices * sizeof *m.x), .v = malloc(vertices * sizeof *m.v)};
  const cb_status status =
      m.x && m.v ? check(b, &m) : cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", b->surface->vertices);
  free(m.x);
  free(m.v);
  return status;
}
