// The type simple_torch.Function. Simple runs without the GIL, on the thread that calls the function.
#include "bridge/objects/simple_functions.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bridge/objects/received_arguments.h"
#include "bridge/objects/references.h"
#include "bridge/objects/shared_names.h"
#include "bridge/objects/values.h"
#include "bridge/runtime/default_interrupt_service.h"
#include "bridge/runtime/entry.h"
#include "bridge/runtime/forced_unwind.h"
#include "bridge/runtime/interrupts.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/runtime/python_process.h"
#include "bridge/runtime/signal_module.h"
#include "bridge/tensors/tensor_object.h"

#include <structmember.h>  // after Python.h, whose types it uses

namespace simple_torch::bridge {
namespace {

struct FunctionObject {
  PyObject ob_base;  // PyObject_HEAD
  vectorcallfunc vectorcall;
  SimpleFunction function;
  PyObject* name;
  PyObject* weak_references;
  PyObject* origin;  // the object that owns `function`, or NULL for this one
};

// Created once, under the GIL; never freed; read without the GIL.
std::atomic<PyTypeObject*> base_type{nullptr};      // Function
std::atomic<PyTypeObject*> object_type{nullptr};    // the base of the next one
std::atomic<PyTypeObject*> instance_type{nullptr};  // Instance

FunctionObject* function_in(PyObject* self) { return reinterpret_cast<FunctionObject*>(self); }

/// In a process that the program forked inside a function that Python called: another thread may have held
/// the GIL, so that waiting for it may never end.
[[noreturn, gnu::noinline, gnu::cold]] void end_forked_process() noexcept {
  std::fputs("simple_torch: a process forked inside a function that Python called cannot return to Python\n",
             stderr);
  std::fflush(nullptr);
  _exit(EXIT_FAILURE);
}

/// While one lives, this thread is outside Python: the GIL is released and SIGINT belongs to the program.
class OutsidePythonScope {
 public:
  OutsidePythonScope()
      : thread_(this_python_thread()), was_inside_(thread_ != nullptr && thread_->inside != 0) {
    if (was_inside_) {
      is_interrupted_ = leaving_python(*thread_);
    }
    entering_program();
    look_at_streams();
    state_ = PyEval_SaveThread();
  }
  ~OutsidePythonScope() {
    expect_no_lock_held();
    if (python_state.load(std::memory_order_relaxed) == PythonState::kForked) [[unlikely]] {
      end_forked_process();
    }
    park_on_forced_unwind([&] { PyEval_RestoreThread(state_); });
    leaving_program();
    if (was_inside_) {
      entering_python(*thread_);
    }
  }
  OutsidePythonScope(const OutsidePythonScope&) = delete;
  OutsidePythonScope& operator=(const OutsidePythonScope&) = delete;

  /// Whether an interrupt arrived before; the Simple function must then not be called.
  bool is_interrupted() const noexcept { return is_interrupted_; }

 private:
  const HandledExceptionsScope handled_{handled_exceptions_here()};
  PythonThread* thread_;
  bool was_inside_;
  bool is_interrupted_ = false;
  PyThreadState* state_;
};

/// A failure without an exception means that the program exits: SystemExit passes through Python code.
void raise_failure() {
  const PendingRaise pending = take_pending_raise();
  PyObject* const exception = pending.exception.get();
  if (pending.is_interrupt) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } else if (exception == nullptr) {
    PyErr_SetString(PyExc_SystemExit, "the Simple program called exit()");
  } else {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  }
}

/// How a call of the program ended.
enum class CallEnd { kReturned, kFailed, kInterrupted };

/// Calls the program outside Python, but not after an interrupt that arrived before.
CallEnd run_outside_python(const SimpleFunction& function, ReceivedValues& values, FunctionResult& out) {
  try {
    const OutsidePythonScope outside;
    if (outside.is_interrupted()) {
      return CallEnd::kInterrupted;
    }
    return function.run(function.context, values.take(), out) ? CallEnd::kReturned : CallEnd::kFailed;
  } catch (...) {
    if (is_forced_unwind()) {
      if (is_python_finalizing()) {
        park_forever();
      }
      forget_python_frames();
    }
    throw;
  }
}

/// Converts the result of the program and frees what it refers to.
PyObject* take_result(const FunctionResult& result) {
  Ref converted(to_python(result.value));
  if (result.free != nullptr) {
    result.free(result.owner);
  }
  return converted.release();
}

PyObject* result_of_call(CallEnd end, const FunctionResult& result) {
  switch (end) {
    case CallEnd::kReturned:
      take_pending_raise();  // the program handled that error itself
      return take_result(result);
    case CallEnd::kFailed:
      raise_failure();
      return nullptr;
    case CallEnd::kInterrupted:
      PyErr_SetNone(PyExc_KeyboardInterrupt);
      return nullptr;
  }
  return nullptr;
}

PyObject* run_and_convert(PyObject* self, PyObject* const* values, size_t count_and_flag, PyObject* names) {
  const SimpleFunction& function = function_in(self)->function;
  ReceivedValues received(function.program);
  if (!received.convert(values, PyVectorcall_NARGS(count_and_flag), names)) {
    return nullptr;
  }
  const Ref held = Ref::borrowed(self);  // the call may drop the last other reference
  const CallbackScope callback;
  synchronize_shared_names();
  FunctionResult result{};
  const CallEnd end = run_outside_python(function, received, result);
  PyObject* const converted = result_of_call(end, result);
  park_on_forced_unwind([] {
    const PendingException pending;
    drain_pending_releases();  // the function's arguments
  });
  synchronize_shared_names();
  return converted;
}

/// If the program ends the thread by pthread_exit, the frames below are skipped. Python's own frames at the
/// bottom of a thread that Python created do not release the GIL.
PyObject* call(PyObject* self, PyObject* const* values, size_t count_and_flag, PyObject* names) {
  try {
    return run_and_convert(self, values, count_and_flag, names);
  } catch (...) {
    const bool is_inside = this_python_thread() != nullptr && this_python_thread()->inside != 0;
    if (is_forced_unwind() && !is_inside) {
      PyEval_SaveThread();
    }
    throw;
  }
}

void deallocate_function(PyObject* self) {
  if (function_in(self)->weak_references != nullptr) {
    PyObject_ClearWeakRefs(self);
  }
  const SimpleFunction function = function_in(self)->function;
  PyObject* const origin = function_in(self)->origin;
  PyTypeObject* own_type = Py_TYPE(self);  // Function, Instance or a class of instances
  Py_XDECREF(function_in(self)->name);
  own_type->tp_free(self);
  Py_DECREF(own_type);
  if (origin != nullptr) {
    Py_DECREF(origin);
    return;
  }
  const PendingException pending;
  bool is_interrupted = false;
  {
    const OutsidePythonScope outside;  // may run destructors of the Simple program
    is_interrupted = outside.is_interrupted();
    function.end(function.context);
  }
  if (is_interrupted) {
    rearm_interrupt(*this_python_thread());
  }
}

PyObject* name_of(PyObject* self, void* /*closure*/) {
  return Ref::borrowed(function_in(self)->name).release();
}

PyObject* function_repr(PyObject* self) {
  return PyUnicode_FromFormat("<Simple function %U>", function_in(self)->name);
}

/// Pickling by value, as cloudpickle does with functions that no module has, reaches this object.
PyObject* reject_pickling(PyObject* self, PyObject* /*protocol*/) {
  const Ref pickle(PyImport_ImportModule("pickle"));
  const Ref type(pickle ? PyObject_GetAttrString(pickle.get(), "PicklingError") : nullptr);
  if (type) {
    PyErr_Format(
        type.get(),
        "cannot pickle the Simple function %R: only functions and classes that a file defines at its "
        "top level can be pickled",
        function_in(self)->name);
  }
  return nullptr;
}

PyTypeObject* function_type() {
  static std::array<PyGetSetDef, 3> getters{{
      {"__name__", name_of, nullptr, "The function's name in Simple.", nullptr},
      {"__qualname__", name_of, nullptr, "The function's name in Simple.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  }};
  static std::array<PyMemberDef, 3> members{{
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
      {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  }};
  static std::array<PyMethodDef, 2> methods{{
      {"__reduce_ex__", reject_pickling, METH_O, nullptr},
      {nullptr, nullptr, 0, nullptr},
  }};
  static std::array<PyType_Slot, 8> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_function)},
      {Py_tp_methods, methods.data()},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_members, members.data()},
      {Py_tp_getset, getters.data()},
      {Py_tp_repr, reinterpret_cast<void*>(function_repr)},
      {Py_tp_doc, const_cast<char*>("A function of the Simple program.")},
      {0, nullptr},
  }};
  static PyType_Spec spec{"simple_torch.Function", sizeof(FunctionObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                              Py_TPFLAGS_HAVE_VECTORCALL,
                          slots.data()};
  if (base_type == nullptr) {
    base_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }
  return base_type;
}

/// `object.__ask__(operation, ...)` calls the program. Objects are not callable by themselves.
PyObject* ask(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  return call(self, values, static_cast<size_t>(count), names);
}

/// `object.__as_type__(type)`: the same object of the program as an object of a class whose objects have
/// another layout, such as one with a `__dict__`. `__class__` cannot be set to such a class.
PyObject* as_type(PyObject* self, PyObject* type) {
  auto* const wanted = reinterpret_cast<PyTypeObject*>(type);
  if (PyType_Check(type) == 0 || PyType_IsSubtype(wanted, object_type) == 0) {
    return PyErr_Format(PyExc_TypeError, "__as_type__(): expected a class of Simple objects, got %R", type);
  }
  PyObject* const made = wanted->tp_alloc(wanted, 0);
  if (made != nullptr) {
    function_in(made)->vectorcall = call;
    function_in(made)->function = function_in(self)->function;
    function_in(made)->name = Ref::borrowed(function_in(self)->name).release();
    function_in(made)->origin = Ref::borrowed(self).release();
  }
  return made;
}

PyTypeObject* base_of_instances() {
  static std::array<PyMethodDef, 3> methods{{
      {"__ask__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ask)),
       METH_FASTCALL | METH_KEYWORDS, "Performs an operation of the Simple program."},
      {"__as_type__", as_type, METH_O, "The same object as one of a class of another layout."},
      {nullptr, nullptr, 0, nullptr},
  }};
  static std::array<PyMemberDef, 2> members{{
      {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  }};
  static std::array<PyGetSetDef, 2> getters{{
      {"__name__", name_of, nullptr, "The object's name in Simple.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  }};
  static std::array<PyType_Slot, 6> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate_function)},
      {Py_tp_members, members.data()},
      {Py_tp_getset, getters.data()},
      {Py_tp_methods, methods.data()},
      {Py_tp_doc, const_cast<char*>("An object of the Simple program.")},
      {0, nullptr},
  }};
  static PyType_Spec spec{"simple_torch.Object", sizeof(FunctionObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                          slots.data()};
  if (object_type == nullptr) {
    object_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }
  return object_type;
}

/// A subclass without fields of its own, created by Python code.
PyTypeObject* type_of_instances() {
  if (instance_type == nullptr) {
    auto* base = reinterpret_cast<PyObject*>(base_of_instances());
    const Ref helper(base == nullptr ? nullptr : PyImport_ImportModule("simple_torch_helpers.instances"));
    Ref created(helper ? PyObject_CallMethod(helper.get(), "instance_type", "O", base) : nullptr);
    if (created && instance_type == nullptr) {  // another thread may have created it while Python ran
      instance_type = reinterpret_cast<PyTypeObject*>(created.release());
    }
  }
  return instance_type;
}

int32_t make_function(const char* name, const SimpleFunction* function, bool is_instance, Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    Ref text(PyUnicode_FromString(name));
    PyTypeObject* type_to_use = !text ? nullptr : is_instance ? type_of_instances() : function_type();
    PyObject* object = type_to_use != nullptr ? type_to_use->tp_alloc(type_to_use, 0) : nullptr;
    if (object != nullptr) {
      function_in(object)->vectorcall = call;
      function_in(object)->function = *function;
      function_in(object)->name = text.release();
    }
    return object;
  });
}

/// The closure cells of what may be a function of simple_torch_helpers.functions; otherwise NULL.
PyObject* cells_of(PyObject* python) noexcept {
  PyObject* const cells = Py_IS_TYPE(python, &PyFunction_Type) ? PyFunction_GET_CLOSURE(python) : nullptr;
  return cells != nullptr && PyTuple_GET_SIZE(cells) >= 2 ? cells : nullptr;
}

/// The object behind a class of simple_torch_helpers.class_types, which its own dict contains; otherwise
/// NULL. Borrowed: the class keeps it. Needs the GIL.
PyObject* handle_of_class(PyObject* python) noexcept {
  PyTypeObject* const instances = object_type;
  if (instances == nullptr || PyType_Check(python) == 0) {
    return nullptr;
  }
  auto* const type = reinterpret_cast<PyTypeObject*>(python);
  if (PyType_IsSubtype(type, instances) == 0 || type->tp_dict == nullptr) {
    return nullptr;
  }
  const PendingException pending;
  return PyDict_GetItemString(type->tp_dict, "__simple__");
}

/// The object that calls Simple in a Python function of simple_torch_helpers.functions, whose first
/// two closure cells contain it and its type, or behind a class; otherwise the object itself. Needs the GIL:
/// a cell may change at any time.
PyObject* caller_in(PyObject* python) noexcept {
  if (PyObject* const handle = handle_of_class(python)) {
    return handle;
  }
  PyObject* const cells = cells_of(python);
  if (cells == nullptr) {
    return python;
  }
  PyObject* const caller = PyCell_GET(PyTuple_GET_ITEM(cells, 0));
  PyObject* const mark = PyCell_GET(PyTuple_GET_ITEM(cells, 1));
  const bool is_ours =
      caller != nullptr && mark != nullptr && mark == reinterpret_cast<PyObject*>(Py_TYPE(caller));
  return is_ours ? caller : python;
}

/// Subclasses are those of simple_torch_helpers.instances.
const SimpleFunction* function_of_caller(PyObject* caller) noexcept {
  PyTypeObject* of = Py_TYPE(caller);
  PyTypeObject* const instances = object_type;
  const bool is_ours =
      of != nullptr && (of == base_type || (instances != nullptr && PyType_IsSubtype(of, instances) != 0));
  return is_ours ? &function_in(caller)->function : nullptr;
}

/// The caller holds a reference.
const SimpleFunction* function_of(Object* object) {
  if (holds_tensor(object)) {
    return nullptr;
  }
  PyObject* const python = as_python(object);
  const bool is_plain = cells_of(python) == nullptr && PyType_Check(python) == 0;
  if (is_plain || unavailable_reason() != nullptr) {
    return function_of_caller(python);
  }
  const GilScope gil;
  return function_of_caller(caller_in(python));
}

// ---- errors

/// The exception class of that full name, or empty.
Ref find_exception_class(const std::string& full) {
  const size_t dot = full.rfind('.');
  const Ref module(dot == std::string::npos ? nullptr : PyImport_ImportModule(full.substr(0, dot).c_str()));
  Ref found(module ? PyObject_GetAttrString(module.get(), full.c_str() + dot + 1) : nullptr);
  PyErr_Clear();
  return found && PyExceptionClass_Check(found.get()) ? std::move(found) : Ref();
}

/// Creates the exception; a RuntimeError when the class is unknown or needs more than a message.
Ref make_exception(const char* name, PyObject* message) {
  const Ref type_found = find_exception_class(name);
  const bool is_system_exit = type_found && type_found.get() == PyExc_SystemExit;
  const Ref code(is_system_exit ? PyLong_FromUnicodeObject(message, 10)
                                : nullptr);  // SystemExit prints a str argument, so pass an int
  Ref exception(type_found ? PyObject_CallOneArg(type_found.get(), code ? code.get() : message) : nullptr);
  PyErr_Clear();
  return exception && PyExceptionInstance_Check(exception.get())
             ? std::move(exception)
             : Ref(PyObject_CallOneArg(PyExc_RuntimeError, message));
}

/// Decodes UTF-8; invalid bytes become replacement characters.
Ref decode_text(const char* text) {
  return Ref(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
}

void add_note(PyObject* exception, const char* note) {
  const Ref text(*note == '\0' ? Ref() : decode_text(note));
  const Ref helpers(text ? PyImport_ImportModule("simple_torch_helpers.errors") : nullptr);
  const Ref noted(helpers ? PyObject_CallMethod(helpers.get(), "note_calls", "OO", exception, text.get())
                          : nullptr);
  PyErr_Clear();  // the exception propagates without the note
}

constexpr const char* kOutsideCallback =
    "py_raise: must be called by a function that Python called on this thread";

int32_t raise(const char* name, const char* message, const char* note) {
  if (!is_in_callback()) {
    return report_plain(ErrorKind::kInvalidArgument, kOutsideCallback);
  }
  const int32_t status = in_python([&] {
    const PythonThread& thread = *this_python_thread();
    const unsigned interrupts = interrupt_count(thread);
    const Ref text = decode_text(message);
    Ref exception = saved_exception_for(message);
    if (!exception && text) {
      exception = make_exception(name, text.get());
    }
    if (!exception) {
      return false;
    }
    add_note(exception.get(), note);
    const bool is_interrupt =
        interrupt_count(thread) != interrupts;  // the lookups above may have consumed it
    set_pending_raise({.exception = std::move(exception), .is_interrupt = is_interrupt});
    return true;
  });
  if (status != static_cast<int32_t>(ErrorKind::kInterrupted)) {
    return status;
  }
  const GilScope gil;
  set_pending_raise({.exception = Ref(), .is_interrupt = true});
  return 0;
}

int32_t raise_object(ObjectHandle exception, const char* note) {
  if (!is_in_callback()) {
    return report_plain(ErrorKind::kInvalidArgument, kOutsideCallback);
  }
  return in_python([&] {
    Ref raised = object_of(exception);
    if (!PyExceptionInstance_Check(raised.get())) {
      PyErr_Format(PyExc_TypeError, "exceptions must derive from BaseException, got %s",
                   Py_TYPE(raised.get())->tp_name);
      return false;
    }
    add_note(raised.get(), note);
    set_pending_raise({.exception = std::move(raised), .is_interrupt = false});
    return true;
  });
}

int32_t take_last_exception(Object** out) {
  if (const char* reason = unavailable_reason()) {
    return report_plain(ErrorKind::kUnavailable, reason);
  }
  const GilScope gil;  // an Entry would release the exception
  PyObject* const exception = std::exchange(gil.thread().exception, nullptr);
  *out = to_external(exception != nullptr ? exception : Ref::borrowed(Py_None).release());
  return 0;
}

int32_t keep_exceptions(bool keep) {
  return in_python([&] {
    keep ? begin_keeping_exceptions() : end_keeping_exceptions();
    return true;
  });
}

int32_t on_interrupt(void (*interrupt)()) {
  if (!is_python_process()) {
    return report_plain(
        ErrorKind::kUnavailable,
        "py_on_interrupt: only available in a Python process; in other processes SIGINT reaches the "
        "program directly");
  }
  return in_python([&] { return attach_program(interrupt); });
}

int32_t report_signals_to(void (*request)()) {
  if (!is_python_process()) {
    return report_plain(
        ErrorKind::kUnavailable,
        "py_on_signal: only available in a Python process; in other processes the host is notified");
  }
  return in_python([&] {
    set_signal_request(request);
    call_after_sigint_handlers([] { install_before_python_handler(interrupt_client()); });
    return report_python_signals();
  });
}

int32_t check_signals() {
  return unavailable_reason() != nullptr ? 0 : in_python([] { return PyErr_CheckSignals() == 0; });
}

}  // namespace

const SimpleFunction* simple_function_in(PyObject* object) noexcept {
  return function_of_caller(caller_in(object));
}

void add_simple_function_entries(BridgeApi& api) noexcept {
  api.make_function = make_function;
  api.function_of = function_of;
  api.on_interrupt = on_interrupt;
  api.on_signal = report_signals_to;
  api.check_signals = check_signals;
  api.raise = raise;
  api.raise_object = raise_object;
  api.take_exception = take_last_exception;
  api.keep_exceptions = keep_exceptions;
}

}  // namespace simple_torch::bridge
