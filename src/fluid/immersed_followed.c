/* Places of fluid models that move with parts of the surface. A place at X0 at rest, whose part has the rotation R, is
 * at c and has the twist W in the body frame at the time t (fluid/immersed_private.h). With the twist Y = (omega, v) of
 * the body, the twist X Y = (omega, v + omega × c) of the body at c, and the added mass K_0 of the place at rest for
 * density 1:
 *
 *   F = R F_0(R^T V),  V = X Y + W - flow          wrench of a model about c, from its wrench F_0 at rest
 *   K = sum X^T R K_0 R^T X,   mu_0 = sum X^T R K_0 R^T W,   E = (1/2) sum <R K_0 R^T W, W>
 *
 * K is the body's added mass. mu_0 and E are the momentum and the kinetic energy of the fluid at Y = 0. R acts on both
 * parts of a twist and of a wrench. If at some time the vertices of a part are exactly at their positions at rest and
 * have no velocity, then R, c and W are exactly those of a place that is fixed in the body frame. SI units.
 *
 * The first part finds the rigid motion that fits the motion of a part best (equations: fluid/immersed_private.h).
 */
#include "fluid/immersed_private.h"

#include "core/failure.h"
#include "numerics/small.h"
#include "numerics/vec3.h"
#include "tree/scalar.h"

#include <stdlib.h>
#include <string.h>

/* --- the part at rest --- */

/* Returns whether the part of the face is the part p, or another part of the same name. */
static bool belongs(const cb_surface *s, int face, int p) {
  return s->part[face] == p || !strcmp(s->name[s->part[face]], s->name[p]);
}

/* Adds a third of the area of each face of the part p to the weights weight[vertices] of its corners. */
static void weigh(const cb_surface *s, int p, double *weight) {
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f];
    double area[3];
    if (!belongs(s, f, p)) continue;
    cb_area3(s->x[c[0]], s->x[c[1]], s->x[c[2]], area);
    for (int k = 0; k < 3; k++) weight[c[k]] += sqrt(cb_dot3(area, area)) / 3;
  }
}

/* Sets the weights of vertices that also belong to other parts to 0, unless fewer than three vertices would remain.
 * Returns the number of vertices that have a weight. */
static int leave_shared(const cb_surface *s, int p, const double *all, double *weight) {
  int n = 0, own = 0;
  memcpy(weight, all, (size_t)s->vertices * sizeof *weight);
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3 && !belongs(s, f, p); k++) weight[s->face[f][k]] = 0;
  for (int i = 0; i < s->vertices; i++) {
    n += all[i] > 0;
    own += weight[i] > 0;
  }
  if (own >= 3) return own;
  memcpy(weight, all, (size_t)s->vertices * sizeof *weight);
  return n;
}

static void take_vertices(const cb_surface *s, const double *weight, cb_part_fit *f) {
  double sum = 0;
  for (int i = 0, k = 0; i < s->vertices; i++) {
    if (!(weight[i] > 0)) continue;
    f->vertex[k] = i;
    f->w[k++] = weight[i];
    sum += weight[i];
  }
  for (int k = 0; k < f->n; k++) {
    f->w[k] /= sum;
    for (int i = 0; i < 3; i++) f->centre[i] += f->w[k] * s->x[f->vertex[k]][i];
  }
  for (int k = 0; k < f->n; k++) {
    for (int i = 0; i < 3; i++) f->a[k][i] = s->x[f->vertex[k]][i] - f->centre[i];
    f->size += f->w[k] * cb_dot3(f->a[k], f->a[k]);
  }
  f->size = sqrt(f->size);
}

/* --- the rotation --- */

/* Rotates the axes p and q of the symmetric matrix N so that N[p][q] becomes 0, and the columns of V with them. */
static void rotate_pair(double N[4][4], double V[4][4], int p, int q) {
  if (N[p][q] == 0) return;
  const double theta = (N[q][q] - N[p][p]) / (2 * N[p][q]), t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1)),
               c = 1 / hypot(t, 1), s = t * c;
  for (int k = 0; k < 4; k++) {
    const double a = N[k][p], b = N[k][q], e = V[k][p], f = V[k][q];
    N[k][p] = c * a - s * b;
    N[k][q] = s * a + c * b;
    V[k][p] = c * e - s * f;
    V[k][q] = s * e + c * f;
  }
  for (int k = 0; k < 4; k++) {
    const double a = N[p][k], b = N[q][k];
    N[p][k] = c * a - s * b;
    N[q][k] = s * a + c * b;
  }
  N[p][q] = N[q][p] = 0;
}

/* Finds the quaternion of the rotation R for which tr(R^T H^T) is greatest, H = sum w a (x - c)^T, by Jacobi's method.
 * Returns false if another rotation gives the same value of tr(R^T H^T), up to 1e-10 of `least`. */
static bool find_rotation(const double H[3][3], double least, double q[4]) {
  const double trace = H[0][0] + H[1][1] + H[2][2];
  double N[4][4] = {{trace}}, V[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    N[0][1 + i] = N[1 + i][0] = H[j][k] - H[k][j];
    for (int l = 0; l < 3; l++) N[1 + i][1 + l] = H[i][l] + H[l][i] - (i == l ? trace : 0);
  }
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0;
    for (int p = 0; p < 4; p++)
      for (int k = p + 1; k < 4; k++) off += fabs(N[p][k]);
    if (off == 0) break;
    for (int p = 0; p < 4; p++)
      for (int k = p + 1; k < 4; k++) rotate_pair(N, V, p, k);
  }
  int best = 0;
  for (int k = 1; k < 4; k++)
    if (N[k][k] > N[best][best]) best = k;
  bool single = true;
  for (int k = 0; k < 4; k++) single = single && (k == best || N[best][best] - N[k][k] > 1e-10 * least);
  for (int i = 0; i < 4; i++) q[i] = V[i][best];
  cb_quaternion_project(q);
  return single;
}

/* --- the motion --- */

static bool is_at_rest(const cb_part_fit *f, const double (*x)[3]) {
  for (int k = 0; k < f->n; k++) {
    const double *is = x[f->vertex[k]], *was = f->surface->x[f->vertex[k]];
    if (is[0] != was[0] || is[1] != was[1] || is[2] != was[2]) return false;
  }
  return true;
}

static bool is_still(const cb_part_fit *f, const double (*v)[3]) {
  for (int k = 0; k < f->n && v; k++) {
    const double *own = v[f->vertex[k]];
    if (own[0] != 0 || own[1] != 0 || own[2] != 0) return false;
  }
  return true;
}

static cb_status find_place(const cb_part_fit *f, const double (*x)[3], cb_part_motion *m) {
  double H[3][3] = {{0}}, q[4], sum = 0;
  for (int k = 0; k < f->n; k++)
    for (int i = 0; i < 3; i++) m->centre[i] += f->w[k] * x[f->vertex[k]][i];
  for (int k = 0; k < f->n; k++) {
    double b[3];
    for (int i = 0; i < 3; i++) b[i] = x[f->vertex[k]][i] - m->centre[i];
    cb_add_outer3(H, f->w[k], f->a[k], b);
  }
  if (!find_rotation((const double(*)[3])H, f->size * f->size, q))
    return cb_fail(CB_STEP_SINGULAR, "the vertices of part `%s` do not show its rotation: they are on a line",
                   f->surface->name[f->part]);
  cb_quaternion_rotation(q, m->R);
  for (int k = 0; k < f->n; k++) {
    double turned[3];
    cb_apply3((const double(*)[3])m->R, f->a[k], turned);
    for (int i = 0; i < 3; i++) {
      const double d = x[f->vertex[k]][i] - m->centre[i] - turned[i];
      sum += f->w[k] * d * d;
    }
  }
  m->residual = sqrt(sum) / f->size;
  return CB_OK;
}

cb_status cb_part_fit_create(cb_arena *arena, const cb_surface *s, int part, cb_part_fit *out) {
  *out = (cb_part_fit){.part = part, .surface = s};
  for (int p = part - 1; p >= 0; p--)
    if (!strcmp(s->name[p], s->name[part])) out->part = p;
  double *all = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *all),
         *weight = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *weight);
  if (all && weight) {
    weigh(s, part, all);
    out->n = leave_shared(s, part, all, weight);
  }
  out->vertex = cb_arena_alloc(arena, (size_t)out->n, sizeof *out->vertex);
  out->w = cb_arena_alloc(arena, (size_t)out->n, sizeof *out->w);
  out->a = cb_arena_alloc(arena, (size_t)out->n, sizeof *out->a);
  if (!all || !weight || !out->vertex || !out->w || !out->a)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the motion of a part of %d vertices", s->vertices);
  take_vertices(s, weight, out);
  cb_part_motion still = {.rests = true};
  const cb_status status = find_place(out, (const double(*)[3])s->x, &still);
  return status ? cb_fail(CB_ERROR_DOMAIN,
                          "the vertices of part `%s` are on a line: expected a part whose motion shows its rotation",
                          s->name[part])
                : CB_OK;
}

static cb_status find_spin(const cb_part_fit *f, const double (*x)[3], const double (*v)[3], cb_part_motion *m) {
  double S[3][3] = {{0}}, M[3][3], l[3][3], turn[3];
  for (int k = 0; k < f->n; k++)
    for (int i = 0; i < 3; i++) m->velocity[i] += f->w[k] * v[f->vertex[k]][i];
  for (int k = 0; k < f->n; k++) {
    double a[3], b[3], u[3];
    cb_apply3((const double(*)[3])m->R, f->a[k], a);
    for (int i = 0; i < 3; i++) {
      b[i] = x[f->vertex[k]][i] - m->centre[i];
      u[i] = v[f->vertex[k]][i] - m->velocity[i];
    }
    cb_add_outer3(S, f->w[k], a, b);
    cb_cross3(a, u, turn);
    for (int i = 0; i < 3; i++) m->omega[i] += f->w[k] * turn[i];
  }
  const double trace = S[0][0] + S[1][1] + S[2][2];
  for (int i = 0; i < 9; i++) M[i / 3][i % 3] = (i % 4 == 0 ? trace : 0) - (S[i / 3][i % 3] + S[i % 3][i / 3]) / 2;
  if (!cb_cholesky(3, M[0], 1e-13, l[0]))
    return cb_fail(CB_STEP_SINGULAR, "the vertices of part `%s` do not show its spin", f->surface->name[f->part]);
  cb_cholesky_solve(3, l[0], m->omega);
  return CB_OK;
}

cb_status cb_part_motion_at(const cb_part_fit *f, const double (*x)[3], const double (*v)[3], cb_part_motion *out) {
  cb_part_motion m = {.rests = is_at_rest(f, x), .moves = !is_still(f, v)};
  for (int i = 0; i < 3 && m.rests; i++) {
    m.R[i][i] = 1;
    m.centre[i] = f->centre[i];
  }
  cb_status status = m.rests ? CB_OK : find_place(f, x, &m);
  if (!status && m.moves) status = find_spin(f, x, v, &m);
  *out = m;
  return status;
}

/* Finds the place at which the point X0 of the part at rest is in the motion m, and the twist of this place: the spin
 * of the part and the velocity of the point. */
static void part_motion_place(const cb_part_fit *f, const cb_part_motion *m, const double X0[3], double place[3],
                              double twist[6]) {
  double arm[3], turned[3], turn[3];
  for (int i = 0; i < 3; i++) arm[i] = X0[i] - f->centre[i];
  cb_apply3((const double(*)[3])m->R, arm, turned);
  cb_cross3(m->omega, turned, turn);
  for (int i = 0; i < 3; i++) {
    place[i] = m->rests ? X0[i] : m->centre[i] + turned[i];
    twist[i] = m->omega[i];
    twist[3 + i] = m->velocity[i] + turn[i];
  }
}

/* --- places of models --- */

/* Finds the index of the part p in the list `followed`; adds the part to the list if it is not there. */
static cb_status follow(cb_immersed *b, int p, int *number) {
  const cb_surface *s = b->surface;
  if (!b->followed) b->followed = cb_arena_alloc(b->arena, (size_t)s->parts, sizeof *b->followed);
  if (!b->followed) return cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->parts);
  for (*number = 0; *number < b->followed_parts; ++*number)
    if (!strcmp(s->name[b->followed[*number].part], s->name[p])) return CB_OK;
  const cb_status status = cb_part_fit_create(b->arena, s, p, &b->followed[*number]);
  if (!status) b->followed_parts++;
  return status;
}

cb_status cb_immersed_follow_parts(cb_immersed *b, cb_immersed_model_instance *of) {
  static const double origin[1][3];
  const cb_fluid_model_class *class = of->model->class_;
  if (!b->poses || !class->part_of || (!of->places && !class->added_mass_of)) return CB_OK;
  if (!of->places) of->places = class->places ? class->places(of->model, of->body, &of->at) : 1;
  if (!of->at) of->at = origin;
  int *follows = cb_arena_alloc(b->arena, (size_t)of->places, sizeof *follows);
  if (!follows) return cb_fail(CB_ERROR_MEMORY, "no memory for %d places of a fluid model", of->places);
  bool any = false;
  for (int p = 0; p < of->places; p++) {
    const cb_node *named = NULL;
    const int part = class->part_of(of->model, of->body, p, &named);
    follows[p] = -1;
    if (part < 0) continue;
    const cb_status status = follow(b, part, &follows[p]);
    if (status) return named ? cb_fail_again(named, status) : status;
    any = true;
  }
  if (any) of->follows = follows;
  return CB_OK;
}

cb_status cb_immersed_followed_create(cb_immersed_workspace *s) {
  s->part_motion = cb_arena_alloc(s->arena, (size_t)s->b->followed_parts, sizeof *s->part_motion);
  return s->part_motion ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d parts", s->b->followed_parts);
}

/* Sets position, twist and rotation of *at for the place number p of a model. If this place does not move with a part,
 * *at is unchanged. */
static void move(const cb_immersed_workspace *s, const cb_immersed_model_instance *of, int p,
                 cb_immersed_fluid_sample *at) {
  const int part = of->follows[p];
  if (part < 0) return;
  const cb_part_motion *m = &s->part_motion[part];
  part_motion_place(&s->b->followed[part], m, of->at[p], at->place, at->own);
  at->off = at->place[0] != 0 || at->place[1] != 0 || at->place[2] != 0;
  at->moves = m->moves;
  at->turned = !m->rests;
  memcpy(at->R, m->R, sizeof at->R);
}

/* Finds the added mass K of the place number p of inertia.model, about the place and in the body's axes. */
static void added_mass_at(const cb_immersed_workspace *s, int p, const cb_immersed_fluid_sample *at, double K[6][6]) {
  const cb_immersed_model_instance *of = &s->b->inertia;
  memset(K, 0, 36 * sizeof **K);
  of->model->class_->added_mass_of(of->model, of->body, p, K);
  if (at->turned) cb_turn_matrix6((const double(*)[3])at->R, K);
}

cb_status cb_immersed_move_places(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  if (!b->followed_parts) return CB_OK;
  cb_status status = cb_immersed_vertices(s);
  for (int i = 0; i < b->followed_parts && !status; i++)
    status = cb_part_motion_at(&b->followed[i], s->form.x, s->form.v, &s->part_motion[i]);
  if (status) return status;
  for (const cb_immersed_model_instance *f = b->models.of; f < b->models.of + b->models.n; f++)
    for (int p = 0; p < f->places && f->follows; p++) move(s, f, p, &s->fluid_sample[f->first_place + p]);
  for (int p = 0; p < b->inertia.places && b->inertia.follows && s->part_added_mass; p++) {
    cb_immersed_part_added_mass *own = &s->part_added_mass[p];
    move(s, &b->inertia, p, &own->at);
    added_mass_at(s, p, &own->at, own->K);
  }
  return CB_OK;
}

void cb_immersed_followed_added_mass(const cb_immersed_workspace *s, cb_added_mass *out) {
  const cb_immersed_model_instance *of = &s->b->inertia;
  *out = (cb_added_mass){.kinetic = 0};
  for (int p = 0; p < of->places; p++) {
    cb_immersed_fluid_sample at;
    double K[6][6], momentum[6];
    cb_immersed_place_at(&at, of->at[p], 1);
    move(s, of, p, &at);
    added_mass_at(s, p, &at, K);
    cb_add_carried6((const double(*)[6])K, at.place, out->K);
    if (!at.moves) continue;
    cb_apply6((const double(*)[6])K, at.own, momentum);
    for (int i = 0; i < 6; i++) out->kinetic += momentum[i] * at.own[i] / 2;
    cb_immersed_carry_back(&at, momentum);
    cb_add6(1, momentum, out->mu0);
  }
}

/* --- parts that do not move rigidly --- */

int cb_immersed_followed_parts(const cb_immersed *b) { return b->followed_parts; }

static const cb_node *name_of(const cb_immersed *b, int number) {
  const cb_node *named = NULL;
  for (int i = 0; i <= b->models.n && !named; i++) {
    const cb_immersed_model_instance *of = i < b->models.n ? &b->models.of[i] : &b->inertia;
    for (int p = 0; p < of->places && of->follows && !named; p++)
      if (of->follows[p] == number) of->model->class_->part_of(of->model, of->body, p, &named);
  }
  return named;
}

cb_status cb_immersed_find_misfit(const cb_immersed *b, int number, double start, double end, cb_immersed_misfit *out) {
  enum { TIMES = 256 };
  const cb_part_fit *f = &b->followed[number];
  const size_t vertices = (size_t)b->surface->vertices;
  double(*x)[3] = malloc(vertices * sizeof *x);
  *out = (cb_immersed_misfit){.part = b->surface->name[f->part], .named = name_of(b, number), .time = start};
  cb_status status = x ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %zu vertices", vertices);
  for (int k = 0; k <= TIMES && !status; k++) {
    const double t = start + (end - start) * k / TIMES;
    cb_part_motion m;
    status = cb_poses_at(b->poses, t, x, NULL);
    if (!status) status = cb_part_motion_at(f, (const double(*)[3])x, NULL, &m);
    if (!status && m.residual > out->residual) {
      out->residual = m.residual;
      out->time = t;
    }
    if (status != CB_ERROR_MEMORY) status = CB_OK; /* the run reports this failure when it reaches that time */
  }
  free(x);
  return status;
}
