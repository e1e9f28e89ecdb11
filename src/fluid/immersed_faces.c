/* Forces of a fluid model on each face, as wrenches.
 *
 *   F = sum (c × f, f),  u = omega × c + v + x' - (flow) at the face's centre c,  f = f(u) by the model
 *   column j of dF/dY = sum (c × D, D),  D = df/du (e_j × c) for j < 3 and df/du e_j-3 for the others
 *
 * F is the wrench, Y = (omega, v) the twist, f the force on a face, u its velocity relative to the flow, x' the
 * velocity of the shape, and e_j a unit vector along axis j. Sums are made over the blocks of faces of the local model
 * and added in their order, so that the number of threads does not change the result. A face of a sheet counts once for
 * each side.
 */
#include "core/threads.h"
#include "fluid/immersed_private.h"
#include "fluid/local_private.h"

#include <math.h>
#include <string.h>

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

/* Adds the forces on one side of a face whose centre moves with u relative to the flow. */
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
      if (slot == block->begin || l->face_of[slot] != l->face_of[slot - 1]) /* skips the padding */
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
