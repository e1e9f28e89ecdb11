/* Curves by a few numbers.
 *
 *   ellipse    z = a cos s + i b sin s
 *   Joukowski  zeta = R e^{is} - bulge,  R = 1 + bulge + tail,  z = scale (middle - zeta - 1/zeta)
 * s = 0 is the tail; there z' = 0 if tail = 0, and nodes are the closer the nearer z' is to 0. In s, the angle of the
 * circle whose conformal image the curve is, phi is smooth even at a cusp, and the sides that meet there are told apart
 * as long as enough points stand for phi: measured, a cusp holds with up to 64 nodes (K to 1e-12 with 32, which take
 * 65536 points; 1 s for 64) and is refused with 128; tail = 1e-3 holds with any (K to 1e-12), ellipses to b/a = 1e-4.
 * Source: Milne-Thomson, Theoretical Hydrodynamics (1968), chapter VII.
 */
#include "numerics/lie_private.h"
#include "potential/plane_body.h"

#include <math.h>

static void ellipse(const double *p, double s, double complex z[3]) {
  z[0] = cb_lie_complex(p[0] * cos(s), p[1] * sin(s));
  z[1] = cb_lie_complex(-p[0] * sin(s), p[1] * cos(s));
  z[2] = -z[0];
}

cb_plane_curve cb_plane_ellipse(double a, double b) { return (cb_plane_curve){ellipse, {a, b}}; }

enum { BULGE, RADIUS, SCALE, MIDDLE };

static void joukowski(const double *p, double s, double complex z[3]) {
  const double complex turn = p[RADIUS] * cb_lie_complex(cos(s), sin(s)), inverse = 1 / (turn - p[BULGE]),
                       slope = inverse * inverse - 1;
  z[0] = p[SCALE] * (p[MIDDLE] - turn + p[BULGE] - inverse);
  z[1] = p[SCALE] * I * turn * slope;
  z[2] = p[SCALE] * (-turn * slope + 2 * turn * turn * inverse * inverse * inverse);
}

cb_plane_curve cb_plane_joukowski(double length, double bulge, double tail) {
  const double radius = 1 + bulge + tail, front = -radius - bulge, back = radius - bulge, first = front + 1 / front,
               last = back + 1 / back;
  return (cb_plane_curve){joukowski, {bulge, radius, length / (last - first), (first + last) / 2}};
}
