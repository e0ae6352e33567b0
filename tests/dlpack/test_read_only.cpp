// Memory that the operating system has made read-only, exported as read-only. Reading works; writing raises
// an error before the write, which would end the process. The operators: tests/opinfo/test_read_only.py.
#include <cstdio>
#include <functional>

#include "tests/dlpack/consumers.h"

namespace {

using namespace consumers;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::vector<double> kValues = {1, 2, 4, 8, 16, 32};  // as the consumer creates them

class ReadOnly : public CApiTest {
 protected:
  Handle locked() {
    const ExportOptions options{.flags = DLPACK_FLAG_BITMASK_READ_ONLY, .memory = CONSUMER_LOCKED_PAGES};
    const Dtype float32{"float32", {kDLFloat, 32, 1}};
    return create(spt_from_dlpack,
                  make(producer_, order(float32, layouts().front(), options, &deletions_), false).versioned);
  }

  static void expect_rejected(int32_t status) {
    EXPECT_EQ(status, SPT_INVALID_ARGUMENT);
    EXPECT_THAT(spt_last_error_message(), HasSubstr("read-only"));
    EXPECT_THAT(spt_last_error_message(), HasSubstr("use its .clone()"));
  }

  Library producer_{CONSUMER_C};
  int32_t deletions_ = 0;
};

TEST_F(ReadOnly, CanBeRead) {
  const Handle a = locked();
  EXPECT_EQ(values(a), kValues);
  EXPECT_THAT(text(a), HasSubstr("[ 8., 16., 32.]"));
  bool is_equal = false;
  EXPECT_EQ(spt_equal(a, a, &is_equal), SPT_OK) << spt_last_error_message();
  EXPECT_TRUE(is_equal);
  EXPECT_EQ(values(create(spt_add, int64_t{a}, int64_t{a})).back(), 64);
  EXPECT_EQ(values(create(spt_matmul, int64_t{a}, int64_t{create(spt_t, int64_t{a})})).front(), 1 + 4 + 16);
}

TEST_F(ReadOnly, CanBeSaved) {
  const std::string path = ::testing::TempDir() + "read_only.pt";
  const Handle a = locked();
  ASSERT_EQ(spt_tensor_save(a, path.c_str()), SPT_OK) << spt_last_error_message();
  EXPECT_EQ(values(create(spt_tensor_load, path.c_str())), kValues);
  std::remove(path.c_str());
}

TEST_F(ReadOnly, HasAWritableClone) {
  const Handle copy = create(spt_clone, int64_t{locked()});
  EXPECT_EQ(spt_zero_(copy), SPT_OK) << spt_last_error_message();
  EXPECT_THAT(values(copy), ElementsAre(0, 0, 0, 0, 0, 0));
}

TEST_F(ReadOnly, RejectsInPlaceFunctions) {
  const Handle a = locked();
  const Handle other = ones({2, 3});
  const std::pair<const char*, std::function<int32_t()>> writers[] = {
      {"copy_", [&] { return spt_copy_(a, other); }},
      {"fill_", [&] { return spt_fill_(a, 7); }},
      {"zero_", [&] { return spt_zero_(a); }},
      {"add_", [&] { return spt_add_(a, other, 1); }},
      {"sub_", [&] { return spt_sub_(a, other, 1); }},
      {"mul_", [&] { return spt_mul_(a, other); }},
      {"div_", [&] { return spt_div_(a, other); }},
      {"add_scalar_", [&] { return spt_add_scalar_(a, 1); }},
      {"sub_scalar_", [&] { return spt_sub_scalar_(a, 1); }},
      {"mul_scalar_", [&] { return spt_mul_scalar_(a, 2); }},
      {"div_scalar_", [&] { return spt_div_scalar_(a, 2); }},
      {"uniform_", [&] { return spt_uniform_(a, 0, 1); }},
      {"normal_", [&] { return spt_normal_(a, 0, 1); }},
      {"clamp_", [&] { return spt_clamp_(a, 3, 5); }},
  };
  for (const auto& [name, write] : writers) {
    SCOPED_TRACE(name);
    expect_rejected(write());
    EXPECT_EQ(values(a), kValues);
  }
}

TEST_F(ReadOnly, RejectsWritesThroughViewsAndReimports) {
  const Handle a = locked();
  expect_rejected(spt_zero_(create(spt_t, int64_t{a})));
  expect_rejected(spt_zero_(create(spt_select, int64_t{a}, int64_t{0}, int64_t{1})));
  expect_rejected(spt_zero_(create(spt_detach, int64_t{a})));
  DLManagedTensorVersioned* out = nullptr;
  ASSERT_EQ(spt_to_dlpack(create(spt_t, int64_t{a}), false, &out), SPT_OK);
  EXPECT_EQ(out->flags, DLPACK_FLAG_BITMASK_READ_ONLY);
  expect_rejected(spt_zero_(create(spt_from_dlpack, out)));
  EXPECT_EQ(values(a), kValues);
}

TEST_F(ReadOnly, RejectsIndexAssignment) {
  const Handle a = locked();
  SplArray* seven_at_one = spl_array_new();
  spl_array_push_i64(seven_at_one, 7);
  spl_array_push_i64(seven_at_one, 1);
  expect_rejected(spt_set_item(a, "vv", seven_at_one));
  spl_array_free(seven_at_one);
  EXPECT_EQ(values(a), kValues);
}

TEST_F(ReadOnly, RejectsOptimizerSteps) {
  for (const bool is_adam : {false, true}) {
    const Handle weight = locked();
    ASSERT_EQ(spt_set_requires_grad(weight, true), SPT_OK);
    ASSERT_EQ(spt_backward(create(spt_sum_all, int64_t{weight})), SPT_OK)
        << "reading for a gradient is a read";
    const int64_t parameters[] = {weight};
    const Handle optimizer =
        is_adam ? create(spt_optim_adam_new, parameters, int64_t{1}, 0.1, 0.9, 0.999, 1e-8, 0.0, false, false)
                : create(spt_optim_sgd_new, parameters, int64_t{1}, 0.1, 0.9, 0.0, 0.0, false);
    expect_rejected(spt_optim_step(optimizer));
    EXPECT_EQ(values(create(spt_detach, int64_t{weight})), kValues);
  }
}

}  // namespace
