// Functions that values need from the machine above them. The machine fills the table when the host starts.
#pragma once

#include <string>

#include "host/values/value.h"

namespace spl {

struct Instance;
struct Method;

struct ObjectHooks {
  /// Calls a method of an object. Arguments are borrowed, the result is owned.
  Value (*call_method)(Value self, const Method& method, const Value* args, int count);
  /// Runs the class's drop(). An error in it goes to standard error.
  void (*drop)(Instance* instance);
  /// Truth, equality and order where at least one operand is an instance.
  bool (*truth)(Value instance);
  bool (*equal)(Value a, Value b);
  int (*compare)(Value a, Value b);
  /// The text of an instance, of an enum value with __str__, or of a closure.
  std::string (*display)(Value v);
  /// What repr() shows of an instance.
  std::string (*representation)(Value instance);
  /// Destroys an object of a kind that the machine defines: a generator or a thread.
  void (*destroy)(Object* object);
  /// Whether a thread handle is the result of an async function.
  bool (*is_future)(Value thread);
  /// Asks the running thread to collect cycles at its next safepoint.
  void (*request_collection)();
};

extern ObjectHooks filled_object_hooks;

inline ObjectHooks& object_hooks() { return filled_object_hooks; }

}  // namespace spl
