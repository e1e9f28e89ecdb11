/* libFuzzer entry for the expression parser and evaluator. No text may cause a crash, undefined behaviour or a leak.
 * The functions for value, gradient and jet return the same value. The place of an error is within the text.
 *
 * clang -fsanitize=fuzzer,address,undefined; AFL++ takes the same entry through afl-clang-fast -fsanitize=fuzzer. */
#include <curvebody/expression.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"x", "y", "z", "t"};
static const double points[][4] = {{0, 0, 0, 0}, {0.5, 1, 2, 3}, {-1, -0.25, 1e300, -1e-300}};

static void same(double a, double b) {
  if (a != b && !(a != a && b != b)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  if (!text) return 0;
  if (size) memcpy(text, data, size);
  text[size] = 0;
  cb_expression *e = NULL;
  size_t at = 0;
  cb_status status = cb_expression_parse(text, names, 4, &at, &e);
  if (status == CB_OK) {
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
      double v = cb_expression_value(e, points[i]), g[4];
      same(v, cb_expression_gradient(e, points[i], 3, g));
      for (int m = 0; m <= 4; m++) same(v, cb_expression_jet(e, points[i], m).v);
    }
    cb_expression_free(e);
  } else if (e || at > strlen(text) || !*cb_error_text()) {
    abort();
  }
  free(text);
  return 0;
}
