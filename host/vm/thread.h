// One thread of Simple: its registers, its frames, and the doors by which native code calls Simple.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/compiler/bytecode.h"
#include "host/syntax/ast.h"
#include "host/values/error.h"
#include "host/values/generator.h"
#include "host/values/objects.h"

namespace spl {

constexpr uint32_t kMostFrames = 100000;

struct Frame {
  const Proto* proto;
  const Instruction* pc;
  uint32_t base;
  uint32_t result;     // register of the stack that takes the result
  Closure* closure;    // kept alive by the caller's window
  int32_t place_path;  // >= 0: self goes back to this place of the caller
  uint32_t defers;     // height of the defer stack at entry
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
  /// Runs a closure whose parameters are bound already; `values` are used up.
  Value run_bound(Closure* closure, std::vector<Value>& values);
  /// The method if the value's type has one.
  const Method* find_method(Value self, Symbol method) const;

  bool instance_truth(Value v);
  bool instance_equal(Value a, Value b);
  int instance_compare(Value a, Value b);
  std::string instance_display(Value v);

  /// Calls the class's drop(), which may bring the instance back to life. What fails in it is told on stderr.
  /// It is left out where a drop() or deferred code that runs because there was no room for a call finds no
  /// room itself.
  void drop(Instance* instance);
  /// The Simple stack, innermost first.
  std::vector<StackEntry> stack() const;

  Value get_field(Value object, Symbol name);  // owned; fields, then methods without arguments
  /// A module's member; what it does not have, its function __getattr__(name) may give. Owned.
  Value module_member(LoadedModule& module, Symbol name);
  /// What __getattr__ of the module gives for a name that it does not have; nil without one. Owned.
  Value computed_member(LoadedModule& module, Symbol name);
  void set_field(Value& object, Symbol name, Value owned);
  Ref validated_replacement(Value owner, Symbol name, Value old, Value value);
  Value get_index(Value object, Value index);  // owned
  void set_index(Value& object, Value index, Value owned);
  Value arithmetic(BinaryOp op, Value a, Value b);  // owned
  bool contains(Value container, Value item);
  int64_t length(Value v);
  /// Runs over the elements of anything iterable; elements are borrowed for the call.
  void each(Value iterable, const std::function<bool(Value)>& body);
  /// One more element, owned, of what make_iterator() gave; `state` is that and, of an array, the place in
  /// it. False at the end.
  bool iterate(Value* state, Value& out);
  /// What next(), a method of `iterator`, gives, in `out`: of Some(x) x. False at the end, nil or None.
  bool next_of(Value iterator, const Method& next, Value& out);

  /// The generator's next value, owned; false when it has come to its end.
  bool resume(Generator* generator, Value& out);
  /// Runs what a generator deferred that nobody runs to its end. What fails in that is told on stderr.
  void run_left_defers(std::vector<Defer> defers);

 private:
  static constexpr int32_t kNoPath = -1;
  static constexpr int32_t kConstructor = -2;  // the frame's result is its self

  // machine.cpp
  void run(uint32_t floor);
  bool comparison_holds(BinaryOp op, Value a, Value b);

  // unwinding.cpp
  class UnwindStackLimit;
  void unwind(uint32_t floor, bool too_deep);
  void pop_frame_clearing();
  void run_defers(size_t height);
  Value enter_resource(Value resource);

  // generators.cpp
  void put_back(Generator* generator, uint32_t window);
  void suspend(Value yielded);

  // calls.cpp. The window holds callee and owned arguments, which are used up. True: a frame was pushed;
  // false: the result is in its register.
  bool start_call(uint32_t window, uint32_t count, const CallSpec* spec);
  template <class Call>
  bool call_directly(uint32_t window, uint32_t count, Call&& call);
  bool start_invoke(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache);
  bool start_invoke_place(uint32_t window, uint32_t count, const Path& path, int32_t path_index,
                          Cache& cache);
  void push_frame(Closure* closure, uint32_t base, uint32_t count, uint32_t result, int32_t place_path);
  bool enter(Closure* closure, uint32_t base, uint32_t count, uint32_t result, int32_t place_path);
  bool start_method(const Method& method, uint32_t window, uint32_t count, const CallSpec* spec,
                    int32_t place_path);
  void bind_arguments(const Proto& proto, uint32_t base, uint32_t given, uint32_t leading,
                      const CallSpec* spec);
  uint32_t flatten(uint32_t first, uint32_t count, const CallSpec& spec);
  bool call_native(const Native& native, uint32_t result, uint32_t first, uint32_t count);
  bool construct(Record* record, uint32_t window, uint32_t count, const CallSpec* spec);
  void fill_fields(Instance* instance, uint32_t first, uint32_t count, const CallSpec* spec);
  bool construct_variant(Enum* type, uint32_t variant, uint32_t window, uint32_t count, const CallSpec* spec);
  bool invoke_unknown(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name);
  template <class Argument, class Start>
  Value run_window(Value head, uint32_t count, Argument&& argument, Start&& start);  // native_calls.cpp
  void finish_window(uint32_t result, uint32_t first, uint32_t count, Value owned_result);
  void need_room(uint32_t top) const;
  uint32_t top() const {
    return frame_count_ == 0 ? native_top_
                             : frames_[frame_count_ - 1].base + frames_[frame_count_ - 1].proto->registers;
  }

  // places.cpp
  Value* resolve_place(const Path& path, size_t steps, Ref& scratch);
  void store_path(const Path& path, Value owned);
  Value load_path(const Path& path);
  void release_path(const Path& path);
  Value* step_into(Value* at, const Path::Step& step, Ref& scratch);
  Value* own_slot(Value* at, const Path::Step& step);
  Value index_of(const Path::Step& step) const;
  void release_lvalue(const Path& path, Value held);

  // iteration.cpp
  bool iterate_pair(Value* state, Value& first, Value& second);

  void link_type(const TypeLink& link, LoadedModule& module);
  Value global(LoadedModule& module, uint32_t slot);

  Value* stack_;
  Frame* frames_;
  uint32_t frame_count_ = 0;
  uint32_t native_top_ = 0;
  uint32_t native_depth_ = 0;
  uint32_t most_frames_ = kMostFrames;
  uint32_t little_rooms_ = 0;  // one within another
  std::vector<Defer> defers_;
  std::vector<const Instance*> showing_;  // those that instance_display() is within
};

/// Counts changes of methods: what a Cache knows of older ones does not hold.
inline uint32_t& method_epoch() {
  static uint32_t epoch = 1;
  return epoch;
}

/// Methods of the built-in kinds, by name; null where there is none.
const Native* builtin_method(Kind kind, Symbol name);
const Native* builtin_method_of(Value self, Symbol name);

/// What impl blocks gave the built-in type of a value; null where they gave nothing.
const Type* extension_of(Value v);
inline const Method* extension_method(Value v, Symbol name) {
  const Type* type = extension_of(v);
  return type == nullptr ? nullptr : type->find(name);
}

/// A failure that nobody can catch, in drop() say: told on stderr.
void report_lost(const SimpleError& error, const std::string& where);

Thread& current_thread();
/// False on a thread that native code made, until it calls Simple.
bool has_current_thread();
void destroy_thread_handle(Object* object);

}  // namespace spl
