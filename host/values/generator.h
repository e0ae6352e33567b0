// A call that yields: it stops at each `yield` and goes on when the next value is asked for.
#pragma once

#include <vector>

#include "host/compiler/bytecode.h"
#include "host/values/objects.h"
#include "host/values/tracking.h"

namespace spl {

/// What `defer` and `with` leave for later.
struct Defer {
  Value value;  // owned: a closure to call, or a resource to leave
  bool is_with;
};

struct Generator : Object {
  enum class State : uint8_t { kWaiting, kRunning, kEnded };
  State state = State::kWaiting;
  Value closure;                 // owned
  std::vector<Value> registers;  // owned; on the thread's stack while it runs
  std::vector<Defer> defers;     // those of this call, the last one last
  const Instruction* next;

  /// Takes over the arguments, which are the first registers.
  Generator(Closure* called, std::vector<Value> arguments)
      : Object(Kind::kGenerator),
        closure(retained(Value::object(called))),
        registers(std::move(arguments)),
        next(called->proto->code.data()) {
    registers.resize(called->proto->registers);
  }
  const Proto& proto() const { return *as_object<Closure>(closure)->proto; }

  static void* operator new(size_t bytes) { return allocate_tracked(bytes); }
  static void operator delete(void* generator) { free_tracked(generator); }
};

/// Ends a generator that waits: what it has deferred runs (what fails in that is told on standard error), its
/// registers are given up.
void end_generator(Generator* generator);

}  // namespace spl
