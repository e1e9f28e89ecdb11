/* libFuzzer entry of bundles from tables (scenario/samples_file.h): files of a connection, a metric and axes, changed as the
 * input says. Whatever they have become: no crash, no undefined behaviour, no leak, no wait. */
#include "hdf5_target.h"

#include "scenario/samples_file.h"
#include <hdf5_hl.h>

static void make_files(void) {
  enum { N = 6, DIM = 3 };
  static const double axis[N] = {-1, -0.5, 0, 0.5, 1, 1.5}, period = 3;
  double a[N * N * DIM * 2], m[N * N * 2 * 2];
  for (size_t i = 0; i < sizeof a / sizeof *a; i++) a[i] = 0.1 * (double)(i % 11);
  for (size_t i = 0; i < sizeof m / sizeof *m; i++) m[i] = i % 4 == 0 || i % 4 == 3 ? 2 : 0.1;
  target_begin();
  for (int kind = 0; kind < 4; kind++) {
    const int n = kind & 2 ? 2 : 1;
    const hsize_t one[] = {N, DIM, 1}, two[] = {N, N, DIM, 2}, more[] = {N, N, 2, 2}, less[] = {N, 1, 1},
                  length[] = {N};
    const hid_t file = target_create(kind & 1);
    target_numbers(file, "connection", H5T_IEEE_F64LE, n + 2, n == 1 ? one : two, kind == 1, a);
    target_numbers(file, "metric", H5T_IEEE_F32LE, n + 2, n == 1 ? less : more, kind == 2, m);
    target_numbers(file, "left", H5T_IEEE_F64LE, 1, length, false, axis);
    if (n == 2) target_numbers(file, "right", H5T_IEEE_F32BE, 1, length, false, axis);
    target_text(file, "group", "se2");
    if (n == 2) target_attribute(file, "left", "period", H5T_NATIVE_DOUBLE, 1, &period);
    if (kind & 1) {
      target_text(file, "shape", n == 1 ? "left" : "left right");
    } else {
      const hid_t set = H5Dopen2(file, "connection", H5P_DEFAULT);
      for (int d = 0; d < n; d++) {
        const hid_t scale = H5Dopen2(file, d ? "right" : "left", H5P_DEFAULT);
        if (H5DSset_scale(scale, d ? "right" : "left") < 0 || H5DSattach_scale(set, scale, (unsigned)d) < 0) exit(2);
        H5Dclose(scale);
      }
      H5Dclose(set);
    }
    H5Fclose(file);
    target_add(target_path);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int degree[] = {0, 3, 5};
  if (!target_files) make_files();
  const unsigned flags = size ? data[0] >> 1 : 0;
  cb_bundle *bundle = NULL;
  target_change((int)(flags % 4), data, size, target_path);
  const cb_status status = cb_bundle_samples_read(target_path, degree[flags / 4 % 3], &bundle);
  check_unchanged(status, size);
  demand(!status == !!bundle);
  if (bundle) cb_bundle_free(bundle);
  return 0;
}
