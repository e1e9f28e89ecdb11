/* Moments of simplices: what mass properties at rest and of a changing shape share. */
#pragma once

#include <curvebody/mass.h>

/* int 1, int x and int x x^T. */
typedef struct cb_moments {
  double zero, one[3], two[3][3];
} cb_moments;

/* A tetrahedron from the origin to x (its volume as content, divisors 4 and 20), or the triangle x (area, 3 and 12). */
void cb_moments_add_simplex(cb_moments *m, const double x[3][3], double content, double first, double second);
void cb_moments_add(cb_moments *to, double factor, const cb_moments *m);
/* About the origin, from those about o. */
void cb_moments_move(cb_moments *m, const double o[3]);
/* I += [[J, m hat(c)], [-m hat(c), m 1]], J = tr(P) 1 - P, with first = m c and P = int x x^T. */
void cb_inertia_add(double I[6][6], double mass, const double first[3], const double P[3][3]);
/* Is the material of part p of s admissible? CB_ERROR_ARGUMENT, CB_ERROR_DOMAIN (open without thickness). */
cb_status cb_material_check(const cb_surface *s, int p, const cb_material *material, bool closed);
/* Moments of part p of s at x, as a solid and as a skin; *closed: it has no border and its area vectors add up to
 * nothing. */
void cb_moments_of_part(const cb_surface *s, const double (*x)[3], int p, cb_moments *solid, cb_moments *skin,
                        bool *closed);
