// Finding native functions and calling them: conversion of arguments and results, libraries, libffi.
#include "extern.h"

#include <dlfcn.h>
#include <ffi.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <sstream>

#include "../../abi/include/simple_torch/spl_runtime.h"
#include "../builtins/builtins.h"
#include "../compiler/compiler.h"
#include "../values/sized.h"
#include "../vm/lock.h"
#include "../vm/thread.h"

namespace spl {

namespace fs = std::filesystem;

namespace {

NativeType native_type(const TypeExpr& type, const SourceSpan& span) {
  if (type.kind == TypeKind::kArray)
    return NativeType::kArray;
  if (type.kind == TypeKind::kTuple && type.args.empty())
    return NativeType::kVoid;
  if (type.kind == TypeKind::kName && type.path.size() == 1) {
    if (!type.modifiers.empty())
      return NativeType::kInt;  // a pointer
    static const std::map<std::string, NativeType> names = {
        {"i64", NativeType::kInt},   {"u64", NativeType::kInt},     {"Int", NativeType::kInt},
        {"usize", NativeType::kInt}, {"i32", NativeType::kInt32},   {"u32", NativeType::kInt32},
        {"f64", NativeType::kFloat}, {"Float", NativeType::kFloat}, {"f32", NativeType::kFloat32},
        {"bool", NativeType::kBool}, {"Bool", NativeType::kBool},   {"text", NativeType::kText},
        {"str", NativeType::kText},  {"String", NativeType::kText}, {"Nil", NativeType::kVoid},
        {"nil", NativeType::kVoid}};
    if (const auto found = names.find(name_of(type.path[0])); found != names.end())
      return found->second;
  }
  throw CompileError{
      span, "an extern function cannot have this type; it may have i64, i32, f64, bool, text and arrays"};
}

ffi_type* ffi_type_of(NativeType type) {
  switch (type) {
    case NativeType::kVoid:
      return &ffi_type_void;
    case NativeType::kInt:
      return &ffi_type_sint64;
    case NativeType::kInt32:
      return &ffi_type_sint32;
    case NativeType::kFloat:
      return &ffi_type_double;
    case NativeType::kFloat32:
      return &ffi_type_float;
    case NativeType::kBool:
      return &ffi_type_uint8;
    case NativeType::kText:
    case NativeType::kArray:
      break;
  }
  return &ffi_type_pointer;
}

// ---- Libraries -------------------------------------------------------------------------------------------

std::vector<std::string> split(const char* list) {
  std::vector<std::string> parts;
  std::istringstream input(list == nullptr ? "" : list);
  for (std::string part; std::getline(input, part, ':');)
    if (!part.empty())
      parts.push_back(part);
  return parts;
}

std::string library_folder() {
  char buffer[4096];
  const ssize_t length = readlink("/proc/self/exe", buffer, sizeof buffer);
  if (length <= 0)
    return "lib";
  return (fs::path(std::string(buffer, static_cast<size_t>(length))).parent_path().parent_path() / "lib")
      .string();
}

/// Opens each library once and remembers what was tried.
class Libraries {
 public:
  void* find(const std::string& symbol) {
    tried_.clear();
    for (const std::string& library : candidates(symbol)) {
      void* handle = open(library);
      if (handle == nullptr)
        continue;
      if (void* address = dlsym(handle, symbol.c_str()))
        return address;
    }
    return nullptr;
  }
  const std::string& tried() const { return tried_; }

 private:
  static std::vector<std::string> candidates(const std::string& symbol) {
    std::vector<std::string> names;
    if (symbol.starts_with("rt_")) {
      const size_t end = symbol.find('_', 3);
      if (end != std::string::npos)
        names.push_back("libspl_" + symbol.substr(3, end - 3) + ".so");
    }
    if (names.empty() || names.back() != "libspl_torch.so")
      names.emplace_back("libspl_torch.so");
    std::vector<std::string> paths;
    for (const char* variable : {"SIMPLE_TORCH_RUNTIME_PATH", "SIMPLE_RUNTIME_PATH"})
      if (const char* file = std::getenv(variable); file != nullptr && *file != 0)
        paths.emplace_back(file);
    for (const std::string& folder : split(std::getenv("SIMPLE_SFFI_PATH")))
      for (const std::string& name : names)
        paths.push_back(std::string(folder).append("/").append(name));
    for (const std::string& name : names)
      paths.push_back(library_folder() + "/" + name);
    paths.insert(paths.end(), names.begin(), names.end());
    return paths;
  }

  void* open(const std::string& path) {
    const auto [found, added] = handles_.emplace(path, nullptr);
    std::string note = path;
    if (added) {
      found->second = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (found->second == nullptr) {
        const char* reason = dlerror();
        reasons_[path] = reason == nullptr ? "cannot be opened" : reason;
      }
    }
    if (found->second == nullptr && fs::exists(path))
      note += " (" + reasons_[path] + ")";
    else if (found->second == nullptr)
      note += " (not found)";
    tried_ += "\n  " + note;
    return found->second;
  }

  std::map<std::string, void*> handles_;
  std::map<std::string, std::string> reasons_;
  std::string tried_;
};

void resolve(Extern& function) {
  if ((function.builtin = host_extern(function.name)) != nullptr)
    return;
  static Libraries libraries;
  function.address = libraries.find(function.name);
  if (function.address == nullptr)
    fail("unknown extern function: " + function.name + "; searched in" + libraries.tried());
  auto* interface = new ffi_cif();
  auto* types = new std::vector<ffi_type*>();
  for (const NativeType type : function.parameters)
    types->push_back(ffi_type_of(type));
  if (ffi_prep_cif(interface, FFI_DEFAULT_ABI, static_cast<unsigned>(types->size()),
                   ffi_type_of(function.result), types->data()) != FFI_OK)
    fail(function.name + ": libffi refuses this signature");
  function.call_interface = interface;
}

// ---- Values across ---------------------------------------------------------------------------------------

SplValue to_native(Value v);

SplArray* array_to_native(const std::vector<Value>& items) {
  SplArray* array = spl_array_new();
  try {
    for (const Value item : items)
      spl_array_push(array, to_native(item));
  } catch (...) {
    spl_array_free(array);
    throw;
  }
  return array;
}

const std::string& text_for_native(Value v) {
  const std::string& text = text_of(v);
  if (text.find('\0') != std::string::npos)
    fail("a text with a NUL character cannot go to native code");
  return text;
}

SplValue to_native(Value v) {
  v = plain(v);
  SplValue out{};
  switch (v.tag) {
    case Tag::kNil:
    case Tag::kMissing:
      out.tag = SPL_NIL;
      return out;
    case Tag::kBool:
      out.tag = SPL_BOOL;
      out.as_bool = v.as_bool;
      return out;
    case Tag::kInt:
      out.tag = SPL_INT;
      out.as_int = v.as_int;
      return out;
    case Tag::kFloat:
      out.tag = SPL_FLOAT;
      out.as_float = v.as_float;
      return out;
    default:
      break;
  }
  if (v.is(Kind::kText)) {
    out.tag = SPL_STRING;
    out.as_string = spl_str_new(text_for_native(v).c_str());
    return out;
  }
  if (v.is(Kind::kArray) || v.is(Kind::kTuple)) {
    out.tag = SPL_ARRAY;
    out.as_array =
        array_to_native(v.is(Kind::kArray) ? as_object<Array>(v)->items : as_object<Tuple>(v)->items);
    return out;
  }
  fail("a value of type " + type_name(v) + " cannot go to native code");
}

Value array_from_native(const SplArray* array) {
  std::vector<Value> items;
  for (int64_t i = 0; i < spl_array_len(array); ++i) {
    const SplValue item = spl_array_get(array, i);
    switch (item.tag) {
      case SPL_BOOL:
        items.push_back(Value::boolean(item.as_bool));
        break;
      case SPL_INT:
        items.push_back(Value::integer(item.as_int));
        break;
      case SPL_FLOAT:
        items.push_back(Value::number(item.as_float));
        break;
      case SPL_STRING:
        items.push_back(make_text(item.as_string == nullptr ? "" : item.as_string));
        break;
      case SPL_ARRAY:
        items.push_back(array_from_native(item.as_array));
        break;
      default:
        items.push_back(Value());
        break;
    }
  }
  return make_array(std::move(items));
}

union Slot {
  int64_t i64;
  int32_t i32;
  double f64;
  float f32;
  uint8_t b8;
  const char* text;
  SplArray* array;
};

constexpr size_t kMostArguments = 24;

/// The converted arguments of one call; arrays are freed with it.
class Arguments {
 public:
  Arguments(const Extern& function, const Value* args) : function_(function) {
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      convert(i, args[i]);
      ++filled_;
    }
  }
  ~Arguments() { clear(); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  void** pointers() { return pointers_.data(); }

 private:
  void clear() {
    for (size_t i = 0; i < filled_; ++i)
      if (function_.parameters[i] == NativeType::kArray)
        spl_array_free(slots_[i].array);
  }
  [[noreturn]] void refuse(size_t i, Value v, const char* wanted) {
    clear();
    filled_ = 0;
    fail(function_.name + ": argument " + std::to_string(i + 1) + " must be " + wanted + ", not " +
         type_name(v));
  }
  void convert(size_t i, Value v) {
    Slot& slot = slots_[i];
    pointers_[i] = &slot;
    switch (function_.parameters[i]) {
      case NativeType::kInt:
        if (!is_any_integer(v) && !v.is_bool())
          refuse(i, v, "an integer");
        slot.i64 = v.is_bool() ? v.as_bool : v.as_int;
        break;
      case NativeType::kInt32:
        if (!is_any_integer(v))
          refuse(i, v, "an integer");
        if (v.as_int < INT32_MIN || v.as_int > INT32_MAX)
          refuse(i, v, "within the range of i32");
        slot.i32 = static_cast<int32_t>(v.as_int);
        break;
      case NativeType::kFloat:
      case NativeType::kFloat32:
        if (!is_any_number(v))
          refuse(i, v, "a number");
        if (function_.parameters[i] == NativeType::kFloat)
          slot.f64 = number_as_double(v);
        else
          slot.f32 = static_cast<float>(number_as_double(v));
        break;
      case NativeType::kBool:
        if (!v.is_bool())
          refuse(i, v, "a bool");
        slot.b8 = v.as_bool;
        break;
      case NativeType::kText:
        if (v.is_nil()) {
          slot.text = nullptr;
          break;
        }
        if (!v.is(Kind::kText))
          refuse(i, v, "text");
        slot.text = text_for_native(v).c_str();
        break;
      case NativeType::kArray:
        if (!v.is(Kind::kArray) && !v.is(Kind::kTuple))
          refuse(i, v, "an array");
        slot.array =
            array_to_native(v.is(Kind::kArray) ? as_object<Array>(v)->items : as_object<Tuple>(v)->items);
        break;
      case NativeType::kVoid:
        break;
    }
  }

  const Extern& function_;
  std::array<Slot, kMostArguments> slots_;
  std::array<void*, kMostArguments> pointers_;
  size_t filled_ = 0;
};

union Result {
  ffi_arg word;
  int64_t i64;
  double f64;
  float f32;
  void* pointer;
};

Value from_native(NativeType type, const Result& result) {
  switch (type) {
    case NativeType::kVoid:
      return Value();
    case NativeType::kInt:
      return Value::integer(result.i64);
    case NativeType::kInt32:
      return Value::integer(static_cast<int32_t>(result.word));
    case NativeType::kFloat:
      return Value::number(result.f64);
    case NativeType::kFloat32:
      return Value::number(result.f32);
    case NativeType::kBool:
      return Value::boolean((result.word & 0xFF) != 0);
    case NativeType::kText: {
      if (result.pointer == nullptr)
        return Value();
      const Value text = make_text(static_cast<const char*>(result.pointer));
      std::free(result.pointer);
      return text;
    }
    case NativeType::kArray: {
      auto* array = static_cast<SplArray*>(result.pointer);
      const Value made = array_from_native(array);
      spl_array_free(array);
      return made;
    }
  }
  return Value();
}

bool is_word(NativeType type) { return type == NativeType::kInt; }

// All-integer functions are called directly: no conversion, no libffi.
int64_t call_words(void* address, const Value* a, size_t count) {
  using I = int64_t;
  switch (count) {
    case 0:
      return reinterpret_cast<I (*)()>(address)();
    case 1:
      return reinterpret_cast<I (*)(I)>(address)(a[0].as_int);
    case 2:
      return reinterpret_cast<I (*)(I, I)>(address)(a[0].as_int, a[1].as_int);
    case 3:
      return reinterpret_cast<I (*)(I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int);
    case 4:
      return reinterpret_cast<I (*)(I, I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int, a[3].as_int);
    case 5:
      return reinterpret_cast<I (*)(I, I, I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int,
                                                             a[3].as_int, a[4].as_int);
    default:
      return reinterpret_cast<I (*)(I, I, I, I, I, I)>(address)(a[0].as_int, a[1].as_int, a[2].as_int,
                                                                a[3].as_int, a[4].as_int, a[5].as_int);
  }
}

}  // namespace

Value make_extern(const FunctionDecl& decl) {
  auto* function = new Extern();
  function->name = name_of(decl.info.name);
  if (decl.params.size() > kMostArguments)
    throw CompileError{
        decl.span, "an extern function may have " + std::to_string(kMostArguments) + " parameters at most"};
  for (const Param& param : decl.params) {
    if (!param.type)
      throw CompileError{param.span, "a parameter of an extern function needs a type"};
    function->parameters.push_back(native_type(*param.type, param.span));
  }
  if (decl.return_type)
    function->result = native_type(*decl.return_type, decl.return_type->span);
  function->only_integers = function->parameters.size() <= 6 &&
                            (is_word(function->result) || function->result == NativeType::kVoid);
  for (const NativeType type : function->parameters)
    function->only_integers = function->only_integers && is_word(type);
  return Value::object(function);
}

Value call_extern(Thread& thread, Extern& function, Value* args, int count) {
  if (static_cast<size_t>(count) != function.parameters.size())
    fail(function.name + " takes " + std::to_string(function.parameters.size()) + " arguments, got " +
         std::to_string(count));
  if (function.address == nullptr && function.builtin == nullptr)
    resolve(function);
  if (function.builtin != nullptr)
    return function.builtin->fn(thread, args, count);
  if (function.only_integers) {
    bool integers = true;
    for (int i = 0; i < count; ++i)
      integers = integers && args[i].is_int();
    if (integers) {
      int64_t result;
      {
        const Unlocked unlocked;
        result = call_words(function.address, args, static_cast<size_t>(count));
      }
      return function.result == NativeType::kVoid ? Value() : Value::integer(result);
    }
  }
  Result result{};
  {
    Arguments arguments(function, args);
    const Unlocked unlocked;
    ffi_call(static_cast<ffi_cif*>(function.call_interface), FFI_FN(function.address), &result,
             arguments.pointers());
  }
  return from_native(function.result, result);
}

}  // namespace spl
