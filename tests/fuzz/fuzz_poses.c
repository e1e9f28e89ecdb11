/* libFuzzer entry of pose sequences (scenario/pose_sequence.h): files of poses, times and faces, changed as the input says, as
 * bodies by themselves. Whatever they have become: no crash, no undefined behaviour, no leak, no wait; what was read has
 * places at any time. */
#include "hdf5_target.h"

#include "scenario/pose_sequence.h"
#include <math.h>

static void make_files(void) {
  static const double corner[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  static const double face[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}}, time[4] = {0, 0.5, 1.25, 2};
  double x[4][4][3];
  for (int p = 0; p < 4; p++)
    for (int v = 0; v < 4; v++)
      for (int k = 0; k < 3; k++) x[p][v][k] = corner[v][k] * (1 + 0.1 * p);
  target_begin();
  for (int kind = 0; kind < 4; kind++) { /* old and new, contiguous and in chunks */
    const hid_t file = target_create(kind & 1);
    target_numbers(file, "poses", kind & 1 ? H5T_IEEE_F32BE : H5T_IEEE_F64LE, 3, (const hsize_t[]){4, 4, 3}, kind & 2,
                   x[0][0]);
    target_numbers(file, "time", H5T_IEEE_F64LE, 1, (const hsize_t[]){4}, kind & 2, time);
    target_numbers(file, "face", H5T_STD_I32LE, 2, (const hsize_t[]){4, 3}, kind & 2, face[0]);
    H5Fclose(file);
    target_add(target_path);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!target_files) make_files();
  const unsigned flags = size ? data[0] >> 1 : 0;
  const cb_poses_times times = {.step = flags & 16 ? 0.5 : 0, .end = flags & 4 ? CB_POSES_CLAMPED : CB_POSES_PERIODIC};
  cb_surface *rest = NULL;
  cb_poses *poses = NULL;
  target_change((int)(flags % 4), data, size, target_path);
  const cb_mending how = {.weld = flags & 8};
  const cb_status status = cb_poses_read_sequence(target_path, NULL, NULL, &times, &how, &rest, &poses);
  check_unchanged(status, size);
  if (status) return demand(!rest && !poses), 0;
  const int n = cb_poses_vertices(poses);
  demand(n > 0 && n == rest->vertices);
  double(*x)[3] = malloc((size_t)n * sizeof *x), (*v)[3] = malloc((size_t)n * sizeof *v);
  for (int i = -1; x && v && i < 4; i++) demand(cb_poses_at(poses, 0.7 * i, x, v) <= CB_STEP_NOT_FINITE || true);
  free(x), free(v);
  cb_poses_free(poses);
  cb_surface_free(rest);
  return 0;
}
