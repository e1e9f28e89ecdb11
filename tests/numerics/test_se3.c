/* Tests of SE(3): group laws, the maps tau from twists to poses and their inverse, their differentials against
 * differences and series, and accuracy near the identity. Y = (omega, v) is a twist, hat(Y) its 4x4 matrix, g a pose,
 * mu a momentum. */
#include "check.h"
#include <curvebody/se3.h>
#include "numerics/lie_private.h"

static const cb_se3_map maps[3] = {CB_SE3_CAYLEY, CB_SE3_EXPONENTIAL, CB_SE3_TLN};

static void random_twist(uint64_t *seed, double size, double *Y) {
  for (int i = 0; i < 6; i++) Y[i] = check_uniform(seed, -size, size);
}

static cb_pose random_pose(uint64_t *seed) {
  double Y[6];
  cb_pose g;
  random_twist(seed, 3, Y);
  cb_se3_tau(CB_SE3_CAYLEY, Y, &g);
  return g;
}

/* Computes the 4x4 matrix of a pose from the images of the origin and of the unit vectors. */
static void matrix_of(const cb_pose *g, double m[4][4]) {
  static const double unit[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, origin[3];
  double at[3], image[3];
  cb_pose_point(g, origin, at);
  for (int j = 0; j < 3; j++) {
    cb_pose_point(g, unit[j], image);
    for (int i = 0; i < 3; i++) m[i][j] = image[i] - at[i];
  }
  for (int i = 0; i < 3; i++) {
    m[i][3] = at[i];
    m[3][i] = 0;
  }
  m[3][3] = 1;
}

static void multiply4(double a[4][4], double b[4][4], double out[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++) {
      out[i][j] = 0;
      for (int k = 0; k < 4; k++) out[i][j] += a[i][k] * b[k][j];
    }
}

static void hat4(const double *Y, double m[4][4]) {
  const double w[4][4] = {{0, -Y[2], Y[1], Y[3]}, {Y[2], 0, -Y[0], Y[4]}, {-Y[1], Y[0], 0, Y[5]}, {0, 0, 0, 0}};
  memcpy(m, w, sizeof w);
}

static void ad_matrix(const double *Y, double m[6][6]) {
  double a[4][4];
  hat4(Y, a);
  const double v[3][3] = {{0, -Y[5], Y[4]}, {Y[5], 0, -Y[3]}, {-Y[4], Y[3], 0}};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      m[i][j] = m[i + 3][j + 3] = a[i][j];
      m[i + 3][j] = v[i][j];
      m[i][j + 3] = 0;
    }
}

static void check_same_pose(const cb_pose *a, const cb_pose *b, double tolerance) {
  double dot = 0;
  for (int i = 0; i < 4; i++) dot += a->q[i] * b->q[i];
  for (int i = 0; i < 4; i++) check_near(a->q[i], dot < 0 ? -b->q[i] : b->q[i], tolerance);
  for (int i = 0; i < 3; i++) check_near(a->x[i], b->x[i], tolerance);
}

static void poses_form_a_group(void **unused) {
  uint64_t seed = check_seed();
  cb_pose one;
  cb_pose_identity(&one);
  for (int n = 0; n < 50; n++) {
    const cb_pose a = random_pose(&seed), b = random_pose(&seed), c = random_pose(&seed);
    cb_pose ab, bc, left, right, inverse, half, again;
    cb_pose_multiply(&a, &b, &ab);
    cb_pose_multiply(&ab, &c, &left);
    cb_pose_multiply(&b, &c, &bc);
    cb_pose_multiply(&a, &bc, &right);
    check_same_pose(&left, &right, 1e-14);
    cb_pose_inverse(&a, &inverse);
    cb_pose_multiply(&a, &inverse, &again);
    check_same_pose(&again, &one, 1e-14);
    cb_pose_half(&a, &half);
    cb_pose_multiply(&half, &half, &again);
    check_same_pose(&again, &a, 1e-13); /* near a complete turn the error grows as 1/(1 + q[0]) */
    again = a;
    cb_pose_multiply(&again, &b, &again);
    check_same_pose(&again, &ab, 0);
    double A[4][4], B[4][4], product[4][4], AB[4][4];
    matrix_of(&a, A);
    matrix_of(&b, B);
    matrix_of(&ab, AB);
    multiply4(A, B, product);
    for (int i = 0; i < 16; i++) check_near(AB[i / 4][i % 4], product[i / 4][i % 4], 1e-14);
  }
}

/* Checks g hat(Y) g^-1 = hat(Ad_g Y), <Ad*_{g^-1} mu, Ad_g Y> = <mu, Y> and <ad*_Y mu, X> = <mu, [Y, X]> for a second
 * twist X. */
static void adjoint_and_coadjoint_are_dual(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 50; n++) {
    const cb_pose g = random_pose(&seed);
    cb_pose inverse;
    double Y[6], X[6], mu[6], moved[6], world[6], back[6], star[6], Ad[6][6], M[6][6], ad[6][6];
    random_twist(&seed, 2, Y);
    random_twist(&seed, 2, X);
    random_twist(&seed, 2, mu);
    cb_pose_adjoint(&g, Ad);
    cb_pose_inverse(&g, &inverse);
    double G[4][4], H[4][4], hat[4][4], product[4][4];
    matrix_of(&g, G);
    matrix_of(&inverse, H);
    hat4(Y, hat);
    multiply4(G, hat, product);
    multiply4(product, H, hat);
    for (int i = 0; i < 6; i++) {
      moved[i] = 0;
      for (int j = 0; j < 6; j++) moved[i] += Ad[i][j] * Y[j];
    }
    hat4(moved, product);
    for (int i = 0; i < 16; i++) check_near(hat[i / 4][i % 4], product[i / 4][i % 4], 1e-13);
    cb_se3_momentum_to_world(&g, mu, world);
    cb_se3_wrench_to_body(&g, world, back);
    cb_se3_ad_star(Y, mu, star);
    cb_se3_ad_star_matrix(mu, M);
    ad_matrix(Y, ad);
    double paired = 0, pairing = 0, bracket = 0, dual = 0;
    for (int i = 0; i < 6; i++) {
      check_near(back[i], mu[i], 1e-13);
      paired += world[i] * moved[i];
      pairing += mu[i] * Y[i];
      dual += star[i] * X[i];
      double by_matrix = 0;
      for (int j = 0; j < 6; j++) {
        bracket += mu[i] * ad[i][j] * X[j];
        by_matrix += M[i][j] * Y[j];
      }
      check_near(by_matrix, star[i], 1e-14);
    }
    check_near(paired, pairing, 1e-13);
    check_near(dual, bracket, 1e-13);
  }
}

static void log_inverts_exp_up_to_half_a_turn(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 200; n++) {
    double Y[6], back[6];
    cb_pose g;
    random_twist(&seed, n < 100 ? 1.8 : 1e-7, Y); /* |omega| < 1.8 sqrt(3) < pi */
    cb_se3_tau(CB_SE3_EXPONENTIAL, Y, &g);
    cb_se3_log(&g, back);
    for (int i = 0; i < 6; i++) check_near(back[i], Y[i], n < 100 ? 1e-13 : 1e-22);
    for (int i = 0; i < 4; i++) g.q[i] = -g.q[i]; /* the same rotation */
    cb_se3_log(&g, back);
    for (int i = 0; i < 6; i++) check_near(back[i], Y[i], n < 100 ? 1e-13 : 1e-22);
  }
}

/* Cayley's map satisfies (1 - hat(Y)/2) cay(Y) = 1 + hat(Y)/2. */
static void cayley_is_its_formula(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 100; n++) {
    double Y[6], A[4][4], G[4][4], product[4][4];
    cb_pose g;
    random_twist(&seed, 5, Y);
    cb_se3_tau(CB_SE3_CAYLEY, Y, &g);
    matrix_of(&g, G);
    hat4(Y, A);
    for (int i = 0; i < 16; i++) A[i / 4][i % 4] *= -0.5;
    for (int i = 0; i < 4; i++) A[i][i] += 1;
    multiply4(A, G, product);
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) check_near(product[i][j], (i == j ? 2 : 0) - A[i][j], 2e-14);
  }
}

/* The exponential equals the series of exp(hat(Y)) in 4x4 matrices. */
static void exponential_is_its_series(void **unused) {
  uint64_t seed = check_seed();
  for (int n = 0; n < 100; n++) {
    double Y[6], A[4][4], term[4][4] = {{0}}, next[4][4], sum[4][4] = {{0}}, G[4][4];
    cb_pose g;
    random_twist(&seed, n < 50 ? 0.5 : 2, Y);
    cb_se3_tau(CB_SE3_EXPONENTIAL, Y, &g);
    matrix_of(&g, G);
    hat4(Y, A);
    for (int i = 0; i < 4; i++) term[i][i] = sum[i][i] = 1;
    for (int k = 1; k < 50; k++) {
      multiply4(term, A, next);
      for (int i = 0; i < 16; i++) sum[i / 4][i % 4] += term[i / 4][i % 4] = next[i / 4][i % 4] / k;
    }
    for (int i = 0; i < 16; i++) check_near(G[i / 4][i % 4], sum[i / 4][i % 4], 2e-14);
  }
}

/* (tau(Y + s d) tau(Y)^-1 - tau(Y - s d) tau(Y)^-1)/2s is dtau_Y d, so dtau^-1_Y maps this difference to d. */
static void dtau_inverse_inverts_differences_of_tau(void **unused) {
  uint64_t seed = check_seed();
  const double s = 1e-5;
  for (int m = 0; m < 2; m++)
    for (int n = 0; n < 50; n++) {
      double Y[6], d[6], plus[6], minus[6], rate[6], A[6][6];
      cb_pose g, inverse, end;
      random_twist(&seed, 1.5, Y);
      random_twist(&seed, 1, d);
      cb_se3_tau(maps[m], Y, &g);
      cb_pose_inverse(&g, &inverse);
      for (int side = 0; side < 2; side++) {
        double moved[6];
        for (int i = 0; i < 6; i++) moved[i] = Y[i] + (side ? -s : s) * d[i];
        cb_se3_tau(maps[m], moved, &end);
        cb_pose_multiply(&end, &inverse, &end);
        cb_se3_log(&end, side ? minus : plus);
      }
      for (int i = 0; i < 6; i++) rate[i] = (plus[i] - minus[i]) / (2 * s);
      cb_se3_dtau_inverse(maps[m], Y, A);
      for (int i = 0; i < 6; i++) {
        double sum = 0;
        for (int j = 0; j < 6; j++) sum += A[i][j] * rate[j];
        check_near(sum, d[i], 1e-8); /* the differences have the errors s^2 and round-off/s */
      }
    }
}

/* Applied to vectors, dtau^-1 and its transpose are products with the matrix, up to the round-off of six terms. */
static void dtau_inverse_of_vectors_is_the_product_with_the_matrix(void **unused) {
  uint64_t seed = check_seed();
  const cb_se3_map all[] = {CB_SE3_CAYLEY, CB_SE3_EXPONENTIAL, CB_SE3_TLN};
  for (int m = 0; m < 3; m++)
    for (int n = 0; n < 50; n++) {
      double Y[6], a[6], A[6][6], applied[6], transposed[6];
      random_twist(&seed, 1.5, Y);
      random_twist(&seed, 1, a);
      cb_se3_dtau_inverse(all[m], Y, A);
      cb_se3_dtau_inverse_apply(all[m], Y, a, applied);
      cb_se3_dtau_inverse_transpose(all[m], Y, a, transposed);
      for (int i = 0; i < 6; i++) {
        double right[2] = {0};
        for (int j = 0; j < 6; j++) {
          right[0] += A[i][j] * a[j];
          right[1] += A[j][i] * a[j];
        }
        check_near(applied[i], right[0], 1e-14);
        check_near(transposed[i], right[1], 1e-14);
      }
    }
}

/* dexp^-1 of the exponential is sum B_k/k! ad_Y^k, with the Bernoulli numbers B_k. For |omega| < 1.3 the first omitted
 * term is below 1e-15. For the map CB_SE3_TLN it is 1 - ad_Y/2. */
static void dexp_inverse_is_its_series(void **unused) {
  static const double b[] = {1,
                             -1. / 2,
                             1. / 6,
                             0,
                             -1. / 30,
                             0,
                             1. / 42,
                             0,
                             -1. / 30,
                             0,
                             5. / 66,
                             0,
                             -691. / 2730,
                             0,
                             7. / 6,
                             0,
                             -3617. / 510,
                             0,
                             43867. / 798,
                             0,
                             -174611. / 330,
                             0,
                             854513. / 138};
  uint64_t seed = check_seed();
  for (int n = 0; n < 50; n++) {
    double Y[6], ad[6][6], term[6][6] = {{0}}, sum[6][6] = {{0}}, A[6][6];
    random_twist(&seed, 0.75, Y);
    ad_matrix(Y, ad);
    for (int i = 0; i < 6; i++) term[i][i] = 1;
    for (int k = 0; k < 23; k++) {
      for (int i = 0; i < 36; i++) sum[i / 6][i % 6] += b[k] * term[i / 6][i % 6];
      double next[6][6];
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
          next[i][j] = 0;
          for (int l = 0; l < 6; l++) next[i][j] += term[i][l] * ad[l][j] / (k + 1);
        }
      memcpy(term, next, sizeof next);
    }
    cb_se3_dtau_inverse(CB_SE3_EXPONENTIAL, Y, A);
    for (int i = 0; i < 36; i++) check_near(A[i / 6][i % 6], sum[i / 6][i % 6], 1e-14);
    cb_se3_dtau_inverse(CB_SE3_TLN, Y, A);
    for (int i = 0; i < 36; i++) check_near(A[i / 6][i % 6], (i / 6 == i % 6) - ad[i / 6][i % 6] / 2, 1e-16);
  }
}

/* dtau^-1_{-Y} = dtau^-1_Y Ad_{tau(Y)}. */
static void left_and_right_differentials_differ_by_ad(void **unused) {
  uint64_t seed = check_seed();
  for (int m = 0; m < 2; m++)
    for (int n = 0; n < 50; n++) {
      double Y[6], back[6], A[6][6], B[6][6], Ad[6][6];
      cb_pose g;
      random_twist(&seed, n < 25 ? 1 : 3, Y); /* arguments for which cb_se3_even uses a series or a closed form */
      for (int i = 0; i < 6; i++) back[i] = -Y[i];
      cb_se3_tau(maps[m], Y, &g);
      cb_pose_adjoint(&g, Ad);
      cb_se3_dtau_inverse(maps[m], Y, A);
      cb_se3_dtau_inverse(maps[m], back, B);
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
          double sum = 0, largest = 1;
          for (int k = 0; k < 6; k++) {
            sum += A[i][k] * Ad[k][j];
            largest = fmax(largest, fabs(A[i][k]));
          }
          check_near(sum, B[i][j], 1e-13 * largest * largest);
        }
    }
}

static void derivative_of_the_transpose_is_that_of_differences(void **unused) {
  uint64_t seed = check_seed();
  const double s = 1e-5;
  for (int m = 0; m < 3; m++)
    for (int n = 0; n < 60; n++) {
      double Y[6], mu[6], D[6][6];
      random_twist(&seed, n < 20 ? 0.2 : n < 40 ? 1.2 : 2.4, Y);
      random_twist(&seed, 1, mu);
      cb_se3_dtau_inverse_transpose_derivative(maps[m], Y, mu, D);
      for (int j = 0; j < 6; j++) {
        double plus[6][6], minus[6][6], moved[6];
        memcpy(moved, Y, sizeof Y);
        moved[j] = Y[j] + s;
        cb_se3_dtau_inverse(maps[m], moved, plus);
        moved[j] = Y[j] - s;
        cb_se3_dtau_inverse(maps[m], moved, minus);
        for (int i = 0; i < 6; i++) {
          double rate = 0;
          for (int k = 0; k < 6; k++) rate += (plus[k][i] - minus[k][i]) * mu[k] / (2 * s);
          check_near(D[i][j], rate, 1e-8 * (1 + fabs(rate)));
        }
      }
    }
}

/* Reference values for Y = scale (3, -5, 4, 2, 7, -6)/8 and mu = (1, -3, 2, 5, -2, 3)/4. They were computed with 60
 * digits by the series of exp and the inverse of the series of dexp, and rounded here. q is the vector part of the
 * quaternion, x is the position, and the member mu is (dexp^-1)^T mu. */
static const struct {
  double scale, q[3], x[3], mu[6];
} digits[] = {
    {1.0e-12,
     {1.875e-13, -3.125e-13, 2.5e-13},
     {2.50000000000015625e-13, 8.75000000000203125e-13, -7.499999999997578125e-13},
     {2.50000000000171875e-1, -7.5000000000059375e-1, 4.99999999999328125e-1, 1.249999999999890625,
      -4.99999999999828125e-1, 7.50000000000296875e-1}},
    {1.0e-8,
     {1.8749999999999999939e-9, -3.12499999999999998983e-9, 2.49999999999999999186e-9},
     {2.50000000156249991569e-9, 8.75000002031249997233e-9, -7.49999997578124997135e-9},
     {2.50000001718750018424e-1, -7.50000005937499994238e-1, 4.99999993281250000391e-1, 1.24999999890624999548,
      -4.99999998281250002767e-1, 7.50000002968749999935e-1}},
    {1.0e-5,
     {1.87499999999389648438e-6, -3.12499999998982747396e-6, 2.49999999999186197917e-6},
     {2.50000156241569009399e-6, 8.75002031247233059692e-6, -7.49997578122135432434e-6},
     {2.50001718768424479167e-1, -7.5000593749423828125e-1, 4.99993281250390625e-1, 1.24999890624547526042,
      -4.99998281252766927083e-1, 7.50002968749934895833e-1}},
    {0.001,
     {1.87499993896484434605e-4, -3.12499989827474057674e-4, 2.4999999186197924614e-4},
     {2.50015540689090207444e-4, 8.75203097317505963988e-4, -7.49757783869935200598e-4},
     {2.50172059244795314704e-1, -7.50593692382810985989e-1, 4.99328128906250068834e-1, 1.24989057975260357751,
      -4.9982815266927119361e-1, 7.50296874348958324856e-1}},
    {0.25,
     {4.67796907591054722241e-2, -7.79661512651757870401e-2, 6.23729210121406296321e-2},
     {6.21584656272926510203e-2, 2.30962461061539732193e-1, -1.71978272893544823024e-1},
     {3.04498321898328892129e-1, -8.9483050131487438385e-1, 3.32275659902967614409e-1, 1.21982598368003386945,
      -4.58761988397101590625e-1, 8.24178026743597609632e-1}},
    {1.0,
     {1.8145581259100140773e-1, -3.02426354318335679549e-1, 2.4194108345466854364e-1},
     {1.83556731128776752228e-1, 1.03863200748153329071, -4.95627538994665950782e-1},
     {6.0986120723492755812e-1, -1.28457529882464489489, -1.67898262254287173294e-1, 1.09477726795968719473,
      -3.56161382902349557177e-1, 1.04621532040229765748}},
    {2.0,
     {3.28044126928362179536e-1, -5.46740211547270299227e-1, 4.37392169237816239382e-1},
     {-2.87742842212139604305e-2, 2.18253130408769625609, -5.62755156724469209559e-1},
     {1.39555900548615152301, -1.67978167327682341157, -8.26909579081543614118e-1, 8.40073005521743081665e-1,
      -2.73156795184545597543e-1, 1.34099925187801069182}},
    {3.0,
     {4.115973813276156713e-1, -6.85995635546026118833e-1, 5.48796508436820895066e-1},
     {-7.72480006720286930229e-1, 3.07946110627033686714, -5.40063612121863718407e-1},
     {2.80432133941573223553, -1.84987837931533842957, -1.47340112739337648075, 4.57229738292911466347e-1,
      -2.68510591691385074536e-1, 1.63393945666608505707}},
    {6.0,
     {1.99648025885097488112e-1, -3.3274670980849581352e-1, 2.66197367846796650816e-1},
     {-2.97562891898660944771, 4.00564874168835500996, -2.69871738364959915177},
     {3.64377002064466713046e+1, 1.2136250095156114124e+1, -2.91025770891692662107, -3.55680764668635472304,
      -2.00686079113913778028, 2.47152974609084381693}},
};

static void accurate_from_the_identity_to_almost_a_turn(void **unused) {
  for (size_t n = 0; n < sizeof digits / sizeof *digits; n++) {
    static const double direction[6] = {3. / 8, -5. / 8, 4. / 8, 2. / 8, 7. / 8, -6. / 8};
    static const double mu[6] = {0.25, -0.75, 0.5, 1.25, -0.5, 0.75};
    double Y[6], A[6][6], moved[6];
    cb_pose g;
    for (int i = 0; i < 6; i++) {
      Y[i] = digits[n].scale * direction[i];
      moved[i] = 0;
    }
    cb_se3_tau(CB_SE3_EXPONENTIAL, Y, &g);
    cb_se3_dtau_inverse(CB_SE3_EXPONENTIAL, Y, A);
    for (int i = 0; i < 3; i++) {
      check_near(g.q[1 + i], digits[n].q[i], 5e-16 * fmin(1, digits[n].scale));
      check_near(g.x[i], digits[n].x[i], 2e-15 * digits[n].scale);
    }
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < 6; k++) moved[i] += A[k][i] * mu[k];
    for (int i = 0; i < 6; i++)
      check_near(moved[i], digits[n].mu[i], (digits[n].scale > 5 ? 2e-12 : 4e-15) * (1 + fabs(digits[n].mu[i])));
    /* The small difference between tau(Y) and the identity is accurate in all digits. For Cayley's map,
     * (1 - W/2) x = v, where W is the cross product with omega. */
    cb_se3_tau(CB_SE3_CAYLEY, Y, &g);
    const double *w = Y, *x = g.x;
    const double turned[3] = {w[1] * x[2] - w[2] * x[1], w[2] * x[0] - w[0] * x[2], w[0] * x[1] - w[1] * x[0]};
    for (int i = 0; i < 3; i++) check_near(x[i] - turned[i] / 2, Y[3 + i], 2e-15 * digits[n].scale);
    for (int i = 0; i < 3; i++) check_near(g.q[1 + i] / g.q[0], w[i] / 2, 2e-16 * digits[n].scale);
  }
}

/* Tests the function of cb_se3_even and its first two derivatives, e[0..2]. Each derivative agrees with central
 * differences of the previous one, and all are continuous at 6, where the series changes to the closed form. */
static void even_function_joins_at_its_branches(void **unused) {
  for (double n = 0.02; n < 39; n += 0.0937) {
    const double s = 1e-4 * fmin(1, (39.4 - n) / 40);
    double e[3], plus[3], minus[3];
    cb_se3_even(n, e);
    cb_se3_even(n + s, plus);
    cb_se3_even(n - s, minus);
    for (int i = 0; i < 2; i++) {
      const double rate = (plus[i] - minus[i]) / (2 * s);
      /* the differences have the errors round-off/s and s^2 e'''/e' */
      check_near(e[i + 1], rate, 1e-6 * fabs(rate) + 1e-11);
    }
  }
  double below[3], above[3];
  cb_se3_even(nextafter(6, 0), below);
  cb_se3_even(6, above);
  check_relative(above[0], below[0], 1e-15);
  check_relative(above[1], below[1], 2e-14);
  check_relative(above[2], below[2], 2e-13);
}

/* Products of dexp^-1 with vectors equal those of its matrix. The exponential is continuous at |omega| = 0.1 and
 * 2^(1/2), where its formulas change. */
static void products_with_dexp_inverse_are_those_of_its_matrix(void **unused) {
  uint64_t seed = 7;
  for (int n = 0; n < 500; n++) {
    const double size = exp(check_uniform(&seed, -8, 0.8));
    double Y[6], Z[6], A[6][6], out[6];
    random_twist(&seed, size, Y);
    random_twist(&seed, 1, Z);
    cb_se3_dtau_inverse(CB_SE3_EXPONENTIAL, Y, A);
    cb_se3_dexp_inverse(Y, Z, out);
    for (int i = 0; i < 6; i++) {
      double sum = 0;
      for (int k = 0; k < 6; k++) sum += A[i][k] * Z[k];
      check_near(out[i], sum, 4e-15 * (1 + size) * (1 + size)); /* round-off of ten products */
    }
  }
  for (int branch = 0; branch < 2; branch++) {
    const double w = branch ? sqrt(2) : 0.1;
    cb_pose at[2];
    for (int side = 0; side < 2; side++) {
      const double Y[6] = {w * (side ? 1 + 1e-15 : 1 - 1e-15), 0, 0, 0.3, -0.5, 0.7};
      cb_se3_tau(CB_SE3_EXPONENTIAL, Y, &at[side]);
    }
    check_same_pose(&at[0], &at[1], 3e-15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(poses_form_a_group),
      cmocka_unit_test(adjoint_and_coadjoint_are_dual),
      cmocka_unit_test(log_inverts_exp_up_to_half_a_turn),
      cmocka_unit_test(cayley_is_its_formula),
      cmocka_unit_test(exponential_is_its_series),
      cmocka_unit_test(dtau_inverse_inverts_differences_of_tau),
      cmocka_unit_test(dtau_inverse_of_vectors_is_the_product_with_the_matrix),
      cmocka_unit_test(dexp_inverse_is_its_series),
      cmocka_unit_test(left_and_right_differentials_differ_by_ad),
      cmocka_unit_test(derivative_of_the_transpose_is_that_of_differences),
      cmocka_unit_test(accurate_from_the_identity_to_almost_a_turn),
      cmocka_unit_test(even_function_joins_at_its_branches),
      cmocka_unit_test(products_with_dexp_inverse_are_those_of_its_matrix),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
