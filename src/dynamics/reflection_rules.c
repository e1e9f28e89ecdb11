/* The two rules for several simultaneous contacts, in terms of the rates u and the matrix D of a group of contacts, and
 * the linear complementarity problem of the second rule:
 *
 *   sequential     a closes fastest:  l_a = -(1 + e_a) u_a / D_aa,  repeated until no contact closes
 *   simultaneous   l >= 0,  z = D l + (1 + e) u >= 0,  l^T z = 0
 *
 * e is the restitution, l are the impulses, D and u are as in reflection.h. The energy changes by l^T (u + w)/2 with
 * the rates u before and w after, hence by sum l_a (1 - e_a) u_a/2 <= 0. Contacts that open take no part in a
 * simultaneous impulse; if the impulse makes them close, another impulse follows. Sources: Moreau (1988),
 * doi:10.1007/978-3-7091-2624-0_1; the rules are compared by Smith, Kaufman, Vouga, Tamstorf & Grinspun (2012), ACM TOG
 * 31, 106, doi:10.1145/2185520.2185602.
 */
#include "dynamics/reflection.h"

#include <float.h>
#include <math.h>

/* The linear complementarity problem of impulses, where D is symmetric and positive semidefinite:
 *
 *   z = D l + q >= 0,   l >= 0,   l^T z = 0
 *
 * Dantzig's method drives one z_a < 0 after another to 0 by increasing l_a, while l_P changes so that z_P stays 0:
 *   dl_a = 1,  D_PP dl_P = -D_Pa.
 * P is the set of indices with l > 0. An index whose l would become negative on the way leaves P, and one whose z would
 * become negative enters P. z is unique; l is unique where D_PP is regular. Sources: Cottle, Pang & Stone, The Linear
 * Complementarity Problem (1992), section 4.2, doi:10.1137/1.9780898719000; Baraff, Fast contact force computation
 * (1994), doi:10.1145/192161.192168. */

/* A contact depends on the others if its pivot is smaller than this, relative to its diagonal element of D. */
static const double dependent = 1e-10;
/* Round-off of z, relative to the sum of the absolute values of its terms. */
static const double round_off = 64 * DBL_EPSILON;
/* If a contact depends on others whose z are 0, its z is 0 too, up to this tolerance. The tolerance is larger than the
 * error of an ill-conditioned D_PP. */
static const double zero = 1e-10;
/* If z_a stays negative and the smallest pivot of D_PP is above this, the problem certainly has no solution. With a
 * smaller pivot the cause may be round-off. */
static const double sure = 1e-5;
/* A solution l counts as growing without bound if the sum of the absolute values of the terms of a z exceeds this,
 * relative to the largest |q|. */
static const double endless = 1e10;
/* Values of `place` for indices that are not in P. DEPENDENT is for a contact that cannot enter P because it depends on
 * P, and RESTS for one that stays without impulse. Both last until the next contact has been driven to z = 0. */
enum { OUT = -1, DEPENDENT = -2, RESTS = -3 };

/* Computes row `at` of the factor, for P[at]. Returns false if the row depends on the rows before it. */
static bool factor_row(cb_lcp *s, int at) {
  const int n = s->n, p = s->P[at];
  double *row = s->L + (size_t)at * n, pivot = s->D[(size_t)p * n + p];
  const double least = dependent * pivot;
  for (int c = 0; c < at; c++) {
    const double *other = s->L + (size_t)c * n;
    double sum = s->D[(size_t)p * n + s->P[c]];
    for (int b = 0; b < c; b++) sum -= row[b] * other[b];
    row[c] = sum / other[c];
    pivot -= row[c] * row[c];
  }
  if (!(pivot > least)) return false;
  row[at] = sqrt(pivot);
  return true;
}

static bool enter(cb_lcp *s, int a) {
  s->P[s->count] = a;
  if (!factor_row(s, s->count)) return false;
  s->place[a] = s->count++;
  return true;
}

static void leave(cb_lcp *s, int a) {
  const int at = s->place[a];
  s->place[a] = OUT;
  s->count--;
  for (int c = at; c < s->count; c++) {
    s->P[c] = s->P[c + 1];
    s->place[s->P[c]] = c;
    /* the pivot of this row becomes larger, because a row above it was removed */
    factor_row(s, c);
  }
}

/* Replaces y[count] by D_PP^-1 y. */
static void lcp_active(const cb_lcp *s, double *y) {
  for (int c = 0; c < s->count; c++) {
    const double *row = s->L + (size_t)c * s->n;
    for (int b = 0; b < c; b++) y[c] -= row[b] * y[b];
    y[c] /= row[c];
  }
  for (int c = s->count - 1; c >= 0; c--) {
    y[c] /= s->L[(size_t)c * s->n + c];
    for (int b = 0; b < c; b++) y[b] -= s->L[(size_t)c * s->n + b] * y[c];
  }
}

/* Finds how l_P and z change if l_a grows by 1 and z_P stays 0: step[P] = dl_P and rate[j] = dz_j. */
static void direction(cb_lcp *s, int a) {
  const int n = s->n;
  for (int c = 0; c < s->count; c++) s->step[c] = -s->D[(size_t)s->P[c] * n + a];
  lcp_active(s, s->step);
  for (int c = 0; c < s->count; c++) { /* a change within round-off counts as 0 */
    const int p = s->P[c];
    if (fabs(s->step[c]) * sqrt(s->D[(size_t)p * n + p]) < dependent * sqrt(s->D[(size_t)a * n + a])) s->step[c] = 0;
  }
  for (int j = 0; j < n; j++) {
    s->rate[j] = s->D[(size_t)j * n + a];
    for (int c = 0; c < s->count; c++) s->rate[j] += s->D[(size_t)j * n + s->P[c]] * s->step[c];
    if (s->place[j] >= 0) s->rate[j] = 0;
  }
}

static double least_pivot(const cb_lcp *s) {
  double least = 1;
  for (int c = 0; c < s->count; c++) {
    const double pivot = s->L[(size_t)c * (size_t)(s->n + 1)];
    least = fmin(least, pivot * pivot / s->D[(size_t)s->P[c] * (size_t)(s->n + 1)]);
  }
  return least;
}

/* Finds the first contact that stops the growth of l_a because its own l or z becomes 0. On entry *length is the amount
 * by which l_a must grow until z_a becomes 0; on return it is the amount until this contact stops the growth. Returns a
 * if no other contact stops it. */
static int first_block(const cb_lcp *s, int a, const double *tolerance, double *length) {
  const double *D = s->D, diagonal = D[(size_t)a * (size_t)(s->n + 1)];
  /* If z_a becomes 0 at the same time as others, a is handled first. */
  double until = *length - (*length < INFINITY ? tolerance[a] / s->rate[a] : 0);
  int block = a;
  for (int j = 0; j < s->n; j++) {
    double here = INFINITY;
    if (j == a) continue;
    if (s->place[j] >= 0) {
      if (s->step[s->place[j]] < 0) here = s->l[j] / -s->step[s->place[j]];
    } else if (s->place[j] == OUT && s->z[j] >= -tolerance[j] &&
               s->rate[j] < -dependent * sqrt(D[(size_t)j * (size_t)(s->n + 1)] * diagonal)) {
      here = fmax(s->z[j], 0) / -s->rate[j];
    }
    if (!(here < until)) continue;
    until = *length = here;
    block = j;
  }
  return block;
}

/* Finds the first contact whose impulse becomes 0 while l_a decreases and z does not change. Returns a if this is l_a
 * itself. *length becomes the change of l_a, which is negative or 0. */
static int first_back(const cb_lcp *s, int a, double *length) {
  int block = a;
  *length = s->l[a];
  for (int c = 0; c < s->count; c++)
    if (s->step[c] > 0 && s->l[s->P[c]] / s->step[c] < *length) {
      block = s->P[c];
      *length = s->l[block] / s->step[c];
    }
  *length = -*length;
  return block;
}

static double size_of(const cb_lcp *s, const double *q, int a) {
  double sum = fabs(q[a]) + s->D[(size_t)a * (size_t)(s->n + 1)] * s->l[a];
  for (int c = 0; c < s->count; c++) sum += fabs(s->D[(size_t)a * (size_t)s->n + (size_t)s->P[c]] * s->l[s->P[c]]);
  return sum;
}

/* Increases l_a until z_a is 0. If contact a depends on the contacts in P and z_a is 0 already, l_a decreases instead,
 * until a replaces another contact in P or l_a is 0. *left is the number of steps that are still allowed. Returns the
 * errors of cb_lcp_solve. */
static cb_status drive(cb_lcp *s, int a, const double *q, const double *tolerance, int *left) {
  double maximum = 0;
  for (int j = 0; j < s->n; j++) maximum = fmax(maximum, fabs(q[j]));
  while ((*left)--) {
    direction(s, a);
    const bool ends = s->rate[a] > dependent * s->D[(size_t)a * (size_t)(s->n + 1)];
    double length = ends ? -s->z[a] / s->rate[a] : INFINITY;
    int block = first_block(s, a, tolerance, &length);
    const bool back = !(length < INFINITY);
    if (back) { /* a depends on P: if z_a is 0, a replaces another contact or stays without impulse */
      if (s->z[a] < -zero * size_of(s, q, a)) return least_pivot(s) > sure ? CB_STEP_SINGULAR : CB_STEP_NO_CONVERGENCE;
      block = first_back(s, a, &length);
    }
    s->l[a] += length;
    if (!(size_of(s, q, a) <= endless * maximum)) return CB_STEP_NO_CONVERGENCE;
    for (int c = 0; c < s->count; c++) s->l[s->P[c]] = fmax(s->l[s->P[c]] + length * s->step[c], 0);
    for (int j = 0; j < s->n; j++) s->z[j] += length * s->rate[j];
    if (back && block == a) {
      s->l[a] = 0;
      s->place[a] = RESTS;
      return CB_OK;
    }
    if (s->place[block] >= 0) {
      s->l[block] = s->z[block] = 0;
      leave(s, block);
      if (back) s->place[block] = DEPENDENT;
      continue;
    }
    s->z[block] = 0;
    const bool entered = enter(s, block);
    if (!entered) s->place[block] = DEPENDENT;
    if (block != a) continue;
    for (int j = 0; j < s->n; j++)
      if (s->place[j] < 0) s->place[j] = OUT;
    if (!entered) s->place[a] = RESTS;
    return CB_OK;
  }
  return CB_STEP_NO_CONVERGENCE;
}

/* Computes l and z again for the final set P, by the Cholesky factor and two refinements. error[j] becomes the
 * round-off of z_j. Returns false if l is lost in round-off. */
static bool settle(cb_lcp *s, const double *q, double *error) {
  const int n = s->n;
  double maximum = 0, clipped = 0;
  s->least = least_pivot(s);
  for (int j = 0; j < n; j++) {
    s->l[j] = 0;
    maximum = fmax(maximum, fabs(q[j]));
  }
  for (int pass = 0; pass < 3; pass++) {
    for (int c = 0; c < s->count; c++) {
      const int p = s->P[c];
      s->step[c] = -q[p];
      for (int b = 0; b < s->count; b++) s->step[c] -= s->D[(size_t)p * n + s->P[b]] * s->l[s->P[b]];
    }
    lcp_active(s, s->step);
    for (int c = 0; c < s->count; c++) s->l[s->P[c]] += s->step[c];
  }
  for (int c = 0; c < s->count; c++) {
    const int p = s->P[c];
    clipped = fmax(clipped, -s->l[p] * s->D[(size_t)p * n + p]);
    s->l[p] = fmax(s->l[p], 0);
  }
  for (int j = 0; j < n; j++) {
    s->z[j] = q[j];
    error[j] = fabs(q[j]);
    for (int c = 0; c < s->count; c++) {
      const double term = s->D[(size_t)j * n + s->P[c]] * s->l[s->P[c]];
      s->z[j] += term;
      error[j] += fabs(term);
    }
    error[j] *= round_off / s->least;
    if (s->place[j] >= 0) s->z[j] = 0;
  }
  return clipped <= zero * maximum;
}

cb_status cb_lcp_solve(int n, const double *D, const double *q, const double *tolerance, double *buffer, int *list,
                       cb_lcp *s) {
  const size_t size = (size_t)n;
  *s = (cb_lcp){.n = n, .D = D, .L = buffer, .l = buffer + size * size, .P = list, .place = list + n};
  s->z = s->l + n;
  s->step = s->z + n;
  s->rate = s->step + n;
  double *near = s->rate + n;
  int left = 100 + 50 * n;
  for (int j = 0; j < n; j++) s->place[j] = OUT;
  for (;;) {
    int worst = -1;
    double maximum = 0;
    if (!settle(s, q, near)) return CB_STEP_NO_CONVERGENCE;
    for (int j = 0; j < n; j++) {
      near[j] = fmax(near[j], tolerance[j]);
      if (s->place[j] >= 0 || s->place[j] == RESTS || !(s->z[j] < -near[j])) continue;
      const double size_j = -s->z[j] / sqrt(D[(size_t)j * n + j]);
      if (worst >= 0 && !(size_j > maximum)) continue;
      maximum = size_j;
      worst = j;
    }
    if (worst < 0) return CB_OK;
    const cb_status status = drive(s, worst, q, near, &left);
    if (status) return status;
  }
}

/* The maximum numbers of impulses with the two rules. For comparison: a ball of mass m between two balls of a much
 * larger mass M needs up to about pi sqrt(M/(2m)) impulses. */
enum { MAX_BLOWS = 1000000, MAX_ROUNDS = 100000 };
/* Speeds that differ by less than this, relative to the fastest closing one, are treated as equal. This tolerance is
 * larger than the asymmetry that integrators add to a symmetric state, and smaller than any intended difference. */
static const double equal = 1e-10;

/* Orders gaps by their particles as the user gave them, then by type and index. */
static int compare(const cb_system *system, const cb_gap *a, const cb_gap *b) {
  for (int i = 0; i < a->n && i < b->n; i++) {
    const int p = cb_system_particle(system, a->particle[i]), q = cb_system_particle(system, b->particle[i]);
    if (p != q) return p - q;
  }
  return a->n != b->n ? a->n - b->n : a->kind != b->kind ? a->kind - b->kind : a->index - b->index;
}

static double fastest(const cb_contact_group *g) {
  double maximum = 0;
  for (int a = 0; a < g->n; a++)
    if (!g->fixed[a] && g->u[a] < -g->tolerance[a]) maximum = fmax(maximum, -g->u[a]);
  return maximum;
}

/* Applies one impulse, at the contact that closes fastest. */
static cb_status blow_one(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g, double maximum) {
  int first = -1;
  for (int a = 0; a < g->n; a++) {
    if (g->fixed[a] || !(g->u[a] < -g->tolerance[a]) || -g->u[a] < (1 - equal) * maximum) continue;
    if (first < 0 || compare(r->system, &contact[g->contact[a]].gap, &contact[g->contact[first]].gap) < 0) first = a;
  }
  g->l[first] = -(1 + g->e[first]) * g->u[first] / g->D[(size_t)first * ((size_t)g->n + 1)];
  return cb_reflection_push(r, contact, g);
}

/* Applies impulses at all contacts that close or touch, at the same time. If these impulses are lost in round-off,
 * because gaps nearly depend on one another, only the contact that closes fastest gets an impulse; a single impulse
 * also conserves energy. The residual of D l + q is computed again from the momenta and is corrected, because the speed
 * of a light ball between heavy ones is a small difference of large impulses.
 */
static cb_status blow_all(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g, double maximum) {
  const size_t n = (size_t)g->n;
  double *D = cb_reflection_reserve(&r->reserved_rule, 2 * n * n + 9 * n, sizeof *D);
  if (!D) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", g->n);
  double *q = D + n * n, *tolerance = q + n, *buffer = tolerance + n;
  int *list = (void *)(buffer + n * n + 5 * n), *of = list + 2 * n, m = 0;
  /* goal[i] replaces q[i] after the solution: the rate that the contact of[i] must have after the impulses. */
  double *goal = q;
  for (int a = 0; a < g->n; a++) {
    if (g->fixed[a] || !(g->u[a] <= equal * maximum)) continue;
    /* The opening speed of a touching contact is the round-off of an earlier impulse. It is treated like a closing
     * speed with e = 1, so that the energy does not change. */
    q[m] = (g->u[a] < 0 ? 1 + g->e[a] : 2) * g->u[a];
    tolerance[m] = g->tolerance[a];
    of[m++] = a;
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++) D[(size_t)i * (size_t)m + (size_t)j] = g->D[(size_t)of[i] * n + (size_t)of[j]];
  cb_lcp lcp;
  cb_status status = cb_lcp_solve(m, D, q, tolerance, buffer, list, &lcp);
  if (status == CB_STEP_SINGULAR)
    return cb_fail(status,
                   "%d contacts push against one another, and no velocities separate all of them: use `rule: "
                   "sequential`, or start the bodies farther apart",
                   m);
  if (status) return blow_one(r, contact, g, maximum);
  for (int i = 0; i < m; i++) {
    goal[i] = g->u[of[i]] - q[i];
    g->l[of[i]] = lcp.l[i];
  }
  status = cb_reflection_push(r, contact, g);
  for (int pass = 0; pass < 2 && !status; pass++) {
    for (int c = 0; c < lcp.count; c++) lcp.step[c] = goal[lcp.P[c]] - g->u[of[lcp.P[c]]];
    lcp_active(&lcp, lcp.step);
    for (int c = 0; c < lcp.count; c++) g->l[of[lcp.P[c]]] = lcp.step[c];
    status = cb_reflection_push(r, contact, g);
  }
  return status;
}

typedef cb_status (*blow)(cb_reflection *, const cb_reflection_contact *, cb_contact_group *, double);

static cb_status repeat(blow one, int limit, cb_reflection *r, const cb_reflection_contact *contact,
                        cb_contact_group *g) {
  for (int blows = 0;; blows++) {
    const double maximum = fastest(g);
    if (!(maximum > 0)) return CB_OK;
    if (blows == limit)
      return cb_fail(CB_STEP_NO_CONVERGENCE,
                     "%d simultaneous contacts still close after %d impulses: expected masses that differ less, or a "
                     "restitution below 1",
                     g->n, blows);
    const cb_status status = one(r, contact, g, maximum);
    if (status) return status;
  }
}

cb_status cb_reflection_sequential(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g) {
  return repeat(blow_one, MAX_BLOWS, r, contact, g);
}

cb_status cb_reflection_simultaneous(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g) {
  return repeat(blow_all, MAX_ROUNDS, r, contact, g);
}
