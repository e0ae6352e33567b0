// The type simple_torch.Function. Simple runs without the GIL, on the thread that Python calls it on.
#include "bridge/objects/simple_functions.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <string>

#include "bridge/objects/references.h"
#include "bridge/runtime/entry.h"
#include "bridge/runtime/forced_unwind.h"
#include "bridge/runtime/interrupts.h"
#include "bridge/runtime/pending_release.h"
#include "bridge/tensors/tensor_object.h"

#include <structmember.h>  // after Python.h, whose types it uses

namespace simple_torch::bridge {
namespace {

struct FunctionObject {
  PyObject ob_base;  // what PyObject_HEAD stands for
  vectorcallfunc vectorcall;
  SimpleFunction function;
  PyObject* name;
};

// Made once, under the GIL; never freed. Others read them without.
std::atomic<PyTypeObject*> type{nullptr};
std::atomic<PyTypeObject*> instance_type{nullptr};

FunctionObject* function_in(PyObject* self) { return reinterpret_cast<FunctionObject*>(self); }

/// What the function that is failing on this thread raises, once it has returned.
thread_local PyObject* raised = nullptr;

/// Python is left for as long as this lives: others may have the GIL, and Ctrl-C is the program's.
class OutsidePython {
 public:
  OutsidePython() : thread_(this_python_thread()), was_inside_(thread_ != nullptr && thread_->inside != 0) {
    if (was_inside_) {
      is_interrupted_ = leaving_python(*thread_);
    }
    was_in_program_ = entering_program();
    state_ = PyEval_SaveThread();
  }
  ~OutsidePython() {
    expect_no_lock_held();
    park_on_forced_unwind([&] { PyEval_RestoreThread(state_); });
    leaving_program(was_in_program_);
    if (was_inside_) {
      entering_python(*thread_);
    }
  }
  OutsidePython(const OutsidePython&) = delete;
  OutsidePython& operator=(const OutsidePython&) = delete;

  /// Ctrl-C had come before; Simple is not to be entered then.
  bool is_interrupted() const noexcept { return is_interrupted_; }

 private:
  PythonThread* thread_;
  bool was_inside_;
  bool was_in_program_ = false;
  bool is_interrupted_ = false;
  PyThreadState* state_;
};

/// Positional arguments as a tuple, named ones as a dict.
PyObject* packed(PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const Ref positional(PyTuple_New(count));
  const Ref named(PyDict_New());
  if (!positional || !named) {
    return nullptr;
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyTuple_SET_ITEM(positional.get(), i, Ref::borrowed(values[i]).give());
  }
  for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_GET_SIZE(names); ++i) {
    if (PyDict_SetItem(named.get(), PyTuple_GET_ITEM(names, i), values[count + i]) != 0) {
      return nullptr;
    }
  }
  return PyTuple_Pack(2, positional.get(), named.get());
}

/// Without a word of its own the program is on its way to its end, and Python code is to let it pass.
void raise_failure() {
  PyObject* exception = std::exchange(raised, nullptr);
  if (exception == nullptr) {
    PyErr_SetString(PyExc_SystemExit, "the Simple program ends");
    return;
  }
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
  Py_DECREF(exception);
}

PyObject* call(PyObject* self, PyObject* const* values, size_t count_and_flag, PyObject* names) {
  const SimpleFunction& function = function_in(self)->function;
  Ref arguments(packed(values, PyVectorcall_NARGS(count_and_flag), names));
  if (!arguments) {
    return nullptr;
  }
  Object* result = nullptr;
  bool is_interrupted = false;
  const Ref held = Ref::borrowed(self);  // it may be dropped by what it does
  const ExceptionsPass passing;
  {
    const OutsidePython outside;
    is_interrupted = outside.is_interrupted();
    if (!is_interrupted) {
      result = function.run(function.context, as_object(arguments.give()));
    }
  }
  if (is_interrupted) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } else if (result == nullptr) {
    raise_failure();
  } else {
    Py_CLEAR(raised);  // of a failure that Simple has mended itself
  }
  park_on_forced_unwind([] {
    const PendingException pending;
    run_deferred_work();  // what the function was given
  });
  return from_external(result);
}

void deallocate(PyObject* self) {
  const SimpleFunction function = function_in(self)->function;
  PyTypeObject* own_type = Py_TYPE(self);  // or that of instances
  Py_XDECREF(function_in(self)->name);
  own_type->tp_free(self);
  Py_DECREF(own_type);
  const PendingException pending;
  bool is_interrupted = false;
  {
    const OutsidePython outside;  // what ends may be objects of Simple, whose code takes its time
    is_interrupted = outside.is_interrupted();
    function.end(function.context);
  }
  if (is_interrupted) {
    interrupt_again(*this_python_thread());
  }
}

PyObject* name_of(PyObject* self, void* /*closure*/) { return Ref::borrowed(function_in(self)->name).give(); }

PyObject* shown(PyObject* self) {
  return PyUnicode_FromFormat("<Simple function %U>", function_in(self)->name);
}

PyTypeObject* function_type() {
  static std::array<PyGetSetDef, 3> getters{{
      {"__name__", name_of, nullptr, "The function's name in Simple.", nullptr},
      {"__qualname__", name_of, nullptr, "The function's name in Simple.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr},
  }};
  static std::array<PyMemberDef, 2> members{{
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr},
  }};
  static std::array<PyType_Slot, 7> slots{{
      {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
      {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
      {Py_tp_members, members.data()},
      {Py_tp_getset, getters.data()},
      {Py_tp_repr, reinterpret_cast<void*>(shown)},
      {Py_tp_doc, const_cast<char*>("A function of the Simple program.")},
      {0, nullptr},
  }};
  static PyType_Spec spec{"simple_torch.Function", sizeof(FunctionObject), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION |
                              Py_TPFLAGS_HAVE_VECTORCALL,
                          slots.data()};
  if (type == nullptr) {
    type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  }
  return type;
}

/// Python code makes it: a subclass, without room of its own.
PyTypeObject* type_of_instances() {
  if (instance_type == nullptr) {
    auto* base = reinterpret_cast<PyObject*>(function_type());
    const Ref helper(base == nullptr ? nullptr : PyImport_ImportModule("simple_torch_helpers.instances"));
    Ref made(helper ? PyObject_CallMethod(helper.get(), "instance_type", "O", base) : nullptr);
    if (made && instance_type == nullptr) {  // another thread may have been here while Python ran
      instance_type = reinterpret_cast<PyTypeObject*>(made.give());
    }
  }
  return instance_type;
}

int32_t make_function(const char* name, const SimpleFunction* function, bool is_instance, Object** out) {
  return object_from_python(out, [&]() -> PyObject* {
    Ref text(PyUnicode_FromString(name));
    PyTypeObject* made_of = !text ? nullptr : is_instance ? type_of_instances() : function_type();
    PyObject* made = made_of != nullptr ? made_of->tp_alloc(made_of, 0) : nullptr;
    if (made != nullptr) {
      function_in(made)->vectorcall = call;
      function_in(made)->function = *function;
      function_in(made)->name = text.give();
    }
    return made;
  });
}

/// Without the GIL: the caller holds a reference, and nobody makes other subclasses.
const SimpleFunction* function_of(Object* object) {
  if (holds_tensor(object)) {
    return nullptr;
  }
  PyObject* python = as_python(object);
  PyTypeObject* of = Py_TYPE(python);
  const bool is_ours = of != nullptr && (of == type || of == instance_type);
  return is_ours ? &function_in(python)->function : nullptr;
}

// ---- failures

/// The exception class of that full name, when it is one that can be made of a message alone.
Ref class_named(const std::string& full) {
  const size_t dot = full.rfind('.');
  const Ref module(dot == std::string::npos ? nullptr : PyImport_ImportModule(full.substr(0, dot).c_str()));
  Ref found(module ? PyObject_GetAttrString(module.get(), full.c_str() + dot + 1) : nullptr);
  PyErr_Clear();
  return found && PyExceptionClass_Check(found.get()) ? std::move(found) : Ref();
}

/// RuntimeError where the class is none, or wants more than a message.
Ref exception_of(const char* name, PyObject* message) {
  const Ref wanted = class_named(name);
  const bool is_exit = wanted && wanted.get() == PyExc_SystemExit;
  const Ref code(is_exit ? PyLong_FromUnicodeObject(message, 10) : nullptr);  // of a text Python prints
  Ref made(wanted ? PyObject_CallOneArg(wanted.get(), code ? code.get() : message) : nullptr);
  PyErr_Clear();
  return made && PyExceptionInstance_Check(made.get())
             ? std::move(made)
             : Ref(PyObject_CallOneArg(PyExc_RuntimeError, message));
}

/// What is no UTF-8 in it, as a broken file's names may be, is shown as such.
Ref words(const char* text) {
  return Ref(PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(std::strlen(text)), "replace"));
}

void add_note(PyObject* exception, const char* note) {
  const Ref text(*note == '\0' ? Ref() : words(note));
  const Ref helpers(text ? PyImport_ImportModule("simple_torch_helpers.errors") : nullptr);
  const Ref noted(helpers ? PyObject_CallMethod(helpers.get(), "note_calls", "OO", exception, text.get())
                          : nullptr);
  PyErr_Clear();  // the exception goes on without
}

int32_t raise(const char* name, const char* message, const char* note) {
  if (!is_function_awaited()) {
    return report_plain(ErrorKind::kInvalidArgument,
                        "Python waits for no function on this thread, so that nothing can be raised there");
  }
  return in_python([&] {
    const Ref text = words(message);
    Ref exception = passing_exception(message);
    if (!exception && text) {
      exception = exception_of(name, text.get());
    }
    if (!exception) {
      return false;
    }
    add_note(exception.get(), note);
    Py_XSETREF(raised, exception.give());
    return true;
  });
}

int32_t on_interrupt(void (*interrupt)()) {
  if (!process_is_python()) {
    return report_plain(ErrorKind::kUnavailable,
                        "this process is no Python process: Ctrl-C is the program's own here, and reaches it "
                        "without this");
  }
  return in_python([&] { return watch_interrupts(interrupt); });
}

}  // namespace

void add_simple_function_entries(BridgeApi& api) noexcept {
  api.make_function = make_function;
  api.function_of = function_of;
  api.on_interrupt = on_interrupt;
  api.raise = raise;
}

}  // namespace simple_torch::bridge
