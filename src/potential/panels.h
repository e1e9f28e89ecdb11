/* Flat triangles that carry constant sources or normal dipoles: their potentials and velocities, exact at any point.
 *
 *   S(x) = 1/(4 pi) int dA/|x - y| = 1/(4 pi) (sum_e t_e L_e - h W),   D(x) = W/(4 pi)
 *   W = -2 atan2([a b c], |a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|),   a, b, c: the vectors from x to the corners
 *   L_e = ln((R1 + R2 + l)/(R1 + R2 - l)),  t_e = (P_e - x).m_e,  m_e = edge × n/l,  h = (x - P).n
 * S is the potential of sources and D the potential of dipoles, both of strength 1. y are the points of the panel and
 * dA is an element of its area. P is one of its points, and n is its normal of length 1. [a b c] is the triple product.
 * l is the length of edge e, P_e is one of its points, and R1 and R2 are the distances of x from its ends. W is minus
 * the solid angle of the panel seen from x. Sources: van Oosterom & Strackee (1983), IEEE Trans. Biomed. Eng. 30, 125,
 * doi 10.1109/TBME.1983.325207, eq. 8; Hess & Smith (1967), Prog. Aeronaut. Sci. 8, 1, doi
 * 10.1016/0376-0421(67)90003-6. D jumps by +1 across the panel along its normal. On the panel D is 0, the mean of both
 * sides. The sum of D over all panels of a closed surface whose normals point outwards is -1 inside and 0 outside.
 * Lengths may have any unit; S has the same unit, and D has none.
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
  /* The data of the panels for vector instructions: CB_PANEL_LANES rows (potential/panel_kernel.h) of `stride` numbers
   * each. */
  double *lanes;
  size_t stride;
  const struct cb_panel_kernels *kernels;
} cb_panels;

/* Creates the panels of the faces face[n] on the vertices x. Returns CB_ERROR_DOMAIN for a face without area; the
 * message gives the number of the face, counted from 1. The caller frees the result with cb_panels_free. */
cb_status cb_panels_create(int n, const double (*x)[3], const int (*face)[3], cb_panels **out);
void cb_panels_free(cb_panels *p);
/* Moves the vertices of the same faces to x. Returns CB_ERROR_DOMAIN as cb_panels_create does. */
cb_status cb_panels_move(cb_panels *p, const double (*x)[3], const int (*face)[3]);

/* Computes the potentials S[n] and D[n] of n panels at x; either may be NULL. cb_panels_row uses the panels
 * which[0..n), or the first n panels if `which` is NULL. cb_panels_range uses n panels from index `first` on. If x is
 * the centre of one of these n panels, `self` is the position of this panel among them, and its D is set to 0;
 * otherwise self is -1. If x lies in the plane of another panel, D of that panel is 0 only up to round-off. */
void cb_panels_row(const cb_panels *p, const double x[3], int n, const int *which, int self, double *S, double *D);
void cb_panels_range(const cb_panels *p, const double x[3], int first, int n, int self, double *S, double *D);
/* Computes the gradients of S and D with respect to x, for n panels from index `first` on. The results are three rows
 * (the components x, y and z), which start `width` numbers apart. S or D may be NULL. */
void cb_panels_gradients(const cb_panels *p, const double x[3], int first, int n, size_t width, double *S, double *D);
/* A choice of n panels: the panels which[0..n), or n panels from index `first` on if `which` is NULL. self is as in
 * cb_panels_row. */
typedef struct cb_panel_choice {
  int first, n;
  const int *which;
  int self;
} cb_panel_choice;

/* Computes the derivatives of the potentials S and D at x along the vector d, for the n chosen panels; S or D may be
 * NULL. For the panel `self`, which contains x, the derivative of S is set to 0. If d is the normal of this panel, 0 is
 * the mean of the derivatives on its two sides. */
void cb_panels_slopes(const cb_panels *p, const double x[3], const double d[3], cb_panel_choice of, double *S,
                      double *D);
