/* Makes and reads tables of added mass (see fluid/added_mass_table.h). The points of every degree are among those of
 * the highest degree, so that the values at the points of one degree are used again for twice that degree. */
#include "fluid/added_mass_table.h"

#include "fluid/poses_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 28, KINETIC = 27, LOWEST = 4, HIGHEST = 64, HALVED = 3, SAMPLES = 8 };

typedef struct table_piece {
  double begin, end;
  int degree, first; /* degree of the polynomial, and index of its first value */
} table_piece;

struct cb_added_mass_table {
  bool periodic;
  double begin, end, error;
  int pieces, points, piece_capacity, point_capacity;
  table_piece *piece;
  double (*value)[NUMBERS];  /* [points]: the lower triangle of K, then mu0, then kinetic */
  double place[HIGHEST + 1]; /* places of the points of degree HIGHEST within a piece, from 0 to 1 */
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

void cb_added_mass_table_at(const cb_added_mass_table *s, double t, cb_added_mass *out) {
  double number[NUMBERS], at = fmin(fmax(t, s->begin), s->end);
  if (s->periodic) {
    at = fmod(t - s->begin, s->end - s->begin);
    at = s->begin + (at < 0 ? at + (s->end - s->begin) : at);
  }
  const double close = 1e-12 * (s->end - s->begin); /* a time with round-off, at a break, is in the piece after it */
  const table_piece *p = piece_at(s, at + close);
  const double u = fmin(fmax((at - p->begin) / (p->end - p->begin), 0), 1);
  interpolate(s, p->degree, 1, (const double(*)[NUMBERS])s->value + p->first, u, number);
  unpack(number, out);
}

double cb_added_mass_table_error(const cb_added_mass_table *s) { return s->error; }
int cb_added_mass_table_points(const cb_added_mass_table *s) { return s->points; }

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

/* Finds the units of the errors (fluid/added_mass_table.h) from the added mass at SAMPLES times. */
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

/* Returns how long before its end the last point of a piece is. At a break of a gait the momentum jumps, and the piece
 * that ends there needs the momentum before it. */
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

cb_status cb_added_mass_table_create(const cb_fluid_model *model, const void *body, const cb_surface *surface,
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
    cb_added_mass_table_free(s);
    return status;
  }
  *out = s;
  return CB_OK;
}

void cb_added_mass_table_free(cb_added_mass_table *s) {
  if (!s) return;
  free(s->piece);
  free(s->value);
  free(s);
}
