// A thread of Simple: its registers, its frames, and the functions by which native code calls Simple.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/compiler/bytecode.h"
#include "host/syntax/ast.h"
#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/vm/generator.h"

namespace spl {

constexpr uint32_t kMaxFrames = 100000;

struct Frame {
  const Proto* proto;
  const Instruction* pc;
  uint32_t base;
  uint32_t result;       // stack index of the register that receives the result
  Closure* closure;      // kept alive by the caller's window
  int32_t lvalue_index;  // >= 0: self is stored back to this lvalue of the caller
  uint32_t defers;       // height of the defer stack at entry
};

class Thread {
 public:
  Thread();
  ~Thread();
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// Calls any callable. Arguments are borrowed, the result is owned.
  Value call(Value callee, const Value* args, int count);
  /// Calls a method by name: user-defined or built-in.
  Value call_method(Value self, Symbol method, const Value* args, int count);
  Value call_method_of(Value self, const Method& method, const Value* args, int count);
  /// Called by native code in loops. `callee` is the function that is called next, if it is Simple's.
  void native_safepoint(const Proto* callee);
  /// Runs a closure with bound parameters; takes ownership of `values`.
  Value run_bound(Closure* closure, std::vector<Value>& values);
  /// The method of the value's type; null if it has none of that name.
  const Method* find_method(Value self, Symbol method) const;

  bool instance_truth(Value v);
  bool instance_equal(Value a, Value b);
  int instance_compare(Value a, Value b);
  std::string instance_display(Value v);

  /// Calls the class's drop(), which may bring the instance back to life. An error in it goes to stderr.
  /// While the stack is exhausted, nested drop() calls are skipped.
  void drop(Instance* instance);
  /// Whether the running function belongs to a program that imports torch, as programs from Python do.
  /// Reports once for each line of a program with PyTorch that an operation on integers wraps.
  void note_wrap() const;
  bool runs_port() const;
  /// The Simple stack, innermost first.
  std::vector<StackEntry> stack() const;
  /// How many entries stack() has.
  uint32_t stack_size() const;

  Value fields_of(Value object);                // owned: a dict of an object's fields by name
  Value get_field(Value object, Symbol name);   // owned; fields, then methods without arguments
  Value get_field(Value object, Cache& cache);  // the same; keeps the method of an instance in the cache
  /// A module's member, or the result of the module's function __getattr__(name). Owned.
  Value module_member(LoadedModule& module, Symbol name);
  /// The result of the module's __getattr__ for a name that it does not define; nil without one. Owned.
  Value computed_member(LoadedModule& module, Symbol name);
  void set_field(Value& object, Symbol name, Value owned);
  void set_attribute(Instance& instance, Symbol name, Value owned);
  Ref validated_replacement(Value owner, Symbol name, Value old, Value value);
  /// An object with __index__, such as a tensor of one integer, stands for that integer, also in a slice.
  Ref with_integers(Value index);
  Value range_of(Value start, Value end, bool inclusive);  // owned
  Value get_index(Value object, Value index);              // owned
  /// Names the key of a dict whose absence made an operand of the current instruction nil; else empty.
  std::string missing_key_hint() const;
  void set_index(Value& object, Value index, Value owned);
  Value arithmetic(BinaryOp op, Value a, Value b);  // owned
  bool contains(Value container, Value item);
  /// Raises a KeyError if the dict does not have the key.
  void check_key(Value dict, Value key);
  Ref as_builtin(Value item, const char* type);
  int64_t length(Value v);
  /// Calls `body` for each element of an iterable until it returns false. Elements are borrowed.
  void each(Value iterable, const std::function<bool(Value)>& body);
  /// A tuple of the elements. Owned.
  Value collected(Value iterable);
  /// Patterns of instances that stand for sequences of another language. Their class has `__sequence__()`,
  /// which returns the array or tuple that a pattern tests, nil for other objects, and `__unpack__(count)`,
  /// which returns the elements for a binding: one more than `count` if there are more, all for nil.
  Ref foreign_sequence(Value instance);
  /// What `for a, b in …` splits: the sequence, or the two elements that __unpack__ returns, or nil.
  Ref sequence_of_pair(Value instance);
  bool is_foreign_sequence(Value instance, int32_t form, uint32_t count);
  void unpack_foreign(Value& instance, int32_t form, uint32_t count);
  /// Replaces an instance of another language's object by the value that its class has for the built-in type.
  void convert_as_declared(Value& argument, Value type);
  void convert_fields(Instance& instance);
  Ref as_declared_field(const Record& record, Symbol name, Value value);
  Value instance_part(Value instance, uint32_t index);  // owned
  Value rest_of(Value sequence, uint32_t start);        // owned

  /// The entries of a dict, of a mapping of another language, or of an object with keys() and __getitem__, as
  /// a dict; nil for another value.
  Ref as_mapping(Value value);
  /// Sets the entries of what stands after ** in the dict.
  void merge(Dict& dict, Value mapping);
  /// Stores the next element, owned, in `out`; false at the end. `state` holds the result of make_iterator()
  /// and, for an array, the next index.
  bool iterate(Value* state, Value& out);
  /// Stores the result of the iterator's method next() in `out`, without Some around it. False at the end,
  /// which is nil or None.
  bool next_of(Value iterator, const Method& next, Value& out);

  /// For the stack of a coroutine: limits the depth of calls by the C stack in use. `base` is the first
  /// Thread of the native thread.
  void start_above(const Thread& base);
  bool is_idle() const { return frame_count_ == 0 && native_top_ == 0; }
  /// Whether the code runs in a coroutine of an event loop, which a wait suspends; see event_loop.h.
  bool is_on_event_loop() const { return is_on_event_loop_; }
  void set_on_event_loop(bool is_on) { is_on_event_loop_ = is_on; }

  /// What `super()` stands for in a class of another language, in the class statement with the key: an object
  /// whose methods, with `self` also its attributes, are those of the next class in that language's order.
  /// Owned.
  Value super_of(Value parent, Value key, const Value* self = nullptr);

  /// Stores the generator's next value, owned, in `out`; false after its end.
  bool resume(Generator* generator, Value& out);
  /// The same with a value or an error for the `yield`. After the end, `out` is the result of the generator.
  bool continue_with(const Resumption& with, Generator* generator, Value& out);
  /// Calls the method __exit__ of a resource with a failure. True if it handles the error: it is declared
  /// `-> bool` and returns true.
  Value call_exit(Value resource, const Method& exit, Value failure);
  bool exit_handles(Value resource, const Method& exit, Value failure);
  /// Runs the deferred code of an unfinished generator. An error in it goes to stderr.
  void run_leftover_defers(std::vector<Defer> defers);

 private:
  static constexpr int32_t kNoLvalue = -1;
  static constexpr int32_t kConstructor = -2;  // the frame's result is its self

  // machine.cpp
  void run(uint32_t floor);
  [[noreturn]] void fail_native_depth(uint32_t floor);
  bool handle_in_loop(uint32_t floor, SimpleError& error);
  void leave_native_loop(uint32_t floor, const ExitRequest& request);
  void locate(SimpleError& error) const;
  bool comparison_holds(BinaryOp op, Value a, Value b);

  // stored_elements.cpp
  void admit(Value& collection, Value& element, Value key = Value());
  void admit_arguments(Symbol method, Value& collection, Value* args, uint32_t count);

  // updates.cpp
  Value field_of(Value object, Cache& cache);
  Value field_element(Value object, Cache& cache, Value index_base, Cache* index_field);
  void update(Value& value, BinaryOp op, Value by);
  void update_field(Value& object, Cache& cache, BinaryOp op, Value by);

  // unwinding.cpp
  class UnwindStackLimit;
  bool unwind(uint32_t floor, SimpleError& error);
  const Instruction* leave_frame(const Frame& frame, SimpleError& error);
  const Instruction* fail_out_of(const Defer& defer, SimpleError& error);
  void continue_after(const Instruction* with_block);
  void pop_frame_clearing();
  void run_defers(size_t height);
  void run_deferred(const Defer& defer);
  Value enter_resource(Value resource);

  // generators.cpp
  void restore(Generator* generator, uint32_t window);
  void suspend(Value yielded);
  void continue_generator(uint32_t floor, const Resumption& with);

  // calls.cpp. A window holds the callee and owned arguments, which the call consumes. The result is true if
  // a frame was pushed, false if the call is complete and its result is in the window's first register.
  bool start_call(uint32_t window, uint32_t count, const CallSpec* spec);
  Value member_of_value(const Enum& type, uint32_t window, uint32_t count) const;
  bool call_bound(uint32_t window, uint32_t count, const CallSpec* spec);
  bool call_instance(uint32_t window, uint32_t count, const CallSpec* spec);
  template <class Call>
  bool call_directly(uint32_t window, uint32_t count, Call&& call);
  bool start_invoke(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache);
  bool invoke_on_instance(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache);
  bool invoke_on_type(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache);
  bool invoke_builtin(uint32_t window, uint32_t count, const CallSpec* spec, Cache& cache);
  bool call_operator(const Proto& proto, Symbol name, uint32_t window, uint32_t first, uint32_t count,
                     uint32_t leading, const CallSpec* spec);
  bool call_module_operator(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name);
  bool invoke_unknown(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name);
  void pack_arguments(uint32_t window, uint32_t count, const CallSpec* spec, Symbol name);
  bool start_invoke_lvalue(uint32_t window, uint32_t count, int32_t lvalue_index, Cache& cache);
  struct ComputedPart {  // the last part of a path that an object computed: a copy, which a change stores
                         // again
    Ref container;
    size_t step = SIZE_MAX;
    bool exists() const { return step != SIZE_MAX; }
  };
  bool invoke_builtin_on_lvalue(NativeFn function, Value* lvalue, uint32_t window, uint32_t count,
                                const LvaluePath& path, Symbol name, const ComputedPart& computed, Ref& part);
  bool invoke_in_place(const Method& method, Value* lvalue, uint32_t window, uint32_t count,
                       const CallSpec* spec, int32_t lvalue_index);
  void push_frame(Closure* closure, uint32_t base, uint32_t result, int32_t lvalue_index);
  bool enter(Closure* closure, uint32_t base, uint32_t result, int32_t lvalue_index);
  bool is_awaited_at_once(uint32_t result) const;
  bool start_static_of_super(const Method& method, uint32_t window, uint32_t count, const CallSpec* spec);
  bool start_method(const Method& method, uint32_t window, uint32_t count, const CallSpec* spec,
                    int32_t lvalue_index);
  bool call_native(const Native& native, uint32_t result, uint32_t first, uint32_t count);
  bool call_native_with(const Native& native, uint32_t window, uint32_t count, uint32_t leading,
                        const CallSpec* spec);
  void check_count(const Native& native, uint32_t count) const;
  NativeFn function_for(const Native& native, uint32_t window, uint32_t& count, uint32_t leading,
                        const CallSpec* spec);
  void finish_window(uint32_t result, uint32_t first, uint32_t count, Value owned_result);
  void check_stack(uint32_t top) const;
  uint32_t top() const {
    return frame_count_ == 0 ? native_top_
                             : frames_[frame_count_ - 1].base + frames_[frame_count_ - 1].proto->registers;
  }

  // arguments.cpp
  void bind_arguments(const Proto& proto, uint32_t base, uint32_t count, uint32_t leading,
                      const CallSpec* spec);
  uint32_t flatten(uint32_t first, uint32_t count, const CallSpec& spec, Ref& named);
  uint32_t flatten_named(uint32_t first, uint32_t count, const CallSpec& spec, const std::string& callee,
                         const std::vector<Symbol>& parameters);

  // native_calls.cpp
  template <class Argument, class Start>
  Value run_window(Value head, uint32_t count, Argument&& argument, Start&& start);

  // construction.cpp
  bool construct(Record* record, uint32_t window, uint32_t count, const CallSpec* spec);
  void fill_fields(Instance* instance, uint32_t first, uint32_t count, const CallSpec* spec);
  bool construct_variant(Enum* type, uint32_t variant, uint32_t window, uint32_t count, const CallSpec* spec);

  // lvalues.cpp
  Value* resolve_lvalue(const LvaluePath& path, size_t steps, Ref& scratch, ComputedPart* computed = nullptr);
  Value* resolve_within(const LvaluePath& path, const ComputedPart& computed, Ref& scratch);
  void store_computed(const LvaluePath& path, const ComputedPart& computed, Value changed);
  void store_path(const LvaluePath& path, Value owned);
  Value load_path(const LvaluePath& path);
  void release_path(const LvaluePath& path);
  Value* step_into(Value* at, const LvaluePath::Step& step, Ref& scratch);
  Value* own_slot(Value* at, const LvaluePath::Step& step);
  Value root_of(const LvaluePath& path) const;
  void check_change(const ChangeCheck& check, const Proto& proto) const;
  Value index_of(const LvaluePath::Step& step) const;
  void release_lvalue(const LvaluePath& path, Value held);

  // iteration.cpp
  bool iterate_pair(Value* state, Value& first, Value& second);

  // decorators.cpp
  Value decorated(Value decorator, Value declaration);

  // type_links.cpp
  void link_type(const TypeLink& link, LoadedModule& module);

  // thread.cpp
  Value global(LoadedModule& module, uint32_t slot);

  Value* stack_;
  Frame* frames_;
  const char* c_stack_;  // where the Thread was created
  uint32_t frame_count_ = 0;
  uint32_t native_top_ = 0;
  uint32_t native_depth_ = 0;
  uint32_t max_frames_ = kMaxFrames;
  uint32_t unwind_limits_ = 0;  // nested UnwindStackLimit objects
  bool is_on_event_loop_ = false;
  std::vector<Defer> defers_;
  std::vector<const Instance*> displaying_;  // the instances that instance_display() is in the middle of
};

/// Whether an interrupt may stop the function at its safepoints.
bool may_stop(const Proto& proto);

/// The `self` of a method's frame, which is in a cell if a closure of the method changes it.
inline Value self_of_frame(Value held) { return held.is(Kind::kCell) ? as_object<Cell>(held)->value : held; }
/// Moves it out of its register.
inline Value taken_self(Value& slot) {
  const Value held = std::exchange(slot, Value());
  if (!held.is(Kind::kCell)) {
    return held;
  }
  const Value self = retained(as_object<Cell>(held)->value);
  release(held);
  return self;
}

/// Incremented when methods change, which invalidates older Cache entries.
inline uint32_t& method_epoch() {
  static uint32_t epoch = 1;
  return epoch;
}

/// The methods that impl blocks add to the built-in type of a value; null without any.
const Type* extension_of(Value v);
inline const Method* extension_method(Value v, Symbol name) {
  const Type* type = extension_of(v);
  return type == nullptr ? nullptr : type->find(name);
}

/// Whether an array, a dict or a tuple keeps the shape of its declared type.
inline bool has_shape(Value v) {
  return (v.is(Kind::kArray) || v.is(Kind::kDict) || v.is(Kind::kTuple)) && v.as_object->shape != 0;
}

Thread& current_thread();
/// The first Thread of the native thread; null until it calls Simple.
Thread* first_thread_here();
void destroy_thread_handle(Object* object);
/// Fills object_hooks().
void install_object_hooks();

}  // namespace spl
