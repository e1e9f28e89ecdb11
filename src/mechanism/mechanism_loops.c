/* Joints that close loops of a mechanism, and couplings (below): rows that are solved together with the sweeps.
 *
 *   row i: a covector N_i on the motion of the joint's second body B relative to the first one, A.
 *   C_i eta = N_i (eta_B - X eta_A) at the end of a step; the impulse G_i^T lambda_i (N_i on B, -X^T N_i on A) acts at
 *   its beginning.
 *   eta = eta_0 + sum_i Z_i lambda_i,  Z_i the sweep of G_i^T alone
 *   a constraint                  C_i eta = -gap_i            (for a driven coordinate: what is missing to its value)
 *   a coordinate of the joint     lambda_i + s_i C_i eta = f_i               force f, stiffness s as for other joints
 * Rows of constraints that depend on others, as in a planar loop of hinges, are found by Cholesky's factorisation with
 * pivots of C K^-1 C^T, and dropped. This is done at the start, and again when a coordinate begins or stops being held
 * by friction or a limit, because a coordinate that is held is one more constraint.
 */
#include "mechanism/mechanism_private.h"

#include "numerics/small.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

/* --- rows --- */

static bool is_dropped(const cb_mechanism *m, int row) { return m->dropped[row] > 0; }

/* Returns N (eta_B - X eta_A). */
static double apply_part(const cb_mechanism *m, const cb_loop *l, const double N[6],
                         const double *(*eta)(const cb_mechanism *m, int link, const void *of), const void *of) {
  double from[6] = {0}, out = 0;
  if (l->link[0] >= 0) cb_sweep_see(l->d, eta(m, l->link[0], of), from);
  if (l->link[1] >= 0) out = cb_sweep_dot(N, eta(m, l->link[1], of));
  return out - cb_sweep_dot(N, from);
}

static double apply_row(const cb_mechanism *m, const cb_loop *l, const double (*N)[6],
                        const double *(*eta)(const cb_mechanism *m, int link, const void *of), const void *of) {
  const double own = apply_part(m, l, N[0], eta, of);
  return l->second ? own + apply_part(m, l->second, N[1], eta, of) : own;
}

static const double *eta_of_sweep(const cb_mechanism *m, int link, const void *of) {
  (void)of;
  return m->link[link].eta;
}

static const double *eta_of_response(const cb_mechanism *m, int link, const void *of) {
  (void)m;
  return ((const double(*)[6])of)[link];
}

/* Adds `factor` times the impulse of the row, or of one part of it, to the wrenches out[links]: N on the second body,
 * and the opposite impulse on the first body. */
static void add_part(const cb_loop *l, const double N[6], double factor, double (*out)[6]) {
  if (l->link[1] >= 0) cb_add6(factor, N, out[l->link[1]]);
  if (l->link[0] < 0) return;
  cb_sweep_to_parent(l->d, -factor, N, out[l->link[0]]);
}

static void add_row(const cb_loop *l, const double (*N)[6], double factor, double (*out)[6]) {
  add_part(l, N[0], factor, out);
  if (l->second) add_part(l->second, N[1], factor, out);
}

/* --- the joints at poses --- */

static const cb_place *place_of(const cb_mechanism *m, int link) { return link >= 0 ? &m->link[link].place : NULL; }

/* Finds the motion of a joint that closes a loop, or of a part of a coupling, at the places of the links, and updates
 * q. */
static void loop_at(const cb_mechanism *m, const cb_loop *l, double *q, cb_joint_now *now) {
  cb_joint_at(&m->joint[l->joint], place_of(m, l->link[0]), place_of(m, l->link[1]), false, CB_JOINT_ROWS,
              q + m->first[l->joint], now);
}

/* Finds N from `covector`. The covector is about the present origin of the second body, and N is about the origin of
 * this body at the beginning of the step. At the beginning (`end` is not set) the function also finds l->d, the vector
 * between the bodies. */
static void loop_take(const cb_mechanism *m, cb_loop *l, bool end, const double covector[6], double N[6]) {
  double moment[3];
  memcpy(N, covector, 6 * sizeof *N);
  if (!end) cb_mechanism_vector(place_of(m, l->link[0]), place_of(m, l->link[1]), l->d);
  if (!end || l->link[1] < 0) return;
  /* moves N from the present origin of the second body to its origin at the beginning of the step */
  cb_cross3(m->link[l->link[1]].moved, N + 3, moment);
  for (int k = 0; k < 3; k++) N[k] += moment[k];
}

/* Returns the number of joints that close loops. */
static int closing(const cb_mechanism *m) { return m->loops - 2 * m->couplings; }

void cb_loops_find(cb_mechanism *m, double *q) {
  int row = 0;
  for (int i = 0; i < closing(m); i++) {
    const cb_loop *l = &m->loop[i];
    loop_at(m, l, q, &m->now[l->joint]);
    for (int r = 0; r < l->rows; r++, row++)
      if (r < l->gaps) m->row[row].gap = m->now[l->joint].gap[r];
  }
  cb_couplings_find(m, q);
}

void cb_loops_take(cb_mechanism *m, bool end) {
  int row = 0;
  for (int i = 0; i < closing(m); i++) {
    cb_loop *l = &m->loop[i];
    const cb_joint_now *now = &m->now[l->joint];
    for (int r = 0; r < l->rows; r++, row++) {
      cb_loop_row *own = &m->row[row];
      loop_take(m, l, end, r < l->gaps ? now->N[r] : now->dual[r - l->gaps], end ? own->N1[0] : own->N0[0]);
    }
  }
  cb_couplings_take(m, end);
}

/* --- solution --- */

/* Finds the response of all links to the impulse of each row, with the factors of the last sweep. */
static void find_responses(cb_mechanism *m) {
  int row = 0;
  for (int i = 0; i < m->loops; i++)
    for (int r = 0; r < m->loop[i].rows; r++, row++) {
      const cb_loop *second = m->loop[i].second;
      if (is_dropped(m, row)) continue;
      if (second) memset(m->pushed, 0, (size_t)m->links * sizeof *m->pushed);
      if (second) add_part(second, m->row[row].N0[1], 1, m->pushed);
      cb_sweep_respond(m, second ? (const double(*)[6])m->pushed : NULL, &m->loop[i], m->row[row].N0[0],
                       m->row[row].response, m->row[row].change);
    }
}

/* Makes the matrix of all rows that are not dropped, and factors it. */
static cb_status find_matrix(cb_mechanism *m) {
  int i = 0, row = 0;
  for (int l = 0; l < m->loops; l++)
    for (int r = 0; r < m->loop[l].rows; r++, row++) {
      const cb_loop_row *own = &m->row[row];
      if (is_dropped(m, row)) continue;
      int k = 0;
      for (int other = 0; other < m->rows; other++) {
        if (is_dropped(m, other)) continue;
        const double entry =
            apply_row(m, &m->loop[l], (const double(*)[6])own->N1, eta_of_response, m->row[other].response);
        m->matrix[i * m->kept + k++] = own->yields ? own->stiff * entry + (other == row) : entry;
      }
      i++;
    }
  return cb_dense_factor(m->kept, m->matrix, m->pivot);
}

cb_status cb_loops_factor(cb_mechanism *m) {
  if (!m->rows) return CB_OK;
  m->kept = 0;
  for (int r = 0; r < m->rows; r++) m->kept += !is_dropped(m, r);
  find_responses(m);
  if (!find_matrix(m)) return CB_OK;
  return cb_fail(
      CB_STEP_SINGULAR,
      "the loops or couplings of joints are in a singular position, in which their conditions depend on each "
      "other (the first has the joint `%s`)",
      m->joint[m->loop[0].joint].name);
}

/* Adds the motion that the changes of lambda cause to eta and dq of all links. */
static void add_responses(cb_mechanism *m) {
  for (int r = 0; r < m->rows; r++) {
    const cb_loop_row *own = &m->row[r];
    if (own->change_of_lambda == 0) continue;
    for (int i = 0; i < m->links; i++) {
      cb_add6(own->change_of_lambda, own->response[i], m->link[i].eta);
      for (int j = 0; j < m->link[i].n; j++) m->link[i].dq[j] += own->change_of_lambda * own->change[i][j];
    }
  }
}

/* Finds the changes of lambda after which the motion obeys all rows, and adds their effect to the motion of the sweep.
 * If `alone` is set, gaps and forces count as 0, as for the response to an impulse alone. */
static void solve_rows(cb_mechanism *m, bool alone) {
  int i = 0, row = 0;
  for (int l = 0; l < m->loops; l++)
    for (int r = 0; r < m->loop[l].rows; r++, row++) {
      const cb_loop_row *own = &m->row[row];
      if (is_dropped(m, row)) continue;
      const double eta = apply_row(m, &m->loop[l], (const double(*)[6])own->N1, eta_of_sweep, NULL),
                   given = alone         ? 0
                           : own->yields ? own->force - own->lambda
                                         : own->target;
      m->right[i++] = given - (own->yields ? own->stiff : 1) * eta;
    }
  cb_dense_solve(m->kept, m->matrix, m->pivot, m->right);
  for (row = 0, i = 0; row < m->rows; row++) m->row[row].change_of_lambda = is_dropped(m, row) ? 0 : m->right[i++];
  add_responses(m);
}

void cb_loops_solve(cb_mechanism *m) {
  if (!m->rows) return;
  solve_rows(m, false);
  for (int r = 0; r < m->rows; r++) m->row[r].lambda += m->row[r].change_of_lambda;
}

void cb_loops_correct(cb_mechanism *m) {
  if (m->rows) solve_rows(m, true);
}

void cb_loops_begin(cb_mechanism *m) {
  for (int r = 0; r < m->rows; r++) m->row[r].lambda = 0;
}

void cb_loops_push(cb_mechanism *m) {
  if (!m->rows) return;
  cb_loops_impulses(m, m->pushed);
  for (int i = 0; i < m->links; i++) cb_add6(1, m->pushed[i], m->link[i].load);
}

void cb_loops_impulses(const cb_mechanism *m, double (*out)[6]) {
  int row = 0;
  memset(out, 0, (size_t)m->links * sizeof *out);
  for (int l = 0; l < m->loops; l++)
    for (int r = 0; r < m->loop[l].rows; r++, row++)
      add_row(&m->loop[l], (const double(*)[6])m->row[row].N0, m->row[row].lambda, out);
}

void cb_loops_record(cb_mechanism *m, bool add) {
  int row = 0;
  for (int l = 0; l < closing(m); l++) {
    const int joint = m->loop[l].joint;
    double own[6] = {0};
    for (int r = 0; r < m->loop[l].rows; r++, row++) cb_add6(m->row[row].lambda, m->row[row].N0[0], own);
    if (!add) {
      memcpy(m->impulse[joint], own, sizeof own);
      continue;
    }
    cb_add6(1, own, m->impulse[joint]);
    cb_drives_settle(m, joint, own);
  }
}

void cb_loops_rates(cb_mechanism *m) {
  int row = 0;
  for (int l = 0; l < m->loops; l++) {
    const int joint = m->loop[l].joint, gaps = m->loop[l].gaps;
    for (int r = 0; r < m->loop[l].rows; r++, row++)
      if (m->row[row].yields)
        m->rate[m->first[joint] + r - gaps] = apply_part(m, &m->loop[l], m->row[row].N0[0], eta_of_sweep, NULL);
  }
}

/* Sets the targets of all rows. If `rates` is set, the targets are the rates of driven coordinates, and 0 for gaps.
 * Otherwise the targets close the gaps and bring driven coordinates to their values. */
void cb_loops_set_targets(cb_mechanism *m, bool rates) {
  int row = 0;
  for (int l = 0; l < m->loops; l++) {
    const int joint = m->loop[l].joint, gaps = m->loop[l].gaps;
    for (int r = 0; r < m->loop[l].rows; r++, row++) {
      cb_loop_row *own = &m->row[row];
      const int c = m->first[joint] + r - gaps;
      if (r < gaps)
        own->target = rates ? 0 : -own->gap;
      else if (!own->yields)
        own->target = rates ? m->drive_rate[c] : m->missing[c];
    }
  }
}

/* --- creation --- */

cb_status cb_loops_create(cb_mechanism *m, const bool *used) {
  for (int j = 0; j < m->joints; j++)
    if (!used[j]) {
      m->loops++;
      m->rows += cb_joint_coordinates(&m->joint[j]) + cb_joint_gaps(&m->joint[j]);
    }
  for (int j = 0; j < m->joints; j++)
    for (int i = 0; i < cb_joint_coordinates(&m->joint[j]); i++) m->couplings += m->joint[j].coupling[i].there;
  m->loops += 2 * m->couplings;
  m->rows += m->couplings;
  if (!m->loops) return CB_OK;
  const size_t rows = (size_t)m->rows, links = (size_t)m->links;
  m->loop = cb_arena_alloc(m->arena, (size_t)m->loops, sizeof *m->loop);
  m->row = cb_arena_alloc(m->arena, rows, sizeof *m->row);
  m->matrix = cb_arena_alloc(m->arena, rows * rows, sizeof *m->matrix);
  m->right = cb_arena_alloc(m->arena, rows, sizeof *m->right);
  m->pivot = cb_arena_alloc(m->arena, rows, sizeof *m->pivot);
  double(*response)[6] = cb_arena_alloc(m->arena, rows * links, sizeof *response),
  (*change)[6] = cb_arena_alloc(m->arena, rows * links, sizeof *change);
  if (!m->loop || !m->row || !m->matrix || !m->right || !m->pivot || !response || !change)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d joints that close loops", m->loops);
  for (size_t r = 0; r < rows; r++)
    m->row[r] = (cb_loop_row){.response = response + r * links, .change = change + r * links};
  int l = 0, row = 0;
  for (int j = 0; j < m->joints; j++) {
    if (used[j]) continue;
    const cb_joint *own = &m->joint[j];
    cb_loop *loop = &m->loop[l++];
    *loop = (cb_loop){.joint = j, .rows = cb_joint_coordinates(own) + cb_joint_gaps(own), .gaps = cb_joint_gaps(own)};
    for (int side = 0; side < 2; side++) loop->link[side] = own->body[side] < 0 ? -1 : m->link_of[own->body[side]];
    for (int r = 0; r < loop->rows; r++, row++) m->row[row].yields = r >= loop->gaps && !own->driven[r - loop->gaps];
  }
  cb_couplings_create(m);
  return CB_OK;
}

/* Returns N . A_B^-1 N + X^T N . A_A^-1 X^T N. This is the response of a row, or of one part of it, if each of its
 * bodies A and B were connected only with the links beyond it. */
static double response_of_part(const cb_mechanism *m, const cb_loop *l, const double N[6]) {
  double out = 0;
  for (int side = 0; side < 2; side++) {
    double of[6] = {0}, answer[6], A[6][6];
    cb_factors6 f;
    if (l->link[side] < 0) continue;
    if (side == 1)
      memcpy(of, N, sizeof of);
    else
      cb_sweep_to_parent(l->d, 1, N, of);
    cb_link_matrix(&m->link[l->link[side]], A);
    if (!cb_factor6((const double(*)[6])A, &f)) continue;
    cb_back6(&f, of, answer);
    out += cb_sweep_dot(of, answer);
  }
  return out;
}

static double response_alone(const cb_mechanism *m, const cb_loop *l, const double (*N)[6]) {
  return response_of_part(m, l, N[0]) + (l->second ? response_of_part(m, l->second, N[1]) : 0);
}

bool cb_loops_are_sorted(const cb_mechanism *m) {
  bool same = m->sorted;
  for (int c = 0; c < m->coordinates && same && m->rows; c++) same = (m->held[c] > 0) == cb_modes_hold(m, c);
  return same || !m->rows;
}

void cb_loops_count(cb_mechanism *m) {
  int row = 0;
  for (int l = 0; l < m->loops; l++)
    for (int r = 0; r < m->loop[l].rows; r++, row++) m->implied[m->loop[l].joint] += is_dropped(m, row);
}

void cb_loops_sort(cb_mechanism *m) {
  const int n = m->rows;
  int count = 0, row = 0;
  int *list = m->pivot; /* from index `taken` on: the constraints that were not taken yet */
  double *M = m->matrix, *scale = m->right;
  m->sorted = true;
  for (int c = 0; c < m->coordinates; c++) m->held[c] = cb_modes_hold(m, c);
  memset(m->dropped, 0, (size_t)n * sizeof *m->dropped);
  find_responses(m);
  for (int l = 0; l < m->loops; l++)
    for (int r = 0; r < m->loop[l].rows; r++, row++) {
      if (!m->row[row].yields) list[count++] = row;
      scale[row] = response_alone(m, &m->loop[l], (const double(*)[6])m->row[row].N0);
      for (int k = 0; k < n; k++)
        M[row * n + k] =
            apply_row(m, &m->loop[l], (const double(*)[6])m->row[row].N0, eta_of_response, m->row[k].response);
    }
  for (int taken = 0; taken < count; taken++) {
    int best = taken;
    for (int i = taken + 1; i < count; i++)
      if (M[list[i] * n + list[i]] / scale[list[i]] > M[list[best] * n + list[best]] / scale[list[best]]) best = i;
    const int r = list[best];
    list[best] = list[taken];
    list[taken] = r;
    if (!(M[r * n + r] > 1e-9 * scale[r])) {
      for (int i = taken; i < count; i++) m->dropped[list[i]] = 1;
      break;
    }
    for (int i = taken + 1; i < count; i++)
      for (int k = taken + 1; k < count; k++)
        M[list[i] * n + list[k]] -= M[list[i] * n + r] * M[r * n + list[k]] / M[r * n + r];
  }
}

/* --- couplings ---
 *
 * Couplings: a coordinate q of a joint that is a polynomial of the coordinate r of another one, as by gears, belts and
 * linkages without mass of their own.
 *
 *   gap g = q - p(r),   p(r) = c_0 + c_1 r + c_2 r^2 + ..
 *   C eta = N_q (eta_B - X eta_A) - p'(r) N_r (eta_D - X eta_C)        q between the bodies A and B, r between C and D
 * N_q is the covector whose value on a motion of the joint is the rate of q (dual in mechanism_private.h). The impulse
 * lambda pushes q by lambda and r by -p'(r) lambda, so a coupling does no work. A coupling is one more row like those
 * of loops (above), but has two parts. While limits, dry friction or drives hold both coordinates, this row depends on
 * others and is dropped. q and r may have any units. The coupling holds at every node to round-off.
 */

double cb_joint_polynomial(const cb_joint_coupling *coupling, double r, double *slope) {
  double p = 0, dp = 0;
  for (int k = CB_JOINT_POLYNOMIAL; k--;) {
    dp = dp * r + p;
    p = p * r + coupling->c[k];
  }
  *slope = dp;
  return p;
}

/* These functions return the row of coupling number i, and the first of its two parts. */
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

/* Returns the value of the polynomial of a coupling, and finds its derivative, at the present value of the coordinate r
 * on which it depends. */
static double polynomial_of(const cb_mechanism *m, const cb_loop *part, double *slope) {
  return cb_joint_polynomial(&m->joint[part->joint].coupling[part->coordinate], part[1].value, slope);
}

void cb_couplings_find(cb_mechanism *m, double *q) {
  for (int i = 0; i < m->couplings; i++) {
    cb_loop *part = parts_of(m, i);
    double slope;
    for (int k = 0; k < 2; k++) {
      cb_joint_now now;
      loop_at(m, &part[k], q, &now);
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
    for (int k = 0; k < 2; k++) loop_take(m, &part[k], end, part[k].dual, N[k]);
    for (int k = 0; k < 6; k++) N[1][k] *= -slope;
  }
}

void cb_couplings_record(cb_mechanism *m) {
  for (int i = 0; i < m->couplings; i++)
    for (int k = 0; k < 2; k++) {
      const cb_loop *part = &parts_of(m, i)[k];
      const cb_loop_row *row = row_of(m, i);
      const int first = part->link[0];
      if (first >= 0 && m->link[first].joint == part->joint) /* m->impulse is then that on the first body */
        cb_sweep_to_parent(part->d, -row->lambda, row->N0[k], m->impulse[part->joint]);
      else
        cb_add6(row->lambda, row->N0[k], m->impulse[part->joint]);
    }
}
