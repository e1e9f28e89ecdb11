/* What a table of distances is made of: shared by its making, its fits and its evaluation. */
#ifndef CB_GEOMETRY_DISTANCE_TABLE_PRIVATE_H
#define CB_GEOMETRY_DISTANCE_TABLE_PRIVATE_H

#include "geometry/distance_table.h"

/* TERMS: of total degree 7 in three, 10 in two, 15 in one coordinate, 0 in none. MONOMIALS: of degrees 4 ... 14 in
 * three variables. LANES: rows are padded to whole vectors. */
enum {
  CB_TABLE_DIM = 3,
  CB_TABLE_ORDER = 7,
  CB_TABLE_TERMS = 120,
  CB_TABLE_MONOMIALS = 365,
  CB_TABLE_LANES = 4,
  CB_TABLE_DEGREE = 15
};

/* Linear fit from samples of the unit ball to the coefficients of monomials of degree 4 ... 2k. */
typedef struct cb_table_fit {
  int points, rows; /* rows: points (1 + n), value and gradient of each */
  double *point;    /* [points][n] */
  double *fit;      /* [monomials][rows] */
} cb_table_fit;

/* What all boxes share. */
typedef struct cb_table_basis {
  int n, kept, axis[CB_TABLE_DIM]; /* coordinates of m that count are axis[0 ... kept-1] */
  int degree, terms;               /* products of Chebyshev polynomials of m by rising total degree */
  unsigned char term[CB_TABLE_TERMS][CB_TABLE_DIM];
  int terms_to[CB_TABLE_DEGREE + 2]; /* number of terms of total degree < p */
  unsigned char monomial[CB_TABLE_MONOMIALS][CB_TABLE_DIM];
  int first[CB_TABLE_ORDER + 2]; /* number of monomials of degree < 2k */
  cb_table_fit fit[CB_TABLE_ORDER + 1];
  int nodes;
  double *node, *terms_fit; /* [nodes][kept] in [-1, 1]; [terms][nodes] */
} cb_table_basis;

typedef struct cb_table_box {
  double low[CB_TABLE_DIM], high[CB_TABLE_DIM]; /* of the coordinates that count */
  int split, child;                             /* child 0: a leaf; else boxes child and child+1 halve axis `split` */
  int order;                                    /* K; 0: not covered, 1: the metric alone */
  int length[CB_TABLE_ORDER + 1];               /* of a row of c_a, |a| = 2k, whole vectors */
  double enough[CB_TABLE_ORDER + 1];            /* |delta'|^2 below which degrees from 2k on do not count */
  double scale[CB_TABLE_DIM * CB_TABLE_DIM];    /* delta' = scale delta */
  double inverse[CB_TABLE_DIM * CB_TABLE_DIM];
  double *c;
} cb_table_box;

struct cb_distance_table {
  cb_table_basis basis;
  cb_table_box *box; /* box[0] is the region */
  size_t boxes, room;
  double radius; /* in units of reach: what the ball |delta'| < 1 is larger by */
  double still[CB_TABLE_DIM];          /* a value of each coordinate that does not count */
  double period[CB_TABLE_DIM];
  cb_status (*exact)(const cb_geometry *g, const double *q1, const double *q2, double *d, double *gradient,
                     double *hessian);
  cb_distance_table_size size;
};

/* Chebyshev polynomials T_0 ... T_degree at x in [-1, 1] with first and second derivatives where not NULL. */
void cb_table_chebyshev(int degree, double x, double *t, double *dt, double *ddt);
/* All terms at the point x[kept] of [-1, 1]^kept; padded with zeros to whole vectors. */
void cb_table_terms(const cb_table_basis *b, const double *x, double *value);

cb_status cb_table_basis_create(cb_table_basis *b, int n, int kept, const int *axis);
void cb_table_basis_free(cb_table_basis *b);

/* Fits a box, whose bounds are set: order, scale, rows; measured[3]: errors of distance, gradient and Hessian. *split:
 * -1 where it is within the error, else the axis to halve. CB_ERROR_MEMORY alone fails. */
cb_status cb_table_box_fit(const cb_geometry *g, const cb_distance_table *t, cb_table_box *box, double measured[3],
                           int *split);
size_t cb_table_box_numbers(const cb_table_basis *b, const cb_table_box *box);

/* sigma at m, delta by this box, with derivatives as of a distance in (q1, q2): false where the metric refuses m. */
bool cb_table_box_distance(const cb_geometry *g, const cb_distance_table *t, const cb_table_box *box, const double *m,
                           const double *x, const double *delta, double *d, double *gradient, double *hessian);

#endif
