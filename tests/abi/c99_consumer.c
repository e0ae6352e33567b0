/* A plain C99 program that uses the C ABI, as an embedder writes it. Exit code 0 if all checks pass. */
#include <stdio.h>
#include <string.h>

#include "simple_torch/simple_api.h"

static int failures = 0;

static void expect(bool holds, const char* what) {
  if (!holds) {
    fprintf(stderr, "not so: %s (%s)\n", what, spt_last_error_message());
    ++failures;
  }
}

int main(void) {
  const double data[] = {1, 2, 3, 4};
  const int64_t dims[] = {2, 2};
  int64_t a = 0;
  int64_t product = 0;
  int64_t live = -1;
  double* values = NULL;
  int64_t count = 0;
  char* text = NULL;

  expect(spt_from_data(data, 4, dims, 2, &a) == SPT_OK, "a tensor is made");
  expect(spt_matmul(a, a, &product) == SPT_OK, "it is multiplied by itself");
  expect(spt_to_list(product, &values, &count) == SPT_OK && count == 4, "its values are read");
  expect(values != NULL && values[0] == 7 && values[1] == 10 && values[2] == 15 && values[3] == 22,
         "they are 7 10 15 22");
  spt_free(values);
  expect(spt_tensor_text(product, &text) == SPT_OK && strncmp(text, "tensor([[", 9) == 0, "it is printed");
  spt_free(text);
  expect(spt_release(product) == SPT_OK, "the product is released");
  expect(spt_neg(product, &product) == SPT_INVALID_HANDLE, "its handle is then invalid");
  expect(strcmp(spt_last_error_message(), "") != 0, "with a message");
  expect(spt_release(a) == SPT_OK, "the tensor is released");
  expect(spt_live_handles(0, &live) == SPT_OK && live == 0, "no handle is left");
  return failures == 0 ? 0 : 1;
}
