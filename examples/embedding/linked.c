/* Solves two linear equations by PyTorch, from C99. Links libspl_torch; needs neither LibTorch nor Python to
 * build. */
#include <simple_torch/c_api.h>
#include <stdio.h>

/* Prints the error of the latest call and returns the exit code. */
static int failed(const char* step) {
  fprintf(stderr, "%s: error %d: %s\n", step, (int)spt_last_error_kind(), spt_last_error_message());
  return 1;
}

int main(void) {
  /* 2 x + y = 5 and x + 3 y = 10 */
  const double coefficients[] = {2, 1, 1, 3};
  const double right[] = {5, 10};
  const int64_t square[] = {2, 2};
  const int64_t column[] = {2, 1};
  int64_t a = 0;
  int64_t b = 0;
  int64_t x = 0;
  int64_t released = 0;
  double* values = NULL;
  int64_t count = 0;
  bool available = false;

  if (spt_available(&available) != SPT_OK || !available) {
    char* reason = NULL;
    spt_why_unavailable(&reason);
    fprintf(stderr, "%s\n", reason == NULL ? "" : reason);
    spt_free(reason);
    return 1;
  }

  /* The end of the scope releases every handle that was created in it. */
  if (spt_scope_begin() != SPT_OK) {
    return failed("scope_begin");
  }
  if (spt_from_data(coefficients, 4, square, 2, &a) != SPT_OK ||
      spt_from_data(right, 2, column, 2, &b) != SPT_OK) {
    return failed("from_data");
  }
  if (spt_linalg_solve(a, b, &x) != SPT_OK) {
    return failed("linalg_solve");
  }
  if (spt_to_list(x, &values, &count) != SPT_OK) {
    return failed("to_list");
  }
  printf("x = %.4f, y = %.4f\n", values[0], values[1]);
  spt_free(values);

  /* A failed call returns the kind of its error and writes no result. */
  if (spt_matmul(a, x, &x) != SPT_OK || spt_matmul(x, a, &x) != SPT_SHAPE_MISMATCH) {
    return failed("matmul");
  }
  printf("%s\n", spt_last_error_message());

  if (spt_scope_end(&released) != SPT_OK) {
    return failed("scope_end");
  }
  printf("released %d handles\n", (int)released);
  return 0;
}
