// One thread of Simple: its registers, its frames, and the doors by which native code calls Simple.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "../compiler/bytecode.h"
#include "../syntax/ast.h"
#include "../values/error.h"
#include "../values/objects.h"

namespace spl {

struct Frame {
  const Proto* proto;
  const Instruction* pc;
  uint32_t base;
  uint32_t result;         // register of the stack that takes the result
  Closure* closure;        // kept alive by the caller's window
  int32_t place_path;      // >= 0: self goes back to this place of the caller
  uint32_t defers;         // height of the defer stack at entry
};

class Thread {
 public:
  Thread();
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// Calls any callable. Arguments are borrowed, the result is owned.
  Value call(Value callee, const Value* args, int count);
  Value call_spec(Value callee, const Value* args, const CallSpec& spec);
  /// Calls a method by name: user-defined or built-in.
  Value call_method(Value self, Symbol method, const Value* args, int count);
  Value call_method_of(Value self, const Method& method, const Value* args, int count);
  /// The method if the value's type has one.
  const Method* find_method(Value self, Symbol method) const;

  bool instance_truth(Value v);
  bool instance_equal(Value a, Value b);
  int instance_compare(Value a, Value b);
  std::string instance_display(Value v);

  /// A failure that nobody can catch, in drop() say: told on stderr.
  void report_lost(const SimpleError& error, const std::string& where);
  /// The Simple stack, innermost first.
  std::vector<StackEntry> stack() const;

  Value get_field(Value object, Symbol name);           // owned; fields, then methods without arguments
  void set_field(Value& object, Symbol name, Value owned);
  Value get_index(Value object, Value index);           // owned
  void set_index(Value& object, Value index, Value owned);
  Value arithmetic(BinaryOp op, Value a, Value b);  // owned
  bool contains(Value container, Value item);
  int64_t length(Value v);
  /// Runs over the elements of anything iterable; elements are borrowed for the call.
  void each(Value iterable, const std::function<bool(Value)>& body);

 private:
  friend class Machine;
  Value* stack_;
  Frame* frames_;
  uint32_t frame_count_ = 0;
  uint32_t native_depth_ = 0;
  struct Defer {
    Value value;  // owned: a closure to call, or a resource to leave
    bool is_with;
  };
  std::vector<Defer> defers_;
};

Thread& current_thread();
void destroy_thread_handle(Object* object);

}  // namespace spl
