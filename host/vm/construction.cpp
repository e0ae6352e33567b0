// Construction of instances and enum values.
#include <algorithm>
#include <bitset>

#include "host/values/module.h"
#include "host/values/shape.h"
#include "host/values/spelling_suggester.h"
#include "host/vm/hints.h"
#include "host/vm/protocols.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

namespace {

// Native handles have their kind in the highest bits; a size or another number is smaller.
constexpr int64_t kLeastHandle = int64_t{1} << 56;

/// Whether the arguments are the fields of an instance that owns a native handle: the handle, or fields by
/// name.
bool are_fields(const Record& record, const Value* args, uint32_t count, const CallSpec* spec) {
  if (spec == nullptr) {
    return count == 1 && args[0].is_int() && args[0].as_int >= kLeastHandle;
  }
  const auto is_field = [&](uint32_t i) {
    return spec->forms[i] == CallSpec::Form::kNamed && record.field_index.count(spec->names[i]) != 0;
  };
  return count > 0 && is_field(0);
}

// Whether the arguments name fields, while the initializer of an impl block has no such parameters.
// Upstream's structs have such methods, which programs call themselves: `Heap(base: 0).init()`.
bool names_fields_only(const Record& record, const Method& initializer, uint32_t count,
                       const CallSpec* spec) {
  if (initializer.origin != Origin::kImpl || spec == nullptr || count == 0) {
    return false;
  }
  const std::vector<Symbol>& parameters = as_object<Closure>(initializer.function)->proto->parameters;
  return std::all_of(spec->forms.begin(), spec->forms.end(),
                     [](CallSpec::Form form) { return form == CallSpec::Form::kNamed; }) &&
         std::all_of(spec->names.begin(), spec->names.end(), [&](Symbol name) {
           return record.field_index.contains(name) &&
                  std::find(parameters.begin(), parameters.end(), name) == parameters.end();
         });
}

}  // namespace

bool Thread::construct(Record* record, uint32_t window, uint32_t count, const CallSpec* spec) {
  if (record->foreign.is_object()) [[unlikely]] {
    assign(stack_[window], retained(record->foreign));
    return start_call(window, count, spec);
  }
  const Method* initializer = record->initializer;
  if (const Method* maker = record->maker;
      initializer == nullptr && spec == nullptr && maker != nullptr && maker->is_static &&
      as_object<Closure>(maker->function)->proto->parameters.size() == count) {
    return start_method(*maker, window, count, spec, kNoLvalue);
  }
  if (const Method* constructor = record->constructor;
      initializer == nullptr && record->direct != nullptr && constructor != nullptr &&
      constructor->is_static && !are_fields(*record, &stack_[window + 1], count, spec)) {
    return start_method(*constructor, window, count, spec, kNoLvalue);
  }
  if (record->awaits_statement) {
    fail(name_of(record->name) + " cannot be created before its class statement has run",
         "create it below the class");
  }
  Instance* instance = new_instance(record);
  Ref held = Ref::owned(Value::object(instance));
  for (size_t i = 0; i < record->fields.size(); ++i) {
    instance->fields()[i] = retained(record->fields[i].default_value);
  }
  if (initializer != nullptr && !initializer->is_static &&
      !names_fields_only(*record, *initializer, count, spec)) {
    if (!as_object<Closure>(initializer->function)->proto->runs_at_once()) {
      fail("the initializer of " + name_of(record->name) + " cannot be async or a generator");
    }
    fill_fields(instance, 0, 0, nullptr);
    assign(stack_[window], held.take());
    return start_method(*initializer, window, count, spec, kConstructor);
  }
  fill_fields(instance, window + 1, count, spec);
  if (record->post_init != nullptr) {
    release(call_method_of(held.get(), *record->post_init, nullptr, 0));
  }
  finish_window(window, window + 1, count, held.take());
  return false;
}

namespace {

/// Stores the arguments of a constructor call in the fields of a new instance.
class FieldBinder {
 public:
  explicit FieldBinder(Instance& instance)
      : instance_(instance), record_(*instance.record), count_(record_.fields.size()) {
    if (count_ > first_bound_.size()) {
      further_bound_.resize(count_ - first_bound_.size());
    }
  }

  bool is_bound(size_t field) const {
    return field < first_bound_.size() ? first_bound_[field] : further_bound_[field - first_bound_.size()];
  }

  void bind_named(Symbol name, Value owned) {
    Ref held = Ref::owned(owned);
    const auto found = record_.field_index.find(name);
    if (found == record_.field_index.end()) {
      fail_arguments(name_of(record_.name) + " has no field " + name_of(name), field_hint(record_, name));
    }
    put(found->second, held.take());
  }

  void bind_dict(const Dict& dict) {
    for (const auto& entry : dict.entries) {
      if (entry.key.is(Kind::kText)) {
        bind_named(intern(text_of(entry.key)), retained(entry.value));
      }
    }
  }

  // ..base: the fields without an argument come from another instance.
  void bind_base(Value base) {
    if (!base.is(Kind::kInstance) || as_object<Instance>(base)->record != &record_) {
      fail_arguments("..base must be a " + name_of(record_.name) + ", got " + type_name(base));
    }
    for (size_t field = 0; field < count_; ++field) {
      if (!is_bound(field)) {
        put(field, retained(as_object<Instance>(base)->fields()[field]));
      }
    }
  }

  void bind_positional(Value owned) {
    Ref held = Ref::owned(owned);
    while (next_ < count_ && is_bound(next_)) {
      ++next_;
    }
    if (next_ == count_) {
      fail_arguments(name_of(record_.name) + " has " + std::to_string(next_) +
                     (next_ == 1 ? " field" : " fields") + ", got more values");
    }
    put(next_, held.take());
  }

 private:
  void put(size_t field, Value owned) {
    if (field < first_bound_.size()) {
      first_bound_[field] = true;
    } else {
      further_bound_[field - first_bound_.size()] = true;
    }
    assign(instance_.fields()[field], owned);
  }

  Instance& instance_;
  const Record& record_;
  size_t count_;
  std::bitset<64> first_bound_;  // without an allocation for classes of a usual size
  std::vector<bool> further_bound_;
  size_t next_ = 0;
};

}  // namespace

// Named arguments are bound first, then the positional ones fill the remaining fields in order.
void Thread::fill_fields(Instance* instance, uint32_t first, uint32_t count, const CallSpec* spec) {
  Record* record = instance->record;
  const size_t total = record->fields.size();
  if (spec == nullptr && count == total) {
    for (uint32_t i = 0; i < count; ++i) {
      assign(instance->fields()[i], std::exchange(stack_[first + i], Value()));
    }
    convert_fields(*instance);
    return;
  }
  FieldBinder binder(*instance);
  const auto form_of = [&](uint32_t i) {
    return spec == nullptr ? CallSpec::Form::kPositional : spec->forms[i];
  };
  for (uint32_t i = 0; i < count; ++i) {
    const Value value = stack_[first + i];
    if (form_of(i) == CallSpec::Form::kNamed) {
      binder.bind_named(spec->names[i], std::exchange(stack_[first + i], Value()));
    } else if (form_of(i) == CallSpec::Form::kDictSpread) {
      binder.bind_dict(*as_object<Dict>(value));
    } else if (form_of(i) == CallSpec::Form::kBase) {
      binder.bind_base(value);
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (form_of(i) == CallSpec::Form::kPositional) {
      binder.bind_positional(std::exchange(stack_[first + i], Value()));
    } else if (form_of(i) == CallSpec::Form::kSpread) {
      each(stack_[first + i], [&](Value item) {
        binder.bind_positional(retained(item));
        return true;
      });
    }
  }
  for (size_t field = 0; field < total; ++field) {
    if (!binder.is_bound(field) && record->fields[field].initializer != nullptr) {
      const Ref closure = Ref::owned(make_closure(record->fields[field].initializer));
      assign(instance->fields()[field], call(closure.get(), nullptr, 0));
    }
  }
  convert_fields(*instance);
}

// As arguments are converted to the types that parameters declare, and as their widths are checked.
void Thread::convert_fields(Instance& instance) {
  const std::vector<FieldInfo>& fields = instance.record->fields;
  for (size_t i = 0; instance.record->checks_widths && i < fields.size(); ++i) {
    check_width(fields[i], instance.fields()[i]);
  }
  if (!Record::has_foreign_classes) {
    return;
  }
  for (size_t i = 0; i < fields.size(); ++i) {
    if (instance.fields()[i].is(Kind::kInstance) && fields[i].convertible != kNoSymbol) {
      const Ref type = Ref::owned(make_text(name_of(fields[i].convertible)));
      convert_as_declared(instance.fields()[i], type.get());
    }
  }
}

namespace {

[[noreturn]] void fail_no_payload(const Enum& type, const VariantInfo& variant, Symbol name) {
  SpellingSuggester suggester(name_of(name));
  for (const Symbol field : variant.field_names) {
    suggester.offer(name_of(field));
  }
  fail_arguments(name_of(type.name) + "." + name_of(variant.name) + " has no value named " + name_of(name),
                 suggester.hint());
}

// Stores the arguments with names after `count` positional ones.
void fill_named_payload(EnumValue& value, const Dict& arguments, uint32_t count) {
  const VariantInfo& info = value.info();
  for (const auto& entry : arguments.entries) {
    const Symbol name = intern(display(entry.key));
    const auto found = std::find(info.field_names.begin(), info.field_names.end(), name);
    if (found == info.field_names.end()) {
      fail_no_payload(*value.type, info, name);
    }
    const auto at = static_cast<uint32_t>(found - info.field_names.begin());
    if (at < count) {
      fail_arguments(name_of(value.type->name) + "." + name_of(info.name) + ": the value " + name_of(name) +
                     " is passed twice");
    }
    assign(value.payload()[at], retained(entry.value));
  }
}

}  // namespace

bool Thread::construct_variant(Enum* type, uint32_t variant, uint32_t window, uint32_t count,
                               const CallSpec* spec) {
  const VariantInfo& info = type->variants[variant];
  Ref named;
  if (spec != nullptr) {
    count = flatten(window + 1, count, *spec, named);
  }
  Dict* by_name = named.get().is(Kind::kDict) ? as_object<Dict>(named.get()) : nullptr;
  const uint32_t total = count + (named.get().is(Kind::kDict) ? by_name->live : 0);
  if (total != info.arity) {
    fail_arguments(name_of(type->name) + "." + name_of(info.name) + " takes " + std::to_string(info.arity) +
                   " values, got " + std::to_string(total));
  }
  if (total == 0) {
    assign(stack_[window], retained(info.singleton));
    return false;
  }
  EnumValue* value = new_enum_value(type, variant);
  Ref held = Ref::owned(Value::object(value));
  for (uint32_t i = 0; i < count; ++i) {
    assign(value->payload()[i], std::exchange(stack_[window + 1 + i], Value()));
  }
  if (by_name != nullptr) {
    fill_named_payload(*value, *by_name, count);
  }
  for (size_t i = 0; i < info.demands.size(); ++i) {
    meet(value->payload()[i], info.demands[i], "a value of " + name_of(info.name));
  }
  assign(stack_[window], held.take());
  return false;
}

}  // namespace spl
