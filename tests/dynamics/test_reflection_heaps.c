/* Tests of many simultaneous contacts: random heaps compared with an enumeration of active sets, conserved quantities,
 * and independence of the order of contacts.
 */
#include "dynamics/reflection.h"
#include "reflect.h"

enum { HEAP = 10, HEAP_CONTACTS = 20 };

typedef struct heap {
  body_case c;
  cb_reflection *r;
  int n;
  cb_reflection_contact contact[HEAP_CONTACTS];
} heap;

/* Makes HEAP balls and `most` contacts between random pairs of them. If `closing`, all balls move towards the base
 * point, so that all contacts close; otherwise they move at random. If `restitution` is negative, each contact gets a
 * random restitution from 0 to 1. */
static void open_heap(heap *h, const char *space, int most, bool closing, double restitution, uint64_t *seed) {
  open_gas(&h->c, space, HEAP, 4, seed);
  check_ok(cb_reflection_create(h->c.system, &h->r));
  const cb_space *g = h->c.g;
  double v[MOST], base[CB_COORD_MAX];
  cb_space_base_point(g, base);
  for (int a = 0; a < HEAP && closing; a++) check_ok(cb_log(g, h->c.state->x + a * g->k, base, v + a * g->k));
  if (closing) set_velocities(&h->c, v);
  bool taken[HEAP][HEAP] = {{false}};
  h->n = 0;
  while (h->n < most) {
    const int i = (int)check_uniform(seed, 0, HEAP), j = (int)check_uniform(seed, 0, HEAP);
    if (i >= j || taken[i][j]) continue;
    taken[i][j] = true;
    h->contact[h->n++] = spheres(&h->c, i, j, restitution >= 0 ? restitution : check_uniform(seed, 0, 1), 1);
  }
}

static void close_heap(heap *h) {
  cb_reflection_free(h->r);
  close_case(&h->c);
}

static void reflect_heap(heap *h, cb_contact_rule rule) {
  const cb_reflection_part part = whole(&h->c, NULL);
  check_ok(cb_reflect(h->r, rule, 0, 1, &part, h->n, h->contact));
}

/* Writes the n x n matrix D of the contacts. D_ab is the sum of <e_a, e_b>/m over the balls that the contacts a and b
 * share. Here m is the ball's mass, and e_a is the unit vector at the ball towards the other ball of contact a. */
static void heap_matrix(const heap *h, double *D) {
  const cb_space *g = h->c.g;
  const double *mass = cb_system_masses(h->c.system);
  double unit[HEAP_CONTACTS][2][CB_COORD_MAX];
  for (int a = 0; a < h->n; a++)
    for (int side = 0; side < 2; side++) {
      const double *x = h->c.state->x + h->contact[a].gap.particle[side] * g->k,
                   *y = h->c.state->x + h->contact[a].gap.particle[1 - side] * g->k;
      check_ok(cb_log(g, x, y, unit[a][side]));
      for (int i = 0; i < g->k; i++) unit[a][side][i] /= cb_distance(g, x, y);
    }
  for (int a = 0; a < h->n; a++)
    for (int b = 0; b < h->n; b++) {
      D[a * h->n + b] = 0;
      for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
          if (h->contact[a].gap.particle[s] == h->contact[b].gap.particle[t])
            D[a * h->n + b] += cb_inner(g, unit[a][s], unit[b][t]) / mass[h->contact[a].gap.particle[s]];
    }
}

/* Finds l >= 0 with z = D l + q >= 0, where l or z is 0 in each row. It tries every set of rows in which l may be
 * positive, and writes z. Values down to -near count as >= 0. Returns false if there is no solution. */
static bool enumerate(int n, const double *D, const double *q, double near, double *z) {
  for (int set = 0; set < 1 << n; set++) {
    double m[8][9];
    int P[8], count = 0;
    for (int a = 0; a < n; a++)
      if (set >> a & 1) P[count++] = a;
    for (int i = 0; i < count; i++) {
      for (int j = 0; j < count; j++) m[i][j] = D[P[i] * n + P[j]];
      m[i][count] = -q[P[i]];
    }
    bool regular = true;
    for (int c = 0; c < count && regular; c++) {
      int best = c;
      for (int i = c; i < count; i++)
        if (fabs(m[i][c]) > fabs(m[best][c])) best = i;
      regular = fabs(m[best][c]) > 1e-9 * D[P[c] * n + P[c]];
      for (int j = 0; j <= count && regular; j++) {
        const double swap = m[c][j];
        m[c][j] = m[best][j];
        m[best][j] = swap;
      }
      for (int i = 0; i < count && regular; i++) {
        const double f = i == c ? 0 : m[i][c] / m[c][c];
        for (int j = c; j <= count; j++) m[i][j] -= f * m[c][j];
      }
    }
    bool good = regular;
    for (int i = 0; i < count && good; i++) good = m[i][count] / m[i][i] >= -near;
    for (int a = 0; a < n && good; a++) {
      z[a] = q[a];
      for (int i = 0; i < count; i++) z[a] += D[a * n + P[i]] * m[i][count] / m[i][i];
      good = z[a] >= -near;
    }
    if (good) return true;
  }
  return false;
}

static const char *const spaces[] = {"e2", "e3", "s3", "h3", "h2xe", "s2xe"};
enum { SPACES = sizeof spaces / sizeof *spaces, TRIALS = CHECK_SANITIZED ? 5 : 40 };

/* All contacts close, with rates u < 0. The restitution is e, the impulses are l, and the rates after the reflection
 * are w. Then w + e u >= 0 and l >= 0, and for each contact one of these two numbers is 0. Also, w + e u is the z that
 * `enumerate` finds. */
static void simultaneous_impulses_solve_the_complementarity_problem(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < SPACES; s++)
    for (int trial = 0; trial < TRIALS; trial++) {
      heap h;
      const bool few = trial % 2;
      open_heap(&h, spaces[s], few ? 8 : HEAP_CONTACTS, true, trial % 4 < 2 ? -1 : 1, &seed);
      double D[HEAP_CONTACTS * HEAP_CONTACTS], q[HEAP_CONTACTS], z[HEAP_CONTACTS];
      heap_matrix(&h, D);
      for (int a = 0; a < h.n; a++) {
        const double u = contact_rate(&h.c, &h.contact[a]);
        check_at_most(u, 0);
        q[a] = (1 + h.contact[a].restitution) * u;
      }
      const double T = kinetic(&h.c);
      reflect_heap(&h, CB_CONTACT_SIMULTANEOUS);
      for (int a = 0; a < h.n; a++) {
        const cb_reflection_contact *c = &h.contact[a];
        const double w = contact_rate(&h.c, c), left = w + c->restitution * c->before;
        check_near(w, c->after, 1e-12); /* round-off: the lightest ball has speeds of up to 30 */
        check_at_least(left, -1e-12);
        check_at_least(c->impulse, 0);
        check_near(fmin(left, c->impulse), 0, 1e-12);
      }
      check_at_most(kinetic(&h.c), T * (1 + 1e-14));
      if (trial % 4 >= 2) check_relative(kinetic(&h.c), T, 1e-14);
      if (few) {
        assert_true(enumerate(8, D, q, 1e-11, z));
        for (int a = 0; a < 8; a++)
          check_near(h.contact[a].after + h.contact[a].restitution * h.contact[a].before, z[a], 1e-10);
      }
      close_heap(&h);
    }
}

/* After the reflection no contact closes, and the kinetic energy is not larger than before. Before it, some contacts
 * close and others open. */
static void no_contact_closes_afterwards_and_energy_is_not_gained(void **state) {
  uint64_t seed = check_seed();
  for (int s = 0; s < SPACES; s++)
    for (int trial = 0; trial < TRIALS; trial++)
      for (int rule = 0; rule < 2; rule++) {
        heap h;
        open_heap(&h, spaces[s], 1 + trial % HEAP_CONTACTS, false, trial % 2 ? 1 : -1, &seed);
        double J[CB_KILLING_MAX], after[CB_KILLING_MAX], size, more;
        const double T = kinetic(&h.c);
        momenta(&h.c, J, &size);
        reflect_heap(&h, (cb_contact_rule)rule);
        const double T2 = kinetic(&h.c);
        for (int a = 0; a < h.n; a++) {
          check_at_least(contact_rate(&h.c, &h.contact[a]), -1e-12);
          check_at_least(h.contact[a].impulse, 0);
        }
        check_at_most(T2, T * (1 + 1e-13));
        /* Restitution 1 conserves the energy, up to the round-off of hundreds of impulses. */
        if (trial % 2) check_relative(T2, T, 1e-13);
        momenta(&h.c, after, &more);
        check_at_most(check_distance_max(h.c.g->n_killing, J, after), 1e-14 * (size + more));
        close_heap(&h);
      }
}

static void the_order_of_contacts_does_not_matter(void **state) {
  uint64_t seed = check_seed();
  for (int trial = 0; trial < TRIALS; trial++)
    for (int rule = 0; rule < 2; rule++) {
      heap h;
      open_heap(&h, "h3", 12, trial % 2, 0.6, &seed);
      cb_state *copy = clone_state(&h.c);
      double first[MOST];
      const size_t bytes = (size_t)(HEAP * h.c.g->k) * sizeof(double);
      reflect_heap(&h, (cb_contact_rule)rule);
      memcpy(first, h.c.state->p, bytes);
      cb_state_copy(h.c.state, copy);
      for (int a = 0; a < h.n / 2; a++) {
        const cb_reflection_contact swap = h.contact[a];
        h.contact[a] = h.contact[h.n - 1 - a];
        h.contact[h.n - 1 - a] = swap;
      }
      reflect_heap(&h, (cb_contact_rule)rule);
      /* round-off of momenta of up to 100 */
      check_at_most(check_distance_max(HEAP * h.c.g->k, first, h.c.state->p), 1e-11);
      cb_state_free(copy);
      close_heap(&h);
    }
}

/* Each of many contacts that share no ball behaves as if it were the only one. */
static void independent_groups_do_not_touch_one_another(void **state) {
  enum { PAIRS = 100 };
  uint64_t seed = check_seed();
  double x[2 * PAIRS * 3], v[2 * PAIRS * 3], mass[2 * PAIRS];
  for (int i = 0; i < 2 * PAIRS * 3; i++) {
    x[i] = check_uniform(&seed, -1, 1);
    v[i] = check_uniform(&seed, -1, 1);
    mass[i / 3] = check_uniform(&seed, 0.1, 3);
  }
  body_case c;
  cb_reflection *r;
  static cb_reflection_contact contact[PAIRS];
  open_balls(&c, "e3", 2 * PAIRS, mass, x, v);
  check_ok(cb_reflection_create(c.system, &r));
  for (int a = 0; a < PAIRS; a++) contact[a] = spheres(&c, 2 * a, 2 * a + 1, 0.8, 1);
  const cb_reflection_part part = whole(&c, NULL);
  cb_state *copy = clone_state(&c);
  check_ok(cb_reflect(r, CB_CONTACT_SIMULTANEOUS, 0, 1, &part, PAIRS, contact));
  cb_reflection_part one[2 * PAIRS];
  for (int i = 0; i < 2 * PAIRS; i++)
    one[i] =
        (cb_reflection_part){i, 1, part.mass + i, copy->x + 3 * i, copy->p + 3 * i, copy->p_low + 3 * i, NULL, NULL};
  for (int a = 0; a < PAIRS; a++) check_ok(cb_reflect(r, CB_CONTACT_SEQUENTIAL, 0, 2 * PAIRS, one, 1, &contact[a]));
  check_at_most(check_distance_max(6 * PAIRS, c.state->p, copy->p), 1e-14);
  cb_state_free(copy);
  cb_reflection_free(r);
  close_case(&c);
}

/* D = N N^T, where the rows of N are n vectors with few components, so D is singular for large n. In some trials these
 * vectors have small integer components and are often multiples of one another. If q = N v for a vector v, a solution
 * exists. */
static void complementarity_agrees_with_enumeration_where_matrices_are_singular(void **state) {
  uint64_t seed = check_seed();
  int refused = 0, solved = 0, lost = 0;
  for (int trial = 0; trial < 100 * TRIALS; trial++) {
    const int n = 1 + trial % 8, dim = 1 + trial / 8 % 4;
    double N[8][4], D[64], q[8], z[8], near[8], room[8 * 13];
    cb_lcp s;
    int list[16];
    for (int a = 0; a < n; a++)
      for (int i = 0; i < dim; i++) {
        N[a][i] = check_uniform(&seed, -1, 1);
        if (trial % 5 == 0) N[a][i] = i ? rint(2 * N[a][i]) : copysign(1, N[a][i]);
      }
    for (int a = 0; a < n; a++) {
      q[a] = trial % 3 ? check_uniform(&seed, -1, 0.3) : N[a][0]; /* q = N v with v = (1, 0, ...) */
      near[a] = 1e-13;
      for (int b = 0; b < n; b++) {
        D[a * n + b] = 0;
        for (int i = 0; i < dim; i++) D[a * n + b] += N[a][i] * N[b][i];
      }
    }
    const cb_status status = cb_lcp_solve(n, D, q, near, room, list, &s);
    /* the solver may fail to converge if vectors are dependent up to round-off */
    if (status == CB_STEP_NO_CONVERGENCE) {
      lost++;
      continue;
    }
    if (status) {
      assert_int_equal(status, CB_STEP_SINGULAR);
      if (s.least > 1e-4) assert_true(trial % 3);
      if (s.least > 1e-4) assert_false(enumerate(n, D, q, 1e-12, z));
      refused++;
      continue;
    }
    solved++;
    double most = 1;
    for (int a = 0; a < n; a++) most = fmax(most, s.l[a]);
    if (s.least < 1e-4 || most > 1e4) continue; /* the results of nearly singular cases lose digits */
    assert_true(enumerate(n, D, q, 1e-10 * most, z));
    for (int a = 0; a < n; a++) {
      double w = q[a];
      for (int b = 0; b < n; b++) w += D[a * n + b] * s.l[b];
      check_at_least(s.l[a], 0);
      /* The tolerance is for the error of z: the enumeration also solves nearly singular systems. */
      check_near(w, z[a], 1e-9 * most);
      check_near(fmin(w, s.l[a]), 0, 1e-11 * most);
    }
  }
  print_message("%d solved, %d without a solution, %d lost\n", solved, refused, lost);
  check_at_most(lost, TRIALS);
  check_at_least(refused, TRIALS);
  check_at_least(solved, 10 * TRIALS);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(simultaneous_impulses_solve_the_complementarity_problem),
      cmocka_unit_test(no_contact_closes_afterwards_and_energy_is_not_gained),
      cmocka_unit_test(the_order_of_contacts_does_not_matter),
      cmocka_unit_test(independent_groups_do_not_touch_one_another),
      cmocka_unit_test(complementarity_agrees_with_enumeration_where_matrices_are_singular),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
