/* The local fluid model, computed face by face directly from the equations in fluid/local.h, as a reference for the
 * kernels of the library. The sums are in long double. */
#pragma once

#include "fluid/local_private.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

typedef struct corner_face {
  double x[3][3], v[3][3], n[3], area;
} corner_face;

static inline void between(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = b[i] - a[i];
}

/* Reads the face in the given slot. Returns false if the face has no area; such a face has no effect. */
static inline bool take(const cb_local *l, int slot, corner_face *f) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      f->x[k][i] = l->x[l->corner[k][slot] + i];
      f->v[k][i] = l->moving ? l->v[l->corner[k][slot] + i] : 0;
    }
  cb_normal3(f->x[0], f->x[1], f->x[2], f->n);
  const double twice = sqrt(cb_dot3(f->n, f->n));
  f->area = twice / 2;
  for (int i = 0; i < 3 && twice > 0; i++) f->n[i] /= twice;
  return twice > 0;
}

static inline void moment(const double x[3], const double n[3], double m[6]) {
  cb_cross3(x, n, m);
  memcpy(m + 3, n, 3 * sizeof *n);
}

static inline double sides(const cb_local *l, int part) { return l->open[part] ? 2 : 1; }

/* --- delta, a length of each part (see fluid/local.h) --- */

/* Sums over the edges of a part: length times bending angle over the edges between two faces; the length of the border
 * edges; and the length of the edges at which two faces are folded onto each other. */
typedef struct bends {
  long double turning, border, folded;
} bends;

/* Adds the edge from e0 to e1 to *sum, with the weight `share`. The faces in slot0 and slot1 meet at this edge. */
static inline void bend(const cb_local *l, const double *e0, const double *e1, int slot0, int slot1, double share,
                        bends *sum) {
  double e[3], normal[3];
  corner_face f[2];
  take(l, slot0, f);
  take(l, slot1, f + 1);
  between(e0, e1, e);
  cb_cross3(f[0].n, f[1].n, normal);
  const double size = sqrt(cb_dot3(e, e)), sine = cb_dot3(e, normal), cosine = size * cb_dot3(f[0].n, f[1].n);
  if (!(size > 0)) return;
  const bool fold = cosine < 0 && fabs(sine) < CB_LOCAL_FOLDED * fabs(cosine);
  sum->turning += share * size * (fold ? fabs(atan2(sine, cosine)) : atan2(sine, cosine));
  if (fold) sum->folded += share * size;
}

static inline void turn(const cb_local *l, int p, cb_local_part *part, double *folds) {
  bends sum = {0};
  for (int b = 0; b < l->edge_blocks; b++) {
    const cb_local_block *block = l->edge_block + b;
    if (block->part != p) continue;
    const double share = block->kind == CB_LOCAL_SHARED ? 0.5 : 1;
    for (int k = block->begin; k < block->end; k++) {
      const double *end[2] = {l->x + l->edge_end[0][k], l->x + l->edge_end[1][k]};
      double e[3];
      between(end[0], end[1], e);
      if (block->kind == CB_LOCAL_BORDER)
        sum.border += sqrt(cb_dot3(e, e));
      else
        bend(l, end[0], end[1], l->rim_slot[l->edge_face[0][k] / 4], l->rim_slot[l->edge_face[1][k] / 4], share, &sum);
    }
  }
  for (int b = 0; b < l->face_blocks; b++) {
    const cb_local_block *block = l->face_block + b;
    for (int slot = block->begin; block->part == p && slot < block->end; slot++)
      for (int k = 0; k < 2; k++) {
        const int other = block->begin + l->beside[k][slot] / 4, from = k ? 2 : 0, to = k ? 0 : 1;
        if (other != slot) bend(l, l->x + l->corner[from][slot], l->x + l->corner[to][slot], slot, other, 1, &sum);
      }
  }
  part->turning = (double)sum.turning;
  part->border = (double)sum.border;
  *folds = (double)sum.folded;
}

/* --- added mass --- */

static inline void scalar_added_mass(cb_local *l, double rho1, const double *rho, double mass[6][6], double mu0[6],
                                     cb_local_part *part) {
  long double K[6][6] = {{0}}, mu[6] = {0};
  for (int p = 0; p < l->parts; p++) {
    long double area = 0, volume = 0, part_K[6][6] = {{0}}, part_mu[6] = {0};
    cb_local_part found = {0};
    double folds;
    for (int b = 0; b < l->face_blocks; b++)
      for (int slot = l->face_block[b].begin; l->face_block[b].part == p && slot < l->face_block[b].end; slot++) {
        corner_face f;
        if (!take(l, slot, &f)) continue;
        const double density = rho ? rho[l->face_of[slot]] : rho1;
        area += f.area;
        volume += f.area * cb_dot3(f.x[0], f.n) / 3;
        for (int k = 0; k < 3; k++) {
          double x[3], v[3], m[6];
          for (int i = 0; i < 3; i++) {
            x[i] = (f.x[k][i] + f.x[(k + 1) % 3][i]) / 2;
            v[i] = (f.v[k][i] + f.v[(k + 1) % 3][i]) / 2;
          }
          moment(x, f.n, m);
          const double weight = density * f.area / 3, normal = cb_dot3(v, f.n) - l->mean[p];
          for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++) part_K[i][j] += weight * m[i] * m[j];
            if (l->moving) part_mu[i] += weight * normal * m[i];
          }
        }
      }
    if (!(area > 0)) continue;
    turn(l, p, &found, &folds);
    found.area = sides(l, p) * (double)area;
    found.volume = l->open[p] ? 0 : (double)volume;
    cb_local_delta(l->open[p], folds, &found);
    for (int i = 0; i < 6; i++) {
      for (int j = 0; j < 6; j++) K[i][j] += found.delta * sides(l, p) * part_K[i][j];
      mu[i] += found.delta * sides(l, p) * part_mu[i];
    }
    if (part) part[p] = found;
  }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; j < 6; j++) mass[i][j] = (double)K[i][j];
    if (mu0) mu0[i] = (double)mu[i];
  }
}

/* --- drag --- */

static inline void scalar_drag(cb_local *l, double rho1, const double *rho, const double Y[6], const double flow1[3],
                               const double (*flow)[3], double c_n, double c_t, double wrench[6],
                               double jacobian[6][6]) {
  long double F[6] = {0}, J[6][6] = {{0}};
  for (int b = 0; b < l->face_blocks; b++)
    for (int slot = l->face_block[b].begin; slot < l->face_block[b].end; slot++) {
      corner_face f;
      if (!take(l, slot, &f)) continue;
      const double *wind = flow ? flow[l->face_of[slot]] : flow1, density = rho ? rho[l->face_of[slot]] : rho1;
      double c[3], u[3], m[6], q[6];
      for (int i = 0; i < 3; i++) c[i] = (f.x[0][i] + f.x[1][i] + f.x[2][i]) / 3;
      cb_cross3(Y, c, u);
      for (int i = 0; i < 3; i++) u[i] += Y[3 + i] + (f.v[0][i] + f.v[1][i] + f.v[2][i]) / 3 - (wind ? wind[i] : 0);
      moment(c, f.n, m);
      moment(c, u, q);
      const double size = sqrt(cb_dot3(u, u)), normal = cb_dot3(u, f.n),
                   area = f.area * sides(l, l->face_block[b].part);
      for (int i = 0; i < 6; i++) {
        F[i] -= density / 2 * area * size * normal * m[i] + area * ((c_n - c_t) * normal * m[i] + c_t * q[i]);
        for (int j = 0; j < 6; j++) {
          if (size > 0) J[i][j] -= density / 2 * area * (size * m[i] * m[j] + normal / size * m[i] * q[j]);
          J[i][j] -= area * (c_n - c_t) * m[i] * m[j];
        }
      }
      /* adds the part -area c_t [[-hat(c)^2, hat(c)], [-hat(c), 1]] of the Jacobian; hat(c) is the matrix of the
       * product c × */
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
          const double hat = i == j ? 0 : ((j - i + 3) % 3 == 1 ? -1 : 1) * c[3 - i - j];
          J[i][j] -= area * c_t * ((i == j) * cb_dot3(c, c) - c[i] * c[j]);
          J[i][3 + j] -= area * c_t * hat;
          J[3 + i][j] += area * c_t * hat;
          J[3 + i][3 + j] -= area * c_t * (i == j);
        }
    }
  for (int i = 0; i < 6; i++) {
    for (int j = 0; jacobian && j < 6; j++) jacobian[i][j] = (double)J[i][j];
    wrench[i] = (double)F[i];
  }
}
