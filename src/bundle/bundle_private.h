/* Functions that bundles share inside the library: evaluation with error messages that name neither bundle nor shape,
 * reduction of a form, tests for singular shapes, steps along the fibre, the chain rule on jets, and reading names,
 * expressions and symmetric matrices of a scenario. */
#pragma once

#include <curvebody/bundle.h>
#include <curvebody/bundle_path.h>
#include <curvebody/holonomy.h>
#include <curvebody/jet.h>

#include <stdbool.h>

/* Returns `status` with an error text that consists of the name of the bundle, the shape r and the last error text. */
cb_status cb_bundle_fail_at(const cb_bundle *b, const double *r, cb_status status);

/* These functions compute the same as cb_bundle_connection and cb_bundle_second, but their error messages do not name
 * bundle and shape. */
cb_status cb_bundle_evaluate(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM);
cb_status cb_bundle_evaluate_second(const cb_bundle *b, const double *r, double *ddA, double *ddM);

/* Computes ddA and ddM (either may be NULL) by second differences of A and M. A class of bundles can use this function
 * as its function `second`. Near a break, or if the evaluation of A or M at a node fails with a status CB_STEP_..,
 * differences of dA and dM are used instead. */
cb_status cb_bundle_second_by_values(const cb_bundle *b, const double *r, double *ddA, double *ddM);

/* Reduces a symmetric form on (xi, r') to a connection and a cost metric.
 *
 *   G = ((P, Q), (Q^T, R)), [dim + n][dim + n]:  power, or twice the kinetic energy
 *   A = P^-1 Q,   M = R - Q^T A
 *   d_k A = P^-1 E_k,  E_k = d_k Q - d_k P A;   d_k M = d_k R - (d_k Q)^T A - A^T E_k
 * xi is the body velocity and r' the shape velocity; P is [dim][dim], Q [dim][n], R [n][n]; d_k is the derivative by
 * shape variable k. For a given r', xi = -A r' minimises the form: the power is minimum, or the momentum is 0.
 * Source: Kelly & Murray, J. Robotic Systems 12 (1995) 417, doi:10.1002/rob.4620120607.
 *
 * G and dG[n][dim + n][dim + n] are stored by rows, with both triangles; dG is NULL if dA and dM are not requested. A,
 * dA, M and dM are as in cb_bundle_class. Returns CB_STEP_SINGULAR if P is not positive definite to round-off; the
 * error text names an axis of the group. */
cb_status cb_form_reduce(const cb_group *group, int n, const double *G, const double *dG, double *A, double *dA,
                         double *M, double *dM);

/* Tests for singular shapes that a gait passes, or that are between the nodes of a grid. The test is that of
 * holonomy.c: the integral along a path does not converge if A r' has a pole on the path.
 *
 * cb_gait_regular fails with CB_STEP_SINGULAR if a gait, closed or not, passes a singular shape; the message gives this
 * shape. A pole with a residue below 1e-6 is ignored. The test costs about as much as a holonomy with the tolerance
 * 1e-6. */
cb_status cb_gait_regular(const cb_bundle *b, const cb_gait *gait);

/* Tests a grid of the shape variables v[0] and v[1]: node k * points[1] + l is at value[0][k], value[1][l]; the other
 * variables are those of `at`. A cell of the grid is examined if A[node][dim n] differs between its corners by more
 * than half of the largest entry. A is then integrated along four lines: two sides that meet at a corner, and both
 * diagonals. Every straight line of poles through the cell crosses at least one of them. Cells with a number that is
 * not finite at a corner are skipped. At most 256 cells are examined. Returns CB_STEP_SINGULAR if one of the four lines
 * meets a pole; the error text gives the shape. */
cb_status cb_grid_regular(const cb_bundle *b, const int *v, const int *points, const double *const *value,
                          const double *at, const double *A);

/* --- steps by Magnus's method in the group (curvebody/bundle_path.h). Steps end at the breaks of the gait and of the
 * bundle, so that the method keeps its order --- */

/* The integrals along a path: group element, length and cost (curvebody/holonomy.h). */
typedef struct cb_bundle_sum {
  double g[CB_GROUP_SIZE], length, cost;
} cb_bundle_sum;

/* Follows the gait from time t to `end` by the Magnus method of order 4 or 6, adds the motion to *total and the number
 * of steps to *steps. The gait must have no break in between. If error is 0, it makes one step between breaks of the
 * bundle. Otherwise it makes as many steps as are needed for this error on a complete cycle, and returns
 * CB_STEP_NO_CONVERGENCE if it cannot reach this error. */
cb_status cb_bundle_along(const cb_bundle *b, const cb_gait *gait, int order, double error, double t, double end,
                          cb_bundle_sum *total, int *steps);

/* --- a fluid that moves (bundle/flow.c) --- */

/* cb_group_place finds the rotation R and the position x of a group element; it returns false for a group whose
 * elements are not motions of a flat space. cb_group_shift moves g by d in the axes of the space. */
bool cb_group_place(const cb_group *G, const double *g, double R[3][3], double x[3]);
void cb_group_shift(const cb_group *G, const double d[3], double *g);
bool cb_bundle_flow_strains(const cb_bundle_flow *f);
/* Computes the matrix S of cb_bundle_class.strain for the body frame g h. `inner` is this matrix for the body frame g.
 */
void cb_bundle_strain_in_frame(const cb_group *G, const double *h, const double *inner, double *S);
/* Adds the drag of a straight link, at rest in each of the flows of cb_bundle_class.strain, to the columns of
 * F[6][count]. The rows are torque and force about the origin. D is the diagonal of the tensor of the link in its own
 * frame, as (rotations, translations), with x along the link. R is the rotation of the link, and x the position of its
 * middle. */
void cb_bundle_strained(int count, const double D[6], double R[3][3], const double x[3], double *F);

/* Advances the state s by h seconds by the Magnus method of order 4 or 6. If error is 0, it makes one step between
 * breaks; otherwise it uses the error control of cb_holonomy, where `error` is the error of a complete cycle. The
 * caller advances the time in the state. *steps becomes the number of steps. Fails with CB_STEP_SINGULAR or
 * CB_STEP_DOMAIN and the shape, and with CB_STEP_NO_CONVERGENCE if the error is not met. */
cb_status cb_bundle_step(const cb_bundle_path *p, int order, double error, double h, cb_bundle_state *s, int *steps);

/* The chain rule: computes the jet of f(r(x)) from the derivatives of a function f of the shape, and from shapes r(x)
 * that are jets.
 *
 *   f(r(x)):   d_a f = sum_i f_i r_i,a     d_ab f = sum_ij f_ij r_i,a r_j,b + sum_i f_i r_i,ab
 * f_i and f_ij are derivatives of f by r_i and r_j; d_a and ",a" are derivatives by x_a, a variable of the jets.
 */

/* Returns whether the jets r[n] are the shape variables themselves. */
static inline bool cb_jets_are_variables(const cb_jet *r, int n) {
  for (int i = 0; i < n; i++) {
    if (r[i].n != n) return false;
    for (int a = 0; a < n; a++)
      if (r[i].g[a] != (a == i)) return false;
    for (int k = 0; k < n * (n + 1) / 2; k++)
      if (r[i].h[k] != 0) return false;
  }
  return true;
}

/* Computes out, the jet of f(r(x)). f is a jet in the n shape variables. */
static inline void cb_jet_of_shape(const cb_jet *f, const cb_jet *r, int n, cb_jet *out) {
  const int m = r[0].n;
  cb_jet sum = {.n = m, .v = f->v};
  for (int a = 0; a < m; a++)
    for (int i = 0; i < n; i++) sum.g[a] += f->g[i] * r[i].g[a];
  for (int a = 0, k = 0; a < m; a++)
    for (int b = 0; b <= a; b++, k++)
      for (int i = 0; i < n; i++) {
        double row = 0;
        for (int j = 0; j < n; j++) row += f->h[cb_jet_packed(i, j)] * r[j].g[b];
        sum.h[k] += row * r[i].g[a] + f->g[i] * r[i].h[k];
      }
  *out = sum;
}

/* --- reading names, expressions and symmetric matrices of a scenario --- */

/* The names of the shape variables, followed by those of the parameters with their values. The nodes of the scenario
 * own the names. */
typedef struct cb_bundle_names {
  const char *name[CB_EXPRESSION_VARIABLES];
  double value[CB_EXPRESSION_VARIABLES];
  int shape, count;
} cb_bundle_names;

/* The error messages of all these functions give the position of the wrong node. `what` is the name of the quantity in
 * messages. */

/* Reads a list of 1 to `maximum` names of shape variables into *s, which has no names on entry. */
cb_status cb_bundle_read_shape(cb_bundle_names *s, const cb_node *list, int maximum);
/* Reads a map of names and numbers (NULL: none). A number may be an expression of those parameters that come before it.
 */
cb_status cb_bundle_read_parameters(cb_bundle_names *s, const cb_node *map);
/* Reads a map of shape variables and their periods (NULL: none) into period[shape]. */
cb_status cb_bundle_read_periods(const cb_bundle_names *s, const cb_node *map, double *period);
/* Reads a map of shape variables and lists of the values at which A or M is not smooth (NULL: none). Values must
 * increase, and be within [0, period) if the variable has a period. Fills count[shape] and at[shape], which the caller
 * frees. */
cb_status cb_bundle_read_breaks(const cb_bundle_names *s, const cb_node *map, const double *period, int *count,
                                double **at);
/* Reads a finite number, which may be given as an expression of the parameters. */
cb_status cb_bundle_read_number(const cb_bundle_names *s, const cb_node *node, const char *what, double *value);
/* Reads an expression of variable[n] and the parameters. */
cb_status cb_bundle_read_expression(const cb_bundle_names *s, const cb_node *node, const char *what,
                                    const char *const *variable, int n, cb_expression **out);

/* Fails unless row number `row` of a list of rows is a list of `length` expressions. `matrix` is the name of the matrix
 * in messages. */
cb_status cb_bundle_check_row(const cb_node *list, int row, size_t length, const char *matrix);
/* Reads a symmetric matrix of expressions of the n shape variables, given by all its rows, by the rows of its lower
 * triangle, or by its diagonal. The result is the lower triangle, packed as in a jet, with NULL for 0. The two
 * triangles are compared at shapes in (-3, 3). */
cb_status cb_bundle_read_symmetric(const cb_bundle_names *s, const cb_node *list, const char *what,
                                   cb_expression **lower);
/* Creates a copy of the bundle b with the metric of a scenario: `bundle` (or NULL), `identity`, or a symmetric matrix.
 * `add` is a symmetric matrix that is added to this metric, or NULL. The new bundle borrows b, so that b must outlive
 * it. */
cb_status cb_bundle_read_metric(const cb_bundle *b, const cb_node *metric, const cb_node *add, cb_bundle **out);
