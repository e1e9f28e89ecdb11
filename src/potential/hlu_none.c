/* Replaces hlu.c in a build without hmat-oss: there are no factors of hierarchical matrices, and the method `best` does
 * not use them.
 */
#include "potential/linear_solvers.h"

#include <stdint.h>

cb_status cb_hlu_check(void) {
  return cb_fail(
      CB_ERROR_UNSUPPORTED,
      "this program was built without hmat-oss, which the method `hlu` needs: expected best, dense or iterative");
}

cb_status cb_hlu_create(const cb_panels *p, double tolerance, cb_hlu **out) {
  (void)p;
  (void)tolerance;
  (void)out;
  return cb_hlu_check();
}

cb_status cb_hlu_solve(cb_hlu *h, int columns, double *b) {
  (void)h;
  (void)columns;
  (void)b;
  return cb_hlu_check();
}

void cb_hlu_free(cb_hlu *h) { (void)h; }
size_t cb_hlu_bytes(const cb_hlu *h) {
  (void)h;
  return (size_t)0;
}
size_t cb_hlu_estimate(int n) {
  (void)n;
  return SIZE_MAX;
}
