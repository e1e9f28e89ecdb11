/* libFuzzer entry of flows on grids (scenario/flow_grid.h): files of velocities and axes, changed as the input says. Whatever
 * they have become: no crash, no undefined behaviour, no leak, no wait; what was read has a velocity anywhere. */
#include "hdf5_target.h"

#include "scenario/flow_grid.h"

static void make_files(void) {
  static const double axis[] = {0, 1, 2, 3};
  static const int periodic[] = {1, 0, 0, 1};
  double u[3 * 2 * 3 * 2 * 3];
  for (size_t i = 0; i < sizeof u / sizeof *u; i++) u[i] = 0.25 * (double)(i % 7);
  target_begin();
  for (int kind = 0; kind < 4; kind++) {
    const bool steady = kind & 2;
    const hsize_t dims[] = {3, 2, 3, 2, 3};
    const hid_t file = target_create(kind & 1);
    target_numbers(file, "velocity", kind & 1 ? H5T_IEEE_F32BE : H5T_IEEE_F64LE, steady ? 4 : 5,
                   steady ? dims + 1 : dims, kind == 3 || kind == 0, u);
    if (!steady) target_numbers(file, "time", H5T_STD_I16BE, 1, dims, false, axis);
    target_numbers(file, "x", H5T_IEEE_F64LE, 1, dims + 1, false, axis);
    target_numbers(file, "y", H5T_IEEE_F32LE, 1, dims + 2, kind & 1, axis);
    target_numbers(file, "z", H5T_STD_U8LE, 1, dims + 3, false, axis);
    target_attribute(file, "velocity", "periodic", H5T_NATIVE_INT, steady ? 3 : 4, periodic);
    H5Fclose(file);
    target_add(target_path);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!target_files) make_files();
  cb_flow *flow = NULL;
  target_change((int)((size ? data[0] >> 1 : 0) % 4), data, size, target_path);
  const cb_status status = cb_flow_read_grid(target_path, &flow);
  check_unchanged(status, size);
  if (status) return demand(!flow), 0;
  double x[7][3], u[7][3], gradient[7][3][3];
  for (int i = 0; i < 7; i++)
    for (int k = 0; k < 3; k++) x[i][k] = k < 2 ? 0.7 * (i - 2) : 1e3 * (i - 2);
  for (int i = -1; i < 3; i++) cb_flow_at(flow, 0.9 * i, 7, (const double(*)[3])x, u, gradient, NULL);
  cb_flow_free(flow);
  return 0;
}
