/* The C ABI of simple_torch 0.1.0, written by tools/generate_abi.py --release. Do not edit it. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum SptStatus {
  SPT_OK = 0,
  SPT_INVALID_ARGUMENT = 1,
  SPT_INVALID_HANDLE = 2,
  SPT_SHAPE_MISMATCH = 3,
  SPT_DTYPE_MISMATCH = 4,
  SPT_DEVICE_MISMATCH = 5,
  SPT_INDEX_OUT_OF_RANGE = 6,
  SPT_OUT_OF_MEMORY = 7,
  SPT_NOT_IMPLEMENTED = 8,
  SPT_UNAVAILABLE = 9,
  SPT_IO = 10,
  SPT_PYTHON = 11,
  SPT_INTERRUPTED = 12,
  SPT_TORCH = 13,
  SPT_INTERNAL = 14,
  SPT_LIN_ALG = 15
};

enum SptHandleKind {
  SPT_HANDLE_TENSOR = 1,
  SPT_HANDLE_OBJECT = 2,
  SPT_HANDLE_DLPACK = 3,
  SPT_HANDLE_OPTIMIZER = 4,
  SPT_HANDLE_GENERATOR = 5,
  SPT_HANDLE_STREAM = 6,
  SPT_HANDLE_SAFETENSORS = 7,
  SPT_HANDLE_STEP = 8,
  SPT_HANDLE_EVENT_WRITER = 9,
  SPT_HANDLE_DATASET = 10,
  SPT_HANDLE_DATASET_PASS = 11,
  SPT_HANDLE_DOWNLOAD = 12,
  SPT_HANDLE_NODE = 13
};

enum SplTag {
  SPL_NIL = 0,
  SPL_BOOL = 1,
  SPL_INT = 2,
  SPL_FLOAT = 3,
  SPL_STRING = 4,
  SPL_ARRAY = 5,
  SPL_DICT = 6
};

typedef struct SplArray SplArray;

#if defined(__GNUC__)
#define SPL_EXTENSION __extension__
#else
#define SPL_EXTENSION
#endif

typedef struct SplValue {
  int32_t tag;
  SPL_EXTENSION union {
    bool as_bool;
    int64_t as_int;
    double as_float;
    char* as_string;
    SplArray* as_array;
    void* as_dict;
  };
} SplValue;

struct SplArray {
  SplValue* items;
  int64_t len;
  int64_t cap;
};

SplArray* spl_array_new(void);
SplArray* spl_array_new_i64(void);

void spl_array_push(SplArray* array, SplValue value);
void spl_array_push_i64(SplArray* array, int64_t value);

int64_t spl_array_len(const SplArray* array);

SplValue spl_array_get(const SplArray* array, int64_t index);

int64_t spl_as_int(SplValue value);
double spl_as_float(SplValue value);

char* spl_str_new(const char* text);

enum {
  SPL_INTERRUPT_FORWARD = 1,
  SPL_INTERRUPT_STOP_MAIN = 2,
  SPL_INTERRUPT_STOP_WORKERS = 4,
  SPL_INTERRUPT_END = 8
};

typedef struct SplInterruptClientState {
  int32_t main_inside;
  int32_t workers_inside;
  int32_t main_is_first_thread;
  int32_t on_main_thread;
  int32_t main_requested;
  int32_t workers_requested;
  int32_t is_ending;
  int32_t is_wake_up;
} SplInterruptClientState;

typedef int (*SplOutputWriter)(int stream, const char* text, size_t size);

typedef struct SplInterruptClient {
  void (*read)(SplInterruptClientState* out);
  void (*perform)(uint32_t actions, SplInterruptClientState next);
} SplInterruptClient;

typedef struct SplInterruptService {

  int32_t (*attach)(const SplInterruptClient* client);

  void (*reclaim)(void);

  void (*request_signal_check)(void);
} SplInterruptService;

const SplInterruptService* spl_interrupt_service(void);

void spl_array_free(SplArray* array);

#if defined(__GNUC__)
#define SPT_API __attribute__((visibility("default")))
#else
#define SPT_API
#endif

enum SptTag {
  SPT_TENSOR = 16,
  SPT_COMPLEX = 17,
  SPT_GENERATOR = 18
};

typedef char* (*SptLocation)(void);

typedef SplArray* (*SptPyCall)(int64_t key, const char* kinds, const SplArray* values, const SplArray* names);

typedef void (*SptPyEnd)(int64_t key);

typedef void (*SptPyInterrupt)(void);

typedef int64_t (*SptAutogradCall)(int64_t key, int64_t argument);

typedef void (*SptAutogradEnd)(int64_t key);

#define SPT_DATASET_VERSION 1
#define SPT_MAX_SAMPLE_TENSORS 32

typedef struct SptDataset {
  int64_t version;
  void* context;
  int64_t size;

  int64_t (*sample)(void* context, int64_t index, int64_t* tensors);

  void* (*begin)(void* context, int64_t worker, int64_t workers);
  void (*finish)(void* pass);
  void (*end)(void* context);
} SptDataset;

struct DLManagedTensor;
struct DLManagedTensorVersioned;

SPT_API int32_t spt_last_error_kind(void);
SPT_API const char* spt_last_error_message(void);
SPT_API const char* spt_last_error_field(const char* name);

SPT_API int64_t rt_torch_last_error_kind(void);
SPT_API char* rt_torch_last_error_message(void);
SPT_API char* rt_torch_last_error_field(const char* name);

SPT_API void spt_free(void* memory);

SPT_API void spl_program_ends(void);

SPT_API uint64_t spl_current_coroutine(void);

SPT_API SplOutputWriter spl_output_writer(int stream);

SPT_API int32_t spt_available(bool* out);

SPT_API int32_t spt_why_unavailable(char** out);

SPT_API int32_t spt_torch_path(char** out);

SPT_API int32_t spt_python_path(char** out);

SPT_API int32_t spt_environment_text(char** out);

SPT_API int32_t spt_version(char** out);

SPT_API int32_t spt_cuda_available(bool* out);

SPT_API int32_t spt_cuda_device_count(int64_t* out);

SPT_API int32_t spt_devices(char** out);

SPT_API int32_t spt_default_dtype(int64_t* out);

SPT_API int32_t spt_set_default_dtype(int64_t dtype);

SPT_API int32_t spt_num_threads(int64_t* out);

SPT_API int32_t spt_set_num_threads(int64_t count);

SPT_API int32_t spt_setting(const char* name, int64_t* out);

SPT_API int32_t spt_set_setting(const char* name, bool value);

SPT_API int32_t spt_set_flush_denormal(bool mode, bool* out);

SPT_API int32_t spt_float32_matmul_precision(char** out);

SPT_API int32_t spt_set_float32_matmul_precision(const char* precision);

SPT_API int32_t spt_set_print_options(int64_t precision, int64_t threshold, int64_t edge_items, int64_t line_width, int64_t sci_mode);

SPT_API int32_t spt_manual_seed(int64_t seed);

SPT_API int32_t spt_dtype_name(int64_t dtype, char** out);

SPT_API int32_t spt_dtype_code(const char* name, int64_t* out);

SPT_API int32_t spt_release(int64_t value);

SPT_API int32_t spt_scope_begin(void);

SPT_API int32_t spt_scope_keep(int64_t value);

SPT_API int32_t spt_scope_end(int64_t* out);

SPT_API int32_t spt_discard_tensor(int64_t value, bool* out);

SPT_API int32_t spt_live_handles(int64_t kind, int64_t* out);

SPT_API int32_t spt_peak_handles(int64_t kind, int64_t* out);

SPT_API int32_t spt_trace_handles(bool enabled, SptLocation location);

SPT_API int32_t spt_live_report(char** out);

SPT_API int32_t spt_live_bytes(const char* device, int64_t* out);

SPT_API int32_t spt_is_tensor(int64_t value, bool* out);

SPT_API int32_t spt_zeros(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_ones(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_empty(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_randn(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_rand(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_full(const int64_t* dims, int64_t dims_len, double value, int64_t* out);

SPT_API int32_t spt_eye(int64_t n, int64_t* out);

SPT_API int32_t spt_arange(double start, double end, double step, int64_t* out);

SPT_API int32_t spt_arange_int(int64_t start, int64_t end, int64_t step, int64_t* out);

SPT_API int32_t spt_linspace(double start, double end, int64_t steps, int64_t* out);

SPT_API int32_t spt_zeros_int(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_ones_int(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_full_int(const int64_t* dims, int64_t dims_len, int64_t value, int64_t* out);

SPT_API int32_t spt_randint(int64_t low, int64_t high, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_randperm(int64_t n, int64_t* out);

SPT_API int32_t spt_zeros_as(const int64_t* dims, int64_t dims_len, int64_t dtype, int64_t device, int64_t* out);

SPT_API int32_t spt_ones_as(const int64_t* dims, int64_t dims_len, int64_t dtype, int64_t device, int64_t* out);

SPT_API int32_t spt_randn_as(const int64_t* dims, int64_t dims_len, int64_t dtype, int64_t device, int64_t* out);

SPT_API int32_t spt_rand_as(const int64_t* dims, int64_t dims_len, int64_t dtype, int64_t device, int64_t* out);

SPT_API int32_t spt_empty_as(const int64_t* dims, int64_t dims_len, int64_t dtype, int64_t device, int64_t* out);

SPT_API int32_t spt_full_as(const int64_t* dims, int64_t dims_len, double value, int64_t dtype, int64_t device, int64_t* out);

SPT_API int32_t spt_arange_as(double start, double end, double step, int64_t dtype, int64_t device, int64_t* out);

SPT_API int32_t spt_zeros_like(int64_t a, int64_t* out);

SPT_API int32_t spt_ones_like(int64_t a, int64_t* out);

SPT_API int32_t spt_empty_like(int64_t a, int64_t* out);

SPT_API int32_t spt_rand_like(int64_t a, int64_t* out);

SPT_API int32_t spt_randn_like(int64_t a, int64_t* out);

SPT_API int32_t spt_full_like(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_neg(int64_t a, int64_t* out);

SPT_API int32_t spt_abs(int64_t a, int64_t* out);

SPT_API int32_t spt_sqrt(int64_t a, int64_t* out);

SPT_API int32_t spt_exp(int64_t a, int64_t* out);

SPT_API int32_t spt_log(int64_t a, int64_t* out);

SPT_API int32_t spt_sin(int64_t a, int64_t* out);

SPT_API int32_t spt_cos(int64_t a, int64_t* out);

SPT_API int32_t spt_tan(int64_t a, int64_t* out);

SPT_API int32_t spt_asin(int64_t a, int64_t* out);

SPT_API int32_t spt_acos(int64_t a, int64_t* out);

SPT_API int32_t spt_atan(int64_t a, int64_t* out);

SPT_API int32_t spt_sinh(int64_t a, int64_t* out);

SPT_API int32_t spt_cosh(int64_t a, int64_t* out);

SPT_API int32_t spt_tanh(int64_t a, int64_t* out);

SPT_API int32_t spt_relu(int64_t a, int64_t* out);

SPT_API int32_t spt_sigmoid(int64_t a, int64_t* out);

SPT_API int32_t spt_erf(int64_t a, int64_t* out);

SPT_API int32_t spt_log1p(int64_t a, int64_t* out);

SPT_API int32_t spt_log2(int64_t a, int64_t* out);

SPT_API int32_t spt_log10(int64_t a, int64_t* out);

SPT_API int32_t spt_expm1(int64_t a, int64_t* out);

SPT_API int32_t spt_exp2(int64_t a, int64_t* out);

SPT_API int32_t spt_rsqrt(int64_t a, int64_t* out);

SPT_API int32_t spt_reciprocal(int64_t a, int64_t* out);

SPT_API int32_t spt_square(int64_t a, int64_t* out);

SPT_API int32_t spt_sign(int64_t a, int64_t* out);

SPT_API int32_t spt_floor(int64_t a, int64_t* out);

SPT_API int32_t spt_ceil(int64_t a, int64_t* out);

SPT_API int32_t spt_round(int64_t a, int64_t* out);

SPT_API int32_t spt_trunc(int64_t a, int64_t* out);

SPT_API int32_t spt_logical_not(int64_t a, int64_t* out);

SPT_API int32_t spt_isnan(int64_t a, int64_t* out);

SPT_API int32_t spt_isinf(int64_t a, int64_t* out);

SPT_API int32_t spt_isfinite(int64_t a, int64_t* out);

SPT_API int32_t spt_relu6(int64_t a, int64_t* out);

SPT_API int32_t spt_gelu(int64_t a, int64_t* out);

SPT_API int32_t spt_silu(int64_t a, int64_t* out);

SPT_API int32_t spt_mish(int64_t a, int64_t* out);

SPT_API int32_t spt_softplus(int64_t a, int64_t* out);

SPT_API int32_t spt_elu(int64_t a, int64_t* out);

SPT_API int32_t spt_hardswish(int64_t a, int64_t* out);

SPT_API int32_t spt_leaky_relu(int64_t a, double negative_slope, int64_t* out);

SPT_API int32_t spt_softmax(int64_t a, int64_t dim, int64_t* out);

SPT_API int32_t spt_log_softmax(int64_t a, int64_t dim, int64_t* out);

SPT_API int32_t spt_clamp(int64_t a, double low, double high, int64_t* out);

SPT_API int32_t spt_nan_to_num(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_add(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_sub(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_mul(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_div(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_maximum(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_minimum(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_atan2(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_remainder(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_fmod(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_floor_divide(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_logical_and(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_logical_or(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_logical_xor(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_pow_tensor(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_where(int64_t condition, int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_binary_op(int64_t a, int64_t b, int64_t op, int64_t* out);

SPT_API int32_t spt_add_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_sub_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_mul_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_div_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_pow(int64_t a, double exponent, int64_t* out);

SPT_API int32_t spt_add_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_sub_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_mul_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_div_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_floor_divide_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_pow_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_remainder_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_remainder_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_floor_divide_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_rsub_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_rsub_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_rdiv_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_rdiv_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_rpow_scalar(int64_t a, double base, int64_t* out);

SPT_API int32_t spt_rpow_int(int64_t a, int64_t base, int64_t* out);

SPT_API int32_t spt_eq(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_ne(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_lt(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_gt(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_le(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_ge(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_eq_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_ne_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_lt_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_gt_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_le_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_ge_scalar(int64_t a, double value, int64_t* out);

SPT_API int32_t spt_eq_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_ne_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_lt_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_gt_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_le_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_ge_int(int64_t a, int64_t value, int64_t* out);

SPT_API int32_t spt_isclose(int64_t a, int64_t b, double rtol, double atol, int64_t* out);

SPT_API int32_t spt_allclose(int64_t a, int64_t b, double rtol, double atol, bool* out);

SPT_API int32_t spt_equal(int64_t a, int64_t b, bool* out);

SPT_API int32_t spt_sum_all(int64_t a, int64_t* out);

SPT_API int32_t spt_mean_all(int64_t a, int64_t* out);

SPT_API int32_t spt_prod_all(int64_t a, int64_t* out);

SPT_API int32_t spt_max_all(int64_t a, int64_t* out);

SPT_API int32_t spt_min_all(int64_t a, int64_t* out);

SPT_API int32_t spt_all_all(int64_t a, int64_t* out);

SPT_API int32_t spt_any_all(int64_t a, int64_t* out);

SPT_API int32_t spt_std_all(int64_t a, int64_t correction, int64_t* out);

SPT_API int32_t spt_var_all(int64_t a, int64_t correction, int64_t* out);

SPT_API int32_t spt_std_dim(int64_t a, const int64_t* dims, int64_t dims_len, int64_t correction, bool keepdim, int64_t* out);

SPT_API int32_t spt_var_dim(int64_t a, const int64_t* dims, int64_t dims_len, int64_t correction, bool keepdim, int64_t* out);

SPT_API int32_t spt_norm_all(int64_t a, double p, int64_t* out);

SPT_API int32_t spt_sum_dim(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_mean_dim(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_sum_dims(int64_t a, const int64_t* dims, int64_t dims_len, bool keepdim, int64_t* out);

SPT_API int32_t spt_mean_dims(int64_t a, const int64_t* dims, int64_t dims_len, bool keepdim, int64_t* out);

SPT_API int32_t spt_max_dim(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_min_dim(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_max_with_indices(int64_t a, int64_t dim, bool keepdim, int64_t* values, int64_t* indices);

SPT_API int32_t spt_min_with_indices(int64_t a, int64_t dim, bool keepdim, int64_t* values, int64_t* indices);

SPT_API int32_t spt_argmax(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_argmin(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_argmax_dim(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_argmin_dim(int64_t a, int64_t dim, bool keepdim, int64_t* out);

SPT_API int32_t spt_topk(int64_t a, int64_t k, int64_t dim, bool largest, bool sorted, int64_t* values, int64_t* indices);

SPT_API int32_t spt_sort(int64_t a, int64_t dim, bool descending, int64_t* values, int64_t* indices);

SPT_API int32_t spt_cumsum(int64_t a, int64_t dim, int64_t* out);

SPT_API int32_t spt_logsumexp(int64_t a, const int64_t* dims, int64_t dims_len, bool keepdim, int64_t* out);

SPT_API int32_t spt_sum_value(int64_t a, double* out);

SPT_API int32_t spt_mean_value(int64_t a, double* out);

SPT_API int32_t spt_max_value(int64_t a, double* out);

SPT_API int32_t spt_min_value(int64_t a, double* out);

SPT_API int32_t spt_norm_value(int64_t a, double* out);

SPT_API int32_t spt_std_value(int64_t a, double* out);

SPT_API int32_t spt_var_value(int64_t a, double* out);

SPT_API int32_t spt_det_value(int64_t a, double* out);

SPT_API int32_t spt_t(int64_t a, int64_t* out);

SPT_API int32_t spt_squeeze(int64_t a, int64_t* out);

SPT_API int32_t spt_clone(int64_t a, int64_t* out);

SPT_API int32_t spt_clone_tensor(int64_t a, int64_t* out);

SPT_API int32_t spt_flatten(int64_t a, int64_t* out);

SPT_API int32_t spt_flatten_dims(int64_t a, int64_t start_dim, int64_t end_dim, int64_t* out);

SPT_API int32_t spt_contiguous(int64_t a, int64_t* out);

SPT_API int32_t spt_reshape(int64_t a, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_view_or_copy(int64_t a, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_view(int64_t a, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_permute(int64_t a, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_transpose(int64_t a, int64_t dim0, int64_t dim1, int64_t* out);

SPT_API int32_t spt_squeeze_dim(int64_t a, int64_t dim, int64_t* out);

SPT_API int32_t spt_unsqueeze(int64_t a, int64_t dim, int64_t* out);

SPT_API int32_t spt_expand(int64_t a, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_repeat(int64_t a, const int64_t* repeats, int64_t repeats_len, int64_t* out);

SPT_API int32_t spt_flip(int64_t a, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_tril(int64_t a, int64_t diagonal, int64_t* out);

SPT_API int32_t spt_triu(int64_t a, int64_t diagonal, int64_t* out);

SPT_API int32_t spt_slice(int64_t a, int64_t dim, int64_t start, int64_t end, int64_t step, int64_t* out);

SPT_API int32_t spt_select(int64_t a, int64_t dim, int64_t index, int64_t* out);

SPT_API int32_t spt_index_select(int64_t a, int64_t dim, int64_t indices, int64_t* out);

SPT_API int32_t spt_gather(int64_t a, int64_t dim, int64_t indices, int64_t* out);

SPT_API int32_t spt_masked_select(int64_t a, int64_t mask, int64_t* out);

SPT_API int32_t spt_masked_fill(int64_t a, int64_t mask, double value, int64_t* out);

SPT_API int32_t spt_index(int64_t a, int64_t indices, int64_t* out);

SPT_API int32_t spt_nonzero(int64_t a, int64_t* out);

SPT_API int32_t spt_one_hot(int64_t a, int64_t classes, int64_t* out);

SPT_API int32_t spt_cat(const int64_t* tensors, int64_t tensors_len, int64_t dim, int64_t* out);

SPT_API int32_t spt_stack(const int64_t* tensors, int64_t tensors_len, int64_t dim, int64_t* out);

SPT_API int32_t spt_chunk(int64_t a, int64_t chunks, int64_t dim, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_split(int64_t a, int64_t size, int64_t dim, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_matmul(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_mm(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_bmm(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_dot(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_outer(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_inverse(int64_t a, int64_t* out);

SPT_API int32_t spt_det(int64_t a, int64_t* out);

SPT_API int32_t spt_svd_u(int64_t a, int64_t* out);

SPT_API int32_t spt_svd(int64_t a, bool full_matrices, int64_t* u, int64_t* s, int64_t* vh);

SPT_API int32_t spt_eig_real(int64_t a, int64_t* out);

SPT_API int32_t spt_linalg_solve(int64_t a, int64_t b, int64_t* out);

SPT_API int32_t spt_einsum(const char* equation, const int64_t* tensors, int64_t tensors_len, int64_t* out);

SPT_API int32_t spt_ndim(int64_t a, int64_t* out);

SPT_API int32_t spt_numel(int64_t a, int64_t* out);

SPT_API int32_t spt_dtype(int64_t a, int64_t* out);

SPT_API int32_t spt_element_size(int64_t a, int64_t* out);

SPT_API int32_t spt_nbytes(int64_t a, int64_t* out);

SPT_API int32_t spt_storage_offset(int64_t a, int64_t* out);

SPT_API int32_t spt_data_ptr(int64_t a, void** out);

SPT_API int32_t spt_shape(int64_t a, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_strides(int64_t a, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_shape_dim(int64_t a, int64_t dim, int64_t* out);

SPT_API int32_t spt_copy_shape(int64_t a, void* address, int64_t capacity, int64_t* out);

SPT_API int32_t spt_storage_users(int64_t a, int64_t* out);

SPT_API int32_t spt_device(int64_t a, int32_t* out);

SPT_API int32_t spt_layout(int64_t a, char** out);

SPT_API int32_t spt_device_text(int64_t a, char** out);

SPT_API int32_t spt_is_cuda(int64_t a, bool* out);

SPT_API int32_t spt_is_contiguous(int64_t a, bool* out);

SPT_API int32_t spt_is_floating_point(int64_t a, bool* out);

SPT_API int32_t spt_is_nested(int64_t a, bool* out);

SPT_API int32_t spt_tensor_text(int64_t a, char** out);

SPT_API int32_t spt_from_data(const double* data, int64_t data_len, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_from_i64_data(const int64_t* data, int64_t data_len, const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_zeros_float64(const int64_t* dims, int64_t dims_len, int64_t* out);

SPT_API int32_t spt_from_doubles(void* data, int64_t data_len, void* dims, int32_t ndim, int32_t dtype_code, int32_t device_code, int64_t* out);

SPT_API int32_t spt_from_bits_1d(void* data, int64_t count, int64_t* out);

SPT_API int32_t spt_from_bits_2d(void* data, int64_t rows, int64_t cols, int64_t* out);

SPT_API int32_t spt_copy_bits(int64_t a, void* data, int64_t count, bool* out);

SPT_API int32_t spt_copy_data_to_cpu(int64_t a, void* data, int64_t count, int64_t* out);

SPT_API int32_t spt_from_data_as(const double* data, int64_t data_len, const int64_t* dims, int64_t dims_len, int64_t dtype, int64_t* out);

SPT_API int32_t spt_item(int64_t a, double* out);

SPT_API int32_t spt_item_int(int64_t a, int64_t* out);

SPT_API int32_t spt_to_list(int64_t a, double** out, int64_t* out_len);

SPT_API int32_t spt_to_int_list(int64_t a, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_to_float(int64_t a, int64_t* out);

SPT_API int32_t spt_to_int(int64_t a, int64_t* out);

SPT_API int32_t spt_to_float32(int64_t a, int64_t* out);

SPT_API int32_t spt_to_dtype(int64_t a, int64_t dtype, int64_t* out);

SPT_API int32_t spt_to_device(int64_t a, const char* device, int64_t* out);

SPT_API int32_t spt_cuda(int64_t a, int32_t device, int64_t* out);

SPT_API int32_t spt_cpu(int64_t a, int64_t* out);

SPT_API int32_t spt_copy_(int64_t a, int64_t source);

SPT_API int32_t spt_fill_(int64_t a, double value);

SPT_API int32_t spt_zero_(int64_t a);

SPT_API int32_t spt_add_(int64_t a, int64_t b, double alpha);

SPT_API int32_t spt_sub_(int64_t a, int64_t b, double alpha);

SPT_API int32_t spt_mul_(int64_t a, int64_t b);

SPT_API int32_t spt_div_(int64_t a, int64_t b);

SPT_API int32_t spt_add_scalar_(int64_t a, double value);

SPT_API int32_t spt_sub_scalar_(int64_t a, double value);

SPT_API int32_t spt_mul_scalar_(int64_t a, double value);

SPT_API int32_t spt_div_scalar_(int64_t a, double value);

SPT_API int32_t spt_uniform_(int64_t a, double low, double high);

SPT_API int32_t spt_normal_(int64_t a, double mean, double std);

SPT_API int32_t spt_clamp_(int64_t a, double low, double high);

SPT_API int32_t spt_linear(int64_t input, int64_t weight, int64_t bias, int64_t* out);

SPT_API int32_t spt_conv2d(int64_t input, int64_t weight, int64_t bias, const int64_t* stride, int64_t stride_len, const int64_t* padding, int64_t padding_len, const int64_t* dilation, int64_t dilation_len, int64_t groups, int64_t* out);

SPT_API int32_t spt_conv1d(int64_t input, int64_t weight, int64_t bias, const int64_t* stride, int64_t stride_len, const int64_t* padding, int64_t padding_len, const int64_t* dilation, int64_t dilation_len, int64_t groups, int64_t* out);

SPT_API int32_t spt_max_pool2d(int64_t input, const int64_t* kernel_size, int64_t kernel_size_len, const int64_t* stride, int64_t stride_len, const int64_t* padding, int64_t padding_len, int64_t* out);

SPT_API int32_t spt_avg_pool2d(int64_t input, const int64_t* kernel_size, int64_t kernel_size_len, const int64_t* stride, int64_t stride_len, const int64_t* padding, int64_t padding_len, int64_t* out);

SPT_API int32_t spt_adaptive_avg_pool2d(int64_t input, const int64_t* output_size, int64_t output_size_len, int64_t* out);

SPT_API int32_t spt_batch_norm(int64_t input, int64_t running_mean, int64_t running_var, int64_t weight, int64_t bias, bool training, double momentum, double eps, int64_t* out);

SPT_API int32_t spt_layer_norm(int64_t input, const int64_t* normalized_shape, int64_t normalized_shape_len, int64_t weight, int64_t bias, double eps, int64_t* out);

SPT_API int32_t spt_dropout(int64_t input, double p, bool training, int64_t* out);

SPT_API int32_t spt_embedding(int64_t input, int64_t weight, int64_t* out);

SPT_API int32_t spt_normalize(int64_t input, double p, int64_t dim, double eps, int64_t* out);

SPT_API int32_t spt_scaled_dot_product_attention(int64_t query, int64_t key, int64_t value, int64_t mask, double dropout_p, bool is_causal, int64_t* out);

SPT_API int32_t spt_mse_loss(int64_t input, int64_t target, int64_t reduction, int64_t* out);

SPT_API int32_t spt_l1_loss(int64_t input, int64_t target, int64_t reduction, int64_t* out);

SPT_API int32_t spt_binary_cross_entropy(int64_t input, int64_t target, int64_t reduction, int64_t* out);

SPT_API int32_t spt_binary_cross_entropy_with_logits(int64_t input, int64_t target, int64_t reduction, int64_t* out);

SPT_API int32_t spt_smooth_l1_loss(int64_t input, int64_t target, int64_t reduction, int64_t* out);

SPT_API int32_t spt_huber_loss(int64_t input, int64_t target, int64_t reduction, int64_t* out);

SPT_API int32_t spt_cross_entropy(int64_t input, int64_t target, int64_t weight, int64_t reduction, int64_t ignore_index, double label_smoothing, int64_t* out);

SPT_API int32_t spt_nll_loss(int64_t input, int64_t target, int64_t weight, int64_t reduction, int64_t ignore_index, int64_t* out);

SPT_API int32_t spt_mse_loss_value(int64_t input, int64_t target, double* out);

SPT_API int32_t spt_cross_entropy_value(int64_t input, int64_t target, double* out);

SPT_API int32_t spt_binary_cross_entropy_value(int64_t input, int64_t target, double* out);

SPT_API int32_t spt_nll_loss_value(int64_t input, int64_t target, double* out);

SPT_API int32_t spt_set_requires_grad(int64_t a, bool requires_grad);

SPT_API int32_t spt_requires_grad(int64_t a, bool* out);

SPT_API int32_t spt_is_leaf(int64_t a, bool* out);

SPT_API int32_t spt_grad(int64_t a, int64_t* out);

SPT_API int32_t spt_set_grad(int64_t a, int64_t gradient);

SPT_API int32_t spt_backward(int64_t a);

SPT_API int32_t spt_backward_with(int64_t a, int64_t gradient, bool retain_graph, bool create_graph);

SPT_API int32_t spt_zero_grad(int64_t a);

SPT_API int32_t spt_detach(int64_t a, int64_t* out);

SPT_API int32_t spt_no_grad_begin(void);

SPT_API int32_t spt_no_grad_end(void);

SPT_API int32_t spt_set_grad_enabled(bool enabled, bool* out);

SPT_API int32_t spt_grad_enabled(bool* out);

SPT_API int32_t spt_optim_adam_new(const int64_t* params, int64_t params_len, double lr, double beta1, double beta2, double eps, double weight_decay, bool amsgrad, bool decoupled, int64_t* out);

SPT_API int32_t spt_optim_sgd_new(const int64_t* params, int64_t params_len, double lr, double momentum, double dampening, double weight_decay, bool nesterov, int64_t* out);

SPT_API int32_t spt_optim_step(int64_t optimizer);

SPT_API int32_t spt_optim_zero_grad(int64_t optimizer, bool set_to_none);

SPT_API int32_t spt_optim_set_lr(int64_t optimizer, double lr);

SPT_API int32_t spt_optim_lr(int64_t optimizer, double* out);

SPT_API int32_t spt_optim_new(const char* algorithm, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len, int64_t* out);

SPT_API int32_t spt_optim_add_group(int64_t optimizer, const int64_t* params, int64_t params_len, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len);

SPT_API int32_t spt_optim_group_count(int64_t optimizer, int64_t* out);

SPT_API int32_t spt_optim_group_params(int64_t optimizer, int64_t group, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_optim_options(int64_t optimizer, int64_t group, SplArray** out);

SPT_API int32_t spt_optim_option(int64_t optimizer, int64_t group, const char* name, SplArray** out);

SPT_API int32_t spt_optim_set_option(int64_t optimizer, int64_t group, const char* name, const char* kinds, const SplArray* values);

SPT_API int32_t spt_optim_state(int64_t optimizer, int64_t param, SplArray** out);

SPT_API int32_t spt_optim_load_state(int64_t optimizer, int64_t param, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len);

SPT_API int32_t spt_to_dlpack(int64_t a, bool copy, struct DLManagedTensorVersioned** out);

SPT_API int32_t spt_into_dlpack(int64_t a, struct DLManagedTensorVersioned** out);

SPT_API int32_t spt_dlpack_view(int64_t a, void* view);

SPT_API int32_t spt_from_dlpack(struct DLManagedTensorVersioned* managed, int64_t* out);

SPT_API int32_t spt_to_dlpack_legacy(int64_t a, struct DLManagedTensor** out);

SPT_API int32_t spt_from_dlpack_legacy(struct DLManagedTensor* managed, int64_t* out);

SPT_API int32_t spt_dlpack_export(int64_t a, bool copy, int64_t* out);

SPT_API int32_t spt_dlpack_move(int64_t a, int64_t* out);

SPT_API int32_t spt_dlpack_import(int64_t managed, int64_t* out);

SPT_API int32_t spt_dlpack_data_ptr(int64_t managed, void** out);

SPT_API int32_t spt_dlpack_flags(int64_t managed, int64_t* out);

SPT_API int32_t spt_dlpack_import_path(char** out);

SPT_API int32_t spt_dlpack_why_copied(char** out);

SPT_API int32_t spt_dlpack_copied_bytes(int64_t* out);

SPT_API int32_t spt_backward_of(const int64_t* tensors, int64_t tensors_len, const int64_t* gradients, int64_t gradients_len, const int64_t* inputs, int64_t inputs_len, bool retain_graph, bool create_graph);

SPT_API int32_t spt_grad_of(const int64_t* outputs, int64_t outputs_len, const int64_t* inputs, int64_t inputs_len, const int64_t* gradients, int64_t gradients_len, bool retain_graph, bool create_graph, bool allow_unused, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_once_differentiable(const int64_t* tensors, int64_t tensors_len, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_grad_fn_name(int64_t a, char** out);

SPT_API int32_t spt_graph_task(int64_t* out);

SPT_API int32_t spt_custom_function(const char* name, int64_t key, const int64_t* inputs, int64_t inputs_len, SptAutogradCall forward, SptAutogradCall backward, SptAutogradEnd on_release, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_function_kind(const char* name, SptAutogradCall backward, SptAutogradEnd on_release, int64_t* out);

SPT_API int32_t spt_function_begin(int64_t* out);

SPT_API int32_t spt_function_begin_one(int64_t input, int64_t* out);

SPT_API int32_t spt_function_end(int64_t step, int64_t kind, int64_t key, int64_t* out);

SPT_API int32_t spt_function_end_one(int64_t step, int64_t kind, int64_t key, int64_t result, int64_t* out);

SPT_API int32_t spt_step_add_input(int64_t step, int64_t tensor, int64_t* out);

SPT_API int32_t spt_step_add_result(int64_t step, int64_t tensor);

SPT_API int32_t spt_step_save_one(int64_t step, int64_t tensor, int64_t* out);

SPT_API int32_t spt_step_result(int64_t step, int64_t index, int64_t* out);

SPT_API int32_t spt_step_input_requires_grad(int64_t step, int64_t index, int64_t* out);

SPT_API int32_t spt_step_tensors(int64_t step, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_step_set_results(int64_t step, const int64_t* tensors, int64_t tensors_len);

SPT_API int32_t spt_step_save(int64_t step, const int64_t* tensors, int64_t tensors_len);

SPT_API int32_t spt_step_saved(int64_t step, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_step_mark_dirty(int64_t step, const int64_t* tensors, int64_t tensors_len);

SPT_API int32_t spt_step_mark_non_differentiable(int64_t step, const int64_t* tensors, int64_t tensors_len);

SPT_API int32_t spt_step_set_materialize_grads(int64_t step, bool materialize);

SPT_API int32_t spt_autograd_callback_failed(int64_t kind, const char* message, const char* expected, const char* got, const char* type, const char* traceback);

SPT_API int32_t spt_register_hook(int64_t a, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release, int64_t* out);

SPT_API int32_t spt_register_post_accumulate_grad_hook(int64_t a, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release, int64_t* out);

SPT_API int32_t spt_remove_hook(int64_t hook_id);

SPT_API int32_t spt_saved_tensors_hooks_begin(int64_t key, SptAutogradCall pack, SptAutogradCall unpack, SptAutogradEnd on_drop, SptAutogradEnd on_release);

SPT_API int32_t spt_saved_tensors_hooks_end(void);

SPT_API int32_t spt_saved_tensors_hooks_disable(const char* message);

SPT_API int32_t spt_saved_tensors_hooks_enable(void);

SPT_API int32_t spt_another_handle(int64_t a, int64_t* out);

SPT_API int32_t spt_grad_fn(int64_t a, int64_t* out);

SPT_API int32_t spt_gradient_node(int64_t a, int64_t* out);

SPT_API int32_t spt_output_nr(int64_t a, int64_t* out);

SPT_API int32_t spt_node_name(int64_t node, char** out);

SPT_API int32_t spt_node_identity(int64_t node, int64_t* out);

SPT_API int32_t spt_node_next_functions(int64_t node, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_node_variable(int64_t node, int64_t* out);

SPT_API int32_t spt_node_register_hook(int64_t node, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release, bool is_prehook, int64_t* out);

SPT_API int32_t spt_node_remove_hook(int64_t hook_id);

SPT_API int32_t spt_node_hook_gradients(int64_t** out, int64_t* out_len);

SPT_API int32_t spt_node_hook_set_gradients(const int64_t* gradients, int64_t gradients_len);

SPT_API int32_t spt_watch_gradients(const int64_t* tensors, int64_t tensors_len, int64_t* out);

SPT_API int32_t spt_watched_in_pass(int64_t watch_id, int64_t* out);

SPT_API int32_t spt_unwatch_gradients(int64_t watch_id);

SPT_API int32_t spt_increment_version(int64_t a);

SPT_API int32_t spt_set_detect_anomaly(bool enabled, bool check_nan, SptLocation location);

SPT_API int32_t spt_is_anomaly_enabled(bool* out);

SPT_API int32_t spt_is_anomaly_check_nan_enabled(bool* out);

SPT_API int32_t spt_inference_mode_begin(bool enabled);

SPT_API int32_t spt_inference_mode_end(void);

SPT_API int32_t spt_is_inference_mode_enabled(bool* out);

SPT_API int32_t spt_is_autocast_enabled(const char* device_type, bool* out);

SPT_API int32_t spt_set_autocast_enabled(const char* device_type, bool enabled);

SPT_API int32_t spt_autocast_dtype(const char* device_type, int64_t* out);

SPT_API int32_t spt_set_autocast_dtype(const char* device_type, int64_t dtype);

SPT_API int32_t spt_is_autocast_cache_enabled(bool* out);

SPT_API int32_t spt_set_autocast_cache_enabled(bool enabled);

SPT_API int32_t spt_clear_autocast_cache(void);

SPT_API int32_t spt_autocast_increment_nesting(int64_t* out);

SPT_API int32_t spt_autocast_decrement_nesting(int64_t* out);

SPT_API int32_t spt_transform_begin(const char* kind, int64_t batch_size, const char* randomness, int64_t* out);

SPT_API int32_t spt_transform_end(void);

SPT_API int32_t spt_transform_wrap(int64_t a, int64_t level, int64_t* out);

SPT_API int32_t spt_transform_unwrap(int64_t a, int64_t level, int64_t* out);

SPT_API int32_t spt_transform_batch(int64_t a, int64_t dim, int64_t level, int64_t* out);

SPT_API int32_t spt_transform_unbatch(int64_t a, int64_t level, int64_t batch_size, int64_t dim, int64_t* out);

SPT_API int32_t spt_forward_ad_begin(int64_t* out);

SPT_API int32_t spt_forward_ad_end(int64_t level);

SPT_API int32_t spt_rng_state(const char* device, int64_t* out);

SPT_API int32_t spt_set_rng_state(const char* device, int64_t state);

SPT_API int32_t spt_dataset_new(const SptDataset* functions, int64_t* out);

SPT_API int32_t spt_dataset_size(int64_t dataset, int64_t* out);

SPT_API int32_t spt_dataset_sample(int64_t dataset, int64_t index, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_dataset_batch(int64_t dataset, const int64_t* indices, int64_t indices_len, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_dataset_begin(int64_t dataset, int64_t worker, int64_t workers, int64_t* out);

SPT_API int32_t spt_dataset_next(int64_t pass, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_download_begin(const char* url, const char* path, bool resume, int64_t stall_s, int64_t max_redirects, int64_t* out);

SPT_API int32_t spt_download_step(int64_t download, int64_t wait_ms, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_download_end(int64_t download);

SPT_API int32_t spt_file_checksum(const char* path, const char* kind, char** out);

SPT_API int32_t spt_tar_unpack(const char* path, const char* folder);

SPT_API int32_t spt_event_writer_new(const char* log_dir, int64_t max_queue, double flush_secs, const char* filename_suffix, int64_t* out);

SPT_API int32_t spt_event_writer_path(int64_t writer, char** out);

SPT_API int32_t spt_event_writer_flush(int64_t writer);

SPT_API int32_t spt_event_writer_close(int64_t writer);

SPT_API int32_t spt_event_writers_flush(void);

SPT_API int32_t spt_event_session_start(int64_t writer, int64_t step, double wall_time);

SPT_API int32_t spt_event_scalar(int64_t writer, const char* tag, double value, int64_t style, int64_t step, double wall_time);

SPT_API int32_t spt_event_histogram(int64_t writer, const char* tag, int64_t values, const double* edges, int64_t edges_len, int64_t bins, int64_t max_bins, int64_t step, double wall_time);

SPT_API int32_t spt_event_histogram_raw(int64_t writer, const char* tag, const double* moments, int64_t moments_len, const double* limits, int64_t limits_len, const double* counts, int64_t counts_len, int64_t step, double wall_time);

SPT_API int32_t spt_event_image(int64_t writer, const char* tag, int64_t image, int64_t step, double wall_time);

SPT_API int32_t spt_event_text(int64_t writer, const char* tag, const char* content, int64_t step, double wall_time);

SPT_API int32_t spt_event_graph(int64_t writer, const char* const* nodes, int64_t nodes_len, double wall_time);

SPT_API int32_t spt_event_hparams(int64_t writer, const char* const* number_names, int64_t number_names_len, const double* numbers, int64_t numbers_len, const char* const* text_names, int64_t text_names_len, const char* const* texts, int64_t texts_len, const char* const* metrics, int64_t metrics_len, int64_t step, double wall_time);

SPT_API int32_t spt_tensor_save(int64_t a, const char* path);

SPT_API int32_t spt_tensor_load(const char* path, int64_t* out);

SPT_API int32_t spt_values_save(const char* path, const char* kinds, const SplArray* values);

SPT_API int32_t spt_values_load(const char* path, const char* map_location, SplArray** out);

SPT_API int32_t spt_pickle_load(const char* path, SplArray** out);

SPT_API int32_t spt_file_is_libtorchs(const char* path, bool* out);

SPT_API int32_t spt_safetensors_open(const char* path, int64_t* out);

SPT_API int32_t spt_safetensors_close(int64_t file);

SPT_API int32_t spt_safetensors_num_tensors(int64_t file, int64_t* out);

SPT_API int32_t spt_safetensors_list_names(int64_t file, char** out);

SPT_API int32_t spt_safetensors_get_tensor(int64_t file, const char* name, int64_t* out);

SPT_API int32_t spt_safetensors_metadata(int64_t file, SplArray** out);

SPT_API int32_t spt_safetensors_save(const char* path, const char* const* names, int64_t names_len, const int64_t* tensors, int64_t tensors_len, const char* const* metadata_names, int64_t metadata_names_len, const char* const* metadata, int64_t metadata_len);

SPT_API int32_t spt_stream_create(int32_t device_id, int64_t* out);

SPT_API int32_t spt_stream_synchronize(int64_t stream);

SPT_API int32_t spt_stream_query(int64_t stream, bool* out);

SPT_API int32_t spt_stream_free(int64_t stream);

SPT_API int32_t spt_to_stream(int64_t a, int32_t device_id, int64_t stream, int64_t* out);

SPT_API int32_t spt_cuda_memory_allocated(int32_t device_id, int64_t* out);

SPT_API int32_t spt_cuda_max_memory_allocated(int32_t device_id, int64_t* out);

SPT_API int32_t spt_cuda_empty_cache(void);

SPT_API int32_t spt_op(const char* name, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len, SplArray** out);

SPT_API int32_t spt_op_find(const char* name, const char* overload, int64_t* out);

SPT_API int32_t spt_op_call(int64_t op, const SplValue* args, int64_t args_len, SplValue* results, int64_t results_len, int64_t* out);

SPT_API int32_t spt_op_direct(const char* name, const char* kinds, const SplArray* values, const SplArray* names, int64_t* out);

SPT_API int32_t spt_op_direct_results(SplArray** out);

SPT_API int32_t spt_op_direct_tensor(int64_t* out);

SPT_API int32_t spt_op_direct_number(int64_t* out);

SPT_API int32_t spt_op_defaults(bool are_known, bool are_plain);

SPT_API int32_t spt_op_schemas(const char* name, char** out);

SPT_API int32_t spt_op_names(char** out);

SPT_API int32_t spt_get_item(int64_t a, const char* kinds, const SplArray* keys, int64_t* out);

SPT_API int32_t spt_set_item(int64_t a, const char* kinds, const SplArray* value_and_keys);

SPT_API int32_t spt_assign_item(int64_t a, const char* kinds, const SplArray* value_and_keys, int64_t* out);

SPT_API int32_t spt_generator_new(const char* device, int64_t* out);

SPT_API int32_t spt_generator_use(int64_t generator);

SPT_API int32_t spt_generator_manual_seed(int64_t generator, int64_t seed);

SPT_API int32_t spt_generator_initial_seed(int64_t generator, int64_t* out);

SPT_API int32_t spt_generator_state(int64_t generator, int64_t* out);

SPT_API int32_t spt_generator_set_state(int64_t generator, int64_t state);

SPT_API int32_t spt_py_start(void);

SPT_API int32_t spt_py_is_started(bool* out);

SPT_API int32_t spt_py_version(char** out);

SPT_API int32_t spt_py_library(char** out);

SPT_API int32_t spt_py_shutdown(void);

SPT_API int32_t spt_py_import(const char* name, int64_t* out);

SPT_API int32_t spt_py_getattr(int64_t a, const char* name, int64_t* out);

SPT_API int32_t spt_py_setattr(int64_t a, const char* name, const char* kinds, const SplArray* values);

SPT_API int32_t spt_py_hasattr(int64_t a, const char* name, bool* out);

SPT_API int32_t spt_py_call(int64_t callable, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len, int64_t* out);

SPT_API int32_t spt_py_call_method(int64_t a, const char* name, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len, int64_t* out);

SPT_API int32_t spt_py_get_item(int64_t a, const char* kinds, const SplArray* values, int64_t* out);

SPT_API int32_t spt_py_set_item(int64_t a, const char* kinds, const SplArray* values);

SPT_API int32_t spt_py_delete_item(int64_t a, const char* kinds, const SplArray* values);

SPT_API int32_t spt_py_contains(int64_t a, const char* kinds, const SplArray* values, bool* out);

SPT_API int32_t spt_py_length(int64_t a, int64_t* out);

SPT_API int32_t spt_py_iter(int64_t a, int64_t* out);

SPT_API int32_t spt_py_next(int64_t iterator, int64_t* out);

SPT_API int32_t spt_py_compare(int64_t a, const char* op, const char* kinds, const SplArray* values, bool* out);

SPT_API int32_t spt_py_operate(const char* op, const char* kinds, const SplArray* values, int64_t* out);

SPT_API int32_t spt_py_is_instance(int64_t a, int64_t type, bool* out);

SPT_API int32_t spt_py_eval(const char* code, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len, int64_t* out);

SPT_API int32_t spt_py_exec(const char* code, const char* kinds, const SplArray* values, const char* const* names, int64_t names_len);

SPT_API int32_t spt_py_function(const char* name, int64_t key, SptPyCall call, SptPyEnd end, int64_t* out);

SPT_API int32_t spt_py_instance(const char* name, int64_t key, SptPyCall call, SptPyEnd end, int64_t* out);

SPT_API int32_t spt_py_key(int64_t a, int64_t* out);

SPT_API int32_t spt_py_on_interrupt(SptPyInterrupt interrupt);

SPT_API int32_t spt_py_on_signal(SptPyInterrupt request);

SPT_API int32_t spt_py_check_signals(void);

SPT_API int32_t spt_py_raise(const char* type, const char* message, const char* note);

SPT_API int32_t spt_py_raise_object(int64_t a, const char* note);

SPT_API int32_t spt_py_take_exception(int64_t* out);

SPT_API int32_t spt_py_keep_exceptions(bool keep);

SPT_API int32_t spt_py_kind(int64_t a, int32_t* out);

SPT_API int32_t spt_py_is_none(int64_t a, bool* out);

SPT_API int32_t spt_py_type_name(int64_t a, char** out);

SPT_API int32_t spt_py_str(int64_t a, char** out);

SPT_API int32_t spt_py_repr(int64_t a, char** out);

SPT_API int32_t spt_py_to_bool(int64_t a, bool* out);

SPT_API int32_t spt_py_to_int(int64_t a, int64_t* out);

SPT_API int32_t spt_py_to_float(int64_t a, double* out);

SPT_API int32_t spt_py_to_text(int64_t a, char** out);

SPT_API int32_t spt_py_to_list(int64_t a, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_py_to_plain(int64_t a, SplArray** out);

SPT_API int32_t spt_py_new_bytes(int64_t length, int64_t* out);

SPT_API int32_t spt_py_bytes_data(int64_t a, int64_t** out, int64_t* out_len);

SPT_API int32_t spt_py_from_value(const char* kinds, const SplArray* values, int64_t* out);

SPT_API int32_t spt_py_list(const char* kinds, const SplArray* values, int64_t* out);

SPT_API int32_t spt_py_tuple(const char* kinds, const SplArray* values, int64_t* out);

SPT_API int32_t spt_py_dict(const char* kinds, const SplArray* values, int64_t* out);

SPT_API int32_t spt_py_from_tensor(int64_t a, int64_t* out);

SPT_API int32_t spt_py_to_tensor(int64_t a, int64_t* out);

SPT_API int32_t spt_py_to_generator(int64_t a, int64_t* out);

SPT_API int32_t spt_py_from_generator(int64_t generator, int64_t* out);

SPT_API int32_t spt_py_from_dlpack(int64_t a, int64_t device, int64_t copy, int64_t* out);

SPT_API int32_t spt_py_capsule_new(int64_t managed, int64_t* out);

SPT_API int32_t spt_py_capsule_take(int64_t capsule, int64_t* out);

SPT_API int32_t spt_file_read(const char* path, bool decompress, int64_t* out);

SPT_API int32_t spt_file_write(const char* path, int64_t bytes);

SPT_API int32_t spt_image_decode(int64_t data, const char* format, int64_t mode, bool apply_exif_orientation, int64_t* out);

SPT_API int32_t spt_image_encode_jpeg(int64_t image, int64_t quality, int64_t* out);

SPT_API int32_t spt_image_encode_png(int64_t image, int64_t level, int64_t* out);

SPT_API int32_t spt_image_adjust(int64_t image, const char* aspect, double factor, int64_t* out);

SPT_API int64_t rt_torch_available(void);
SPT_API int64_t simple_torch_available(void);
SPT_API char* rt_torch_why_unavailable(void);
SPT_API char* rt_torch_path(void);
SPT_API char* rt_torch_python_path(void);
SPT_API char* rt_torch_environment(void);
SPT_API char* rt_torch_version(void);
SPT_API int64_t rt_torch_cuda_available(void);
SPT_API int64_t simple_torch_cuda_available(void);
SPT_API int64_t rt_torch_cuda_device_count(void);
SPT_API int64_t simple_torch_cuda_device_count(void);
SPT_API char* rt_torch_devices(void);
SPT_API int64_t rt_torch_default_dtype(void);
SPT_API void rt_torch_set_default_dtype(int64_t dtype);
SPT_API int64_t rt_torch_num_threads(void);
SPT_API void rt_torch_set_num_threads(int64_t count);
SPT_API int64_t rt_torch_setting(const char* name);
SPT_API void rt_torch_set_setting(const char* name, bool value);
SPT_API int64_t rt_torch_set_flush_denormal(bool mode);
SPT_API char* rt_torch_float32_matmul_precision(void);
SPT_API void rt_torch_set_float32_matmul_precision(const char* precision);
SPT_API void rt_torch_set_print_options(int64_t precision, int64_t threshold, int64_t edge_items, int64_t line_width, int64_t sci_mode);
SPT_API void rt_torch_manual_seed(int64_t seed);
SPT_API char* rt_torch_dtype_name(int64_t dtype);
SPT_API int64_t rt_torch_dtype_code(const char* name);
SPT_API void rt_torch_release(int64_t value);
SPT_API void simple_torch_free_tensor(void* value);
SPT_API void rt_torch_scope_begin(void);
SPT_API void rt_torch_scope_keep(int64_t value);
SPT_API int64_t rt_torch_scope_end(void);
SPT_API int64_t rt_torch_torchtensor_free(int64_t value);
SPT_API int64_t rt_torch_free(int64_t value);
SPT_API int64_t simple_torch_tensor_free(int64_t value);
SPT_API int64_t rt_torch_live_handles(int64_t kind);
SPT_API int64_t rt_torch_peak_handles(int64_t kind);
SPT_API void rt_torch_trace_handles(bool enabled, SptLocation location);
SPT_API char* rt_torch_live_report(void);
SPT_API int64_t rt_torch_live_bytes(const char* device);
SPT_API int64_t rt_torch_is_tensor(int64_t value);
SPT_API int64_t rt_torch_tensor_zeros(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_zeros_1d(int64_t dims_0);
SPT_API int64_t rt_torch_tensor_zeros_2d(int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_tensor_zeros_3d(int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_tensor_zeros_4d(int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t simple_torch_tensor_zeros(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_ones(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_ones_1d(int64_t dims_0);
SPT_API int64_t rt_torch_tensor_ones_2d(int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_tensor_ones_3d(int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_tensor_ones_4d(int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t simple_torch_tensor_ones(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_empty(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_empty_1d(int64_t dims_0);
SPT_API int64_t rt_torch_tensor_empty_2d(int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_tensor_empty_3d(int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_tensor_empty_4d(int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t simple_torch_tensor_empty(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_randn(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_randn_1d(int64_t dims_0);
SPT_API int64_t rt_torch_tensor_randn_2d(int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_tensor_randn_3d(int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_tensor_randn_4d(int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t simple_torch_tensor_randn(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_rand(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_rand_1d(int64_t dims_0);
SPT_API int64_t rt_torch_tensor_rand_2d(int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_tensor_rand_3d(int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_tensor_rand_4d(int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t simple_torch_tensor_rand(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_full(const SplArray* dims, double value);
SPT_API int64_t rt_torch_tensor_full_1d(int64_t dims_0, int64_t value);
SPT_API int64_t rt_torch_tensor_full_2d(int64_t dims_0, int64_t dims_1, int64_t value);
SPT_API int64_t rt_torch_tensor_full_3d(int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t value);
SPT_API int64_t rt_torch_tensor_full_4d(int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3, int64_t value);
SPT_API int64_t rt_torch_tensor_eye(int64_t n);
SPT_API int64_t rt_torch_torchtensor_eye(int64_t n);
SPT_API int64_t rt_torch_tensor_arange(double start, double end, double step);
SPT_API int64_t rt_torch_torchtensor_arange(double start, double end, double step);
SPT_API int64_t rt_torch_tensor_arange_bits(int64_t start, int64_t end, int64_t step);
SPT_API int64_t rt_torch_tensor_arange_int(int64_t start, int64_t end, int64_t step);
SPT_API int64_t rt_torch_tensor_linspace(double start, double end, int64_t steps);
SPT_API int64_t rt_torch_torchtensor_linspace(double start, double end, int64_t steps);
SPT_API int64_t rt_torch_tensor_linspace_bits(int64_t start, int64_t end, int64_t steps);
SPT_API int64_t rt_torch_tensor_zeros_int(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_zeros_int_1d(int64_t dims_0);
SPT_API int64_t rt_torch_tensor_zeros_int_2d(int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_tensor_ones_int(const SplArray* dims);
SPT_API int64_t rt_torch_tensor_ones_int_1d(int64_t dims_0);
SPT_API int64_t rt_torch_tensor_ones_int_2d(int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_tensor_full_int(const SplArray* dims, int64_t value);
SPT_API int64_t rt_torch_tensor_full_int_1d(int64_t dims_0, int64_t value);
SPT_API int64_t rt_torch_tensor_full_int_2d(int64_t dims_0, int64_t dims_1, int64_t value);
SPT_API int64_t rt_torch_tensor_randint(int64_t low, int64_t high, const SplArray* dims);
SPT_API int64_t rt_torch_tensor_randperm(int64_t n);
SPT_API int64_t rt_torch_tensor_zeros_as(const SplArray* dims, int64_t dtype, int64_t device);
SPT_API void* simple_torch_zeros(int64_t* dims, int dims_len, int dtype, int device);
SPT_API int64_t rt_torch_tensor_ones_as(const SplArray* dims, int64_t dtype, int64_t device);
SPT_API void* simple_torch_ones(int64_t* dims, int dims_len, int dtype, int device);
SPT_API int64_t rt_torch_tensor_randn_as(const SplArray* dims, int64_t dtype, int64_t device);
SPT_API void* simple_torch_randn(int64_t* dims, int dims_len, int dtype, int device);
SPT_API int64_t rt_torch_tensor_rand_as(const SplArray* dims, int64_t dtype, int64_t device);
SPT_API void* simple_torch_rand(int64_t* dims, int dims_len, int dtype, int device);
SPT_API int64_t rt_torch_tensor_empty_as(const SplArray* dims, int64_t dtype, int64_t device);
SPT_API void* simple_torch_empty(int64_t* dims, int dims_len, int dtype, int device);
SPT_API int64_t rt_torch_tensor_full_as(const SplArray* dims, double value, int64_t dtype, int64_t device);
SPT_API int64_t rt_torch_tensor_arange_as(double start, double end, double step, int64_t dtype, int64_t device);
SPT_API int64_t rt_torch_torchtensor_zeros_like(int64_t a);
SPT_API int64_t rt_torch_torchtensor_ones_like(int64_t a);
SPT_API int64_t rt_torch_torchtensor_empty_like(int64_t a);
SPT_API int64_t rt_torch_torchtensor_rand_like(int64_t a);
SPT_API int64_t rt_torch_torchtensor_randn_like(int64_t a);
SPT_API int64_t rt_torch_torchtensor_full_like(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_neg(int64_t a);
SPT_API int64_t simple_torch_neg(int64_t a);
SPT_API int64_t rt_torch_torchtensor_abs(int64_t a);
SPT_API int64_t simple_torch_abs(int64_t a);
SPT_API int64_t rt_torch_torchtensor_sqrt(int64_t a);
SPT_API int64_t simple_torch_sqrt(int64_t a);
SPT_API int64_t rt_torch_torchtensor_exp(int64_t a);
SPT_API int64_t simple_torch_exp(int64_t a);
SPT_API int64_t rt_torch_torchtensor_log(int64_t a);
SPT_API int64_t simple_torch_log(int64_t a);
SPT_API int64_t rt_torch_torchtensor_sin(int64_t a);
SPT_API int64_t simple_torch_sin(int64_t a);
SPT_API int64_t rt_torch_torchtensor_cos(int64_t a);
SPT_API int64_t simple_torch_cos(int64_t a);
SPT_API int64_t rt_torch_torchtensor_tan(int64_t a);
SPT_API int64_t simple_torch_tan(int64_t a);
SPT_API int64_t rt_torch_torchtensor_asin(int64_t a);
SPT_API int64_t simple_torch_asin(int64_t a);
SPT_API int64_t rt_torch_torchtensor_acos(int64_t a);
SPT_API int64_t simple_torch_acos(int64_t a);
SPT_API int64_t rt_torch_torchtensor_atan(int64_t a);
SPT_API int64_t simple_torch_atan(int64_t a);
SPT_API int64_t rt_torch_torchtensor_sinh(int64_t a);
SPT_API int64_t simple_torch_sinh(int64_t a);
SPT_API int64_t rt_torch_torchtensor_cosh(int64_t a);
SPT_API int64_t simple_torch_cosh(int64_t a);
SPT_API int64_t rt_torch_torchtensor_tanh(int64_t a);
SPT_API int64_t simple_torch_tanh(int64_t a);
SPT_API int64_t rt_torch_torchtensor_relu(int64_t a);
SPT_API int64_t simple_torch_relu(int64_t a);
SPT_API int64_t rt_torch_torchtensor_sigmoid(int64_t a);
SPT_API int64_t simple_torch_sigmoid(int64_t a);
SPT_API int64_t rt_torch_torchtensor_erf(int64_t a);
SPT_API int64_t simple_torch_erf(int64_t a);
SPT_API int64_t rt_torch_torchtensor_log1p(int64_t a);
SPT_API int64_t simple_torch_log1p(int64_t a);
SPT_API int64_t rt_torch_torchtensor_log2(int64_t a);
SPT_API int64_t simple_torch_log2(int64_t a);
SPT_API int64_t rt_torch_torchtensor_log10(int64_t a);
SPT_API int64_t simple_torch_log10(int64_t a);
SPT_API int64_t rt_torch_torchtensor_expm1(int64_t a);
SPT_API int64_t simple_torch_expm1(int64_t a);
SPT_API int64_t rt_torch_torchtensor_exp2(int64_t a);
SPT_API int64_t simple_torch_exp2(int64_t a);
SPT_API int64_t rt_torch_torchtensor_rsqrt(int64_t a);
SPT_API int64_t simple_torch_rsqrt(int64_t a);
SPT_API int64_t rt_torch_torchtensor_reciprocal(int64_t a);
SPT_API int64_t simple_torch_reciprocal(int64_t a);
SPT_API int64_t rt_torch_torchtensor_square(int64_t a);
SPT_API int64_t simple_torch_square(int64_t a);
SPT_API int64_t rt_torch_torchtensor_sign(int64_t a);
SPT_API int64_t simple_torch_sign(int64_t a);
SPT_API int64_t rt_torch_torchtensor_floor(int64_t a);
SPT_API int64_t simple_torch_floor(int64_t a);
SPT_API int64_t rt_torch_torchtensor_ceil(int64_t a);
SPT_API int64_t simple_torch_ceil(int64_t a);
SPT_API int64_t rt_torch_torchtensor_round(int64_t a);
SPT_API int64_t simple_torch_round(int64_t a);
SPT_API int64_t rt_torch_torchtensor_trunc(int64_t a);
SPT_API int64_t simple_torch_trunc(int64_t a);
SPT_API int64_t rt_torch_torchtensor_logical_not(int64_t a);
SPT_API int64_t simple_torch_logical_not(int64_t a);
SPT_API int64_t rt_torch_torchtensor_isnan(int64_t a);
SPT_API int64_t simple_torch_isnan(int64_t a);
SPT_API int64_t rt_torch_torchtensor_isinf(int64_t a);
SPT_API int64_t simple_torch_isinf(int64_t a);
SPT_API int64_t rt_torch_torchtensor_isfinite(int64_t a);
SPT_API int64_t simple_torch_isfinite(int64_t a);
SPT_API int64_t rt_torch_torchtensor_relu6(int64_t a);
SPT_API int64_t simple_torch_relu6(int64_t a);
SPT_API int64_t rt_torch_torchtensor_gelu(int64_t a);
SPT_API int64_t simple_torch_gelu(int64_t a);
SPT_API int64_t rt_torch_torchtensor_silu(int64_t a);
SPT_API int64_t simple_torch_silu(int64_t a);
SPT_API int64_t rt_torch_torchtensor_mish(int64_t a);
SPT_API int64_t simple_torch_mish(int64_t a);
SPT_API int64_t rt_torch_torchtensor_softplus(int64_t a);
SPT_API int64_t simple_torch_softplus(int64_t a);
SPT_API int64_t rt_torch_torchtensor_elu(int64_t a);
SPT_API int64_t simple_torch_elu(int64_t a);
SPT_API int64_t rt_torch_torchtensor_hardswish(int64_t a);
SPT_API int64_t simple_torch_hardswish(int64_t a);
SPT_API int64_t rt_torch_torchtensor_leaky_relu(int64_t a, double negative_slope);
SPT_API int64_t rt_torch_torchtensor_leaky_relu_bits(int64_t a, int64_t negative_slope);
SPT_API int64_t rt_torch_torchtensor_softmax(int64_t a, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_log_softmax(int64_t a, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_clamp(int64_t a, double low, double high);
SPT_API int64_t rt_torch_torchtensor_nan_to_num(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_add(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_add(int64_t a, int64_t b);
SPT_API void* simple_torch_add(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_sub(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_sub(int64_t a, int64_t b);
SPT_API void* simple_torch_sub(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_mul(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_mul(int64_t a, int64_t b);
SPT_API void* simple_torch_mul(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_div(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_div(int64_t a, int64_t b);
SPT_API void* simple_torch_div(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_maximum(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_maximum(int64_t a, int64_t b);
SPT_API void* simple_torch_maximum(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_minimum(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_minimum(int64_t a, int64_t b);
SPT_API void* simple_torch_minimum(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_atan2(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_atan2(int64_t a, int64_t b);
SPT_API void* simple_torch_atan2(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_remainder(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_remainder(int64_t a, int64_t b);
SPT_API void* simple_torch_remainder(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_fmod(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_fmod(int64_t a, int64_t b);
SPT_API void* simple_torch_fmod(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_floor_divide(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_floor_divide(int64_t a, int64_t b);
SPT_API void* simple_torch_floor_divide(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_logical_and(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_logical_and(int64_t a, int64_t b);
SPT_API void* simple_torch_logical_and(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_logical_or(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_logical_or(int64_t a, int64_t b);
SPT_API void* simple_torch_logical_or(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_logical_xor(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_logical_xor(int64_t a, int64_t b);
SPT_API void* simple_torch_logical_xor(void* a, void* b);
SPT_API int64_t rt_torch_torchtensor_pow_tensor(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_where(int64_t condition, int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_add_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_add_scalar_bits(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_sub_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_sub_scalar_bits(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_mul_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_mul_scalar_bits(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_div_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_div_scalar_bits(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_pow(int64_t a, double exponent);
SPT_API int64_t rt_torch_torchtensor_pow_bits(int64_t a, int64_t exponent);
SPT_API int64_t rt_torch_torchtensor_add_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_sub_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_mul_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_div_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_floor_divide_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_pow_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_remainder_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_remainder_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_floor_divide_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_rsub_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_rsub_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_rdiv_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_rdiv_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_rpow_scalar(int64_t a, double base);
SPT_API int64_t rt_torch_torchtensor_rpow_int(int64_t a, int64_t base);
SPT_API int64_t rt_torch_torchtensor_eq(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_ne(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_lt(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_gt(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_le(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_ge(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_eq_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_ne_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_lt_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_gt_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_le_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_ge_scalar(int64_t a, double value);
SPT_API int64_t rt_torch_torchtensor_eq_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_ne_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_lt_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_gt_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_le_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_ge_int(int64_t a, int64_t value);
SPT_API int64_t rt_torch_torchtensor_isclose(int64_t a, int64_t b, double rtol, double atol);
SPT_API int64_t rt_torch_torchtensor_allclose(int64_t a, int64_t b, double rtol, double atol);
SPT_API int64_t rt_torch_torchtensor_equal(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_sum_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_mean_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_prod_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_max_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_min_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_all_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_any_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_std_all(int64_t a, int64_t correction);
SPT_API int64_t rt_torch_torchtensor_var_all(int64_t a, int64_t correction);
SPT_API int64_t rt_torch_torchtensor_std_dim(int64_t a, const SplArray* dims, int64_t correction, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_var_dim(int64_t a, const SplArray* dims, int64_t correction, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_norm_all(int64_t a, double p);
SPT_API int64_t rt_torch_torchtensor_sum_dim(int64_t a, int64_t dim, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_mean_dim(int64_t a, int64_t dim, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_sum_dims(int64_t a, const SplArray* dims, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_mean_dims(int64_t a, const SplArray* dims, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_max_dim(int64_t a, int64_t dim, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_min_dim(int64_t a, int64_t dim, bool keepdim);
SPT_API SplArray* rt_torch_torchtensor_max_with_indices(int64_t a, int64_t dim, bool keepdim);
SPT_API SplArray* rt_torch_torchtensor_min_with_indices(int64_t a, int64_t dim, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_argmax(int64_t a, int64_t dim, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_argmin(int64_t a, int64_t dim, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_argmax_dim(int64_t a, int64_t dim, bool keepdim);
SPT_API int64_t rt_torch_torchtensor_argmin_dim(int64_t a, int64_t dim, bool keepdim);
SPT_API SplArray* rt_torch_torchtensor_topk(int64_t a, int64_t k, int64_t dim, bool largest, bool sorted);
SPT_API SplArray* rt_torch_torchtensor_sort(int64_t a, int64_t dim, bool descending);
SPT_API int64_t rt_torch_torchtensor_cumsum(int64_t a, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_logsumexp(int64_t a, const SplArray* dims, bool keepdim);
SPT_API double rt_torch_torchtensor_sum(int64_t a);
SPT_API int64_t rt_torch_torchtensor_sum_bits(int64_t a);
SPT_API double rt_torch_torchtensor_mean(int64_t a);
SPT_API int64_t rt_torch_torchtensor_mean_bits(int64_t a);
SPT_API double rt_torch_torchtensor_max(int64_t a);
SPT_API int64_t rt_torch_torchtensor_max_bits(int64_t a);
SPT_API double rt_torch_torchtensor_min(int64_t a);
SPT_API int64_t rt_torch_torchtensor_min_bits(int64_t a);
SPT_API double rt_torch_torchtensor_norm(int64_t a);
SPT_API int64_t rt_torch_torchtensor_norm_bits(int64_t a);
SPT_API double rt_torch_torchtensor_std(int64_t a);
SPT_API int64_t rt_torch_torchtensor_std_bits(int64_t a);
SPT_API double rt_torch_torchtensor_var(int64_t a);
SPT_API int64_t rt_torch_torchtensor_var_bits(int64_t a);
SPT_API double rt_torch_torchtensor_det(int64_t a);
SPT_API int64_t rt_torch_torchtensor_det_bits(int64_t a);
SPT_API int64_t rt_torch_torchtensor_t(int64_t a);
SPT_API int64_t rt_torch_torchtensor_squeeze(int64_t a);
SPT_API int64_t rt_torch_torchtensor_clone(int64_t a);
SPT_API int64_t rt_torch_clone(int64_t a);
SPT_API int64_t rt_torch_torchtensor_flatten(int64_t a);
SPT_API int64_t rt_torch_torchtensor_flatten_dims(int64_t a, int64_t start_dim, int64_t end_dim);
SPT_API int64_t rt_torch_torchtensor_contiguous(int64_t a);
SPT_API int64_t rt_torch_torchtensor_reshape(int64_t a, const SplArray* dims);
SPT_API int64_t rt_torch_torchtensor_reshape_1d(int64_t a, int64_t dims_0);
SPT_API int64_t rt_torch_torchtensor_reshape_2d(int64_t a, int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_torchtensor_reshape_3d(int64_t a, int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_torchtensor_reshape_4d(int64_t a, int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t rt_torch_torchtensor_view(int64_t a, const SplArray* dims);
SPT_API int64_t rt_torch_torchtensor_view_1d(int64_t a, int64_t dims_0);
SPT_API int64_t rt_torch_torchtensor_view_2d(int64_t a, int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_torchtensor_view_3d(int64_t a, int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_torchtensor_view_4d(int64_t a, int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t rt_torch_torchtensor_view_strict(int64_t a, const SplArray* dims);
SPT_API int64_t rt_torch_torchtensor_permute(int64_t a, const SplArray* dims);
SPT_API int64_t rt_torch_torchtensor_permute_2d(int64_t a, int64_t dims_0, int64_t dims_1);
SPT_API int64_t rt_torch_torchtensor_permute_3d(int64_t a, int64_t dims_0, int64_t dims_1, int64_t dims_2);
SPT_API int64_t rt_torch_torchtensor_permute_4d(int64_t a, int64_t dims_0, int64_t dims_1, int64_t dims_2, int64_t dims_3);
SPT_API int64_t rt_torch_torchtensor_transpose(int64_t a, int64_t dim0, int64_t dim1);
SPT_API int64_t rt_torch_torchtensor_squeeze_dim(int64_t a, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_unsqueeze(int64_t a, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_expand(int64_t a, const SplArray* dims);
SPT_API int64_t rt_torch_torchtensor_repeat(int64_t a, const SplArray* repeats);
SPT_API int64_t rt_torch_torchtensor_flip(int64_t a, const SplArray* dims);
SPT_API int64_t rt_torch_torchtensor_tril(int64_t a, int64_t diagonal);
SPT_API int64_t rt_torch_torchtensor_triu(int64_t a, int64_t diagonal);
SPT_API int64_t rt_torch_torchtensor_slice(int64_t a, int64_t dim, int64_t start, int64_t end, int64_t step);
SPT_API int64_t rt_torch_torchtensor_select(int64_t a, int64_t dim, int64_t index);
SPT_API int64_t rt_torch_torchtensor_index_select(int64_t a, int64_t dim, int64_t indices);
SPT_API int64_t rt_torch_torchtensor_gather(int64_t a, int64_t dim, int64_t indices);
SPT_API int64_t rt_torch_torchtensor_masked_select(int64_t a, int64_t mask);
SPT_API int64_t rt_torch_torchtensor_masked_fill(int64_t a, int64_t mask, double value);
SPT_API int64_t rt_torch_torchtensor_index(int64_t a, int64_t indices);
SPT_API int64_t rt_torch_torchtensor_nonzero(int64_t a);
SPT_API int64_t rt_torch_torchtensor_one_hot(int64_t a, int64_t classes);
SPT_API int64_t rt_torch_torchtensor_cat(const SplArray* tensors, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_cat_2(int64_t tensors_0, int64_t tensors_1, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_cat_3(int64_t tensors_0, int64_t tensors_1, int64_t tensors_2, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_cat_4(int64_t tensors_0, int64_t tensors_1, int64_t tensors_2, int64_t tensors_3, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_stack(const SplArray* tensors, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_stack_2(int64_t tensors_0, int64_t tensors_1, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_stack_3(int64_t tensors_0, int64_t tensors_1, int64_t tensors_2, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_stack_4(int64_t tensors_0, int64_t tensors_1, int64_t tensors_2, int64_t tensors_3, int64_t dim);
SPT_API SplArray* rt_torch_torchtensor_chunk(int64_t a, int64_t chunks, int64_t dim);
SPT_API SplArray* rt_torch_torchtensor_split(int64_t a, int64_t size, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_matmul(int64_t a, int64_t b);
SPT_API int64_t simple_torch_tensor_matmul(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_mm(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_bmm(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_dot(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_outer(int64_t a, int64_t b);
SPT_API int64_t rt_torch_torchtensor_inverse(int64_t a);
SPT_API int64_t rt_torch_torchtensor_det_all(int64_t a);
SPT_API int64_t rt_torch_torchtensor_svd(int64_t a);
SPT_API SplArray* rt_torch_torchtensor_svd_factors(int64_t a, bool full_matrices);
SPT_API int64_t rt_torch_torchtensor_eig(int64_t a);
SPT_API int64_t rt_torch_torchtensor_linalg_solve(int64_t a, int64_t b);
SPT_API int64_t rt_torch_einsum(const char* equation, const SplArray* tensors);
SPT_API int64_t rt_torch_torchtensor_ndim(int64_t a);
SPT_API int64_t simple_torch_tensor_ndim(int64_t a);
SPT_API int64_t simple_torch_tensor_shape(int64_t a);
SPT_API int64_t rt_torch_torchtensor_numel(int64_t a);
SPT_API int64_t simple_torch_tensor_numel(int64_t a);
SPT_API int64_t rt_torch_torchtensor_dtype(int64_t a);
SPT_API int64_t simple_torch_tensor_dtype(int64_t a);
SPT_API int64_t rt_torch_torchtensor_element_size(int64_t a);
SPT_API int64_t simple_torch_tensor_element_size(int64_t a);
SPT_API int64_t rt_torch_torchtensor_nbytes(int64_t a);
SPT_API int64_t simple_torch_tensor_nbytes(int64_t a);
SPT_API int64_t rt_torch_torchtensor_storage_offset(int64_t a);
SPT_API int64_t simple_torch_tensor_storage_offset(int64_t a);
SPT_API int64_t rt_torch_torchtensor_data_ptr(int64_t a);
SPT_API SplArray* rt_torch_torchtensor_shape(int64_t a);
SPT_API SplArray* rt_torch_torchtensor_strides(int64_t a);
SPT_API int64_t rt_torch_torchtensor_shape_dim(int64_t a, int64_t dim);
SPT_API int64_t rt_torch_torchtensor_copy_shape(int64_t a, int64_t address, int64_t capacity);
SPT_API int64_t rt_torch_torchtensor_storage_users(int64_t a);
SPT_API int64_t rt_torch_torchtensor_device(int64_t a);
SPT_API char* rt_torch_torchtensor_layout(int64_t a);
SPT_API char* rt_torch_torchtensor_device_text(int64_t a);
SPT_API int64_t rt_torch_torchtensor_is_cuda(int64_t a);
SPT_API int64_t simple_torch_tensor_is_cuda(int64_t a);
SPT_API int64_t rt_torch_torchtensor_is_contiguous(int64_t a);
SPT_API int64_t simple_torch_tensor_is_contiguous(int64_t a);
SPT_API int64_t rt_torch_torchtensor_is_floating_point(int64_t a);
SPT_API int64_t simple_torch_tensor_is_floating_point(int64_t a);
SPT_API int64_t rt_torch_torchtensor_is_nested(int64_t a);
SPT_API int64_t simple_torch_tensor_is_nested(int64_t a);
SPT_API char* rt_torch_torchtensor_text(int64_t a);
SPT_API int64_t rt_torch_tensor_from_data(const SplArray* data, const SplArray* dims);
SPT_API int64_t rt_ps_torch_tensor_from_data(const SplArray* data, const SplArray* dims);
SPT_API int64_t simple_torch_tensor_from_data(const SplArray* data, const SplArray* dims);
SPT_API int64_t rt_torch_tensor_from_i64_data(const SplArray* data, const SplArray* dims);
SPT_API int64_t rt_ps_torch_tensor_zeros(const SplArray* dims);
SPT_API int64_t rt_torch_tensor(int64_t data, int64_t data_len, int64_t dims, int32_t ndim, int32_t dtype_code, int32_t device_code);
SPT_API int64_t rt_dyn_torch_tensor_from_bits_1d(int64_t data, int64_t count);
SPT_API int64_t rt_dyn_torch_tensor_from_bits_2d(int64_t data, int64_t rows, int64_t cols);
SPT_API int64_t rt_dyn_torch_tensor_copy_bits(int64_t a, int64_t data, int64_t count);
SPT_API int64_t rt_torch_copy_data_to_cpu(int64_t a, int64_t data, int64_t count);
SPT_API int64_t rt_dyn_torch_tensor_binary_op(int64_t a, int64_t b, int64_t op);
SPT_API int64_t rt_torch_tensor_from_data_as(const SplArray* data, const SplArray* dims, int64_t dtype);
SPT_API double rt_torch_torchtensor_item(int64_t a);
SPT_API int64_t rt_torch_torchtensor_item_int(int64_t a);
SPT_API SplArray* rt_torch_torchtensor_to_list(int64_t a);
SPT_API SplArray* rt_torch_torchtensor_to_int_list(int64_t a);
SPT_API int64_t rt_torch_torchtensor_to_float(int64_t a);
SPT_API int64_t rt_torch_torchtensor_to_int(int64_t a);
SPT_API int64_t rt_torch_torchtensor_to_float32(int64_t a);
SPT_API int64_t rt_torch_torchtensor_to_dtype(int64_t a, int64_t dtype);
SPT_API int64_t rt_torch_torchtensor_to_device(int64_t a, const char* device);
SPT_API int64_t rt_torch_torchtensor_cuda(int64_t a, int32_t device);
SPT_API int64_t rt_torch_to_cuda(int64_t a, int32_t device);
SPT_API int64_t simple_torch_tensor_cuda(int64_t a, int32_t device);
SPT_API int64_t simple_torch_tensor_to_device(int64_t a, int32_t device);
SPT_API int64_t rt_torch_torchtensor_cpu(int64_t a);
SPT_API int64_t rt_torch_to_cpu(int64_t a);
SPT_API int64_t simple_torch_tensor_cpu(int64_t a);
SPT_API void rt_torch_torchtensor_copy_(int64_t a, int64_t source);
SPT_API void rt_torch_torchtensor_fill_(int64_t a, double value);
SPT_API void rt_torch_torchtensor_zero_(int64_t a);
SPT_API void rt_torch_torchtensor_add_(int64_t a, int64_t b, double alpha);
SPT_API void rt_torch_torchtensor_sub_(int64_t a, int64_t b, double alpha);
SPT_API void rt_torch_torchtensor_mul_(int64_t a, int64_t b);
SPT_API void rt_torch_torchtensor_div_(int64_t a, int64_t b);
SPT_API void rt_torch_torchtensor_add_scalar_(int64_t a, double value);
SPT_API void rt_torch_torchtensor_sub_scalar_(int64_t a, double value);
SPT_API void rt_torch_torchtensor_mul_scalar_(int64_t a, double value);
SPT_API void rt_torch_torchtensor_div_scalar_(int64_t a, double value);
SPT_API void rt_torch_torchtensor_uniform_(int64_t a, double low, double high);
SPT_API void rt_torch_torchtensor_normal_(int64_t a, double mean, double std);
SPT_API void rt_torch_torchtensor_clamp_(int64_t a, double low, double high);
SPT_API int64_t rt_torch_nn_linear(int64_t input, int64_t weight, int64_t bias);
SPT_API int64_t rt_torch_nn_conv2d(int64_t input, int64_t weight, int64_t bias, const SplArray* stride, const SplArray* padding, const SplArray* dilation, int64_t groups);
SPT_API int64_t rt_torch_nn_conv2d_simple(int64_t input, int64_t weight, int64_t bias, int64_t stride_0, int64_t stride_1, int64_t padding_0, int64_t padding_1, int64_t dilation_0, int64_t dilation_1, int64_t groups);
SPT_API int64_t rt_torch_nn_conv1d(int64_t input, int64_t weight, int64_t bias, const SplArray* stride, const SplArray* padding, const SplArray* dilation, int64_t groups);
SPT_API int64_t rt_torch_nn_max_pool2d(int64_t input, const SplArray* kernel_size, const SplArray* stride, const SplArray* padding);
SPT_API int64_t rt_torch_nn_max_pool2d_simple(int64_t input, int64_t kernel_size_0, int64_t kernel_size_1, int64_t stride_0, int64_t stride_1, int64_t padding_0, int64_t padding_1);
SPT_API int64_t rt_torch_nn_avg_pool2d(int64_t input, const SplArray* kernel_size, const SplArray* stride, const SplArray* padding);
SPT_API int64_t rt_torch_nn_avg_pool2d_simple(int64_t input, int64_t kernel_size_0, int64_t kernel_size_1, int64_t stride_0, int64_t stride_1, int64_t padding_0, int64_t padding_1);
SPT_API int64_t rt_torch_nn_adaptive_avg_pool2d(int64_t input, const SplArray* output_size);
SPT_API int64_t rt_torch_nn_batch_norm(int64_t input, int64_t running_mean, int64_t running_var, int64_t weight, int64_t bias, bool training, double momentum, double eps);
SPT_API int64_t rt_torch_nn_batch_norm_bits(int64_t input, int64_t running_mean, int64_t running_var, int64_t weight, int64_t bias, int64_t training, int64_t momentum, int64_t eps);
SPT_API int64_t rt_torch_nn_layer_norm(int64_t input, const SplArray* normalized_shape, int64_t weight, int64_t bias, double eps);
SPT_API int64_t rt_torch_nn_layer_norm_1d(int64_t input, int64_t normalized_shape_0, int64_t weight, int64_t bias, int64_t eps);
SPT_API int64_t rt_torch_nn_layer_norm_2d(int64_t input, int64_t normalized_shape_0, int64_t normalized_shape_1, int64_t weight, int64_t bias, int64_t eps);
SPT_API int64_t rt_torch_nn_dropout(int64_t input, double p, bool training);
SPT_API int64_t rt_torch_nn_dropout_bits(int64_t input, int64_t p, int64_t training);
SPT_API int64_t rt_torch_nn_embedding(int64_t input, int64_t weight);
SPT_API int64_t rt_torch_nn_normalize(int64_t input, double p, int64_t dim, double eps);
SPT_API int64_t rt_torch_nn_scaled_dot_product_attention(int64_t query, int64_t key, int64_t value, int64_t mask, double dropout_p, bool is_causal);
SPT_API int64_t rt_torch_nn_mse_loss_tensor(int64_t input, int64_t target, int64_t reduction);
SPT_API int64_t rt_torch_nn_l1_loss_tensor(int64_t input, int64_t target, int64_t reduction);
SPT_API int64_t rt_torch_nn_binary_cross_entropy_tensor(int64_t input, int64_t target, int64_t reduction);
SPT_API int64_t rt_torch_nn_binary_cross_entropy_with_logits_tensor(int64_t input, int64_t target, int64_t reduction);
SPT_API int64_t rt_torch_nn_smooth_l1_loss_tensor(int64_t input, int64_t target, int64_t reduction);
SPT_API int64_t rt_torch_nn_huber_loss_tensor(int64_t input, int64_t target, int64_t reduction);
SPT_API int64_t rt_torch_nn_cross_entropy_tensor(int64_t input, int64_t target, int64_t weight, int64_t reduction, int64_t ignore_index, double label_smoothing);
SPT_API int64_t rt_torch_nn_nll_loss_tensor(int64_t input, int64_t target, int64_t weight, int64_t reduction, int64_t ignore_index);
SPT_API double rt_torch_nn_mse_loss(int64_t input, int64_t target);
SPT_API int64_t rt_torch_nn_mse_loss_bits(int64_t input, int64_t target);
SPT_API double rt_torch_nn_cross_entropy(int64_t input, int64_t target);
SPT_API int64_t rt_torch_nn_cross_entropy_bits(int64_t input, int64_t target);
SPT_API double rt_torch_nn_binary_cross_entropy(int64_t input, int64_t target);
SPT_API int64_t rt_torch_nn_binary_cross_entropy_bits(int64_t input, int64_t target);
SPT_API double rt_torch_nn_nll_loss(int64_t input, int64_t target);
SPT_API int64_t rt_torch_nn_nll_loss_bits(int64_t input, int64_t target);
SPT_API void rt_torch_autograd_set_requires_grad(int64_t a, bool requires_grad);
SPT_API int64_t rt_torch_autograd_requires_grad(int64_t a);
SPT_API int64_t rt_torch_autograd_is_leaf(int64_t a);
SPT_API int64_t rt_torch_autograd_grad(int64_t a);
SPT_API void rt_torch_autograd_set_grad(int64_t a, int64_t gradient);
SPT_API void rt_torch_autograd_backward(int64_t a);
SPT_API void simple_torch_backward(void* a);
SPT_API void rt_torch_autograd_backward_with(int64_t a, int64_t gradient, bool retain_graph, bool create_graph);
SPT_API void rt_torch_autograd_zero_grad(int64_t a);
SPT_API int64_t rt_torch_autograd_detach(int64_t a);
SPT_API void rt_torch_autograd_no_grad_begin(void);
SPT_API void rt_torch_autograd_no_grad_end(void);
SPT_API int64_t rt_torch_autograd_set_grad_enabled(bool enabled);
SPT_API int64_t rt_torch_autograd_grad_enabled(void);
SPT_API int64_t rt_torch_optim_adam_new(const SplArray* params, double lr, double beta1, double beta2, double eps, double weight_decay, bool amsgrad, bool decoupled);
SPT_API int64_t rt_torch_optim_sgd_new(const SplArray* params, double lr, double momentum, double dampening, double weight_decay, bool nesterov);
SPT_API void rt_torch_optim_step(int64_t optimizer);
SPT_API void rt_torch_optim_zero_grad(int64_t optimizer, bool set_to_none);
SPT_API void rt_torch_optim_set_lr(int64_t optimizer, double lr);
SPT_API double rt_torch_optim_lr(int64_t optimizer);
SPT_API struct DLManagedTensor* simple_torch_to_dlpack(void* a);
SPT_API void* simple_torch_from_dlpack(struct DLManagedTensor* managed);
SPT_API int64_t rt_torch_dlpack_export(int64_t a, bool copy);
SPT_API int64_t rt_torch_dlpack_move(int64_t a);
SPT_API int64_t rt_torch_dlpack_import(int64_t managed);
SPT_API int64_t rt_torch_dlpack_data_ptr(int64_t managed);
SPT_API int64_t rt_torch_dlpack_flags(int64_t managed);
SPT_API char* rt_torch_dlpack_import_path(void);
SPT_API char* rt_torch_dlpack_why_copied(void);
SPT_API int64_t rt_torch_dlpack_copied_bytes(void);
SPT_API void rt_torch_autograd_backward_of(const SplArray* tensors, const SplArray* gradients, const SplArray* inputs, bool retain_graph, bool create_graph);
SPT_API SplArray* rt_torch_autograd_grad_of(const SplArray* outputs, const SplArray* inputs, const SplArray* gradients, bool retain_graph, bool create_graph, bool allow_unused);
SPT_API SplArray* rt_torch_autograd_once_differentiable(const SplArray* tensors);
SPT_API char* rt_torch_autograd_grad_fn_name(int64_t a);
SPT_API int64_t rt_torch_autograd_graph_task(void);
SPT_API SplArray* rt_torch_autograd_custom_function(const char* name, int64_t key, const SplArray* inputs, SptAutogradCall forward, SptAutogradCall backward, SptAutogradEnd on_release);
SPT_API int64_t rt_torch_autograd_function_kind(const char* name, SptAutogradCall backward, SptAutogradEnd on_release);
SPT_API int64_t rt_torch_autograd_function_begin(void);
SPT_API int64_t rt_torch_autograd_function_begin_one(int64_t input);
SPT_API int64_t rt_torch_autograd_function_end(int64_t step, int64_t kind, int64_t key);
SPT_API int64_t rt_torch_autograd_function_end_one(int64_t step, int64_t kind, int64_t key, int64_t result);
SPT_API int64_t rt_torch_autograd_step_add_input(int64_t step, int64_t tensor);
SPT_API void rt_torch_autograd_step_add_result(int64_t step, int64_t tensor);
SPT_API int64_t rt_torch_autograd_step_save_one(int64_t step, int64_t tensor);
SPT_API int64_t rt_torch_autograd_step_result(int64_t step, int64_t index);
SPT_API int64_t rt_torch_autograd_step_input_requires_grad(int64_t step, int64_t index);
SPT_API SplArray* rt_torch_autograd_step_tensors(int64_t step);
SPT_API void rt_torch_autograd_step_set_results(int64_t step, const SplArray* tensors);
SPT_API void rt_torch_autograd_step_save(int64_t step, const SplArray* tensors);
SPT_API SplArray* rt_torch_autograd_step_saved(int64_t step);
SPT_API void rt_torch_autograd_step_mark_dirty(int64_t step, const SplArray* tensors);
SPT_API void rt_torch_autograd_step_mark_non_differentiable(int64_t step, const SplArray* tensors);
SPT_API void rt_torch_autograd_step_set_materialize_grads(int64_t step, bool materialize);
SPT_API void rt_torch_autograd_callback_failed(int64_t kind, const char* message, const char* expected, const char* got, const char* type, const char* traceback);
SPT_API int64_t rt_torch_autograd_register_hook(int64_t a, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release);
SPT_API int64_t rt_torch_autograd_register_post_accumulate_grad_hook(int64_t a, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release);
SPT_API void rt_torch_autograd_remove_hook(int64_t hook_id);
SPT_API void rt_torch_autograd_saved_tensors_hooks_begin(int64_t key, SptAutogradCall pack, SptAutogradCall unpack, SptAutogradEnd on_drop, SptAutogradEnd on_release);
SPT_API void rt_torch_autograd_saved_tensors_hooks_end(void);
SPT_API void rt_torch_autograd_saved_tensors_hooks_disable(const char* message);
SPT_API void rt_torch_autograd_saved_tensors_hooks_enable(void);
SPT_API int64_t rt_torch_autograd_grad_fn(int64_t a);
SPT_API int64_t rt_torch_autograd_gradient_node(int64_t a);
SPT_API int64_t rt_torch_autograd_output_nr(int64_t a);
SPT_API char* rt_torch_autograd_node_name(int64_t node);
SPT_API int64_t rt_torch_autograd_node_identity(int64_t node);
SPT_API SplArray* rt_torch_autograd_node_next_functions(int64_t node);
SPT_API int64_t rt_torch_autograd_node_variable(int64_t node);
SPT_API int64_t rt_torch_autograd_node_register_hook(int64_t node, int64_t key, SptAutogradCall hook, SptAutogradEnd on_release, bool is_prehook);
SPT_API void rt_torch_autograd_node_remove_hook(int64_t hook_id);
SPT_API SplArray* rt_torch_autograd_node_hook_gradients(void);
SPT_API void rt_torch_autograd_node_hook_set_gradients(const SplArray* gradients);
SPT_API int64_t rt_torch_autograd_watch_gradients(const SplArray* tensors);
SPT_API int64_t rt_torch_autograd_watched_in_pass(int64_t watch_id);
SPT_API void rt_torch_autograd_unwatch_gradients(int64_t watch_id);
SPT_API void rt_torch_autograd_increment_version(int64_t a);
SPT_API void rt_torch_autograd_set_detect_anomaly(bool enabled, bool check_nan, SptLocation location);
SPT_API int64_t rt_torch_autograd_is_anomaly_enabled(void);
SPT_API int64_t rt_torch_autograd_is_anomaly_check_nan_enabled(void);
SPT_API void rt_torch_autograd_inference_mode_begin(bool enabled);
SPT_API void rt_torch_autograd_inference_mode_end(void);
SPT_API int64_t rt_torch_autograd_is_inference_mode_enabled(void);
SPT_API int64_t rt_torch_is_autocast_enabled(const char* device_type);
SPT_API void rt_torch_set_autocast_enabled(const char* device_type, bool enabled);
SPT_API int64_t rt_torch_autocast_dtype(const char* device_type);
SPT_API void rt_torch_set_autocast_dtype(const char* device_type, int64_t dtype);
SPT_API int64_t rt_torch_is_autocast_cache_enabled(void);
SPT_API void rt_torch_set_autocast_cache_enabled(bool enabled);
SPT_API void rt_torch_clear_autocast_cache(void);
SPT_API int64_t rt_torch_autocast_increment_nesting(void);
SPT_API int64_t rt_torch_autocast_decrement_nesting(void);
SPT_API int64_t rt_torch_transform_begin(const char* kind, int64_t batch_size, const char* randomness);
SPT_API void rt_torch_transform_end(void);
SPT_API int64_t rt_torch_transform_wrap(int64_t a, int64_t level);
SPT_API int64_t rt_torch_transform_unwrap(int64_t a, int64_t level);
SPT_API int64_t rt_torch_transform_batch(int64_t a, int64_t dim, int64_t level);
SPT_API int64_t rt_torch_transform_unbatch(int64_t a, int64_t level, int64_t batch_size, int64_t dim);
SPT_API int64_t rt_torch_forward_ad_begin(void);
SPT_API void rt_torch_forward_ad_end(int64_t level);
SPT_API int64_t rt_torch_rng_state(const char* device);
SPT_API void rt_torch_set_rng_state(const char* device, int64_t state);
SPT_API int64_t rt_torch_another_handle(int64_t a);
SPT_API int64_t rt_torch_dataset_size(int64_t dataset);
SPT_API SplArray* rt_torch_dataset_sample(int64_t dataset, int64_t index);
SPT_API SplArray* rt_torch_dataset_batch(int64_t dataset, const SplArray* indices);
SPT_API int64_t rt_torch_dataset_begin(int64_t dataset, int64_t worker, int64_t workers);
SPT_API SplArray* rt_torch_dataset_next(int64_t pass);
SPT_API int64_t rt_torch_download_begin(const char* url, const char* path, bool resume, int64_t stall_s, int64_t max_redirects);
SPT_API SplArray* rt_torch_download_step(int64_t download, int64_t wait_ms);
SPT_API void rt_torch_download_end(int64_t download);
SPT_API char* rt_torch_file_checksum(const char* path, const char* kind);
SPT_API void rt_torch_tar_unpack(const char* path, const char* folder);
SPT_API int64_t rt_torch_event_writer_new(const char* log_dir, int64_t max_queue, double flush_secs, const char* filename_suffix);
SPT_API char* rt_torch_event_writer_path(int64_t writer);
SPT_API void rt_torch_event_writer_flush(int64_t writer);
SPT_API void rt_torch_event_writer_close(int64_t writer);
SPT_API void rt_torch_event_writers_flush(void);
SPT_API void rt_torch_event_session_start(int64_t writer, int64_t step, double wall_time);
SPT_API void rt_torch_event_scalar(int64_t writer, const char* tag, double value, int64_t style, int64_t step, double wall_time);
SPT_API void rt_torch_event_histogram(int64_t writer, const char* tag, int64_t values, const SplArray* edges, int64_t bins, int64_t max_bins, int64_t step, double wall_time);
SPT_API void rt_torch_event_histogram_raw(int64_t writer, const char* tag, const SplArray* moments, const SplArray* limits, const SplArray* counts, int64_t step, double wall_time);
SPT_API void rt_torch_event_image(int64_t writer, const char* tag, int64_t image, int64_t step, double wall_time);
SPT_API void rt_torch_event_text(int64_t writer, const char* tag, const char* content, int64_t step, double wall_time);
SPT_API void rt_torch_event_graph(int64_t writer, const SplArray* nodes, double wall_time);
SPT_API void rt_torch_event_hparams(int64_t writer, const SplArray* number_names, const SplArray* numbers, const SplArray* text_names, const SplArray* texts, const SplArray* metrics, int64_t step, double wall_time);
SPT_API void rt_torch_tensor_save(int64_t a, const char* path);
SPT_API void rt_torch_tensor_save_dyn(int64_t a, int64_t path);
SPT_API int64_t rt_torch_tensor_load(const char* path);
SPT_API int64_t rt_torch_tensor_load_dyn(int64_t path);
SPT_API void rt_torch_values_save(const char* path, const char* kinds, const SplArray* values);
SPT_API SplArray* rt_torch_values_load(const char* path, const char* map_location);
SPT_API SplArray* rt_torch_pickle_load(const char* path);
SPT_API int64_t rt_torch_file_is_libtorchs(const char* path);
SPT_API int64_t rt_torch_safetensors_open(const char* path);
SPT_API int64_t rt_torch_safetensors_open_dyn(int64_t path);
SPT_API void rt_torch_safetensors_close(int64_t file);
SPT_API void rt_torch_safetensors_close_dyn(int64_t file);
SPT_API int64_t rt_torch_safetensors_num_tensors(int64_t file);
SPT_API int64_t rt_torch_safetensors_num_tensors_dyn(int64_t file);
SPT_API char* rt_torch_safetensors_list_names(int64_t file);
SPT_API int64_t rt_torch_safetensors_list_names_dyn(int64_t file);
SPT_API int64_t rt_torch_safetensors_get_tensor(int64_t file, const char* name);
SPT_API int64_t rt_torch_safetensors_get_tensor_dyn(int64_t file, int64_t name);
SPT_API SplArray* rt_torch_safetensors_metadata(int64_t file);
SPT_API void rt_torch_safetensors_save(const char* path, const SplArray* names, const SplArray* tensors, const SplArray* metadata_names, const SplArray* metadata);
SPT_API int64_t rt_torch_stream_create(int32_t device_id);
SPT_API void rt_torch_torchstream_sync(int64_t stream);
SPT_API int64_t rt_torch_torchstream_query(int64_t stream);
SPT_API void rt_torch_torchstream_free(int64_t stream);
SPT_API int64_t rt_torch_torchtensor_to_stream(int64_t a, int32_t device_id, int64_t stream);
SPT_API int64_t rt_torch_cuda_memory_allocated(int32_t device_id);
SPT_API int64_t rt_torch_cuda_max_memory_allocated(int32_t device_id);
SPT_API void rt_torch_cuda_empty_cache(void);
SPT_API SplArray* rt_torch_op(const char* name, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API int64_t rt_torch_op_direct(const char* name, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API SplArray* rt_torch_op_direct_results(void);
SPT_API int64_t rt_torch_op_direct_tensor(void);
SPT_API int64_t rt_torch_op_direct_number(void);
SPT_API void rt_torch_op_defaults(bool are_known, bool are_plain);
SPT_API char* rt_torch_op_schemas(const char* name);
SPT_API char* rt_torch_op_names(void);
SPT_API int64_t rt_torch_torchtensor_get_item(int64_t a, const char* kinds, const SplArray* keys);
SPT_API void rt_torch_torchtensor_set_item(int64_t a, const char* kinds, const SplArray* value_and_keys);
SPT_API int64_t rt_torch_torchtensor_assign_item(int64_t a, const char* kinds, const SplArray* value_and_keys);
SPT_API int64_t rt_torch_generator_new(const char* device);
SPT_API void rt_torch_generator_use(int64_t generator);
SPT_API void rt_torch_generator_manual_seed(int64_t generator, int64_t seed);
SPT_API int64_t rt_torch_generator_initial_seed(int64_t generator);
SPT_API int64_t rt_torch_generator_state(int64_t generator);
SPT_API void rt_torch_generator_set_state(int64_t generator, int64_t state);
SPT_API int64_t rt_torch_optim_new(const char* algorithm, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API void rt_torch_optim_add_group(int64_t optimizer, const SplArray* params, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API int64_t rt_torch_optim_group_count(int64_t optimizer);
SPT_API SplArray* rt_torch_optim_group_params(int64_t optimizer, int64_t group);
SPT_API SplArray* rt_torch_optim_options(int64_t optimizer, int64_t group);
SPT_API SplArray* rt_torch_optim_option(int64_t optimizer, int64_t group, const char* name);
SPT_API void rt_torch_optim_set_option(int64_t optimizer, int64_t group, const char* name, const char* kinds, const SplArray* values);
SPT_API SplArray* rt_torch_optim_state(int64_t optimizer, int64_t param);
SPT_API void rt_torch_optim_load_state(int64_t optimizer, int64_t param, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API void rt_py_start(void);
SPT_API int64_t rt_py_is_started(void);
SPT_API char* rt_py_version(void);
SPT_API char* rt_py_library(void);
SPT_API void rt_py_shutdown(void);
SPT_API int64_t rt_py_import(const char* name);
SPT_API int64_t rt_py_getattr(int64_t a, const char* name);
SPT_API void rt_py_setattr(int64_t a, const char* name, const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_hasattr(int64_t a, const char* name);
SPT_API int64_t rt_py_call(int64_t callable, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API int64_t rt_py_call_method(int64_t a, const char* name, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API int64_t rt_py_get_item(int64_t a, const char* kinds, const SplArray* values);
SPT_API void rt_py_set_item(int64_t a, const char* kinds, const SplArray* values);
SPT_API void rt_py_delete_item(int64_t a, const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_contains(int64_t a, const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_length(int64_t a);
SPT_API int64_t rt_py_iter(int64_t a);
SPT_API int64_t rt_py_next(int64_t iterator);
SPT_API int64_t rt_py_compare(int64_t a, const char* op, const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_operate(const char* op, const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_is_instance(int64_t a, int64_t type);
SPT_API int64_t rt_py_eval(const char* code, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API void rt_py_exec(const char* code, const char* kinds, const SplArray* values, const SplArray* names);
SPT_API int64_t rt_py_function(const char* name, int64_t key, SptPyCall call, SptPyEnd end);
SPT_API int64_t rt_py_instance(const char* name, int64_t key, SptPyCall call, SptPyEnd end);
SPT_API int64_t rt_py_key(int64_t a);
SPT_API void rt_py_check_signals(void);
SPT_API void rt_py_raise(const char* type, const char* message, const char* note);
SPT_API void rt_py_raise_object(int64_t a, const char* note);
SPT_API int64_t rt_py_take_exception(void);
SPT_API void rt_py_keep_exceptions(bool keep);
SPT_API int64_t rt_py_kind(int64_t a);
SPT_API int64_t rt_py_is_none(int64_t a);
SPT_API char* rt_py_type_name(int64_t a);
SPT_API char* rt_py_str(int64_t a);
SPT_API char* rt_py_repr(int64_t a);
SPT_API int64_t rt_py_to_bool(int64_t a);
SPT_API int64_t rt_py_to_int(int64_t a);
SPT_API double rt_py_to_float(int64_t a);
SPT_API char* rt_py_to_text(int64_t a);
SPT_API SplArray* rt_py_to_list(int64_t a);
SPT_API SplArray* rt_py_to_plain(int64_t a);
SPT_API int64_t rt_py_new_bytes(int64_t length);
SPT_API SplArray* rt_py_bytes_data(int64_t a);
SPT_API int64_t rt_py_from_value(const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_list(const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_tuple(const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_dict(const char* kinds, const SplArray* values);
SPT_API int64_t rt_py_from_tensor(int64_t a);
SPT_API int64_t rt_py_to_tensor(int64_t a);
SPT_API int64_t rt_py_to_generator(int64_t a);
SPT_API int64_t rt_py_from_generator(int64_t generator);
SPT_API int64_t rt_py_from_dlpack(int64_t a, int64_t device, int64_t copy);
SPT_API int64_t rt_py_capsule_new(int64_t managed);
SPT_API int64_t rt_py_capsule_take(int64_t capsule);
SPT_API int64_t rt_torch_file_read(const char* path, bool decompress);
SPT_API void rt_torch_file_write(const char* path, int64_t bytes);
SPT_API int64_t rt_torch_image_decode(int64_t data, const char* format, int64_t mode, bool apply_exif_orientation);
SPT_API int64_t rt_torch_image_encode_jpeg(int64_t image, int64_t quality);
SPT_API int64_t rt_torch_image_encode_png(int64_t image, int64_t level);
SPT_API int64_t rt_torch_image_adjust(int64_t image, const char* aspect, double factor);

#ifdef __cplusplus
}
#endif
