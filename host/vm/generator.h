// Generators: calls that stop at each `yield` and resume when the next value is requested.
#pragma once

#include <vector>

#include "host/compiler/bytecode.h"
#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/values/tracking.h"

namespace spl {

/// Deferred code: an entry of the defer stack.
struct Defer {
  Value value;                    // owned: a closure to call, or the resource of a `with`
  const Instruction* with_block;  // the word after kWithEnter; null for `defer`
};

struct Generator : Object {
  enum class State : uint8_t { kSuspended, kRunning, kEnded };
  State state = State::kSuspended;
  Value closure;                 // owned
  std::vector<Value> registers;  // owned; on the thread's stack while it runs
  std::vector<Defer> defers;     // of this call, the newest last
  const Instruction* next;

  /// Takes ownership of the arguments, which become the first registers.
  Generator(Closure* called, std::vector<Value> arguments)
      : Object(Kind::kGenerator),
        closure(retained(Value::object(called))),
        registers(std::move(arguments)),
        next(called->proto->code.data()) {
    registers.resize(called->proto->registers);
  }
  const Proto& proto() const { return *as_object<Closure>(closure)->proto; }
  bool is_started() const { return next != proto().code.data(); }

  static void* operator new(size_t bytes) { return allocate_tracked(bytes); }
  static void operator delete(void* generator) { free_tracked(generator); }
};

/// How a generator continues at its `yield`: with `sent` as its value, or with an error.
struct Resumption {
  Value sent;  // owned by the caller
  const SimpleError* thrown = nullptr;
};

/// Ends a suspended generator: runs its deferred code and releases its registers. An error in the deferred
/// code goes to standard error.
void end_generator(Generator* generator);
/// Ends and frees a generator without references; deferred code may bring it back to life.
void destroy_generator(Generator* generator);

}  // namespace spl
