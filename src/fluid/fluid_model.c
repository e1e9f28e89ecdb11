/* Finds fluid models by their names, makes them, and checks whether a model that uses only the shape at rest is valid
 * for a body whose poses move the shape. */
#include "fluid/fluid_shared.h"

#include "fluid/immersed_private.h"
#include "fluid/surface_mesh.h"
#include "tree/scalar.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local void (*reporter)(void *context, const char *line);
static _Thread_local void *report_context;

void cb_fluid_model_set_report(void (*report)(void *context, const char *line), void *context) {
  reporter = report;
  report_context = context;
}

cb_status cb_fluid_model_create_class(const cb_fluid_model_class *class_, const cb_node *node, cb_fluid_model **out) {
  static const char *const shared[] = {"name"};
  cb_fluid_model *m = calloc(1, sizeof *m);
  void *params = calloc(1, class_->params_size ? class_->params_size : 1);
  cb_status status = m && params ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the fluid model %s", class_->name);
  const cb_node *map = node && node->kind == CB_NODE_MAP ? node : NULL;
  if (!status) status = cb_params_bind(class_->params, map, node, shared, 1, params);
  if (status) {
    free(params);
    free(m);
    return status;
  }
  *m = (cb_fluid_model){.class_ = class_, .params = params, .report = reporter, .context = report_context};
  *out = m;
  return CB_OK;
}

cb_status cb_fluid_model_create(const char *name, const cb_node *node, cb_fluid_model **out) {
  const cb_fluid_model_class *c =
      cb_fluid_model_classes[cb_registry_find(&cb_fluid_model_registry, name, strlen(name))];
  return c ? cb_fluid_model_create_class(c, node, out)
           : cb_fail_no_class(node, "fluid model", name, &cb_fluid_model_registry);
}

void cb_fluid_model_free(cb_fluid_model *m) {
  if (!m) return;
  free(m->params);
  free(m);
}

bool cb_fluid_model_is_placed(const cb_fluid_model *m, double up[3], double *height) {
  return m->class_->placed && m->class_->placed(m, up, height);
}

cb_status cb_fluid_model_check_closed(const cb_fluid_model *m, const cb_surface *surface, const char *instead) {
  int p = 0;
  char border[CB_SURFACE_BORDER_TEXT];
  while (p < surface->parts && !surface->open[p]) p++;
  if (p == surface->parts) return CB_OK;
  const cb_status status = cb_surface_border_text(surface, p, "weld", border);
  if (status) return status;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the fluid model %s is for closed surfaces, and part %d `%s` has a border: expected %s; %s",
                 m->class_->name, p + 1, surface->name[p], instead, border);
}

/* --- models that are valid for a body at rest ---
 *
 * Checks fluid models that use only a body's shape at rest, for a body whose poses move the shape. A model may have
 * places, such as ellipsoids, that move with parts of the surface (immersed_followed.c). These parts need no check.
 *
 * Forces at places (on_twist) use only what `prepare` computed at rest, and so does an added mass of separate parts
 * (added_mass_of). Any other added mass counts as one that uses the vertices of the poses if its momentum mu0 or its
 * energy `kinetic` is not 0 while the shape has a normal velocity somewhere, int |v.n| dA > 0 (velocity v of the shape,
 * normal n, area A).
 */

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

/* --- the motion of the poses at sampled times --- */

/* The vertices x at a sampled time, their velocities v, and the result. */
typedef struct look {
  const cb_immersed *b;
  double (*x)[3], (*v)[3];
  cb_immersed_travel *travel;
} look;

static void see_travel(look *l, double t) {
  const cb_surface *s = l->b->surface;
  cb_immersed_travel *own = l->travel;
  double maximum;
  for (int i = 0; i < s->vertices; i++) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = l->x[i][k] - s->x[i][k];
    const double distance = sqrt(cb_dot3(d, d));
    if (!(distance > own->distance[i])) continue;
    own->distance[i] = distance;
    own->time[i] = t;
  }
  const double of = flux(s, (const double(*)[3])l->x, (const double(*)[3])l->v, &maximum);
  if (!(of > own->flux)) return;
  own->flux = of;
  own->t = t;
}

static cb_status look_at(look *l, double t) {
  const cb_status status = cb_poses_at(l->b->poses, t, l->x, l->v);
  /* the run reports a failure of the poses when it reaches that time */
  if (status) return status == CB_ERROR_MEMORY ? status : CB_OK;
  see_travel(l, t);
  return CB_OK;
}

/* Looks at the motion of the vertices at sampled times, among them 0. For a sequence these times are those of its poses
 * (at most 511 of them) and a time between each of these poses and the next one. For expressions they range from 6e-5
 * to 2e5 s and are not multiples of periods that users choose. For a surface of at most 1024 vertices each time is
 * larger than the previous one by 4.4 %, so that a motion is found if it lasts at least a twentieth of the time at
 * which it occurs. For more vertices there are fewer times. */
static cb_status look_at_times(look *l) {
  enum { MAXIMUM = 256, FEWEST = 12, SCALES = 512, PLACES = 1 << 19 };
  const cb_immersed *b = l->b;
  const int n = cb_poses_count(b->poses), step = n > MAXIMUM ? n / MAXIMUM : 1;
  cb_status status = CB_OK;
  for (int i = 0; i < n && !status; i += step) {
    const double t = cb_poses_time(b->poses, i);
    status = look_at(l, t);
    if (!status && i + 1 < n) status = look_at(l, t + 0.381966 * (cb_poses_time(b->poses, i + 1) - t));
  }
  const int scales = (int)fmin(SCALES, fmax(FEWEST, (double)PLACES / b->surface->vertices));
  const double ratio = pow(7.3, (FEWEST - 1.0) / (scales - 1));
  for (int k = 0; k < scales && n == 0 && !status; k++) status = look_at(l, 0.618034e-4 * pow(ratio, k));
  return status ? status : look_at(l, 0);
}

static cb_status look_at_all(look *l) {
  const size_t vertices = (size_t)l->b->surface->vertices;
  l->x = malloc(vertices * sizeof *l->x);
  l->v = malloc(vertices * sizeof *l->v);
  const cb_status status =
      l->x && l->v ? look_at_times(l) : cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices", vertices);
  free(l->x);
  free(l->v);
  return status;
}

static double size_of(const cb_surface *s) {
  double size = 0;
  for (int i = 0; i < s->vertices; i++) size = fmax(size, sqrt(cb_dot3(s->x[i], s->x[i])));
  return size;
}

cb_status cb_immersed_find_travel(const cb_immersed *b, cb_immersed_travel *out) {
  const cb_surface *s = b->surface;
  look l = {.b = b, .travel = out};
  *out = (cb_immersed_travel){calloc((size_t)s->vertices, sizeof *out->distance),
                              calloc((size_t)s->vertices, sizeof *out->time),
                              calloc((size_t)s->parts, sizeof *out->moves), 0, 0};
  const cb_status status = out->distance && out->time && out->moves
                               ? look_at_all(&l)
                               : cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  const double least = 1e-9 * size_of(s);
  for (int i = 0; i < 3 * s->faces && !status; i++)
    if (out->distance[s->face[i / 3][i % 3]] > least) out->moves[s->part[i / 3]] = true;
  return status;
}

void cb_immersed_free_travel(cb_immersed_travel *t) {
  free(t->distance);
  free(t->time);
  free(t->moves);
}

/* --- the checks --- */

static bool follows(const cb_immersed *b, const cb_immersed_model_instance *of, int part) {
  bool found = false;
  for (int p = 0; p < of->places && of->follows; p++)
    found = found || (of->follows[p] >= 0 &&
                      !strcmp(b->surface->name[b->followed[of->follows[p]].part], b->surface->name[part]));
  return found;
}

/* Among the vertices that no place of the model follows, returns the one that moves farthest, or -1 if there is none.
 * *part becomes a part that has this vertex. followed[vertices] is overwritten. */
static int farthest(const cb_immersed *b, const cb_immersed_travel *t, const cb_immersed_model_instance *of,
                    bool *followed, int *part) {
  const cb_surface *s = b->surface;
  double maximum = 1e-9 * size_of(s);
  int found = -1;
  memset(followed, 0, (size_t)s->vertices * sizeof *followed);
  for (int p = 0; p < s->parts; p++) {
    const bool own = follows(b, of, p);
    for (int i = 0; i < 3 * s->faces && own; i++)
      if (s->part[i / 3] == p) followed[s->face[i / 3][i % 3]] = true;
  }
  for (int i = 0; i < s->vertices; i++)
    if (!followed[i] && t->distance[i] > maximum) {
      maximum = t->distance[i];
      found = i;
    }
  for (int i = 0; i < 3 * s->faces; i++)
    if (s->face[i / 3][i % 3] == found) *part = s->part[i / 3];
  return found;
}

/* Fails if the poses move a vertex that no place of the model follows. The message names the vertex that moves
 * farthest. */
static cb_status refuse(const cb_immersed *b, const cb_immersed_travel *t, const cb_immersed_model_instance *of,
                        bool forces) {
  const cb_surface *s = b->surface;
  int part = 0;
  char key[128] = "";
  bool *followed = malloc((size_t)s->vertices * sizeof *followed);
  if (!followed) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", s->vertices);
  const int v = farthest(b, t, of, followed, &part);
  free(followed);
  if (v < 0) return CB_OK;
  if (of->model->class_->part_of) snprintf(key, sizeof key, "`part: %.80s` in an entry of the model, ", s->name[part]);
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "%s the fluid model `%s` %s valid only for the body's shape at rest, but its poses move vertex %d by "
                 "%.3g m at t = %.3g: expected %s%s, or a body without `poses`",
                 forces ? "the forces of" : "the added mass of", of->model->class_->name, forces ? "are" : "is",
                 s->number[v], t->distance[v], t->time[v], key, forces ? "`local`" : "`added_mass: local` or `exact`");
}

/* Checks that an added mass that is computed from the vertices also uses their velocities. The check is made at the
 * time of the largest flux. */
static cb_status check_seen(const cb_immersed *b, const cb_immersed_travel *t) {
  const cb_fluid_model *of = b->inertia.model;
  const size_t vertices = (size_t)b->surface->vertices;
  double(*x)[3] = malloc(vertices * sizeof *x), (*v)[3] = malloc(vertices * sizeof *v);
  cb_added_mass found = {.kinetic = 0};
  bool seen = true;
  cb_status status = x && v ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices", vertices);
  /* A failure of cb_poses_at is no error here: the run reports it when it reaches the time t->t. */
  if (!status && !cb_poses_at(b->poses, t->t, x, v)) {
    status =
        of->class_->added_mass(of, b->inertia.body, b->surface, (const double(*)[3])x, (const double(*)[3])v, &found);
    if (!status)
      seen = cb_fluid_model_sees_shape(b->surface, (const double(*)[3])x, (const double(*)[3])v, &found);
    else if (status != CB_ERROR_MEMORY)
      status = CB_OK;
  }
  free(x);
  free(v);
  return status || seen ? status : refuse(b, t, &b->inertia, false);
}

cb_status cb_immersed_check_rest(const cb_immersed *b, const cb_immersed_travel *travel) {
  const cb_fluid_model *of = b->inertia.model;
  bool any = false;
  cb_status status = CB_OK;
  for (int p = 0; p < b->surface->parts; p++) any = any || travel->moves[p];
  if (!any) return CB_OK;
  for (int i = 0; i < b->models.n && !status; i++)
    if (cb_fluid_model_is_of_rest(b->models.of[i].model, true)) status = refuse(b, travel, &b->models.of[i], true);
  if (!status && of && !b->placed)
    status = cb_fluid_model_is_of_rest(of, false) ? refuse(b, travel, &b->inertia, false) : check_seen(b, travel);
  return status;
}
