#include "tests/abi/fuzz_checks.h"

#include <stdio.h>
#include <string.h>

#include "simple_torch/c_api.h"

static const FuzzCall* current;
static void (*report_fault)(const FuzzCall*, const char*);

static void fault(const char* what) { report_fault(current, what); }

int64_t fuzz_live_handles(void) {
  int64_t count = 0;
  spt_live_handles(0, &count);
  return count;
}

/* --- UTF-8 */

/* The length of the valid sequence at `text`; 0 if it is invalid. */
static int sequence_length(const unsigned char* text) {
  static const uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const int length = text[0] < 0x80       ? 1
                     : text[0] >> 5 == 6  ? 2
                     : text[0] >> 4 == 14 ? 3
                     : text[0] >> 3 == 30 ? 4
                                          : 0;
  uint32_t point = length == 1 ? text[0] : text[0] & (0x7Fu >> length);
  for (int i = 1; i < length; ++i) {
    if (text[i] >> 6 != 2) {
      return 0;
    }
    point = point << 6 | (text[i] & 0x3F);
  }
  const bool is_surrogate = point >= 0xD800 && point < 0xE000;
  return length == 0 || point < kLeast[length] || point > 0x10FFFF || is_surrogate ? 0 : length;
}

static bool is_utf8(const char* text) {
  const unsigned char* at = (const unsigned char*)text;
  while (*at != '\0') {
    const int length = sequence_length(at);
    if (length == 0) {
      return false;
    }
    at += length;
  }
  return true;
}

static void check_text(const char* text, const char* what) {
  char message[200];
  if (text == NULL) {
    snprintf(message, sizeof message, "%s is NULL", what);
    fault(message);
  } else if (!is_utf8(text)) {
    snprintf(message, sizeof message, "%s is not UTF-8: %.120s", what, text);
    fault(message);
  }
}

static void check_error_record(void) {
  static const char* const kFields[] = {"op",   "expected", "got", "requested_bytes", "available_bytes",
                                        "type", "traceback"};
  check_text(spt_last_error_message(), "the message");
  for (size_t i = 0; i < sizeof kFields / sizeof kFields[0]; ++i) {
    check_text(spt_last_error_field(kFields[i]), kFields[i]);
  }
}

/* --- results */

static void check_texts_of(const SplArray* array, int depth) {
  for (int64_t i = 0; array != NULL && depth > 0 && i < array->len; ++i) {
    const SplValue* item = &array->items[i];
    if (item->tag == SPL_STRING) {
      check_text(item->as_string, "a string of the result");
    } else if (item->tag == SPL_ARRAY) {
      check_texts_of(item->as_array, depth - 1);
    }
  }
}

static void keep_list(const SplArray* array, int kind) {
  for (int64_t i = 0; array != NULL && i < array->len; ++i) {
    if (array->items[i].tag == SPL_INT) {
      fuzz_keep(kind, array->items[i].as_int);
    }
  }
}

/* The first string of a list of values has the letter of each value after the second string. */
static void keep_values(const SplArray* array) {
  const bool has_letters =
      array->len > 2 && array->items[0].tag == SPL_STRING && array->items[1].tag == SPL_STRING;
  const char* letters = has_letters && array->items[0].as_string != NULL ? array->items[0].as_string : "";
  for (int64_t i = 2; letters[0] != '\0' && i < array->len; ++i, ++letters) {
    if (*letters == 't') {
      fuzz_keep(SPT_HANDLE_TENSOR, array->items[i].as_int);
    } else if (*letters == 'g') {
      fuzz_keep(SPT_HANDLE_GENERATOR, array->items[i].as_int);
    } else if (*letters == 'l') {
      keep_list(array->items[i].as_array, SPT_HANDLE_TENSOR);
    }
  }
}

static void take_values(SplArray* array) {
  if (array == NULL) {
    fault("the resulting array is NULL");
    return;
  }
  check_texts_of(array, 100);
  keep_values(array);
  spl_array_free(array);
}

static void take_array(SplArray* array, int kind) {
  if (array == NULL) {
    fault("the resulting array is NULL");
    return;
  }
  check_texts_of(array, 100);
  if (kind != 0) {
    keep_list(array, kind);
  }
  spl_array_free(array);
}

static void take_text(char* text) {
  check_text(text, "the result");
  spt_free(text);
}

/* The first members of DLPack's structures. */
struct Versioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(void* self);
};
struct Legacy {
  unsigned char tensor[48];
  void* context;
  void (*deleter)(void* self);
};

static void delete_versioned(struct Versioned* managed) {
  if (managed != NULL && managed->deleter != NULL) {
    managed->deleter(managed);
  }
}

static void delete_legacy(struct Legacy* managed) {
  if (managed != NULL && managed->deleter != NULL) {
    managed->deleter(managed);
  }
}

static void take_handles(int64_t* handles, int64_t count, int kind) {
  for (int64_t i = 0; handles != NULL && i < count; ++i) {
    fuzz_keep(kind, handles[i]);
  }
  spt_free(handles);
}

static void take_buffer(const SplValue* values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const SplValue* value = &values[i];
    if (value->tag == SPT_TENSOR) {
      fuzz_keep(SPT_HANDLE_TENSOR, value->as_int);
    } else if (value->tag == SPT_GENERATOR) {
      fuzz_keep(SPT_HANDLE_GENERATOR, value->as_int);
    } else if (value->tag == SPL_STRING) {
      take_text(value->as_string);
    } else if (value->tag == SPL_ARRAY || value->tag == SPT_COMPLEX) {
      for (int64_t j = 0; j < value->as_array->len; ++j) {
        take_buffer(&value->as_array->items[j], value->as_array->items[j].tag == SPT_TENSOR);
      }
      spl_array_free(value->as_array);
    }
  }
}

/* --- out parameters */

static int64_t number_behind(int index) {
  int64_t number;
  memcpy(&number, current->outs[index], sizeof number);
  return number;
}

static void* pointer_behind(int index) {
  void* pointer;
  memcpy(&pointer, current->outs[index], sizeof pointer);
  return pointer;
}

static void take_out(int index) {
  const FuzzParameter* parameter = &current->function->parameters[index];
  switch (parameter->kind) {
    case FUZZ_OUT_HANDLE:
      fuzz_keep(parameter->handle, number_behind(index));
      break;
    case FUZZ_OUT_TEXT:
      take_text(pointer_behind(index));
      break;
    case FUZZ_OUT_ANYS:
      take_values(pointer_behind(index));
      break;
    case FUZZ_OUT_HANDLES:
      take_handles(pointer_behind(index), number_behind(index + 1), parameter->handle);
      break;
    case FUZZ_OUT_DIMS:
    case FUZZ_OUT_F64S:
      spt_free(pointer_behind(index));
      break;
    case FUZZ_OUT_DLPACK_VERSIONED:
      delete_versioned(pointer_behind(index));
      break;
    case FUZZ_OUT_DLPACK_LEGACY:
      delete_legacy(pointer_behind(index));
      break;
    default:
      break;
  }
}

static void take_outs(void) {
  for (int i = 0; i < current->function->count; ++i) {
    if (current->function->parameters[i].kind == FUZZ_BUFFER && current->words[i].p != NULL) {
      take_buffer(current->buffer, number_behind(i + 2));
    }
    take_out(i);
  }
}

static bool is_pattern(const void* memory, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (((const unsigned char*)memory)[i] != FUZZ_PATTERN) {
      return false;
    }
  }
  return true;
}

static void check_outs_unchanged(void) {
  if (!is_pattern(current->outs, sizeof current->outs) ||
      !is_pattern(current->buffer, sizeof current->buffer)) {
    fault("the failed call wrote an out parameter");
  }
}

/* --- the two ways to return */

static void take_result(const FuzzWord* result, bool failed) {
  const FuzzParameter* kind = &current->function->result;
  switch (kind->kind) {
    case FUZZ_HANDLE:
      if (!failed) {
        fuzz_keep(kind->handle, result->i);
      }
      break;
    case FUZZ_TEXT:
      take_text(result->p);
      break;
    case FUZZ_BORROWED_TEXT:
      check_text(result->s, "the result");
      break;
    case FUZZ_ANYS:
      take_values(result->p);
      break;
    case FUZZ_ARRAY_HANDLES:
    case FUZZ_ARRAY_DIMS:
    case FUZZ_ARRAY_F64S:
      take_array(result->p, kind->kind == FUZZ_ARRAY_HANDLES ? kind->handle : 0);
      break;
    case FUZZ_DLPACK_LEGACY:
      delete_legacy(result->p);
      break;
    default:
      break;
  }
}

static void check_failure(int64_t live_before, bool has_status) {
  char message[600];
  if (fuzz_live_handles() > live_before) {
    snprintf(message, sizeof message, "the failed call left %lld handles",
             (long long)(fuzz_live_handles() - live_before));
    fault(message);
  }
  if (has_status) {
    check_outs_unchanged();
  }
}

static void check_status(int64_t status) {
  char message[600];
  if (status < 0 || status == SPT_INTERNAL ||
      status > SPT_LIN_ALG) { /* INTERNAL is an exception that nobody expected */
    snprintf(message, sizeof message, "status %lld: %.500s", (long long)status, spt_last_error_message());
    fault(message);
  }
}

/* Functions of library.h return no status and leave the record of an earlier call. */
static bool leaves_error_record(void) {
  const char* name = current->function->name;
  return strstr(name, "last_error") != NULL || strcmp(name, "spt_free") == 0;
}

int32_t fuzz_check_call(FuzzCall* call, void (*report)(const FuzzCall*, const char*)) {
  FuzzWord result = {0};
  const bool has_status = call->function->result.kind == FUZZ_STATUS;
  current = call;
  report_fault = report;
  const int64_t live = fuzz_live_handles();
  call->function->call(call->words, &result);
  const int64_t status = has_status ? result.i : spt_last_error_kind();
  if (leaves_error_record()) {
    take_result(&result, false);
    return SPT_OK;
  }
  if (status != SPT_OK) {
    check_status(status);
    check_error_record();
    check_failure(live, has_status);
  }
  if (has_status && status == SPT_OK) {
    take_outs();
  } else if (!has_status) {
    take_result(&result, status != SPT_OK);
  }
  return (int32_t)status;
}
