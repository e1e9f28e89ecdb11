/* Connection of a plane chain: the equations of chain.h in doubles. */
#include "bundle/chain.h"

#include <math.h>
#include <string.h>

const char *const cb_chain_names[CB_CHAIN_LINKS - 1] = {"alpha1", "alpha2", "alpha3", "alpha4",  "alpha5", "alpha6",
                                                        "alpha7", "alpha8", "alpha9", "alpha10", "alpha11"};

cb_status cb_chain_shape(cb_chain *c, int links, double total, const cb_node *shares, int base) {
  double length[CB_CHAIN_LINKS], sum = 0;
  if (links < 2 || links > CB_CHAIN_LINKS)
    return cb_fail(CB_ERROR_ARGUMENT, "links: %d: expected 2 to %d", links, CB_CHAIN_LINKS);
  if (base < 0 || base > links) return cb_fail(CB_ERROR_ARGUMENT, "base: %d: expected 0 to %d", base, links);
  for (int k = 0; k < links; k++) length[k] = 1;
  const cb_status status = shares ? cb_node_reals(shares, (size_t)links, length) : CB_OK;
  if (status) return status;
  for (int k = 0; k < links; k++) {
    if (!(length[k] > 0)) return cb_fail(CB_ERROR_ARGUMENT, "shares: %.6g: expected > 0", length[k]);
    sum += length[k];
  }
  for (int k = 0; k < links; k++) c->length[k] = total * (length[k] / sum);
  c->links = links;
  c->base = base ? base - 1 : (links - 1) / 2;
  return CB_OK;
}

/* Columns of one side: xi, then its hinges from the base outwards. */
enum { HINGES = CB_CHAIN_LINKS - 1, COLUMNS = 3 + HINGES };

typedef struct side {
  int hinges;
  double G[COLUMNS][COLUMNS];          /* lower triangle */
  double dG[HINGES][COLUMNS][COLUMNS]; /* by the side's hinges */
} side;

/* sign +1: links after the base, -1: before it. G and dG of the links of that side. */
static void sum_side(const cb_chain *c, const double *r, int sign, bool derivatives, side *s) {
  const int m = s->hinges = sign > 0 ? c->links - 1 - c->base : c->base;
  double u[3][COLUMNS] = {{1}, {0, 1}, {0, 0, 1}}, du[HINGES][2][COLUMNS];
  for (int i = 0; i < 3 + m; i++) memset(s->G[i], 0, sizeof(double) * (size_t)(i + 1));
  for (int a = 0; derivatives && a < m; a++)
    for (int i = 0; i < 3 + m; i++) memset(s->dG[a][i], 0, sizeof(double) * (size_t)(i + 1));
  for (int h = 0; h < m; h++) {
    const int k = c->base + sign * (h + 1), old = 3 + h, now = old + 1; /* link, columns before and after */
    const double angle = r[sign > 0 ? k - 1 : k], cs = cos(angle), sn = sign * sin(angle);
    const double before = 0.5 * sign * c->length[k - sign], after = 0.5 * sign * c->length[k], *D = c->D[k];
    /* to the hinge, into the frame beyond it (turned by sign angle), to the middle of link k */
    for (int i = 0; i < old; i++) {
      const double x = u[0][i], y = u[1][i] + before * u[2][i], turned_x = cs * x + sn * y, turned_y = cs * y - sn * x;
      u[0][i] = turned_x;
      u[1][i] = turned_y + after * u[2][i];
      du[h][0][i] = sign * turned_y;
      du[h][1][i] = -sign * turned_x;
    }
    for (int a = 0; derivatives && a < h; a++) {
      for (int i = 0; i < old; i++) {
        const double x = du[a][0][i], y = du[a][1][i];
        du[a][0][i] = cs * x + sn * y;
        du[a][1][i] = cs * y - sn * x;
      }
      du[a][0][old] = du[a][1][old] = 0;
    }
    du[h][0][old] = du[h][1][old] = 0;
    u[0][old] = 0;
    u[1][old] = after * sign;
    u[2][old] = sign;
    for (int i = 0; i < now; i++) {
      const double x = D[0] * u[0][i], y = D[1] * u[1][i], w = D[2] * u[2][i];
      for (int j = 0; j <= i; j++) s->G[i][j] += x * u[0][j] + y * u[1][j] + w * u[2][j];
    }
    for (int a = 0; derivatives && a <= h; a++)
      for (int i = 0; i < now; i++) {
        const double x = D[0] * u[0][i], y = D[1] * u[1][i];
        const double dx = D[0] * du[a][0][i], dy = D[1] * du[a][1][i];
        for (int j = 0; j <= i; j++)
          s->dG[a][i][j] += x * du[a][0][j] + y * du[a][1][j] + dx * u[0][j] + dy * u[1][j];
      }
  }
}

/* The same without derivatives of a side of one link: a swimmer of three links has no other. */
static void sum_last_link(const cb_chain *c, const double *r, int sign, side *s) {
  const int k = c->base + sign;
  const double angle = r[sign > 0 ? k - 1 : k], cs = cos(angle), sn = sign * sin(angle), *D = c->D[k];
  const double before = 0.5 * sign * c->length[c->base], after = 0.5 * sign * c->length[k];
  const double x = sn * before, y = cs * before + after, hinge = after * sign; /* of a turn, and of the hinge */
  double(*const G)[COLUMNS] = s->G;
  G[0][0] = D[0] * cs * cs + D[1] * sn * sn;
  G[1][0] = (D[0] - D[1]) * cs * sn;
  G[1][1] = D[0] * sn * sn + D[1] * cs * cs;
  G[2][0] = D[0] * cs * x - D[1] * sn * y;
  G[2][1] = D[0] * sn * x + D[1] * cs * y;
  G[2][2] = D[0] * x * x + D[1] * y * y + D[2];
  G[3][0] = -D[1] * sn * hinge;
  G[3][1] = D[1] * cs * hinge;
  G[3][2] = D[1] * y * hinge + D[2] * sign;
  G[3][3] = D[1] * hinge * hinge + D[2];
}

/* Inverse of a symmetric matrix by cofactors; false if it is not positive definite to round-off. */
static bool invert(double P[3][3], double inv[3][3]) {
  const double c00 = P[1][1] * P[2][2] - P[2][1] * P[2][1], c10 = P[2][0] * P[2][1] - P[1][0] * P[2][2];
  const double c20 = P[1][0] * P[2][1] - P[1][1] * P[2][0], det = P[0][0] * c00 + P[1][0] * c10 + P[2][0] * c20;
  const double minor = P[0][0] * P[1][1] - P[1][0] * P[1][0];
  if (!(P[0][0] > 0 && minor > 1e-15 * P[0][0] * P[1][1] && det > 1e-15 * minor * P[2][2])) return false;
  const double over = 1 / det;
  inv[0][0] = c00 * over;
  inv[0][1] = inv[1][0] = c10 * over;
  inv[0][2] = inv[2][0] = c20 * over;
  inv[1][1] = (P[0][0] * P[2][2] - P[2][0] * P[2][0]) * over;
  inv[1][2] = inv[2][1] = (P[1][0] * P[2][0] - P[0][0] * P[2][1]) * over;
  inv[2][2] = minor * over;
  return true;
}

cb_status cb_chain_connection(const cb_chain *c, const double *r, double *A, double *dA, double *M, double *dM) {
  const int n = c->links - 1, b = c->base;
  const bool derivatives = dA || dM;
  side sides[2]; /* after the base, before it */
  if (!derivatives && n == 2 && b == 1) {
    sum_last_link(c, r, 1, &sides[0]);
    sum_last_link(c, r, -1, &sides[1]);
  } else {
    sum_side(c, r, 1, derivatives, &sides[0]);
    sum_side(c, r, -1, derivatives, &sides[1]);
  }

  double P[3][3] = {{0}}, inv[3][3], Q[3][HINGES], a_[3][HINGES];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) P[i][j] = sides[0].G[i][j] + sides[1].G[i][j];
    P[i][i] += c->D[b][i];
  }
  if (!invert(P, inv)) return cb_fail(CB_STEP_SINGULAR, "the tensor of the locked chain is not positive definite");
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++) Q[i][j] = j >= b ? sides[0].G[3 + j - b][i] : sides[1].G[3 + b - 1 - j][i];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < n; j++) a_[i][j] = inv[i][0] * Q[0][j] + inv[i][1] * Q[1][j] + inv[i][2] * Q[2][j];
  if (A)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++) A[i * n + j] = a_[i][j];
  if (M)
    for (int i = 0; i < n; i++)
      for (int j = 0; j <= i; j++) {
        double R = 0;
        if (j >= b) R = sides[0].G[3 + i - b][3 + j - b];
        else if (i < b) R = sides[1].G[3 + b - 1 - j][3 + b - 1 - i];
        M[i * n + j] = M[j * n + i] = R - (Q[0][i] * a_[0][j] + Q[1][i] * a_[1][j] + Q[2][i] * a_[2][j]);
      }
  for (int a = 0; derivatives && a < n; a++) {
    const bool right = a >= b;
    double(*const dG)[COLUMNS] = right ? sides[0].dG[a - b] : sides[1].dG[b - 1 - a];
    double dQ[3][HINGES], E[3][HINGES];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++) dQ[i][j] = (j >= b) != right ? 0 : right ? dG[3 + j - b][i] : dG[3 + b - 1 - j][i];
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < n; j++) {
        E[i][j] = dQ[i][j];
        for (int k = 0; k < 3; k++) E[i][j] -= dG[i >= k ? i : k][i >= k ? k : i] * a_[k][j];
      }
    if (dA)
      for (int i = 0; i < 3; i++)
        for (int j = 0; j < n; j++)
          dA[(a * 3 + i) * n + j] = inv[i][0] * E[0][j] + inv[i][1] * E[1][j] + inv[i][2] * E[2][j];
    if (dM)
      for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
          double R = 0;
          if (right && j >= b) R = dG[3 + i - b][3 + j - b];
          else if (!right && i < b) R = dG[3 + b - 1 - j][3 + b - 1 - i];
          for (int k = 0; k < 3; k++) R -= dQ[k][i] * a_[k][j] + a_[k][i] * E[k][j];
          dM[(a * n + i) * n + j] = dM[(a * n + j) * n + i] = R;
        }
  }
  return CB_OK;
}
