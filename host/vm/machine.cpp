// The interpreter's loop: one label for each opcode, reached by computed goto.
//
// Handlers do integers and floats themselves; everything else goes to functions of Thread, after the frame's
// pc was saved so that an error finds its line.
#include <unistd.h>
#include <cmath>

#include "../builtins/builtins.h"
#include "../modules/loader.h"
#include "../modules/module.h"
#include "lock.h"
#include "thread.h"

namespace spl {

namespace {

Value cast_value(Value v, int code) {
  if (code == 10)
    return make_text(display(v));
  if (code == 11)
    return Value::boolean(truthy(v));
  if (code == 8 || code == 9) {
    const double number = to_number(v);
    return Value::number(code == 9 ? static_cast<float>(number) : number);
  }
  const int64_t whole = to_integer(v);
  switch (code) {
    case 1:
      return Value::integer(static_cast<int32_t>(whole));
    case 2:
      return Value::integer(static_cast<int16_t>(whole));
    case 3:
      return Value::integer(static_cast<int8_t>(whole));
    case 5:
      return Value::integer(static_cast<uint32_t>(whole));
    case 6:
      return Value::integer(static_cast<uint16_t>(whole));
    case 7:
      return Value::integer(static_cast<uint8_t>(whole));
    default:
      return Value::integer(whole);
  }
}

const std::vector<Value>* sequence_items(Value v) {
  if (v.is(Kind::kArray))
    return &as_object<Array>(v)->items;
  if (v.is(Kind::kTuple))
    return &as_object<Tuple>(v)->items;
  return nullptr;
}

// Whether a value is this variant; a plain value is Some of itself, nil is None.
bool is_variant(Value v, const VariantPatternSpec& spec) {
  static const Symbol some = intern("Some"), none = intern("None");
  if (v.is(Kind::kEnumValue)) {
    const auto* value = as_object<EnumValue>(v);
    return value->info().name == spec.variant && (spec.type == kNoSymbol || value->type->name == spec.type) &&
           spec.arity <= value->info().arity;
  }
  if (spec.variant == none)
    return v.is_nil();
  if (spec.variant == some)
    return !v.is_nil();
  return v.is(Kind::kInstance) && as_object<Instance>(v)->record->name == spec.variant &&
         spec.arity <= as_object<Instance>(v)->record->fields.size();
}

Value part_of(Value v, uint32_t index) {
  if (const auto* items = sequence_items(v))
    return retained((*items)[index]);
  if (v.is(Kind::kEnumValue))
    return retained(as_object<EnumValue>(v)->payload()[index]);
  if (v.is(Kind::kInstance))
    return retained(as_object<Instance>(v)->fields()[index]);
  return retained(v);  // Some(x) of a plain value
}

int64_t wrapping(BinaryOp op, int64_t a, int64_t b) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  return static_cast<int64_t>(op == BinaryOp::kAdd ? x + y : op == BinaryOp::kSubtract ? x - y : x * y);
}

// Handlers must not hold objects with destructors across their jump: a computed goto does not run them.
Value concatenated(const Value* parts, uint32_t count) {
  std::string text;
  for (uint32_t i = 0; i < count; ++i) {
    if (parts[i].is(Kind::kText))
      text += text_of(parts[i]);
    else
      text += display(parts[i]);
  }
  return make_text(std::move(text));
}

}  // namespace

bool Thread::comparison_holds(BinaryOp op, Value a, Value b) {
  const Ref result = Ref::owned(arithmetic(op, a, b));
  return truthy(result.get());
}

// The resource is already on the defer stack; if entering fails it must not be left.
Value Thread::enter_resource(Value resource) {
  static const Symbol enter = intern("__enter__");
  const Method* method = find_method(resource, enter);
  if (method == nullptr)
    return retained(resource);
  try {
    const Value entered = call_method_of(resource, *method, nullptr, 0);
    return entered.is_nil() ? retained(resource) : entered;
  } catch (...) {
    const Ref given_up = Ref::owned(defers_.back().value);
    defers_.pop_back();
    throw;
  }
}

void Thread::pop_frame_clearing() {
  Frame& frame = frames_[frame_count_ - 1];
  Value* registers = stack_ + frame.base;
  for (uint32_t i = 0; i < frame.proto->registers; ++i) {
    if (!registers[i].is_object())
      continue;
    const Value old = registers[i];
    registers[i] = Value();
    release(old);
  }
  --frame_count_;
}

void Thread::run_defers(size_t height) {
  while (defers_.size() > height) {
    const Defer defer = defers_.back();
    defers_.pop_back();
    const Ref held = Ref::owned(defer.value);
    if (!defer.is_with) {
      release(call(defer.value, nullptr, 0));
      continue;
    }
    static const Symbol leave = intern("__exit__"), close = intern("close");
    const Value nothing;
    if (const Method* method = find_method(defer.value, leave))
      release(call_method_of(defer.value, *method, &nothing, 1));
    else if (const Method* other = find_method(defer.value, close))
      release(call_method_of(defer.value, *other, nullptr, 0));
  }
}

// Leaves frames after a failure: what was deferred runs, registers give up what they hold.
void Thread::unwind(uint32_t floor) {
  while (frame_count_ > floor) {
    const Frame frame = frames_[frame_count_ - 1];
    try {
      run_defers(frame.defers);
    } catch (const SimpleError& error) {
      report_lost(error, "what was deferred, while another error was on its way");
    }
    Value self;
    if (frame.place_path >= 0)
      self = std::exchange(stack_[frame.base], Value());
    pop_frame_clearing();
    if (frame.place_path >= 0)
      store_path(frames_[frame_count_ - 1].proto->paths[static_cast<size_t>(frame.place_path)], self);
  }
}

void Thread::run(uint32_t floor) {
  static const void* const labels[] = {
#define SPL_OPCODE(name, operands) &&on_##name,
      SPL_OPCODES(SPL_OPCODE)
#undef SPL_OPCODE
  };
  if (++native_depth_ > 1500) {
    --native_depth_;
    // The frame that was to run is given up like any other.
    SimpleError error("recursion too deep");
    error.stack = stack();
    error.located = true;
    unwind(floor);
    throw error;
  }
  Frame* frame;
  const Proto* proto;
  const Instruction* pc;
  const Value* constants;
  Value* R;
  uint32_t locals;
  Instruction i;

#define ENTER()                        \
  frame = frames_ + frame_count_ - 1;  \
  proto = frame->proto;                \
  pc = frame->pc;                      \
  constants = proto->constants.data(); \
  R = stack_ + frame->base;            \
  locals = proto->locals
#define SAVE() frame->pc = pc
#define NEXT()                               \
  do {                                       \
    i = *pc++;                               \
    goto* labels[static_cast<size_t>(i.op)]; \
  } while (false)
#define SET(reg, value)                \
  do {                                 \
    const Value made_ = (value);       \
    const Value old_ = R[reg];         \
    R[reg] = made_;                    \
    if (old_.is_object()) [[unlikely]] \
      release(old_);                   \
  } while (false)
#define CONSUME(reg)                             \
  do {                                           \
    if ((reg) >= locals && R[reg].is_object()) { \
      const Value used_ = R[reg];                \
      R[reg] = Value();                          \
      release(used_);                            \
    }                                            \
  } while (false)
#define SAFEPOINT()                          \
  do {                                       \
    if (host_lock().wanted()) [[unlikely]] { \
      SAVE();                                \
      safepoint();                           \
    }                                        \
  } while (false)

again:
  try {
    ENTER();
    NEXT();

  on_Extra:
    fail("internal: an instruction out of place");
  on_Move:
    SET(i.a, retained(R[i.b]));
    NEXT();
  on_Take : {
    const Value taken = R[i.b];
    R[i.b] = Value();
    SET(i.a, taken);
    NEXT();
  }
  on_LoadConstant:
    SET(i.a, retained(constants[i.b]));
    NEXT();
  on_LoadInt:
    SET(i.a, Value::integer(i.d));
    NEXT();
  on_LoadNil:
    SET(i.a, Value());
    NEXT();
  on_LoadBool:
    SET(i.a, Value::boolean(i.b != 0));
    NEXT();
  on_GetGlobal : {
    const Value value = proto->module->slots[static_cast<size_t>(i.d)];
    if (value.is_missing()) [[unlikely]] {
      SAVE();
      const Value found = global(*proto->module, static_cast<uint32_t>(i.d));
      SET(i.a, found);
      NEXT();
    }
    SET(i.a, retained(value));
    NEXT();
  }
  on_SetGlobal : {
    const Value value = i.a < locals ? retained(R[i.a]) : std::exchange(R[i.a], Value());
    SAVE();
    assign(proto->module->slots[static_cast<size_t>(i.d)], value);
    NEXT();
  }
  on_GetCaptured:
    SET(i.a, retained(frame->closure->captured[i.b]));
    NEXT();
  on_GetCapturedCell:
    SET(i.a, retained(as_object<Cell>(frame->closure->captured[i.b])->value));
    NEXT();
  on_SetCapturedCell : {
    const Value value = i.a < locals ? retained(R[i.a]) : std::exchange(R[i.a], Value());
    SAVE();
    assign(as_object<Cell>(frame->closure->captured[i.b])->value, value);
    NEXT();
  }
  on_NewCell : {
    const Value value = R[i.a];
    R[i.a] = Value::object(new Cell(value));
    NEXT();
  }
  on_GetCell:
    SET(i.a, retained(as_object<Cell>(R[i.b])->value));
    NEXT();
  on_SetCell : {
    const Value value = i.b < locals ? retained(R[i.b]) : std::exchange(R[i.b], Value());
    SAVE();
    assign(as_object<Cell>(R[i.a])->value, value);
    NEXT();
  }
  on_GetSelfClosure:
    SET(i.a, retained(Value::object(frame->closure)));
    NEXT();

#define BOTH_INT(x, y) ((x).is_int() && (y).is_int())
#define BOTH_FLOAT(x, y) ((x).is_float() && (y).is_float())
#define GENERAL(op, second_, consume_second)                                                           \
  do {                                                                                                 \
    SAVE();                                                                                            \
    Value result_;                                                                                     \
    if (op == BinaryOp::kAdd && i.a == i.b && R[i.b].is(Kind::kText) && R[i.b].as_object->refs == 1) { \
      as_object<Text>(R[i.b])->text += display(second_);                                               \
      consume_second;                                                                                  \
      NEXT();                                                                                          \
    }                                                                                                  \
    result_ = arithmetic(op, R[i.b], second_);                                                         \
    SET(i.a, (result_));                                                                               \
    if (i.b != i.a)                                                                                    \
      CONSUME(i.b);                                                                                    \
    consume_second;                                                                                    \
    NEXT();                                                                                            \
  } while (false)
#define ARITHMETIC(name, op, int_form, float_form)       \
  on_##name : {                                          \
    const Value x = R[i.b], y = R[i.c];                  \
    if (BOTH_INT(x, y)) {                                \
      int_form                                           \
    } else if (x.is_number() && y.is_number()) {         \
      const double p = x.to_double(), q = y.to_double(); \
      float_form                                         \
    }                                                    \
    GENERAL(op, R[i.c], if (i.c != i.a) CONSUME(i.c));   \
  }                                                      \
  on_##name##K : {                                       \
    const Value x = R[i.b], y = constants[i.c];          \
    if (BOTH_INT(x, y)) {                                \
      int_form                                           \
    } else if (x.is_number()) {                          \
      const double p = x.to_double(), q = y.to_double(); \
      float_form                                         \
    }                                                    \
    GENERAL(op, constants[i.c], (void)0);                \
  }
#define INT_RESULT(expression)            \
  do {                                    \
    SET(i.a, Value::integer(expression)); \
    NEXT();                               \
  } while (false);
#define FLOAT_RESULT(expression)         \
  do {                                   \
    SET(i.a, Value::number(expression)); \
    NEXT();                              \
  } while (false);

    ARITHMETIC(Add, BinaryOp::kAdd, INT_RESULT(wrapping(BinaryOp::kAdd, x.as_int, y.as_int)),
               FLOAT_RESULT(p + q))
    ARITHMETIC(Subtract, BinaryOp::kSubtract, INT_RESULT(wrapping(BinaryOp::kSubtract, x.as_int, y.as_int)),
               FLOAT_RESULT(p - q))
    ARITHMETIC(Multiply, BinaryOp::kMultiply, INT_RESULT(wrapping(BinaryOp::kMultiply, x.as_int, y.as_int)),
               FLOAT_RESULT(p * q))
    ARITHMETIC(Divide, BinaryOp::kDivide,
               if (y.as_int != 0 && y.as_int != -1) INT_RESULT(x.as_int / y.as_int), FLOAT_RESULT(p / q))
    ARITHMETIC(Remainder, BinaryOp::kRemainder,
               if (y.as_int != 0 && y.as_int != -1) INT_RESULT(x.as_int % y.as_int),
               if (q != 0) FLOAT_RESULT(std::fmod(p, q)))

  on_Arith : {
    const int32_t flags = (pc++)->d;
    const auto op = static_cast<BinaryOp>(flags & 0xFF);
    const Value x = R[i.b], y = R[i.c];
    if (BOTH_INT(x, y) && (op == BinaryOp::kAdd || op == BinaryOp::kSubtract || op == BinaryOp::kMultiply))
      INT_RESULT(wrapping(op, x.as_int, y.as_int))
    if (BOTH_FLOAT(x, y)) {
      if (op == BinaryOp::kAdd)
        FLOAT_RESULT(x.as_float + y.as_float)
      if (op == BinaryOp::kSubtract)
        FLOAT_RESULT(x.as_float - y.as_float)
      if (op == BinaryOp::kMultiply)
        FLOAT_RESULT(x.as_float * y.as_float)
    }
    if ((flags & 0x100) != 0 && x.is(Kind::kInstance)) {
      SAVE();
      if (const Method* method = find_method(x, inplace_hook(op))) {
        const Value result = call_method_of(x, *method, &R[i.c], 1);
        SET(i.a, result);
        if (i.b != i.a)
          CONSUME(i.b);
        if (i.c != i.a)
          CONSUME(i.c);
        NEXT();
      }
    }
    if ((flags & 0x100) != 0 && op == BinaryOp::kAdd && i.a == i.b && i.b != i.c && x.is(Kind::kArray) &&
        y.is(Kind::kArray) && x.as_object->refs == 1) {
      auto& items = as_object<Array>(x)->items;
      for (const Value item : as_object<Array>(y)->items)
        items.push_back(retained(item));
      CONSUME(i.c);
      NEXT();
    }
    GENERAL(op, R[i.c], if (i.c != i.a) CONSUME(i.c));
  }
  on_Negate : {
    const Value x = R[i.b];
    if (x.is_int())
      INT_RESULT(wrapping(BinaryOp::kSubtract, 0, x.as_int))
    if (x.is_float())
      FLOAT_RESULT(-x.as_float)
    SAVE();
    static const Symbol hook = intern("__neg__");
    const Method* method = find_method(x, hook);
    if (method == nullptr)
      fail("cannot negate " + type_name(x));
    const Value result = call_method_of(x, *method, nullptr, 0);
    CONSUME(i.b);
    SET(i.a, result);
    NEXT();
  }
  on_Not : {
    SAVE();
    const bool result = !truthy(R[i.b]);
    CONSUME(i.b);
    SET(i.a, Value::boolean(result));
    NEXT();
  }
  on_BitNot : {
    SAVE();
    if (!R[i.b].is_int())
      fail("~ needs an integer, not " + type_name(R[i.b]));
    SET(i.a, Value::integer(~R[i.b].as_int));
    NEXT();
  }

#define COMPARISON(name, op, operation)                                \
  on_##name : {                                                        \
    const Value x = R[i.b], y = R[i.c];                                \
    if (BOTH_INT(x, y)) {                                              \
      SET(i.a, Value::boolean(x.as_int operation y.as_int));           \
      NEXT();                                                          \
    }                                                                  \
    if (x.is_number() && y.is_number()) {                              \
      SET(i.a, Value::boolean(x.to_double() operation y.to_double())); \
      NEXT();                                                          \
    }                                                                  \
    SAVE();                                                            \
    const Value result = arithmetic(op, x, y);                         \
    CONSUME(i.b);                                                      \
    CONSUME(i.c);                                                      \
    SET(i.a, result);                                                  \
    NEXT();                                                            \
  }
#define JUMP_UNLESS(name, op, operation)                       \
  on_JumpUnless##name : {                                      \
    const Value x = R[i.b], y = R[i.c];                        \
    if (BOTH_INT(x, y)) {                                      \
      pc += x.as_int operation y.as_int ? 1 : pc->d;           \
      NEXT();                                                  \
    }                                                          \
    if (x.is_number() && y.is_number()) {                      \
      pc += x.to_double() operation y.to_double() ? 1 : pc->d; \
      NEXT();                                                  \
    }                                                          \
    SAVE();                                                    \
    const bool holds = comparison_holds(op, x, y);             \
    CONSUME(i.b);                                              \
    CONSUME(i.c);                                              \
    pc += holds ? 1 : pc->d;                                   \
    NEXT();                                                    \
  }                                                            \
  on_JumpUnless##name##K : {                                   \
    const Value x = R[i.b], y = constants[i.c];                \
    if (BOTH_INT(x, y)) {                                      \
      pc += x.as_int operation y.as_int ? 1 : pc->d;           \
      NEXT();                                                  \
    }                                                          \
    if (x.is_number()) {                                       \
      pc += x.to_double() operation y.to_double() ? 1 : pc->d; \
      NEXT();                                                  \
    }                                                          \
    SAVE();                                                    \
    const bool holds = comparison_holds(op, x, y);             \
    CONSUME(i.b);                                              \
    pc += holds ? 1 : pc->d;                                   \
    NEXT();                                                    \
  }
#define COMPARISONS(X)                                                            \
  X(Less, BinaryOp::kLess, <)                                                     \
  X(LessEqual, BinaryOp::kLessEqual, <=) X(Greater, BinaryOp::kGreater, >)        \
      X(GreaterEqual, BinaryOp::kGreaterEqual, >=) X(Equal, BinaryOp::kEqual, ==) \
          X(NotEqual, BinaryOp::kNotEqual, !=)
    COMPARISONS(COMPARISON)
    COMPARISONS(JUMP_UNLESS)

  on_Jump:
    pc += i.d - 1;
    NEXT();
  on_Loop:
    pc += i.d - 1;
    SAFEPOINT();
    NEXT();
  on_JumpIf:
  on_JumpIfNot : {
    const Value x = R[i.a];
    bool holds;
    if (x.is_bool()) {
      holds = x.as_bool;
    } else {
      SAVE();
      holds = truthy(x);
      CONSUME(i.a);
    }
    if (holds == (i.op == Op::kJumpIf))
      pc += i.d - 1;
    NEXT();
  }
  on_JumpIfNil:
    if (is_none(R[i.a])) {
      CONSUME(i.a);
      pc += i.d - 1;
    }
    NEXT();
  on_JumpIfGiven:
    if (!R[i.a].is_missing())
      pc += i.d - 1;
    NEXT();
  on_Coalesce : {
    const Value x = R[i.b];
    const bool is_result = x.is(Kind::kEnumValue) && as_object<EnumValue>(x)->type == core_types().result;
    if (is_none(x) || (is_result && as_object<EnumValue>(x)->variant == kErr)) {
      CONSUME(i.b);
      ++pc;
      NEXT();
    }
    if (is_result || (x.is(Kind::kEnumValue) && as_object<EnumValue>(x)->type == core_types().option))
      SET(i.a, retained(as_object<EnumValue>(x)->payload()[0]));
    pc += pc->d;
    NEXT();
  }

  on_ForPrepare : {
    if (!R[i.a].is_int() || !R[i.a + 1].is_int()) {
      SAVE();
      fail("a range goes from one integer to another, not from " + type_name(R[i.a]) + " to " +
           type_name(R[i.a + 1]));
    }
    if (i.d == 1) {
      if (R[i.a + 1].as_int == INT64_MAX)
        fail("this range is too long");
      ++R[i.a + 1].as_int;
    }
    NEXT();
  }
  on_ForRange : {
    const int64_t at = R[i.a].as_int;
    if (at < R[i.a + 1].as_int) {
      R[i.a].as_int = at + 1;
      SET(i.b, Value::integer(at));
      ++pc;
    } else {
      pc += pc->d;
    }
    NEXT();
  }
  on_IterPrepare : {
    SAVE();
    const Value iterator = make_iterator(R[i.b]);
    CONSUME(i.b);
    SET(i.a, iterator);
    SET(i.a + 1, Value::integer(0));
    NEXT();
  }
  on_IterNext : {
    const Value source = R[i.a];
    if (source.is(Kind::kArray)) {
      const auto& items = as_object<Array>(source)->items;
      const auto at = static_cast<size_t>(R[i.a + 1].as_int);
      if (at < items.size()) {
        R[i.a + 1].as_int = static_cast<int64_t>(at + 1);
        SET(i.b, retained(items[at]));
        ++pc;
      } else {
        pc += pc->d;
      }
      NEXT();
    }
    SAVE();
    Value out;
    if (iterate(&R[i.a], out)) {
      SET(i.b, out);
      ++pc;
    } else {
      pc += pc->d;
    }
    NEXT();
  }
  on_IterNextPair : {
    SAVE();
    Value first, second;
    if (iterate_pair(&R[i.a], first, second)) {
      SET(i.b, first);
      SET(i.c, second);
      ++pc;
    } else {
      pc += pc->d;
    }
    NEXT();
  }

  on_GetField : {
    const Value object = R[i.b];
    Cache& cache = proto->caches[i.c];
    if (object.is(Kind::kInstance)) {
      auto* instance = as_object<Instance>(object);
      if (instance->record == cache.type) {
        const Value field = retained(instance->fields()[cache.index]);
        CONSUME(i.b);
        SET(i.a, field);
        NEXT();
      }
      if (const auto found = instance->record->field_index.find(cache.name);
          found != instance->record->field_index.end()) {
        cache.type = instance->record;
        cache.index = found->second;
        const Value field = retained(instance->fields()[cache.index]);
        CONSUME(i.b);
        SET(i.a, field);
        NEXT();
      }
    }
    SAVE();
    const Value field = get_field(object, cache.name);
    CONSUME(i.b);
    SET(i.a, field);
    NEXT();
  }
  on_SetField : {
    Cache& cache = proto->caches[i.c];
    const Value value = i.b < locals ? retained(R[i.b]) : std::exchange(R[i.b], Value());
    SAVE();
    if (R[i.a].is(Kind::kInstance)) {
      auto* instance = as_object<Instance>(R[i.a]);
      if (instance->record == cache.type && (instance->record->is_class || instance->refs == 1)) {
        assign(instance->fields()[cache.index], value);
        NEXT();
      }
      if (const auto found = instance->record->field_index.find(cache.name);
          found != instance->record->field_index.end()) {
        cache.type = instance->record;
        cache.index = found->second;
      }
    }
    set_field(R[i.a], cache.name, value);
    NEXT();
  }
  on_GetTupleField : {
    SAVE();
    const Value object = R[i.b];
    const auto* items = sequence_items(object);
    Value part;
    if (items != nullptr && i.c < items->size())
      part = retained((*items)[i.c]);
    else if (object.is(Kind::kEnumValue) && i.c < as_object<EnumValue>(object)->info().arity)
      part = retained(as_object<EnumValue>(object)->payload()[i.c]);
    else
      fail("." + std::to_string(i.c) + " is not part of this " + type_name(object));
    CONSUME(i.b);
    SET(i.a, part);
    NEXT();
  }
  on_GetIndex : {
    const Value object = R[i.b], index = R[i.c];
    if (object.is(Kind::kArray) && index.is_int()) {
      const auto& items = as_object<Array>(object)->items;
      const int64_t at = index.as_int < 0 ? index.as_int + static_cast<int64_t>(items.size()) : index.as_int;
      if (static_cast<uint64_t>(at) < items.size()) {
        const Value item = retained(items[static_cast<size_t>(at)]);
        CONSUME(i.b);
        SET(i.a, item);
        NEXT();
      }
    }
    SAVE();
    const Value item = get_index(object, index);
    CONSUME(i.b);
    CONSUME(i.c);
    SET(i.a, item);
    NEXT();
  }
  on_SetIndex : {
    const Value value = i.c < locals ? retained(R[i.c]) : std::exchange(R[i.c], Value());
    SAVE();
    const Value object = R[i.a], index = R[i.b];
    if (object.is(Kind::kArray) && index.is_int() && object.as_object->refs == 1) {
      auto& items = as_object<Array>(object)->items;
      if (static_cast<uint64_t>(index.as_int) < items.size()) {
        assign(items[static_cast<size_t>(index.as_int)], value);
        NEXT();
      }
    }
    set_index(R[i.a], index, value);
    CONSUME(i.b);
    NEXT();
  }
  on_GetPath : {
    SAVE();
    const Value value = load_path(proto->paths[static_cast<size_t>(i.d)]);
    SET(i.a, value);
    NEXT();
  }
  on_SetPath : {
    SAVE();
    const Value value = i.a < locals ? retained(R[i.a]) : std::exchange(R[i.a], Value());
    const Path& path = proto->paths[static_cast<size_t>(i.d)];
    store_path(path, value);
    release_path(path);
    NEXT();
  }

#define ENTER_OR_GO_ON(started) \
  do {                          \
    if (started) {              \
      SAFEPOINT_CALL();         \
      ENTER();                  \
    }                           \
    NEXT();                     \
  } while (false)
#define SAFEPOINT_CALL()                   \
  do {                                     \
    if (host_lock().wanted()) [[unlikely]] \
      safepoint();                         \
  } while (false)

  on_Call : {
    SAVE();
    const uint32_t window = frame->base + i.a;
    const Value callee = R[i.a];
    if (callee.is(Kind::kClosure)) {
      auto* closure = as_object<Closure>(callee);
      if (closure->proto->plain() && closure->proto->parameters.size() == i.b) {
        push_frame(closure, window + 1, i.b, window, kNoPath);
        SAFEPOINT_CALL();
        ENTER();
        NEXT();
      }
    }
    ENTER_OR_GO_ON(start_call(window, i.b, nullptr));
  }
  on_CallSpec:
    SAVE();
    ENTER_OR_GO_ON(start_call(frame->base + i.a, i.b, &proto->specs[i.c]));
  on_Invoke : {
    SAVE();
    Cache& cache = proto->caches[i.c];
    const Value self = R[i.a];
    if (self.is(Kind::kInstance) && as_object<Instance>(self)->record == cache.type &&
        cache.epoch == method_epoch()) {
      // Known for this class, and its parameters are exactly those given.
      push_frame(const_cast<Closure*>(static_cast<const Closure*>(cache.target)), frame->base + i.a, i.b + 1u,
                 frame->base + i.a, kNoPath);
      SAFEPOINT_CALL();
      ENTER();
      NEXT();
    }
    ENTER_OR_GO_ON(start_invoke(frame->base + i.a, i.b, nullptr, cache));
  }
  on_InvokeSpec : {
    SAVE();
    const CallSpec& spec = proto->specs[static_cast<size_t>(pc->d)];
    ++frame->pc;
    pc = frame->pc;
    ENTER_OR_GO_ON(start_invoke(frame->base + i.a, i.b, &spec, proto->caches[i.c]));
  }
  on_InvokePlace : {
    const int32_t index = (pc++)->d;
    SAVE();
    ENTER_OR_GO_ON(start_invoke_place(frame->base + i.a, i.b, proto->paths[static_cast<size_t>(index)], index,
                                      proto->caches[i.c]));
  }
  on_Return:
  on_ReturnNil : {
    SAVE();
    Value value;
    if (i.op == Op::kReturn)
      value = i.a < locals ? retained(R[i.a]) : std::exchange(R[i.a], Value());
    const uint32_t result = frame->result;
    const int32_t place = frame->place_path;
    if (place != kNoPath) [[unlikely]] {
      if (place == kConstructor) {
        release(value);
        value = retained(R[0]);
      } else {
        const Value self = std::exchange(R[0], Value());
        pop_frame_clearing();
        const Path& path = frames_[frame_count_ - 1].proto->paths[static_cast<size_t>(place)];
        store_path(path, self);
        release_path(path);
        assign(stack_[result], value);
        if (frame_count_ == floor) {
          --native_depth_;
          return;
        }
        ENTER();
        NEXT();
      }
    }
    const uint32_t count = proto->registers;
    for (uint32_t r = 0; r < count; ++r) {
      if (R[r].is_object()) {
        const Value old = R[r];
        R[r] = Value();
        release(old);
      }
    }
    --frame_count_;
    const Value old = stack_[result];
    stack_[result] = value;
    release(old);
    if (frame_count_ == floor) {
      --native_depth_;
      return;
    }
    ENTER();
    NEXT();
  }

  on_MakeArray : {
    auto* array = new Array();
    array->items.assign(R + i.b, R + i.b + i.c);
    for (uint32_t r = 0; r < i.c; ++r)
      R[i.b + r] = Value();
    SET(i.a, Value::object(array));
    NEXT();
  }
  on_MakeTuple : {
    auto* tuple = new Tuple();
    tuple->items.assign(R + i.b, R + i.b + i.c);
    for (uint32_t r = 0; r < i.c; ++r)
      R[i.b + r] = Value();
    if (pc->d >= 0)
      for (const Value name : as_object<Array>(constants[pc->d])->items)
        tuple->names.push_back(static_cast<Symbol>(name.as_int));
    ++pc;
    SET(i.a, Value::object(tuple));
    NEXT();
  }
  on_MakeDict:
    SET(i.a, Value::object(new Dict()));
    NEXT();
  on_MakeRange : {
    SAVE();
    const Value range = make_range(R[i.b], R[i.c], (pc++)->d != 0);
    SET(i.a, range);
    NEXT();
  }
  on_MakeSlice : {
    auto* slice = new Slice();
    slice->start = std::exchange(R[i.b], Value());
    slice->stop = std::exchange(R[i.b + 1], Value());
    slice->step = std::exchange(R[i.b + 2], Value());
    SET(i.a, Value::object(slice));
    NEXT();
  }
  on_MakeRepeat : {
    SAVE();
    if (!R[i.c].is_int() || R[i.c].as_int < 0)
      fail("[value; count] needs a count of 0 or more");
    if (R[i.c].as_int > INT64_C(1) << 34)
      fail("an array of " + std::to_string(R[i.c].as_int) + " elements is too large");
    auto* array = new Array();
    const Value value = R[i.b];
    array->items.assign(static_cast<size_t>(R[i.c].as_int), value);
    if (value.is_object())
      value.as_object->refs += static_cast<uint32_t>(R[i.c].as_int);
    CONSUME(i.b);
    SET(i.a, Value::object(array));
    NEXT();
  }
  on_ArrayPush : {
    const Value value = i.b < locals ? retained(R[i.b]) : std::exchange(R[i.b], Value());
    as_object<Array>(R[i.a])->items.push_back(value);
    NEXT();
  }
  on_ArrayExtend : {
    SAVE();
    auto* array = as_object<Array>(R[i.a]);
    each(R[i.b], [&](Value item) {
      array->items.push_back(retained(item));
      return true;
    });
    CONSUME(i.b);
    NEXT();
  }
  on_DictSet : {
    SAVE();
    const Value key = i.b < locals ? retained(R[i.b]) : std::exchange(R[i.b], Value());
    const Value value = i.c < locals ? retained(R[i.c]) : std::exchange(R[i.c], Value());
    as_object<Dict>(R[i.a])->set(key, value);
    NEXT();
  }
  on_DictMerge : {
    SAVE();
    if (!R[i.b].is(Kind::kDict))
      fail("** needs a dict, not " + type_name(R[i.b]));
    for (const auto& entry : as_object<Dict>(R[i.b])->entries)
      if (!entry.key.is_missing())
        as_object<Dict>(R[i.a])->set(retained(entry.key), retained(entry.value));
    CONSUME(i.b);
    NEXT();
  }
  on_MakeClosure : {
    const auto which = static_cast<size_t>(i.d);
    auto* closure = new Closure(proto->protos[which]);
    for (const Capture capture : proto->capture_lists[which])
      closure->captured.push_back(
          retained(capture.from_local ? R[capture.index] : frame->closure->captured[capture.index]));
    SET(i.a, Value::object(closure));
    NEXT();
  }
  on_Concat : {
    SAVE();
    const Value text = concatenated(R + i.b, i.c);
    for (uint32_t r = i.b; r < i.b + i.c; ++r)
      CONSUME(r);
    SET(i.a, text);
    NEXT();
  }
  on_Format : {
    SAVE();
    const Value text = make_text(format_value(R[i.b], text_of(constants[i.c])));
    CONSUME(i.b);
    SET(i.a, text);
    NEXT();
  }

  on_TestVariant:
    SET(i.a, Value::boolean(is_variant(R[i.b], proto->variants[i.c])));
    NEXT();
  on_TestName : {
    const Value value = R[i.b];
    const Symbol name = proto->caches[i.c].name;
    static const Symbol none = intern("None");
    bool holds = true;
    if (name == none) {
      holds = is_none(value);
    } else if (value.is(Kind::kEnumValue)) {
      const auto* enum_value = as_object<EnumValue>(value);
      if (enum_value->type->index_of(name) >= 0)
        holds = enum_value->info().name == name;
    }
    SET(i.a, Value::boolean(holds));
    NEXT();
  }
  on_TestSequence : {
    const int32_t form = (pc++)->d;
    const auto* items = sequence_items(R[i.b]);
    const bool fits = items != nullptr && ((form & 1) != 0 ? items->size() >= i.c : items->size() == i.c);
    if ((form & 2) == 0) {
      SET(i.a, Value::boolean(fits));
    } else if (!fits) {
      SAVE();
      fail(items == nullptr
               ? "cannot take apart " + type_name(R[i.b])
               : std::to_string(items->size()) + " values cannot be taken apart into " + std::to_string(i.c));
    }
    NEXT();
  }
  on_TestRecord : {
    const Symbol name = proto->caches[i.c].name;
    const Value value = R[i.b];
    bool holds = false;
    if (value.is(Kind::kInstance))
      holds = name == kNoSymbol || as_object<Instance>(value)->record->name == name;
    else if (value.is(Kind::kEnumValue))
      holds = as_object<EnumValue>(value)->info().name == name;
    SET(i.a, Value::boolean(holds));
    NEXT();
  }
  on_GetPart : {
    const Value part = part_of(R[i.b], i.c);
    SET(i.a, part);
    NEXT();
  }
  on_GetNamedPart : {
    SAVE();
    const Value part = get_field(R[i.b], proto->caches[i.c].name);
    SET(i.a, part);
    NEXT();
  }
  on_GetRest : {
    auto* array = new Array();
    const auto& items = *sequence_items(R[i.b]);
    for (size_t at = i.c; at < items.size(); ++at)
      array->items.push_back(retained(items[at]));
    SET(i.a, Value::object(array));
    NEXT();
  }
  on_TestPresent : {
    const Value value = R[i.b];
    const bool is_error = value.is(Kind::kEnumValue) &&
                          as_object<EnumValue>(value)->type == core_types().result &&
                          as_object<EnumValue>(value)->variant == kErr;
    SET(i.a, Value::boolean(!is_none(value) && !is_error));
    NEXT();
  }
  on_Unwrap : {
    const Value value = R[i.b];
    const bool wrapped =
        value.is(Kind::kEnumValue) && (as_object<EnumValue>(value)->type == core_types().result ||
                                       as_object<EnumValue>(value)->type == core_types().option);
    SET(i.a, retained(wrapped ? as_object<EnumValue>(value)->payload()[0] : value));
    NEXT();
  }
  on_Try : {
    const Value value = i.b < locals ? retained(R[i.b]) : std::exchange(R[i.b], Value());
    const bool is_result =
        value.is(Kind::kEnumValue) && as_object<EnumValue>(value)->type == core_types().result;
    if (is_none(value) || (is_result && as_object<EnumValue>(value)->variant == kErr)) {
      SET(i.a, value);
      ++pc;
      NEXT();
    }
    if (is_result ||
        (value.is(Kind::kEnumValue) && as_object<EnumValue>(value)->type == core_types().option)) {
      SET(i.a, retained(as_object<EnumValue>(value)->payload()[0]));
      release(value);
    } else {
      SET(i.a, value);
    }
    pc += pc->d;
    NEXT();
  }
  on_Present : {
    SAVE();
    const Value value = i.b < locals ? retained(R[i.b]) : std::exchange(R[i.b], Value());
    const bool present = value.is_bool() || value.is_number() || truthy(value);
    if (!present)
      release(value);
    SET(i.a, present ? value : Value());
    NEXT();
  }
  on_Cast : {
    SAVE();
    const Value made = cast_value(R[i.b], i.c);
    CONSUME(i.b);
    SET(i.a, made);
    NEXT();
  }
  on_Contains : {
    SAVE();
    const bool found = contains(R[i.c], R[i.b]);
    CONSUME(i.b);
    CONSUME(i.c);
    SET(i.a, Value::boolean(found));
    NEXT();
  }
  on_Is : {
    SAVE();
    const Value x = R[i.b], y = R[i.c];
    bool same;
    if (x.is_object() && y.is_object() && x.as_object->kind == Kind::kInstance)
      same = x.as_object == y.as_object;
    else if (y.is(Kind::kRecord) || y.is(Kind::kTrait) || y.is(Kind::kEnum))
      same = is_of_type(x, as_object<Type>(y));
    else
      same = equals(x, y);
    CONSUME(i.b);
    CONSUME(i.c);
    SET(i.a, Value::boolean(same));
    NEXT();
  }
  on_Assert : {
    SAVE();
    if (!R[i.b].is_nil())
      fail("assertion failed: " + display(R[i.b]));
    fail("assertion failed: " + text_of(constants[i.c]));
  }
  on_DeferMark:
    SET(i.a, Value::integer(static_cast<int64_t>(defers_.size())));
    NEXT();
  on_DeferPush:
    defers_.push_back({i.a < locals ? retained(R[i.a]) : std::exchange(R[i.a], Value()), false});
    NEXT();
  on_RunDefers:
    SAVE();
    run_defers(static_cast<size_t>(R[i.a].as_int));
    NEXT();
  on_WithEnter : {
    SAVE();
    const Value resource = std::exchange(R[i.b], Value());
    defers_.push_back({resource, true});
    const Value entered = enter_resource(resource);
    SET(i.a, entered);
    NEXT();
  }
  on_Use:
    SAVE();
    import_into(*proto->module, *proto->uses[static_cast<size_t>(i.d)]);
    NEXT();
  on_Link:
    SAVE();
    link_type(proto->links[static_cast<size_t>(i.d)], *proto->module);
    NEXT();
  on_Release : {
    const Value value = R[i.a];
    if (value.is_object()) {
      SAVE();
      R[i.a] = Value();
      release(value);
    }
    NEXT();
  }
  } catch (SimpleError& error) {
    if (!error.located) {
      error.stack = stack();
      error.located = true;
    }
    unwind(floor);
    --native_depth_;
    throw;
  } catch (const std::bad_alloc&) {
    SimpleError error("out of memory");
    error.stack = stack();
    error.located = true;
    unwind(floor);
    --native_depth_;
    throw error;
  } catch (const ExitRequest&) {
    --native_depth_;
    throw;
  }
  goto again;
}

}  // namespace spl
