/* The two rules for several contacts in one instant, on rates u and the matrix D of a group of contacts:
 *
 *   sequential     a = the fastest closing:  l_a = -(1 + e_a) u_a / D_aa,  until none closes
 *   simultaneous   l >= 0,  z = D l + (1 + e) u >= 0,  l^T z = 0
 *
 * Energy changes by l^T (u + w)/2, u before and w after: by sum l_a (1 - e_a) u_a/2 <= 0. Contacts that open take no
 * part in a simultaneous blow; where it makes them close, another one follows.
 * Source: Moreau (1988), doi:10.1007/978-3-7091-2624-0_1; rules compared: Smith, Kaufman, Vouga, Tamstorf & Grinspun
 * (2012), ACM TOG 31, 106, doi:10.1145/2185520.2185602. */
#include "dynamics/reflection_private.h"

#include <math.h>

/* Blows at most: two contacts of a light ball between two heavy ones take about pi sqrt(M/m). */
enum { MOST_BLOWS = 1000000, MOST_ROUNDS = 100000 };
/* Speeds that differ by less, relative to the fastest closing one, are equal: more than methods leave of a symmetry,
 * less than anything meant. */
static const double equal = 1e-10;

/* Order by particles as the user gave them, then kind and index. */
static int compare(const cb_system *system, const cb_gap *a, const cb_gap *b) {
  for (int i = 0; i < a->n && i < b->n; i++) {
    const int p = cb_system_particle(system, a->particle[i]), q = cb_system_particle(system, b->particle[i]);
    if (p != q) return p - q;
  }
  return a->n != b->n ? a->n - b->n : a->kind != b->kind ? a->kind - b->kind : a->index - b->index;
}

static double fastest(const cb_contact_group *g) {
  double most = 0;
  for (int a = 0; a < g->n; a++)
    if (!g->fixed[a] && g->u[a] < -g->tolerance[a]) most = fmax(most, -g->u[a]);
  return most;
}

/* One blow at the contact that closes fastest. */
static cb_status blow_one(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g, double most) {
  int first = -1;
  for (int a = 0; a < g->n; a++) {
    if (g->fixed[a] || !(g->u[a] < -g->tolerance[a]) || -g->u[a] < (1 - equal) * most) continue;
    if (first < 0 || compare(r->system, &contact[g->contact[a]].gap, &contact[g->contact[first]].gap) < 0) first = a;
  }
  g->l[first] = -(1 + g->e[first]) * g->u[first] / g->D[(size_t)first * ((size_t)g->n + 1)];
  return cb_reflection_push(r, contact, g);
}

/* One blow of all that close or touch; where impulses are lost in round-off (gaps that nearly depend on one another),
 * of the fastest alone, which keeps energy as well. What a blow leaves of D l + q is taken from the momenta and mended:
 * a light ball between heavy ones has its speed from impulses that nearly cancel. */
static cb_status blow_all(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g, double most) {
  const size_t n = (size_t)g->n;
  double *D = cb_reflection_room(&r->room_of_rule, 2 * n * n + 9 * n, sizeof *D);
  if (!D) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", g->n);
  double *q = D + n * n, *tolerance = q + n, *room = tolerance + n;
  int *list = (void *)(room + n * n + 5 * n), *of = list + 2 * n, m = 0;
  double *goal = q; /* w = u - q */
  for (int a = 0; a < g->n; a++) {
    if (g->fixed[a] || !(g->u[a] <= equal * most)) continue;
    /* a speed of opening that touching contacts have is round-off of where they come from, and kept as if e = 1 */
    q[m] = (g->u[a] < 0 ? 1 + g->e[a] : 2) * g->u[a];
    tolerance[m] = g->tolerance[a];
    of[m++] = a;
  }
  for (int i = 0; i < m; i++)
    for (int j = 0; j < m; j++)
      D[(size_t)i * (size_t)m + (size_t)j] = g->D[(size_t)of[i] * n + (size_t)of[j]];
  cb_lcp lcp;
  cb_status status = cb_lcp_solve(m, D, q, tolerance, room, list, &lcp);
  if (status == CB_STEP_SINGULAR)
    return cb_fail(status, "%d contacts push against one another: no velocities open them all", m);
  if (status) return blow_one(r, contact, g, most);
  for (int i = 0; i < m; i++) {
    goal[i] = g->u[of[i]] - q[i];
    g->l[of[i]] = lcp.l[i];
  }
  status = cb_reflection_push(r, contact, g);
  for (int pass = 0; pass < 2 && !status; pass++) {
    for (int c = 0; c < lcp.count; c++) lcp.step[c] = goal[lcp.P[c]] - g->u[of[lcp.P[c]]];
    cb_lcp_active(&lcp, lcp.step);
    for (int c = 0; c < lcp.count; c++) g->l[of[lcp.P[c]]] = lcp.step[c];
    status = cb_reflection_push(r, contact, g);
  }
  return status;
}

typedef cb_status (*blow)(cb_reflection *, const cb_reflection_contact *, cb_contact_group *, double);

static cb_status repeat(blow one, int limit, cb_reflection *r, const cb_reflection_contact *contact,
                        cb_contact_group *g) {
  for (int blows = 0;; blows++) {
    const double most = fastest(g);
    if (!(most > 0)) return CB_OK;
    if (blows == limit)
      return cb_fail(CB_STEP_NO_CONVERGENCE, "%d contacts in one instant still close after %d blows", g->n, blows);
    const cb_status status = one(r, contact, g, most);
    if (status) return status;
  }
}

cb_status cb_reflection_sequential(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g) {
  return repeat(blow_one, MOST_BLOWS, r, contact, g);
}

cb_status cb_reflection_simultaneous(cb_reflection *r, const cb_reflection_contact *contact, cb_contact_group *g) {
  return repeat(blow_all, MOST_ROUNDS, r, contact, g);
}
