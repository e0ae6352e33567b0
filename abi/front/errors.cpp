// The error record and its readers.
#include "abi/front/errors.h"

#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "abi/front/slots.h"
#include "abi/utf8.h"
#include "core_libtorch/thread_object.h"
#include "simple_torch/simple_api.h"

namespace simple_torch::abi {
namespace {

struct ErrorRecord {
  std::string message;
  std::string op;
  std::string expected;
  std::string got;
  std::string requested_bytes;
  std::string available_bytes;
  std::string type;
  std::string traceback;
};

// The kind is separate from the strings and in the static TLS block, because every call from Simple stores
// it.
[[gnu::tls_model("initial-exec")]] thread_local int32_t current_kind = 0;

// A call from Simple was interrupted, and the program has not asked for its error.
[[gnu::tls_model("initial-exec")]] thread_local bool is_interrupt_unread = false;

bool is_interrupt(int32_t status) { return status == static_cast<int32_t>(ErrorKind::kInterrupted); }

ErrorRecord& record() { return core::thread_object<ErrorRecord, ErrorRecord>(); }

void set(std::string& field, const char* text) {
  if (text == nullptr) {
    field.clear();
  } else {
    assign_utf8(field, text);
  }
}

void set(std::string& field, int64_t bytes) {
  if (bytes < 0) {
    field.clear();
  } else {
    field = std::to_string(bytes);
  }
}

const std::string* field_named(std::string_view name) {
  static constexpr struct {
    std::string_view name;
    std::string ErrorRecord::*member;
  } kFields[] = {
      {"op", &ErrorRecord::op},
      {"expected", &ErrorRecord::expected},
      {"got", &ErrorRecord::got},
      {"requested_bytes", &ErrorRecord::requested_bytes},
      {"available_bytes", &ErrorRecord::available_bytes},
      {"type", &ErrorRecord::type},
      {"traceback", &ErrorRecord::traceback},
  };
  for (const auto& field : kFields) {
    if (field.name == name) {
      return &(record().*field.member);
    }
  }
  return nullptr;
}

}  // namespace

void store_status(int32_t status) noexcept {
  current_kind = status;
  if (is_interrupt(status)) [[unlikely]] {
    is_interrupt_unread = true;
  }
}

bool has_failed() noexcept { return current_kind != 0; }

bool repeats_interrupt() noexcept {
  if (is_interrupt_unread) [[unlikely]] {
    record_error(ErrorKind::kInterrupted, "KeyboardInterrupt");
  }
  return is_interrupt_unread;
}

void record_error(const ErrorData* error) {
  current_kind = error->kind;
  ErrorRecord& current = record();
  set(current.message, error->message);
  set(current.op, error->op);
  set(current.expected, error->expected);
  set(current.got, error->got);
  set(current.requested_bytes, error->requested_bytes);
  set(current.available_bytes, error->available_bytes);
  set(current.type, error->type);
  if (error->traceback == error->message) {
    current.traceback = current.message;
  } else {
    set(current.traceback, error->traceback);
  }
}

int32_t record_error(ErrorKind kind, const std::string& message) noexcept {
  const ErrorData data{static_cast<int32_t>(kind), message.c_str(), "", "", "", -1, -1, "", ""};
  record_error(&data);
  return data.kind;
}

char* copy_of(const std::string& text) noexcept {
  if (valid_utf8_prefix(text) == text.size()) {
    return strdup(text.c_str());
  }
  std::string valid;
  assign_utf8(valid, text);
  return strdup(valid.c_str());
}

}  // namespace simple_torch::abi

using simple_torch::abi::current_kind;
using simple_torch::abi::field_named;
using simple_torch::abi::is_interrupt;
using simple_torch::abi::is_interrupt_unread;
using simple_torch::abi::record;

extern "C" {

int32_t spt_last_error_kind() {
  if (is_interrupt(current_kind)) [[unlikely]] {
    is_interrupt_unread = false;
  }
  return current_kind;
}

const char* spt_last_error_message() { return current_kind == 0 ? "" : record().message.c_str(); }

const char* spt_last_error_field(const char* name) {
  const std::string* field = name == nullptr || current_kind == 0 ? nullptr : field_named(name);
  return field == nullptr ? "" : field->c_str();
}

void spt_free(void* memory) { std::free(memory); }

int64_t rt_torch_last_error_kind() { return spt_last_error_kind(); }

char* rt_torch_last_error_message() { return spl_str_new(spt_last_error_message()); }

char* rt_torch_last_error_field(const char* name) { return spl_str_new(spt_last_error_field(name)); }

}  // extern "C"
