/* Couplings: a coordinate q of a joint that is a polynomial of the coordinate r of another one, as by gears, belts and
 * linkages without mass of their own.
 *
 *   gap g = q - p(r),   p(r) = c_0 + c_1 r + c_2 r^2 + ..
 *   C eta = N_q (eta_B - X eta_A) - p'(r) N_r (eta_D - X eta_C)        q between the bodies A and B, r between C and D
 * N_q is the covector whose value on a motion of the joint is the rate of q (dual in mechanism_private.h). The impulse
 * lambda pushes q by lambda and r by -p'(r) lambda, so a coupling does no work. It is one more row of those of loops
 * (mechanism_loops.c), which have two parts here. While limits, dry friction or drives hold both coordinates it depends
 * on others, and is dropped. Any unit of q and r; holds at every node to round-off.
 */
#include "mechanism/mechanism_private.h"

#include <string.h>

double cb_joint_polynomial(const cb_joint_coupling *coupling, double r, double *slope) {
  double p = 0, dp = 0;
  for (int k = CB_JOINT_POLYNOMIAL; k--;) {
    dp = dp * r + p;
    p = p * r + coupling->c[k];
  }
  *slope = dp;
  return p;
}

/* Coupling number i: its row, and the first of its two parts. */
static cb_loop_row *row_of(const cb_mechanism *m, int i) { return &m->row[m->rows - m->couplings + i]; }
static cb_loop *parts_of(const cb_mechanism *m, int i) { return &m->loop[m->loops - 2 * (m->couplings - i)]; }

static cb_loop part_at(const cb_mechanism *m, int coordinate) {
  int j = m->joints - 1;
  while (m->first[j] > coordinate) j--;
  const cb_joint *own = &m->joint[j];
  cb_loop out = {.joint = j, .coordinate = coordinate - m->first[j]};
  for (int side = 0; side < 2; side++) out.link[side] = own->body[side] < 0 ? -1 : m->link_of[own->body[side]];
  return out;
}

void cb_couplings_create(cb_mechanism *m) {
  cb_loop *part = m->couplings ? parts_of(m, 0) : NULL;
  for (int j = 0; j < m->joints && part; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) {
      const cb_joint_coupling *own = &m->joint[j].coupling[i];
      if (!own->there) continue;
      part[0] = part_at(m, m->first[j] + i);
      part[1] = part_at(m, own->to);
      part[0].rows = part[0].gaps = 1;
      part[0].second = &part[1];
      part += 2;
    }
}

/* The value of the polynomial, and its derivative, at the present places. */
static double polynomial_of(const cb_mechanism *m, const cb_loop *part, double *slope) {
  return cb_joint_polynomial(&m->joint[part->joint].coupling[part->coordinate], part[1].value, slope);
}

void cb_couplings_find(cb_mechanism *m, double *q) {
  for (int i = 0; i < m->couplings; i++) {
    cb_loop *part = parts_of(m, i);
    double slope;
    for (int k = 0; k < 2; k++) {
      cb_joint_now now;
      cb_loop_at(m, &part[k], q, &now);
      part[k].value = q[m->first[part[k].joint] + part[k].coordinate];
      memcpy(part[k].dual, now.dual[part[k].coordinate], sizeof part[k].dual);
    }
    row_of(m, i)->gap = part[0].value - polynomial_of(m, part, &slope);
  }
}

void cb_couplings_take(cb_mechanism *m, bool end) {
  for (int i = 0; i < m->couplings; i++) {
    cb_loop *part = parts_of(m, i);
    double(*N)[6] = end ? row_of(m, i)->N1 : row_of(m, i)->N0, slope;
    polynomial_of(m, part, &slope);
    for (int k = 0; k < 2; k++) cb_loop_take(m, &part[k], end, part[k].dual, N[k]);
    for (int k = 0; k < 6; k++) N[1][k] *= -slope;
  }
}

void cb_couplings_record(cb_mechanism *m) {
  for (int i = 0; i < m->couplings; i++)
    for (int k = 0; k < 2; k++) {
      const cb_loop *part = &parts_of(m, i)[k];
      const cb_loop_row *row = row_of(m, i);
      const int first = part->link[0];
      if (first >= 0 && m->link[first].joint == part->joint) /* what is recorded is the impulse on the first body */
        cb_sweep_to_parent(part->d, -row->lambda, row->N0[k], m->impulse[part->joint]);
      else
        cb_add6(row->lambda, row->N0[k], m->impulse[part->joint]);
    }
}
