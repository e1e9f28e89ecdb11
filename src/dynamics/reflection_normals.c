/* Normals of gaps in the kinetic metric, and the matrix of contacts:
 *
 *   T = I^-1 G minus its normal part (chart: G), R = T^T I/m (chart: g^-1 G/m)
 *   q = T - M W C^T y,   S y = C M^-1 T,   S = C W C^T      (parts with constraints; otherwise q = T)
 *   D_ab = R_a q_b,   u_a = R_a p + ds_a/dt
 *
 * G is the gradient of a gap, m the mass and I = diag(form). W and S are those of gram.h for the gradients C of the
 * constraints, and the other symbols are those of reflection.h. Normal parts are removed twice and y is refined, so
 * that neither the normal part of a gradient nor unequal masses reduce the accuracy. Sources: Moreau (1988),
 * doi:10.1007/978-3-7091-2624-0_1; refinement: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002),
 * chapter 12, doi:10.1137/1.9780898718027.
 */
#include "dynamics/reflection.h"

#include "numerics/small.h"

#include <math.h>
#include <string.h>

/* Computes T = I^-1 G at x without its normal part. */
static void tangential(const cb_space *s, const double *x, const double *G, double *T) {
  for (int a = 0; a < s->k; a++) T[a] = G[a] / s->form[a];
  for (int pass = 0; pass < 2; pass++)
    for (int f = 0; f < s->n_factors; f++) {
      const cb_factor *factor = &s->factor[f];
      double tx = 0, xx = 0;
      if (factor->curvature == 0) continue;
      for (int a = factor->offset; a < factor->offset + factor->count; a++) {
        tx += s->form[a] * T[a] * x[a];
        xx += s->form[a] * x[a] * x[a];
      }
      for (int a = factor->offset; a < factor->offset + factor->count; a++) T[a] -= tx / xx * x[a];
    }
}

static cb_status raise(const cb_reflection *r, const cb_reflection_part *part, const cb_reflection_contact *contact,
                       cb_normal *n) {
  const cb_space *s = r->space;
  const int k = r->k;
  n->free = 0;
  for (int i = 0; i < contact->gap.n; i++) {
    const cb_mover *mover = &r->mover[n->mover[i]];
    const int particle = mover->first + n->inside[i];
    const double mass = part[mover->part].mass[particle], *G = contact->value.gradient + (size_t)i * k,
                 *x = part[mover->part].x + (size_t)particle * k;
    double *T = n->T + (size_t)i * k, *R = n->R + (size_t)i * k;
    if (s->chart) {
      memcpy(T, G, (size_t)k * sizeof *T);
      const cb_status status = cb_space_raise(s, x, G, R);
      if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
      for (int a = 0; a < k; a++) R[a] /= mass;
    } else {
      tangential(s, x, G, T);
      for (int a = 0; a < k; a++) R[a] = s->form[a] * T[a] / mass;
    }
    n->free += cb_dot(k, R, T);
  }
  return CB_OK;
}

/* Sets q of the contact on one of its movers to T, as if the mover had no constraints. */
static void unconstrained(const cb_reflection *r, const cb_reflection_contact *contact, const cb_normal *n, int which) {
  const int k = r->k;
  const cb_mover *mover = &r->mover[n->moved[which]];
  double *q = r->q + n->column[which];
  memset(q, 0, (size_t)mover->n * (size_t)k * sizeof *q);
  for (int i = 0; i < contact->gap.n; i++)
    if (n->mover[i] == n->moved[which])
      for (int a = 0; a < k; a++) q[(size_t)n->inside[i] * k + a] += n->T[(size_t)i * k + a];
}

/* Work space of a part with constraints: the gradients C, the right-hand sides and then solutions y, their sum over the
 * refinements, and velocities w. */
typedef struct constrained {
  int mover;
  const cb_reflection_part *part;
  const cb_rows *rows;
  double *C, *y, *sum, *w;
} constrained;

/* Projects q onto the momenta that the constraints allow. */
static void project(const cb_reflection *r, const constrained *c, const cb_reflection_contact *contact,
                    const cb_normal *n, double *q) {
  const cb_space *s = r->space;
  const cb_rows *rows = c->rows;
  const int k = r->k, count = c->part->n;
  memset(c->sum, 0, (size_t)rows->rows * sizeof *c->sum);
  memset(c->w, 0, (size_t)count * (size_t)k * sizeof *c->w);
  for (int i = 0; i < contact->gap.n; i++) { /* w = M^-1 T */
    const int particle = n->inside[i];
    if (n->mover[i] != c->mover) continue;
    for (int a = 0; a < k; a++)
      c->w[(size_t)particle * k + a] +=
          s->chart ? n->R[(size_t)i * k + a] : n->T[(size_t)i * k + a] / c->part->mass[particle];
  }
  for (int pass = 0; pass < 3; pass++) {
    for (int row = 0; row < rows->rows; row++) {
      c->y[row] = 0;
      for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
        c->y[row] += cb_dot(k, c->C + (size_t)e * k, c->w + (size_t)rows->particle[e] * k);
    }
    cb_gram_solve(c->part->gram, c->y);
    cb_gram_lift(c->part->gram, c->y, -1, c->w);
    for (int row = 0; row < rows->rows; row++) c->sum[row] += c->y[row];
  }
  if (!s->chart) {
    for (int i = 0; i < count; i++)
      for (int a = 0; a < k; a++) q[(size_t)i * k + a] = c->part->mass[i] * c->w[(size_t)i * k + a];
    return;
  }
  for (int row = 0; row < rows->own; row++)
    for (int e = rows->start[row]; e < rows->start[row + 1]; e++)
      for (int a = 0; a < k; a++) q[(size_t)rows->particle[e] * k + a] -= c->sum[row] * c->C[(size_t)e * k + a];
}

static cb_status constrain(cb_reflection *r, double t, int m, const cb_reflection_part *part, int contacts,
                           const cb_reflection_contact *contact) {
  const cb_mover *mover = &r->mover[m];
  constrained c = {.mover = m, .part = &part[mover->part], .rows = cb_constraints_rows(part[mover->part].constraints)};
  const size_t k = (size_t)r->k, entries = (size_t)c.rows->start[c.rows->rows], rows = (size_t)c.rows->rows;
  c.C = cb_reflection_reserve(&r->reserved_gradient, entries * k + 2 * rows + (size_t)mover->n * k, sizeof *c.C);
  if (!c.C) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", c.rows->rows);
  c.y = c.C + entries * k;
  c.sum = c.y + rows;
  c.w = c.sum + rows;
  cb_status status = cb_constraints_eval(c.part->constraints, t, c.part->x, NULL, c.C);
  if (!status) status = cb_gram_factor(c.part->gram, c.part->x, c.C, NULL);
  for (int a = 0; a < contacts && !status; a++) {
    const cb_normal *n = &r->normal[a];
    for (int which = 0; which < n->movers; which++)
      if (n->moved[which] == m) project(r, &c, &contact[a], n, r->q + n->column[which]);
  }
  return status;
}

cb_status cb_reflection_normals(cb_reflection *r, double t, const cb_reflection_part *part, int contacts,
                                const cb_reflection_contact *contact) {
  for (int a = 0; a < contacts; a++) {
    cb_normal *n = &r->normal[a];
    const cb_status status = raise(r, part, &contact[a], n);
    if (status) return status;
    for (int which = 0; which < n->movers; which++) unconstrained(r, &contact[a], n, which);
  }
  for (int m = 0; m < r->movers; m++) {
    const cb_status status = r->mover[m].joined ? constrain(r, t, m, part, contacts, contact) : CB_OK;
    if (status) return status;
  }
  return CB_OK;
}

double cb_reflection_rate(const cb_reflection *r, const cb_reflection_contact *contact, int a, double *size) {
  const cb_normal *n = &r->normal[a];
  const int k = r->k;
  double sum = contact[a].value.rate_t;
  *size = fabs(sum);
  for (int i = 0; i < contact[a].gap.n; i++) {
    const double *p = r->p + r->mover[n->mover[i]].at + (size_t)n->inside[i] * k, *R = n->R + (size_t)i * k;
    for (int e = 0; e < k; e++) {
      sum += R[e] * p[e];
      *size += fabs(R[e] * p[e]);
    }
  }
  return sum;
}

double cb_reflection_matrix(const cb_reflection *r, const cb_reflection_contact *contact, int a, int b) {
  const cb_normal *na = &r->normal[a], *nb = &r->normal[b];
  double sum = 0;
  for (int i = 0; i < contact[a].gap.n; i++)
    for (int which = 0; which < nb->movers; which++)
      if (nb->moved[which] == na->mover[i])
        sum += cb_dot(r->k, na->R + (size_t)i * r->k, r->q + nb->column[which] + (size_t)na->inside[i] * r->k);
  return sum;
}
