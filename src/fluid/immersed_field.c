/* The fluid around a body: the velocity of the flow and its gradient at the body's vertices, and the density of the
 * medium at each face. Conserved quantities, recorded quantities and plot coordinates follow below.
 *
 * The flow is linear on each face between its corners, like the velocity of the body's shape. The drag of a face
 * depends on the mean of the flow at its corners.
 */
#include "fluid/immersed_private.h"

#include "core/threads.h"
#include "fluid/immersed_run.h"
#include "fluid/local_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* Replaces G by R^T G R, with the rotation R = r. */
static void turn_gradient(const double r[3][3], double G[3][3]) {
  double half[3][3];
  for (int i = 0; i < 3; i++) cb_apply3_transposed(r, G[i], half[i]); /* G R */
  for (int j = 0; j < 3; j++) {
    const double column[3] = {half[0][j], half[1][j], half[2][j]};
    double turned[3];
    cb_apply3_transposed(r, column, turned);
    for (int i = 0; i < 3; i++) G[i][j] = turned[i];
  }
}

static cb_status find_flow(cb_immersed_workspace *s, const double r[3][3]) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const int n = b->surface->vertices;
  double u[3];
  f->whole = f->at_faces = false;
  const cb_status status = cb_flow_at(b->fluid.flow, f->t, n, (const double(*)[3])f->place, f->u, f->gradient,
                                      b->around.unsteady ? f->rate : NULL);
  for (int i = 0; !status && i < n; i++) {
    memcpy(u, f->u[i], sizeof u);
    cb_apply3_transposed(r, u, f->u[i]);
    turn_gradient(r, f->gradient[i]);
    if (b->around.unsteady && f->rate) {
      memcpy(u, f->rate[i], sizeof u);
      cb_apply3_transposed(r, u, f->rate[i]);
    }
  }
  return status;
}

/* Fits the flow around the body by u0 + G0 x. G0 is the mean of the gradient over the vertices. At the mean position of
 * the vertices the fit equals the mean of the flow velocities at the vertices. */
void cb_immersed_field_as_a_whole(cb_immersed_workspace *s) {
  cb_immersed_field *f = &s->field;
  const int n = s->b->surface->vertices;
  double u[3] = {0}, x[3] = {0}, G[9] = {0}, moved[3];
  if (f->whole) return;
  f->whole = true;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      u[k] += f->u[i][k];
      x[k] += s->form.x[i][k];
    }
    for (int k = 0; k < 9; k++) G[k] += f->gradient[i][k / 3][k % 3];
  }
  for (int k = 0; k < 3; k++) x[k] /= n;
  for (int k = 0; k < 9; k++) f->G0[k / 3][k % 3] = G[k] / n;
  cb_apply3((const double(*)[3])f->G0, x, moved);
  for (int k = 0; k < 3; k++) f->u0[k] = u[k] / n - moved[k];
}

double cb_immersed_workspace_divergence(const cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  if (!b->around.varying || !s->field.known) return 0;
  double size;
  const double divergence = cb_flow_divergence(b->surface->vertices, (const double(*)[3][3])s->field.gradient, &size);
  return divergence > 0 ? divergence / fmax(size, cb_flow_slope(b->fluid.flow)) : 0;
}

void cb_immersed_field_at_faces(cb_immersed_workspace *s) {
  const cb_surface *surface = s->b->surface;
  cb_immersed_field *f = &s->field;
  if (f->at_faces) return;
  f->at_faces = true;
  for (int i = 0; i < surface->faces; i++) {
    const double *a = f->u[surface->face[i][0]], *b = f->u[surface->face[i][1]], *c = f->u[surface->face[i][2]];
    for (int k = 0; k < 3; k++) f->face_u[i][k] = (a[k] + b[k] + c[k]) / 3;
  }
}

void cb_immersed_gather(cb_immersed_workspace *s, bool corners) {
  const cb_surface *surface = s->b->surface;
  cb_immersed_field *f = &s->field;
  double r[3][3], at[3];
  cb_pose_rotation(&f->g, r);
  for (int i = 0; i < surface->vertices; i++) {
    cb_apply3((const double(*)[3])r, s->form.x[i], at);
    for (int k = 0; k < 3; k++) f->place[i][k] = f->g.x[k] + at[k];
  }
  for (int i = 0; corners && i < surface->faces; i++)
    for (int k = 0; k < 3; k++) memcpy(f->corner[i][k], f->place[surface->face[s->b->listed[i]][k]], sizeof *f->place);
}

/* Returns whether the density differs over the box of the body. If the density is the same everywhere in the box,
 * f->density becomes this density. */
static bool is_mixed(cb_immersed_workspace *s, const double r[3][3]) {
  double middle[3], half[3][3];
  cb_immersed_field *f = &s->field;
  f->density = s->b->around.density;
  if (!s->b->around.layered) return false;
  cb_pose_point(&f->g, s->form.middle, middle);
  for (int i = 0; i < 9; i++) half[i % 3][i / 3] = r[i / 3][i % 3] * s->form.reach[i % 3];
  return !cb_medium_is_even(s->b->fluid.medium, middle, (const double(*)[3])half, &f->density);
}

static bool flat(const double slope[3][3]) {
  for (int c = 0; c < 3; c++)
    if (slope[c][0] != 0 || slope[c][1] != 0 || slope[c][2] != 0) return false;
  return true;
}

static cb_status find_density(cb_immersed_workspace *s, const double r[3][3]) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const int n = b->surface->faces;
  cb_immersed_gather(s, true);
  const cb_status status = cb_medium_faces(b->fluid.medium, n, (const double(*)[3][3])f->corner, f->listed_rho,
                                           cb_immersed_is_relative(b) ? f->listed_slope : NULL);
  if (status) return status;
  f->slopes = 0;
  for (int i = 0; i < n; i++) {
    const int face = b->listed[i];
    f->rho[face] = f->listed_rho[i];
    if (!cb_immersed_is_relative(b) || flat((const double(*)[3])f->listed_slope[i])) continue;
    f->sloped[f->slopes++] = face;
    for (int k = 0; k < 3; k++) cb_apply3_transposed(r, f->listed_slope[i][k], f->slope[face][k]);
  }
  return CB_OK;
}

cb_status cb_immersed_field_at(cb_immersed_workspace *s, double t, const cb_pose *g) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  if (f->known && (!(cb_immersed_varies(b) || b->placed) || (f->t == t && memcmp(&f->g, g, sizeof *g) == 0)))
    return CB_OK;
  double r[3][3];
  f->known = false;
  f->t = t;
  f->g = *g;
  cb_pose_rotation(g, r);
  f->mixed = is_mixed(s, (const double(*)[3])r);
  cb_status status = CB_OK;
  if (f->mixed) status = find_density(s, (const double(*)[3])r);
  if (f->mixed || s->impulses.density != f->density) s->impulses.known = false;
  if (b->around.varying) {
    if (!f->mixed) cb_immersed_gather(s, false);
    if (!status) status = find_flow(s, (const double(*)[3])r);
  }
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms && !status; term++)
    if (term->class_->field) status = term->class_->field(s);
  status = cb_immersed_given(status);
  f->known = !status;
  return status;
}

cb_status cb_immersed_field_create(cb_immersed_workspace *s) {
  const cb_immersed *b = s->b;
  cb_immersed_field *f = &s->field;
  const size_t vertices = cb_immersed_varies(b) ? (size_t)b->surface->vertices : 0,
               faces = cb_immersed_varies(b) ? (size_t)b->surface->faces : 0;
  f->place = cb_arena_alloc(s->arena, vertices, sizeof *f->place);
  f->u = cb_arena_alloc(s->arena, vertices, sizeof *f->u);
  f->gradient = cb_arena_alloc(s->arena, vertices, sizeof *f->gradient);
  f->face_u = cb_arena_alloc(s->arena, faces, sizeof *f->face_u);
  f->corner = cb_arena_alloc(s->arena, faces, sizeof *f->corner);
  f->rho = cb_arena_alloc(s->arena, faces, sizeof *f->rho);
  f->slope = cb_arena_alloc(s->arena, faces, sizeof *f->slope);
  f->sloped = cb_arena_alloc(s->arena, faces, sizeof *f->sloped);
  f->listed_rho = cb_arena_alloc(s->arena, faces, sizeof *f->listed_rho);
  f->listed_slope = cb_arena_alloc(s->arena, faces, sizeof *f->listed_slope);
  f->listed_thickness = cb_arena_alloc(s->arena, faces, sizeof *f->listed_thickness);
  if (!f->place || !f->u || !f->gradient || !f->face_u || !f->corner || !f->rho || !f->slope || !f->sloped ||
      !f->listed_rho || !f->listed_slope || !f->listed_thickness)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the fluid around %d faces", b->surface->faces);
  for (size_t i = 0; i < faces; i++) f->listed_thickness[i] = b->thickness[b->surface->part[b->listed[i]]];
  return CB_OK;
}

/* Finds the quantities that the motion of a body in a fluid conserves (see fluid/immersed_run.h). */

void cb_immersed_conserves_along(const double axis[3], cb_immersed_conserved *out) {
  double across[3];
  const double length = sqrt(cb_dot3(axis, axis));
  cb_cross3(axis, out->up, across);
  if (out->upright && sqrt(cb_dot3(across, across)) > 1e-12 * length) out->momentum = false;
  out->upright = true;
  for (int i = 0; i < 3; i++) out->up[i] = axis[i] / length;
}

cb_immersed_conserved cb_immersed_conserves(const cb_immersed *b) {
  cb_immersed_conserved out = {.momentum = !b->around.layered,
                               .energy = !b->around.layered && !b->poses && !b->around.has_flow};
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms; term++) {
    if (term->class_->conserves)
      term->class_->conserves(b, &out);
    else if (term->wrenches > 0)
      out.energy = out.momentum = false;
  }
  return out;
}

/* The quantities that are recorded for a body in a fluid: twist, inertia, each wrench separately, and energies. */

/* Returns the kinetic energy of body and fluid. That of the body is (1/2) <I_b Y, Y> + <mu_b, Y> + (1/2) int rho |x'|^2
 * dV, with the inertia I_b, the twist Y, the momentum mu_b and the velocity x' of the shape's motion, and the density
 * rho. The functions `kinetic` of the body's terms (b->term) add the energy of the fluid. */
static double kinetic(cb_immersed_workspace *s, const cb_immersed_moment *m) {
  const cb_immersed *b = s->b;
  const cb_immersed_form *f = &s->form;
  double momentum[6], energy = f->v ? cb_moving_mass_energy(b->mass, f->x, f->v) : 0;
  cb_apply6(f->mass.inertia, m->Y, momentum);
  for (int i = 0; i < 6; i++) energy += m->Y[i] * (momentum[i] / 2 + f->mu_b[i]);
  for (const cb_immersed_term *term = b->term; term < b->term + b->terms; term++)
    if (term->class_->kinetic) term->class_->kinetic(s, m, &energy);
  return energy;
}

cb_status cb_immersed_workspace_measure(cb_immersed_workspace *s, const cb_rigid_state *state, cb_immersed_row *row) {
  const cb_immersed *b = s->b;
  cb_immersed_moment m;
  cb_immersed_row out = {.potential = -0., .wrench = row->wrench}; /* -0 + x is x, also if x is -0 */
  double K[6][6];
  cb_status status = s->problem.inertia(s, state->t, &state->g, out.K, out.mu0);
  if (!status) status = cb_immersed_vertices(s);
  if (status) return status;
  memcpy(K, out.K, sizeof K);
  status = cb_rigid_velocity(K, state->momentum, out.mu0, out.twist);
  if (status) return status;
  cb_immersed_moment_of(state->t, &state->g, out.twist, &m);
  for (int i = 0; !status && i < b->wrenches; i++) {
    memset(row->wrench[i], 0, sizeof *row->wrench);
    status = b->wrench[i].term->wrench(s, &m, &(cb_immersed_sums){b->wrench[i].number, row->wrench[i], NULL, NULL});
  }
  for (const cb_immersed_term *term = b->term; !status && term < b->term + b->terms; term++)
    if (term->class_->potential) status = term->class_->potential(s, &m, &out.potential);
  if (status) return status;
  out.kinetic = kinetic(s, &m);
  out.mass = s->form.mass;
  out.removed_normal_velocity = s->form.removed_normal_velocity;
  *row = out;
  return CB_OK;
}

/* Plot coordinates (see fluid/immersed_run.h). */

/* The formulas hold at any distance: tanh is bounded, and 1/cosh^2 becomes 0 where cosh overflows. */
void cb_plot_place(double K, const double v[3], double out[3]) {
  const double d = sqrt(cb_dot3(v, v)), r = sqrt(fabs(K)), half = r * d / 2;
  const double f = K == 0 || d == 0 ? (K == 0 ? 1 : 0.5) : (K < 0 ? tanh(half) : tan(half)) / (r * d);
  for (int i = 0; i < 3; i++) out[i] = f * v[i];
}

double cb_plot_factor(double K, const double v[3]) {
  const double half = sqrt(fabs(K) * cb_dot3(v, v)) / 2, c = K < 0 ? cosh(half) : cos(half);
  return K == 0 ? 1 : 0.5 / (c * c);
}

/* --- forces of a model on each face ---
 *
 * Forces of a fluid model on each face, as wrenches.
 *
 *   F = sum (c × f, f),  u = omega × c + v + x' - (flow) at the face's centre c,  f = f(u) by the model
 *   column j of dF/dY = sum (c × D, D),  D = df/du (e_j × c) for j < 3 and df/du e_j-3 for the others
 *
 * F is the wrench, Y = (omega, v) the twist, f the force on a face, u its velocity relative to the flow, x' the
 * velocity of the shape, and e_j a unit vector along axis j. Sums are made over the blocks of faces of the local model
 * and added in their order, so that the number of threads does not change the result. A face of a sheet counts once for
 * each side.
 */

enum { JACOBIAN = 36 };

typedef struct task {
  const cb_immersed_workspace *s;
  const cb_immersed_model_instance *of;
  const cb_immersed_moment *m;
  double flow1[3];
  bool slopes;
} task;

static size_t numbers(int terms) { return 6 * (size_t)terms + JACOBIAN; }

size_t cb_immersed_faces_capacity(const cb_local *l) { return (size_t)l->face_blocks * numbers(CB_FLUID_TERMS); }

static void add_wrench(const double place[3], const double force[3], double *out, int stride) {
  double torque[3];
  cb_cross3(place, force, torque);
  for (int i = 0; i < 3; i++) {
    out[i * stride] += torque[i];
    out[(3 + i) * stride] += force[i];
  }
}

/* Adds to `sum` the wrenches of the forces on one side of a face. u is the velocity of its centre relative to the flow.
 */
static void add_side(const task *t, const cb_fluid_face *face, const double u[3], double *sum) {
  const cb_fluid_model *model = t->of->model;
  const int terms = t->of->terms;
  double f[CB_FLUID_TERMS][3] = {{0}}, df[CB_FLUID_TERMS][3][3] = {{{0}}};
  model->class_->on_face(model, t->of->body, face, u, f[0], t->slopes ? df[0][0] : NULL);
  for (int k = 0; k < terms; k++) {
    add_wrench(face->place, f[k], sum + 6 * k, 1);
    for (int j = 0; t->slopes && j < 6; j++) {
      double axis[3] = {0}, du[3], column[3];
      axis[j % 3] = 1;
      if (j < 3)
        cb_cross3(axis, face->place, du);
      else
        memcpy(du, axis, sizeof du);
      cb_apply3((const double(*)[3])df[k], du, column);
      add_wrench(face->place, column, sum + 6 * terms + j, 6);
    }
  }
}

static void add_face(const task *t, int number, double *sum) {
  const cb_immersed_workspace *s = t->s;
  const cb_surface *surface = s->b->surface;
  const int *c = surface->face[number];
  const double *x0 = s->form.x[c[0]], *x1 = s->form.x[c[1]], *x2 = s->form.x[c[2]],
               *flow = s->b->around.varying ? s->field.face_u[number] : t->flow1;
  double a[3], u[3];
  cb_fluid_face face = {.number = number,
                        .part = surface->part[number],
                        .density = s->field.mixed ? s->field.rho[number] : s->field.density};
  cb_area3(x0, x1, x2, a);
  face.area = sqrt(cb_dot3(a, a));
  if (!(face.area > 0)) return;
  for (int k = 0; k < 3; k++) face.place[k] = (x0[k] + x1[k] + x2[k]) / 3;
  cb_cross3(t->m->Y, face.place, u);
  for (int k = 0; k < 3; k++) {
    const double own = s->form.v ? (s->form.v[c[0]][k] + s->form.v[c[1]][k] + s->form.v[c[2]][k]) / 3 : 0;
    u[k] += t->m->Y[3 + k] + own - flow[k];
  }
  const int sides = surface->open[face.part] ? 2 : 1;
  for (int side = 0; side < sides; side++) {
    for (int k = 0; k < 3; k++) face.normal[k] = (side ? -a[k] : a[k]) / face.area;
    add_side(t, &face, u, sum);
  }
}

static void blocks(void *context, int begin, int end) {
  const task *t = context;
  const cb_local *l = t->s->local;
  for (int b = begin; b < end; b++) {
    const cb_local_block *block = l->face_block + b;
    double *sum = t->s->face_sum + (size_t)b * numbers(t->of->terms);
    memset(sum, 0, numbers(t->of->terms) * sizeof *sum);
    for (int slot = block->begin; slot < block->end; slot++)
      if (slot == block->begin || l->face_of[slot] != l->face_of[slot - 1]) /* skips faces that only fill a group */
        add_face(t, l->face_of[slot], sum);
  }
}

void cb_immersed_faces(cb_immersed_workspace *s, const cb_immersed_model_instance *of, const cb_immersed_moment *m,
                       double (*term)[6], cb_tensor jacobian) {
  const cb_local *l = s->local;
  const int terms = of->terms;
  task t = {.s = s, .of = of, .m = m, .slopes = jacobian != NULL};
  cb_apply3_transposed(m->r, s->wind.u, t.flow1);
  if (s->b->around.varying) cb_immersed_field_at_faces(s);
  cb_threads_range(l->threads, l->face_blocks, blocks, &t);
  for (int n = 0; n < l->face_blocks; n++) {
    const double *sum = s->face_sum + (size_t)n * numbers(terms);
    for (int i = 0; i < 6 * terms; i++) term[i / 6][i % 6] += sum[i];
    for (int i = 0; jacobian && i < JACOBIAN; i++) jacobian[i / 6][i % 6] += sum[6 * terms + i];
  }
}

/* --- the linear fit of a flow ---
 *
 * The linear fit of the flow around a rigid body, and the added mass of the body in it.
 *
 *   u(x) = u_c + w × (x - c) + E (x - c),   E = sum_k e_k B_k,   e_k = B_k : grad u at c
 *   2 T/rho = <K V, V> - 2 <C e, V> + <N e, e>
 *   de = B_k : (G hat(xi_omega) - hat(xi_omega) G)       G = grad u in the body's axes
 *
 * c is the centre of the body's surface, w half the vorticity and E the strain at c. B_1 .. B_5 are orthonormal
 * symmetric matrices of trace 0 (the fluid is incompressible). T is the kinetic energy of the flow around the body
 * relative to the flow u, and V the twist of the body at c relative to (w, u_c). For the fluid around it, a body at
 * rest in the strain E is a body that deforms with the velocity -E (x - c). C and N are therefore parts of the form G
 * of a body that deforms with the five velocities B_k (x - c) (cb_fluid_model_class.linear_form). SI units; de is the
 * change of e for a small change xi of the pose.
 */

enum { STRAINS = CB_IMMERSED_STRAINS, FORM = 6 + STRAINS };

#define HALF 0.70710678118654752440  /* 2^(-1/2) */
#define SIXTH 0.40824829046386301637 /* 6^(-1/2) */
static const double basis[STRAINS][3][3] = {{{HALF, 0, 0}, {0, -HALF, 0}, {0, 0, 0}},
                                            {{-SIXTH, 0, 0}, {0, -SIXTH, 0}, {0, 0, 2 * SIXTH}},
                                            {{0, 0, 0}, {0, 0, HALF}, {0, HALF, 0}},
                                            {{0, 0, HALF}, {0, 0, 0}, {HALF, 0, 0}},
                                            {{0, HALF, 0}, {HALF, 0, 0}, {0, 0, 0}}};

void cb_immersed_strain_of(const double G[3][3], double e[CB_IMMERSED_STRAINS]) {
  for (int k = 0; k < STRAINS; k++) {
    e[k] = 0;
    for (int i = 0; i < 9; i++) e[k] += basis[k][i / 3][i % 3] * G[i / 3][i % 3];
  }
}

void cb_immersed_turn_gradient(const double G[3][3], int j, double out[3][3]) {
  const int a = (j + 1) % 3, b = (j + 2) % 3; /* hat(e_j) has the entries -1 at (a, b) and 1 at (b, a) */
  memset(out, 0, 9 * sizeof **out);
  for (int i = 0; i < 3; i++) {
    out[i][a] += G[i][b];
    out[i][b] -= G[i][a];
    out[a][i] += G[b][i];
    out[b][i] -= G[a][i];
  }
}

static void find_centre(const cb_surface *s, double c[3]) {
  double whole = 0;
  memset(c, 0, 3 * sizeof *c);
  for (int f = 0; f < s->faces; f++) {
    const int *corner = s->face[f];
    double a[3];
    cb_area3(s->x[corner[0]], s->x[corner[1]], s->x[corner[2]], a);
    const double area = sqrt(cb_dot3(a, a));
    whole += area;
    for (int i = 0; i < 9; i++) c[i % 3] += area * s->x[corner[i / 3]][i % 3] / 3;
  }
  for (int i = 0; i < 3; i++) c[i] /= whole;
}

cb_status cb_immersed_find_strained(cb_immersed *b) {
  cb_immersed_strained *out = cb_arena_alloc(b->arena, 1, sizeof *out);
  const cb_fluid_model *model = b->inertia.model;
  double form[FORM][FORM] = {{0}}, c[3];
  if (!out) return cb_fail(CB_ERROR_MEMORY, "no memory for the added mass of a body");
  find_centre(b->surface, out->centre);
  const cb_status status =
      model->class_->linear_form(model, b->inertia.body, b->surface, STRAINS, basis, out->centre, &form[0][0]);
  if (status) return status;
  for (int i = 0; i < 3; i++) c[i] = -out->centre[i];
  memset(out->K, 0, sizeof out->K);
  cb_add_carried6((const double(*)[6])b->added.K, c, out->K);
  for (int k = 0; k < STRAINS; k++) {
    double torque[3];
    cb_cross3(c, form[6 + k] + 3, torque);
    for (int i = 0; i < 6; i++) out->C[i][k] = form[6 + k][i] + (i < 3 ? torque[i] : 0);
    for (int l = 0; l < STRAINS; l++) out->N[k][l] = form[6 + k][6 + l];
  }
  b->strained = out;
  b->inertia.places = 1;
  b->inertia.at = (const double(*)[3])out->centre;
  return CB_OK;
}
