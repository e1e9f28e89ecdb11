/* Where there is no tree: bodies whose matrix does not fit into the memory are refused. */
#include "potential/far.h"

cb_status cb_far_create(const cb_panels *p, double error, cb_far **out) {
  (void)error, (void)out;
  return cb_fail(CB_ERROR_UNSUPPORTED, "the matrix of %d panels takes more memory than is allowed", p->n);
}
void cb_far_free(cb_far *f) { (void)f; }
size_t cb_far_bytes(const cb_panels *p, double error) {
  cb_far *none;
  (void)cb_far_create(p, error, &none);
  return 0;
}
cb_status cb_far_apply(cb_far *f, int columns, const double *sigma, const double *mu, double *out) {
  (void)f, (void)columns, (void)sigma, (void)mu, (void)out;
  return CB_OK;
}
