/* Flat triangles that carry constant sources or normal dipoles: their potentials and velocities, exact at any point.
 *
 *   S(x) = 1/(4 pi) int dA/|x - y| = 1/(4 pi) (sum_e t_e L_e - h W),   D(x) = W/(4 pi)
 *   W = -2 atan2([a b c], |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|),   a, b, c the corners seen from x
 *   L_e = ln((R1 + R2 + l)/(R1 + R2 - l)),  t_e = (P_e - x).m_e,  m_e = edge × n/l,  h = (x - P).n
 * y are the points of the panel, P is one of them, n is the normal. l is the length of edge e, P_e one of its points,
 * and R1, R2 are the distances of x from its ends. W is minus the solid angle of the panel seen from x. Sources: van
 * Oosterom & Strackee (1983), IEEE Trans. Biomed. Eng. 30, 125, doi 10.1109/TBME.1983.325207, eq. 8; Hess & Smith
 * (1967), Prog. Aeronaut. Sci. 8, 1, doi 10.1016/0376-0421(67)90003-6. D jumps by +1 across the panel along its normal;
 * on the panel it is the mean of both sides, 0. D of all panels of a closed surface that points outwards add up to -1
 * inside and 0 outside. Lengths may have any unit; S has the same unit, and D has none.
 */
#pragma once

#include <curvebody/status.h>

#include <stddef.h>

struct cb_panel_kernels;

typedef struct cb_panels {
  int n;
  double (*corner)[3][3];
  double (*centre)[3], (*normal)[3]; /* the normals have length 1 */
  double *area;
  /* The same data for vectors (potential/panel_kernel.h): CB_PANEL_LANES rows of `stride` numbers. */
  double *lanes;
  size_t stride;
  const struct cb_panel_kernels *kernels;
} cb_panels;

/* Creates panels from faces on vertices x. CB_ERROR_DOMAIN for a face without area; the message gives its number from
 * 1. The caller frees the result with cb_panels_free. */
cb_status cb_panels_create(int n, const double (*x)[3], const int (*face)[3], cb_panels **out);
void cb_panels_free(cb_panels *p);
/* Moves the vertices of the same faces to x. CB_ERROR_DOMAIN as above. */
cb_status cb_panels_move(cb_panels *p, const double (*x)[3], const int (*face)[3]);

/* The potentials of n panels at x: of the panels which[0..n), of the first n if which is NULL, or of n panels from
 * number `first` on. self: the position among these n of the panel whose centre is x; -1: none. S and D of other panels
 * have only round-off accuracy if x lies in their planes. S or D may be NULL. */
void cb_panels_row(const cb_panels *p, const double x[3], int n, const int *which, int self, double *S, double *D);
void cb_panels_range(const cb_panels *p, const double x[3], int first, int n, int self, double *S, double *D);
/* The gradients by x of the potentials of n panels from number `first` on, with the components x, y, z in rows of
 * `width` numbers. Either may be NULL. */
void cb_panels_gradients(const cb_panels *p, const double x[3], int first, int n, size_t width, double *S, double *D);
/* Which panels: those which[0..n), or n panels from number `first` on if which is NULL. self as in cb_panels_row. */
typedef struct cb_panel_choice {
  int first, n;
  const int *which;
  int self;
} cb_panel_choice;

/* The slopes along d of the potentials of panels at x; S or D may be NULL. The slope of S of the panel `self` is set to
 * the mean of both sides for d along its normal, 0. */
void cb_panels_slopes(const cb_panels *p, const double x[3], const double d[3], cb_panel_choice of, double *S,
                      double *D);
