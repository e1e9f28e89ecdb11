/* Connection of a tree of links: the recursion of links.h. */
#include "bundle/links.h"

#include "bundle/bundle_private.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { COLUMNS = 6 + CB_SHAPE_MAX };

/* The velocities u of a link, one per column, and their derivatives du by the shape variables that rotate a hinge
 * between the base and the link. The first columns belong to the body velocity xi; the variables follow, in the order
 * of their ranks (links.h). */
typedef struct velocities {
  double u[6][COLUMNS], du[CB_SHAPE_MAX][6][COLUMNS];
} velocities;

/* G has the lower triangle of the form, as a sum over links. dG has matrices S, and S + S^T is the derivative of G.
 * `at` holds the velocities of one limb for each level (links_read.c). */
typedef struct sums {
  double G[COLUMNS][COLUMNS], dG[CB_SHAPE_MAX][COLUMNS][COLUMNS];
  velocities at[CB_LINK_TREE_LEVELS];
} sums;

/* The angle of a hinge, with its derivatives by the shape variables on which it depends. */
typedef struct angle {
  double value, d[CB_JET_MAX], dd[CB_JET_MAX][CB_JET_MAX];
} angle;

static cb_status read_angle(const cb_link_tree *L, const cb_limb *limb, const double *r, bool derivatives, angle *a) {
  const cb_tree_link *k = &L->link[limb->hinge];
  double x[CB_JET_MAX];
  a->value = k->offset;
  if (!k->angle) {
    a->value *= limb->sign;
    return CB_OK;
  }
  for (int i = 0; i < k->uses; i++) x[i] = r[k->use[i]];
  if (derivatives) {
    const cb_jet jet = cb_expression_jet(k->angle, x, k->uses);
    a->value += jet.v;
    for (int i = 0; i < k->uses; i++) {
      a->d[i] = limb->sign * jet.g[i];
      for (int j = 0; j < k->uses; j++) a->dd[i][j] = limb->sign * jet.h[cb_jet_packed(i, j)];
    }
  } else {
    a->value += cb_expression_gradient(k->angle, x, k->uses, a->d);
    for (int i = 0; i < k->uses; i++) a->d[i] *= limb->sign;
  }
  if (!isfinite(a->value))
    return cb_fail(CB_STEP_DOMAIN, "the angle of link %d is %g: expected a finite number", limb->hinge, a->value);
  a->value *= limb->sign;
  return CB_OK;
}

/* Computes the axes of the frame beyond a hinge, as columns, in the coordinates of the frame before the hinge. */
static void rotation(const cb_limb *limb, double turn, double E[3][3]) {
  const double c = cos(turn), s = sin(turn), *a = limb->axis;
  for (int i = 0; i < 3; i++) {
    const double x = limb->turned[0][i], y = limb->turned[1][i], z = limb->turned[2][i];
    const double along = (1 - c) * (a[0] * x + a[1] * y + a[2] * z);
    E[0][i] = c * x + s * (a[1] * z - a[2] * y) + along * a[0];
    E[1][i] = c * y + s * (a[2] * x - a[0] * z) + along * a[1];
    E[2][i] = c * z + s * (a[0] * y - a[1] * x) + along * a[2];
  }
}

/* Replaces u by Ad_T^-1 u (links.h). The reference point first moves to the hinge; then u is rotated to the frame
 * beyond the hinge; last, the reference point moves to the middle of the link. */
INLINE void cross_hinge(const cb_limb *limb, double E[3][3], bool plane, int columns, double u[6][COLUMNS]) {
  const double before = limb->before, after = limb->after;
  if (plane) {
    const double c = E[0][0], s = E[1][0];
    for (int j = 0; j < columns; j++) {
      const double x = u[0][j], y = u[1][j] + before * u[2][j];
      u[0][j] = c * x + s * y;
      u[1][j] = c * y - s * x - after * u[2][j];
    }
    return;
  }
  for (int j = 0; j < columns; j++) {
    const double a = u[0][j], b = u[1][j], c = u[2][j];
    const double x = u[3][j], y = u[4][j] + before * c, z = u[5][j] - before * b;
    for (int i = 0; i < 3; i++) {
      u[i][j] = E[0][i] * a + E[1][i] * b + E[2][i] * c;
      u[3 + i][j] = E[0][i] * x + E[1][i] * y + E[2][i] * z;
    }
    u[4][j] -= after * u[2][j];
    u[5][j] += after * u[1][j];
  }
}

/* Subtracts rate [s, u] from each column of `out`, where s is the twist of a hinge and u the same column of `u`. */
INLINE void turn_back(const double *s, double rate, bool plane, int columns, double u[6][COLUMNS],
                      double out[6][COLUMNS]) {
  if (plane) {
    for (int j = 0; j < columns; j++) {
      out[0][j] -= rate * (s[1] * u[2][j] - s[2] * u[1][j]);
      out[1][j] -= rate * (s[2] * u[0][j] - s[0] * u[2][j]);
    }
    return;
  }
  for (int j = 0; j < columns; j++)
    for (int i = 0; i < 3; i++) {
      const int k = (i + 1) % 3, l = (i + 2) % 3;
      out[i][j] -= rate * (s[k] * u[l][j] - s[l] * u[k][j]);
      out[3 + i][j] -= rate * (s[k] * u[3 + l][j] - s[l] * u[3 + k][j] + s[3 + k] * u[l][j] - s[3 + l] * u[k][j]);
    }
}

INLINE void clear(double u[6][COLUMNS], int rows, int begin, int end) {
  for (int i = 0; i < rows && begin < end; i++) memset(&u[i][begin], 0, sizeof(double) * (size_t)(end - begin));
}

/* Computes the velocities of a limb, at[limb->level], from those of the limb before it, at[limb->source]. */
INLINE void advance(const cb_link_tree *L, const cb_limb *limb, const angle *turn, bool plane, bool derivatives,
                    velocities *at) {
  const int dim = plane ? 3 : 6, old = dim + limb->reach_before, now = dim + limb->reach;
  const cb_tree_link *hinge = &L->link[limb->hinge];
  velocities *v = &at[limb->level], *from = &at[limb->source];
  double E[3][3];
  if (plane) {
    E[0][0] = cos(turn->value);
    E[1][0] = sin(turn->value);
  } else
    rotation(limb, turn->value, E);
  for (int i = 0; v != from && i < dim; i++) memcpy(v->u[i], from->u[i], sizeof(double) * (size_t)old);
  cross_hinge(limb, E, plane, old, v->u);
  clear(v->u, dim, old, now);
  for (int q = 0; derivatives && q < limb->active; q++) {
    const int a = limb->variable[q];
    if (q >= limb->active_before) {
      clear(v->du[a], dim, 0, now);
      continue;
    }
    for (int i = 0; v != from && i < dim; i++) memcpy(v->du[a][i], from->du[a][i], sizeof(double) * (size_t)old);
    cross_hinge(limb, E, plane, old, v->du[a]);
    clear(v->du[a], dim, old, now);
  }
  for (int p = 0; derivatives && p < hinge->uses; p++) {
    const int a = L->rank[hinge->use[p]];
    turn_back(limb->twist, turn->d[p], plane, old, v->u, v->du[a]);
    for (int q = 0; q < hinge->uses; q++)
      for (int i = 0; i < dim; i++) v->du[a][i][dim + L->rank[hinge->use[q]]] += limb->twist[i] * turn->dd[p][q];
  }
  for (int p = 0; p < hinge->uses; p++)
    for (int i = 0; i < dim; i++) v->u[i][dim + L->rank[hinge->use[p]]] += limb->twist[i] * turn->d[p];
}

INLINE void tensor(const cb_tree_link *k, bool plane, double *D) {
  if (plane) {
    D[0] = k->along;
    D[1] = k->across;
    D[2] = k->turn;
  } else {
    D[0] = k->spin;
    D[1] = D[2] = k->turn;
    D[3] = k->along;
    D[4] = D[5] = k->across;
  }
}

INLINE void add_limb(const cb_link_tree *L, const cb_limb *limb, bool plane, bool derivatives, const velocities *v,
                     sums *sum) {
  const int dim = plane ? 3 : 6, columns = dim + limb->reach;
  double D[6], w[6][COLUMNS];
  tensor(&L->link[limb->link], plane, D);
  for (int k = 0; k < dim; k++)
    for (int j = 0; j < columns; j++) w[k][j] = D[k] * v->u[k][j];
  for (int i = 0; i < columns; i++)
    for (int j = 0; j <= i; j++) {
      double more = 0;
      for (int k = 0; k < dim; k++) more += v->u[k][i] * w[k][j];
      sum->G[i][j] += more;
    }
  for (int q = 0; derivatives && q < limb->active; q++) {
    const int a = limb->variable[q];
    const double(*du)[COLUMNS] = v->du[a];
    double(*S)[COLUMNS] = sum->dG[a];
    for (int i = 0; i < columns; i++)
      for (int j = 0; j < columns; j++) {
        double more = 0;
        for (int k = 0; k < dim; k++) more += du[k][i] * w[k][j];
        S[i][j] += more;
      }
  }
}

INLINE cb_status sum_links(const cb_link_tree *L, const double *r, bool plane, bool derivatives, sums *sum) {
  const int dim = plane ? 3 : 6, N = dim + L->n;
  velocities *at = sum->at;
  for (int i = 0; i < N; i++) memset(sum->G[i], 0, sizeof(double) * (size_t)N);
  for (int a = 0; derivatives && a < L->n; a++)
    for (int i = 0; i < N; i++) memset(sum->dG[a][i], 0, sizeof(double) * (size_t)N);
  /* the base: its middle is at the distance `shift` along x from the origin of the body frame */
  const cb_limb *base = &L->limb[0];
  const double shift = (0.5 - L->origin) * L->link[base->link].length;
  for (int i = 0; i < dim; i++)
    for (int j = 0; j < dim; j++) at->u[i][j] = i == j;
  if (plane)
    at->u[1][2] = shift;
  else {
    at->u[4][2] = shift;
    at->u[5][1] = -shift;
  }
  add_limb(L, base, plane, derivatives, &at[0], sum);
  for (int k = 1; k < L->links; k++) {
    angle turn;
    const cb_status status = read_angle(L, &L->limb[k], r, derivatives, &turn);
    if (status) return status;
    advance(L, &L->limb[k], &turn, plane, derivatives, at);
    add_limb(L, &L->limb[k], plane, derivatives, &at[L->limb[k].level], sum);
  }
  return CB_OK;
}

static __attribute__((noinline)) cb_status sum_all(const cb_link_tree *L, const double *r, bool derivatives,
                                                   sums *sum) {
  if (L->plane) return derivatives ? sum_links(L, r, true, true, sum) : sum_links(L, r, true, false, sum);
  return derivatives ? sum_links(L, r, false, true, sum) : sum_links(L, r, false, false, sum);
}

/* Writes the form with the variables in the order of the scenario. */
static void write_form(const cb_link_tree *L, const sums *sum, double *G) {
  const int dim = L->group->dim, N = dim + L->n;
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) {
      const int p = i < dim ? i : dim + L->ranked[i - dim], q = j < dim ? j : dim + L->ranked[j - dim];
      G[p * N + q] = G[q * N + p] = sum->G[i][j];
    }
}

static void write_derivatives(const cb_link_tree *L, const sums *sum, double *dG) {
  const int dim = L->group->dim, N = dim + L->n;
  for (int a = 0; a < L->n; a++) {
    double *out = dG + L->ranked[a] * N * N;
    for (int i = 0; i < N; i++)
      for (int j = 0; j <= i; j++) {
        const int p = i < dim ? i : dim + L->ranked[i - dim], q = j < dim ? j : dim + L->ranked[j - dim];
        out[p * N + q] = out[q * N + p] = sum->dG[a][i][j] + sum->dG[a][j][i];
      }
  }
}

cb_status cb_link_tree_form(const cb_link_tree *L, const double *r, double *G, double *dG) {
  sums sum;
  const cb_status status = sum_all(L, r, dG != NULL, &sum);
  if (status) return status;
  write_form(L, &sum, G);
  if (dG) write_derivatives(L, &sum, dG);
  return CB_OK;
}

cb_status cb_link_tree_connection(const cb_link_tree *L, const double *r, double *A, double *dA, double *M,
                                  double *dM) {
  const bool derivatives = dA || dM;
  double G[COLUMNS * COLUMNS], dG[CB_SHAPE_MAX * COLUMNS * COLUMNS];
  sums sum;
  cb_status status = sum_all(L, r, derivatives, &sum);
  if (status) return status;
  write_form(L, &sum, G);
  if (derivatives) write_derivatives(L, &sum, dG);
  status = cb_form_reduce(L->group, L->n, G, derivatives ? dG : NULL, A, dA, M, dM);
  if (status == CB_STEP_SINGULAR && !L->plane)
    return cb_fail(status, "%s (links on one line rotate freely about this line: give a link a `spin` or a `radius`)",
                   cb_error_text());
  return status;
}

/* Finds the rotations and the middles of all links, in the order of the limbs, if the body frame is the group element
 * g. */
static cb_status place_links(const cb_link_tree *L, const double *r, const double *g, double (*turned)[3][3],
                             double (*middle)[3]) {
  for (int k = 0; k < L->links; k++) {
    const cb_limb *limb = &L->limb[k];
    const double length = L->link[limb->link].length;
    if (!k) {
      double matrix[16];
      const int m = L->group->matrix(L->group, g, matrix); /* homogeneous matrix, 3 x 3 or 4 x 4 */
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
          turned[0][i][j] = !L->plane ? matrix[i * m + j] : i < 2 && j < 2 ? matrix[i * m + j] : i == j;
        middle[0][i] = (L->plane && i == 2 ? 0 : matrix[i * m + m - 1]) + turned[0][i][0] * (0.5 - L->origin) * length;
      }
    } else {
      angle turn;
      double E[3][3];
      const cb_status status = read_angle(L, limb, r, false, &turn);
      if (status) return status;
      rotation(limb, turn.value, E);
      for (int i = 0; i < 3; i++) {
        const double *row = turned[limb->from][i];
        for (int j = 0; j < 3; j++) turned[k][i][j] = row[0] * E[0][j] + row[1] * E[1][j] + row[2] * E[2][j];
        middle[k][i] = middle[limb->from][i] + row[0] * limb->before - turned[k][i][0] * limb->after;
      }
    }
  }
  return CB_OK;
}

cb_status cb_link_tree_plot(const cb_link_tree *L, const double *r, const double *g, double (*x)[3]) {
  double turned[CB_LINK_TREE_MAX][3][3], middle[CB_LINK_TREE_MAX][3];
  const cb_status status = place_links(L, r, g, turned, middle);
  for (int k = 0; !status && k < L->links; k++) {
    const int link = L->limb[k].link;
    const double half = 0.5 * L->link[link].length;
    for (int i = 0; i < 3; i++) {
      x[2 * link][i] = middle[k][i] - half * turned[k][i][0];
      x[2 * link + 1][i] = middle[k][i] + half * turned[k][i][0];
    }
  }
  return status;
}

/* Here the form has the block P of the connection (links.h) and, in place of Q, the drag F of the links at rest in each
 * of the flows of cb_bundle_class.strain. The reduction P^-1 F of this form is S. */
cb_status cb_link_tree_strain(const cb_link_tree *L, const double *r, double *S) {
  enum { SIZE = 6 + CB_STRAINS };
  const int dim = L->group->dim, N = dim + L->n, size = dim + CB_STRAINS;
  static const int planar[] = {3, 4, 2}; /* rows of F: the two forces in the plane, and the torque */
  double turned[CB_LINK_TREE_MAX][3][3], middle[CB_LINK_TREE_MAX][3], g[CB_GROUP_SIZE], F[6 * CB_STRAINS] = {0};
  double own[COLUMNS * COLUMNS], G[SIZE * SIZE] = {0};
  L->group->identity(L->group, g);
  cb_status status = place_links(L, r, g, turned, middle);
  if (!status) status = cb_link_tree_form(L, r, own, NULL);
  if (status) return status;
  for (int k = 0; k < L->links; k++) {
    const cb_tree_link *link = &L->link[L->limb[k].link];
    const double D[6] = {link->spin, link->turn, link->turn, link->along, link->across, link->across};
    cb_bundle_strained(CB_STRAINS, D, turned[k], middle[k], F);
  }
  for (int i = 0; i < dim; i++) {
    const double *row = F + CB_STRAINS * (L->plane ? planar[i] : i);
    for (int j = 0; j < dim; j++) G[i * size + j] = own[i * N + j];
    for (int k = 0; k < CB_STRAINS; k++) G[i * size + dim + k] = G[(dim + k) * size + i] = row[k];
  }
  return cb_form_reduce(L->group, CB_STRAINS, G, NULL, S, NULL, NULL, NULL);
}
