/* Fluid models other than the local one: chooses the models that give the forces and the added mass, and computes the
 * added mass. */
#include "fluid/immersed_private.h"

#include "fluid/poses_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a table of the added mass ---
 *
 * A table of the added mass of a body along its poses, for fluid models that are slow.
 *
 *   f(t) = sum_j w_j/(s - s_j) f_j / sum_j w_j/(s - s_j),  s_j = -cos(pi j/n),  w_j = (-1)^j, halved at the ends
 *
 * f stands for K, mu0 and kinetic. K is the added mass, mu0 the momentum of the fluid and `kinetic` its kinetic energy
 * while the shape moves and the body frame is at rest. t is the time, s = -1 .. 1 the time within a piece, and f_j the
 * value at the point s_j, j = 0 .. n. The interpolant f is the polynomial of degree n through Chebyshev's points s_j of
 * a piece (Berrut & Trefethen 2004, SIAM Review 46, 501, section 5, doi:10.1137/S0036144502417715).
 *
 * For a sequence of poses a piece ends at each pose, because the motion is smooth only between poses. For expressions
 * the period is one piece. The degree is doubled, and the known values are used again, until the polynomial of half the
 * degree agrees with the new values within the requested error. The error of a table is therefore measured on a table
 * of half the degree. If degree 64 is not sufficient, the piece is halved, up to three times. The result is continuous,
 * and its error falls geometrically with n.
 *
 *   units of the errors:  K_ab: u_a u_b,  mu0_a: u_a v,  kinetic: v^2/2
 *   u_a = sqrt(k) for linear components a, sqrt(k) d for angular ones,  v = sqrt(2 max kinetic)
 *
 * k is the largest diagonal entry of the linear block of K, and d half the diagonal of the body's box. The maxima are
 * taken over eight times.
 *
 * K, mu0 and kinetic together define the Lagrangian L = <K Y, Y>/2 + <mu0, Y> + kinetic for the twist Y of the body.
 * Momentum and energy both follow from this L, and are therefore consistent.
 *
 * The points of each degree are among the points of the highest degree, so that the values at the points of one degree
 * are used again for twice that degree.
 */

enum { NUMBERS = 28, KINETIC = 27, LOWEST = 4, HIGHEST = 64, HALVED = 3, SAMPLES = 8 };

typedef struct table_piece {
  double begin, end;
  int degree, first; /* degree of the polynomial, and index of its first value in `value` */
} table_piece;

struct cb_added_mass_table {
  bool periodic;
  double begin, end, error;
  int pieces, points, piece_capacity, point_capacity;
  table_piece *piece;
  double (*value)[NUMBERS];  /* [points]: the lower triangle of K, then mu0, then kinetic */
  double place[HIGHEST + 1]; /* Chebyshev's points of the degree HIGHEST, scaled to [0, 1] */
};

/* --- reading --- */

/* Evaluates at u, from 0 to 1, the polynomial of the given degree that has the values value[i * stride] at its points
 * i = 0 .. degree. */
static void interpolate(const cb_added_mass_table *s, int degree, int stride, const double (*value)[NUMBERS], double u,
                        double out[NUMBERS]) {
  double sum = 0;
  memset(out, 0, NUMBERS * sizeof *out);
  for (int i = 0; i <= degree; i++) {
    const double *f = value[i * stride], d = u - s->place[i * (HIGHEST / degree)];
    if (d == 0) {
      memcpy(out, f, NUMBERS * sizeof *out);
      return;
    }
    const double w = (i % 2 ? -1. : 1.) / d * (i == 0 || i == degree ? 0.5 : 1);
    sum += w;
    for (int k = 0; k < NUMBERS; k++) out[k] += w * f[k];
  }
  for (int k = 0; k < NUMBERS; k++) out[k] /= sum;
}

static const table_piece *piece_at(const cb_added_mass_table *s, double t) {
  int low = 0, high = s->pieces;
  while (high - low > 1) {
    const int middle = low + (high - low) / 2;
    if (s->piece[middle].begin <= t)
      low = middle;
    else
      high = middle;
  }
  return s->piece + low;
}

static void unpack(const double number[NUMBERS], cb_added_mass *out) {
  for (int i = 0, k = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) out->K[i][j] = out->K[j][i] = number[k++];
  memcpy(out->mu0, number + 21, sizeof out->mu0);
  out->kinetic = number[KINETIC];
}

/* Writes the interpolated added mass at time t to *out. It may be called from any thread. For clamped poses, a time
 * before the first or after the last pose gives the values at that pose. */
static void added_mass_table_at(const cb_added_mass_table *s, double t, cb_added_mass *out) {
  double number[NUMBERS], at = fmin(fmax(t, s->begin), s->end);
  if (s->periodic) {
    at = fmod(t - s->begin, s->end - s->begin);
    at = s->begin + (at < 0 ? at + (s->end - s->begin) : at);
  }
  /* A time that is at the border of two pieces up to round-off belongs to the later piece. */
  const double close = 1e-12 * (s->end - s->begin);
  const table_piece *p = piece_at(s, at + close);
  const double u = fmin(fmax((at - p->begin) / (p->end - p->begin), 0), 1);
  interpolate(s, p->degree, 1, (const double(*)[NUMBERS])s->value + p->first, u, number);
  unpack(number, out);
}

static double added_mass_table_error(const cb_added_mass_table *s) { return s->error; }
static int added_mass_table_points(const cb_added_mass_table *s) { return s->points; }

/* --- making --- */

typedef struct maker {
  cb_added_mass_table *s;
  const cb_fluid_model *model;
  const void *body;
  const cb_surface *surface;
  const cb_poses *poses;
  double error, unit[NUMBERS];
  double (*x)[3], (*v)[3];
} maker;

static cb_status solve(const maker *m, double t, double number[NUMBERS]) {
  cb_added_mass at = {.kinetic = 0};
  cb_status status = cb_poses_at(m->poses, t, m->x, m->v);
  if (!status)
    status = m->model->class_->added_mass(m->model, m->body, m->surface, (const double(*)[3])m->x,
                                          (const double(*)[3])m->v, &at);
  if (status) return status;
  for (int i = 0, k = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) number[k++] = at.K[i][j];
  memcpy(number + 21, at.mu0, sizeof at.mu0);
  number[KINETIC] = at.kinetic;
  for (int k = 0; k < NUMBERS; k++)
    if (!isfinite(number[k]))
      return cb_fail(CB_ERROR_STEP,
                     "the added mass of the fluid model `%s` is not finite at t = %g: expected poses without faces "
                     "that collapse there",
                     m->model->class_->name, t);
  return CB_OK;
}

/* Finds the units of the errors, u_a u_b, u_a v and v^2/2 of the head comment, from the added mass at SAMPLES times. */
static cb_status find_units(maker *m) {
  double linear = 0, kinetic = 0, low[3], high[3], square = 0, u[6];
  for (int i = 0; i < SAMPLES; i++) {
    double number[NUMBERS];
    const cb_status status = solve(m, m->s->begin + (m->s->end - m->s->begin) * (i + 0.5) / SAMPLES, number);
    if (status) return status;
    for (int a = 3; a < 6; a++) linear = fmax(linear, number[a * (a + 3) / 2]);
    kinetic = fmax(kinetic, number[KINETIC]);
  }
  for (int c = 0; c < 3; c++) {
    low[c] = high[c] = m->x[0][c];
    for (int i = 0; i < m->surface->vertices; i++) {
      low[c] = fmin(low[c], m->x[i][c]);
      high[c] = fmax(high[c], m->x[i][c]);
    }
    square += (high[c] - low[c]) * (high[c] - low[c]) / 4;
  }
  for (int a = 0; a < 6; a++) u[a] = sqrt(linear) * (a < 3 ? sqrt(square) : 1);
  for (int i = 0, k = 0; i < 6; i++)
    for (int j = 0; j <= i; j++) m->unit[k++] = u[i] * u[j];
  for (int a = 0; a < 6; a++) m->unit[21 + a] = u[a] * sqrt(2 * kinetic);
  m->unit[KINETIC] = kinetic;
  return CB_OK;
}

static double difference(const maker *m, const double a[NUMBERS], const double b[NUMBERS]) {
  double maximum = 0;
  for (int k = 0; k < NUMBERS; k++)
    if (a[k] != b[k]) maximum = fmax(maximum, fabs(a[k] - b[k]) / m->unit[k]);
  return maximum;
}

static cb_status keep(maker *m, double begin, double end, int degree, const double (*value)[NUMBERS]) {
  cb_added_mass_table *s = m->s;
  if (s->pieces == s->piece_capacity) {
    s->piece_capacity = 2 * s->piece_capacity + 8;
    table_piece *more = realloc(s->piece, (size_t)s->piece_capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for a table along poses");
    s->piece = more;
  }
  if (s->points + degree + 1 > s->point_capacity) {
    s->point_capacity = 2 * s->point_capacity + HIGHEST + 1;
    double(*more)[NUMBERS] = realloc(s->value, (size_t)s->point_capacity * sizeof *more);
    if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for a table along poses");
    s->value = more;
  }
  s->piece[s->pieces++] = (table_piece){begin, end, degree, s->points};
  for (int i = 0; i <= degree; i++) memcpy(s->value[s->points++], value[i * (HIGHEST / degree)], sizeof *value);
  return CB_OK;
}

/* Returns the time from the last point of a piece to the end of the piece. At a break of a gait the momentum jumps. A
 * piece that ends at a break needs the momentum before the jump, so its last point is a little before the break. */
static double before_end(const maker *m, double begin) {
  return isfinite(cb_poses_next_break(m->poses, begin)) ? 1e-11 * (m->s->end - m->s->begin) : 0;
}

static cb_status add_piece(maker *m, double begin, double end, int halved) {
  const cb_added_mass_table *s = m->s;
  double value[HIGHEST + 1][NUMBERS], error = INFINITY, at = begin;
  for (int degree = LOWEST; degree <= HIGHEST; degree *= 2) {
    const int stride = HIGHEST / degree;
    error = 0;
    for (int i = 0; i <= degree; i++) {
      const bool fresh = degree == LOWEST || i % 2, ends = i == degree;
      const double u = s->place[i * stride], t = ends ? end - before_end(m, begin) : begin + u * (end - begin);
      if (!fresh) continue;
      const cb_status status = solve(m, t, value[i * stride]);
      if (status) return status;
      if (degree == LOWEST) continue;
      double was[NUMBERS];
      interpolate(s, degree / 2, 2 * stride, (const double(*)[NUMBERS])value, u, was);
      const double off = difference(m, was, value[i * stride]);
      if (off > error) {
        error = off;
        at = t;
      }
    }
    if (degree == LOWEST || error > m->error) continue;
    m->s->error = fmax(s->error, error);
    return keep(m, begin, end, degree, (const double(*)[NUMBERS])value);
  }
  if (halved == HALVED)
    return cb_fail(CB_ERROR_STEP,
                   "the added mass along the poses has an error of %.2g at t = %g with %d points in %g s, and `table` "
                   "allows %.2g: expected a larger `table`, smoother poses, or table: 0, which solves at each time",
                   error, at, HIGHEST + 1, end - begin, m->error);
  const cb_status status = add_piece(m, begin, (begin + end) / 2, halved + 1);
  return status ? status : add_piece(m, (begin + end) / 2, end, halved + 1);
}

static cb_status make(maker *m) {
  const int poses = cb_poses_count(m->poses);
  cb_status status = find_units(m);
  for (int i = 0; i < poses && !status; i++) {
    const double begin = cb_poses_time(m->poses, i), end = i + 1 < poses ? cb_poses_time(m->poses, i + 1) : m->s->end;
    if (end > begin) status = add_piece(m, begin, end, 0);
  }
  for (double at = m->s->begin; !poses && !status && at < m->s->end;) {
    const double end = fmin(cb_poses_next_break(m->poses, at), m->s->end);
    status = add_piece(m, at, end, 0);
    at = end;
  }
  return status;
}

static void added_mass_table_free(cb_added_mass_table *s) {
  if (!s) return;
  free(s->piece);
  free(s->value);
  free(s);
}

/* Makes the table: evaluates the model at each point and stores copies of its results. `error` is the requested error
 * in the units of the head comment. Returns CB_ERROR_STEP if this error is not reached (the message gives the time and
 * the error that was reached), or if a result is not finite. Returns CB_ERROR_ARGUMENT for poses without a period or an
 * end, and the errors of the model and the poses. The caller frees *out. */
static cb_status added_mass_table_create(const cb_fluid_model *model, const void *body, const cb_surface *surface,
                                         const cb_poses *poses, double error, cb_added_mass_table **out) {
  const size_t vertices = (size_t)surface->vertices;
  cb_added_mass_table *s = calloc(1, sizeof *s);
  maker m = {.s = s, .model = model, .body = body, .surface = surface, .poses = poses, .error = error};
  m.x = malloc(2 * vertices * sizeof *m.x);
  if (!s || !m.x) {
    free(s);
    free(m.x);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a table along poses");
  }
  m.v = m.x + vertices;
  s->periodic = cb_poses_span(poses, &s->begin, &s->end);
  for (int i = 0; i <= HIGHEST; i++) s->place[i] = pow(sin(M_PI / 2 * i / HIGHEST), 2);
  s->place[HIGHEST] = 1;
  const cb_status status =
      s->end > s->begin
          ? make(&m)
          : cb_fail(CB_ERROR_ARGUMENT,
                    "a table of added mass needs poses with a period or an end: expected one of these, or table: 0");
  free(m.x);
  if (status) {
    added_mass_table_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

/* --- the choice of the models --- */

static bool is_local(const cb_fluid_model *m) {
  return m->class_->on_face == cb_fluid_local_on_face && !m->class_->terms;
}

static cb_status count_terms(const cb_fluid_model *m, int *n) {
  const char *const *terms = m->class_->terms;
  *n = terms ? 0 : 1;
  while (terms && *n <= CB_FLUID_TERMS && terms[*n]) ++*n;
  return *n > 0 && *n <= CB_FLUID_TERMS ? CB_OK
                                        : cb_fail(CB_ERROR_ARGUMENT, "the fluid model `%s`: expected 1 to %d terms",
                                                  m->class_->name, CB_FLUID_TERMS);
}

static cb_status add_forces(cb_immersed *b, const cb_fluid_model *m) {
  cb_immersed_model_instance *own = b->models.of + b->models.n;
  for (int i = 0; i < b->models.n; i++)
    if (b->models.of[i].model->class_ == m->class_)
      return cb_fail(CB_ERROR_ARGUMENT, "the fluid model `%s` is named twice: expected it once", m->class_->name);
  *own = (cb_immersed_model_instance){.model = m, .first = b->models.terms};
  const cb_status status = count_terms(m, &own->terms);
  if (status) return status;
  b->models.n++;
  b->models.terms += own->terms;
  *(m->class_->on_face ? &b->models.by_face : &b->models.by_place) = true;
  return CB_OK;
}

static cb_status choose_forces(cb_immersed *b, int n, const cb_fluid_model *const *models) {
  cb_status status = CB_OK;
  int local = n == 0;
  b->models.of = cb_arena_alloc(b->arena, (size_t)n, sizeof *b->models.of);
  if (!b->models.of) return cb_fail(CB_ERROR_MEMORY, "no memory for %d fluid models", n);
  for (int i = 0; i < n && !status; i++) {
    if (is_local(models[i]))
      local++;
    else if (models[i]->class_->on_twist || models[i]->class_->on_face)
      status = add_forces(b, models[i]);
  }
  if (!status && local > 1)
    status = cb_fail(CB_ERROR_ARGUMENT, "the fluid model `local` is named twice: expected it once");
  b->drag = local > 0;
  return status;
}

/* Returns the model whose added mass is used: the one that b->fluid names for the added mass, otherwise the first
 * listed model that has added mass. If no listed model has added mass, it is the last one. If no model is listed, the
 * result is NULL, which means the local model. */
static const cb_fluid_model *first_inertia(const cb_immersed *b, int n, const cb_fluid_model *const *models) {
  int i = 0;
  if (b->fluid.added_mass || n == 0) return b->fluid.added_mass;
  while (i + 1 < n && !models[i]->class_->added_mass) i++;
  return models[i];
}

cb_status cb_immersed_choose(cb_immersed *b, const cb_immersed_options *options) {
  const bool own = options->n_models > 0, moves = cb_immersed_is_wet(b) && options->added_mass;
  const int n = own ? options->n_models : b->fluid.n_models;
  const cb_fluid_model *const *models = own ? options->models : b->fluid.models,
                              *inertia = options->added_mass_of ? options->added_mass_of : first_inertia(b, n, models);
  /* in a medium of density 0, viscous terms still act */
  const bool fluid = cb_immersed_is_wet(b) || (b->fluid.medium && n > 0);
  cb_status status = fluid && options->drag ? choose_forces(b, n, models) : CB_OK;
  b->added_mass = moves && (!inertia || inertia->class_->added_mass);
  if (b->added_mass && inertia && inertia->class_->added_mass != cb_fluid_local_added_mass) b->inertia.model = inertia;
  if (!status && b->inertia.model) status = cb_immersed_take_wall(b);
  const cb_fluid_model *model = b->inertia.model;
  if (status || !model || (!b->around.layered && (!b->around.varying || b->fluid.paper))) return status;
  if (model->class_->added_mass_of && (!b->poses || model->class_->part_of) && !b->fluid.paper)
    return CB_OK; /* the added mass is then computed from separate parts (terms/parts.c) */
  const bool strained = model->class_->linear_form && !model->class_->added_mass_of && !b->around.layered;
  /* the complete body is then one part with an added mass (immersed_field.c) */
  if (strained && !b->poses) return CB_OK;
  return cb_fail(CB_ERROR_UNSUPPORTED,
                 "the added mass of the fluid model `%s` needs a uniform %s%s: expected `added_mass: local`, or a body "
                 "without added mass",
                 model->class_->name, b->around.layered ? "medium" : "flow",
                 strained ? " if the body has `poses`" : "");
}

/* --- data of the models about the body --- */

static cb_status prepare(const cb_immersed *b, const cb_mass *mass, const bool *moves, cb_immersed_model_instance *of) {
  const cb_fluid_model *model = of->model;
  if (moves && model->class_->prepare_posed)
    return model->class_->prepare_posed(model, b->surface, moves, mass, &of->body);
  return model->class_->prepare ? model->class_->prepare(model, b->surface, mass, &of->body) : CB_OK;
}

static cb_status added_mass(const cb_immersed *b, const double (*x)[3], const double (*v)[3], cb_added_mass *out) {
  const cb_fluid_model *model = b->inertia.model;
  *out = (cb_added_mass){.kinetic = 0};
  const cb_status status = b->placed
                               ? model->class_->added_mass_at(model, b->inertia.body, b->surface, x, v, NULL, out, NULL)
                               : model->class_->added_mass(model, b->inertia.body, b->surface, x, v, out);
  double sum = out->kinetic;
  if (status) return status;
  for (int i = 0; i < 36; i++) sum += out->K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) sum += out->mu0[i];
  return isfinite(sum)
             ? CB_OK
             : cb_fail(CB_STEP_DOMAIN, "the added mass of the fluid model `%s` is not finite", model->class_->name);
}

/* Finds the added mass of the body at rest, with the method that the model uses for poses. For a body without poses the
 * model may use another method. */
static cb_status find_added_mass(cb_immersed *b) {
  double(*rest)[3] = calloc((size_t)b->surface->vertices, sizeof *rest);
  if (!rest) return cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", b->surface->vertices);
  const cb_status status = added_mass(b, (const double(*)[3])b->surface->x, (const double(*)[3])rest, &b->added);
  free(rest);
  return status;
}

static cb_status tabulate(cb_immersed *b) {
  const cb_fluid_model *model = b->inertia.model;
  const double error = model->class_->table ? model->class_->table(model) : 0;
  double begin, end;
  cb_status status = CB_OK;
  cb_poses_span(b->poses, &begin, &end);
  if (error > 0) status = find_added_mass(b);
  if (status || !(error > 0) || !(end > begin)) return status;
  return added_mass_table_create(model, b->inertia.body, b->surface, b->poses, error, &b->added_mass_table);
}

/* Returns the instance of the model m that was prepared for its forces; NULL if there is none. */
static cb_immersed_model_instance *prepared(const cb_immersed *b, const cb_fluid_model *m) {
  for (int i = 0; i < b->models.n; i++)
    if (b->models.of[i].model == m) return b->models.of + i;
  return NULL;
}

/* Lets all models compute their data about the body, and finds the places at which they act. moves[parts] says which
 * parts the poses move; it is NULL if there are no poses. */
static cb_status prepare_all(cb_immersed *b, const cb_mass *mass, const bool *moves) {
  static const double origin[1][3];
  cb_status status = CB_OK;
  for (int i = 0; i < b->models.n && !status; i++) {
    cb_immersed_model_instance *f = b->models.of + i;
    const cb_fluid_model_class *class = f->model->class_;
    status = prepare(b, mass, moves, f);
    if (status || class->on_face) continue;
    f->at = origin;
    f->first_place = b->models.places;
    f->places = class->places ? class->places(f->model, f->body, &f->at) : 1;
    b->models.places += f->places;
    status = cb_immersed_follow_parts(b, f);
  }
  if (status || !b->inertia.model) return status;
  const cb_immersed_model_instance *same = prepared(b, b->inertia.model);
  const cb_fluid_model *model = b->inertia.model;
  if (same)
    b->inertia.body = same->body;
  else
    status = prepare(b, mass, moves, &b->inertia);
  if (!status && cb_immersed_by_parts(b) && model->class_->added_mass_of)
    b->inertia.places = model->class_->places(model, b->inertia.body, &b->inertia.at);
  return status ? status : cb_immersed_follow_parts(b, &b->inertia);
}

cb_status cb_immersed_prepare(cb_immersed *b) {
  if (!b->models.n && !b->inertia.model) return CB_OK;
  double(*x)[3] = malloc((size_t)b->surface->vertices * sizeof *x);
  cb_mass mass;
  cb_immersed_travel travel = {.moves = NULL};
  cb_status status = x ? cb_immersed_shape(b, 0, x, NULL)
                       : cb_fail(CB_ERROR_MEMORY, "no memory for %d vertices", b->surface->vertices);
  if (!status) status = b->class_->mass(b, (const double(*)[3])x, &mass);
  free(x);
  if (!status && b->poses) status = cb_immersed_find_travel(b, &travel);
  if (!status) status = prepare_all(b, &mass, travel.moves);
  if (!status && b->poses) status = cb_immersed_check_rest(b, &travel);
  cb_immersed_free_travel(&travel);
  if (status || !b->inertia.model) return status;
  if (b->poses && (b->placed || cb_immersed_by_parts(b))) return find_added_mass(b);
  if (b->poses) return tabulate(b);
  status = added_mass(b, (const double(*)[3])b->surface->x, NULL, &b->added);
  const bool strained = cb_immersed_by_parts(b) && !b->inertia.model->class_->added_mass_of;
  return status || !strained ? status : cb_immersed_find_strained(b);
}

static void release(const cb_immersed_model_instance *of) {
  if (of->body && of->model->class_->release) of->model->class_->release(of->model, of->body);
}

void cb_immersed_release(cb_immersed *b) {
  added_mass_table_free(b->added_mass_table);
  if (b->inertia.model && !prepared(b, b->inertia.model)) release(&b->inertia);
  for (int i = 0; i < b->models.n; i++) release(b->models.of + i);
}

/* --- added mass --- */

cb_status cb_immersed_own_added_mass(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_form *f = &s->form;
  cb_added_mass own = b->added;
  cb_status status = CB_OK;
  if (b->inertia.follows)
    cb_immersed_followed_added_mass(s, &own);
  else if (b->added_mass_table)
    added_mass_table_at(b->added_mass_table, f->t, &own);
  else if (b->poses && !b->placed)
    status = added_mass(b, f->x, f->v, &own);
  const double density = b->around.layered ? 1 : b->around.density;
  for (int i = 0; i < 36; i++) f->I_f[i / 6][i % 6] = density * own.K[i / 6][i % 6];
  for (int i = 0; i < 6; i++) f->mu_f[i] = density * own.mu0[i];
  f->fluid_kinetic = b->around.density * own.kinetic;
  return status;
}

double cb_immersed_tabulated(const cb_immersed *b, int *points) {
  *points = b->added_mass_table ? added_mass_table_points(b->added_mass_table) : 0;
  return b->added_mass_table ? added_mass_table_error(b->added_mass_table) : 0;
}

const char *cb_immersed_solved(const cb_immersed *b, cb_added_mass *out) {
  if (!b->added.method) return NULL;
  *out = b->added;
  return b->inertia.model->class_->name;
}
