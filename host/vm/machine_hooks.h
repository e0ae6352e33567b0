// Functions that the machine needs from the components above it: modules/ and ffi/ fill the table when the
// host starts.
#pragma once

#include "host/compiler/bytecode.h"
#include "host/compiler/extern.h"
#include "host/values/objects.h"

namespace spl {

struct MachineHooks {
  /// modules/: executes a use declaration of a function.
  void (*run_import)(const Proto& proto, size_t index);
  /// modules/: a function of the library, by its module's path and its name. Borrowed.
  Value (*library_function)(const char* module, const char* name);

  /// ffi/: calls an extern function. Borrowed arguments, owned result.
  Value (*call_extern)(Thread& thread, Extern& function, Value* args, int count);
  /// ffi/: the direct calls of a class with a native handle; see ffi/direct.h.
  Value (*direct_operation)(BinaryOp op, Value a, Value b);
  Value (*direct_call)(Value self, const Value* args, uint32_t count, const CallSpec* spec);
  Value (*direct_invoke)(Value self, Symbol method, const Value* args, uint32_t count, const CallSpec* spec);
  Value (*direct_get)(Value self, Symbol field);
  bool (*direct_drop)(Instance& instance);
  /// ffi/: calls of native operators; see ffi/operator_call.h.
  Value (*call_operator)(const Proto& proto, Symbol name, const Value* args, uint32_t count, uint32_t leading,
                         const CallSpec* spec);
  Value (*get_item)(const Proto& proto, Value self, Value key);
  bool (*set_item)(const Proto& proto, Value self, Value key, Value value);
  /// ffi/: notifies the native libraries that the program exits. Call it without the host lock.
  void (*notify_libraries_of_exit)();
};

extern constinit MachineHooks filled_machine_hooks;
inline MachineHooks& machine_hooks() { return filled_machine_hooks; }

}  // namespace spl
