// Making instances and the values of enums.
#include <algorithm>
#include "host/builtins/builtins.h"
#include "host/ffi/extern.h"
#include "host/modules/module.h"
#include "host/values/spelling_suggester.h"
#include "host/vm/hints.h"
#include "host/vm/thread.h"
#include "host/vm/threads.h"

namespace spl {

bool Thread::construct(Record* record, uint32_t window, uint32_t count, const CallSpec* spec) {
  static const Symbol init = intern("init"), init_dunder = intern("__init__"), make = intern("new");
  const Method* initializer = record->find(init);
  if (initializer == nullptr || initializer->is_static) {
    initializer = record->find(init_dunder);
  }
  if (initializer == nullptr && spec == nullptr) {
    const Method* maker = record->find(make);
    if (maker != nullptr && maker->is_static &&
        as_object<Closure>(maker->function)->proto->parameters.size() == count) {
      return start_method(*maker, window, count, spec, kNoPath);
    }
  }
  if (record->awaits_parents) {
    fail(name_of(record->name) + " cannot be created before its class statement has run",
         "create it below the class");
  }
  Instance* instance = new_instance(record);
  Ref held = Ref::owned(Value::object(instance));
  for (size_t i = 0; i < record->fields.size(); ++i) {
    instance->fields()[i] = retained(record->fields[i].default_value);
  }
  if (initializer != nullptr && !initializer->is_static) {
    if (!as_object<Closure>(initializer->function)->proto->runs_at_once()) {
      fail("the initializer of " + name_of(record->name) + " cannot be async or a generator");
    }
    fill_fields(instance, 0, 0, nullptr);
    assign(stack_[window], held.take());
    return start_method(*initializer, window, count, spec, kConstructor);
  }
  fill_fields(instance, window + 1, count, spec);
  finish_window(window, window + 1, count, held.take());
  return false;
}

void Thread::fill_fields(Instance* instance, uint32_t first, uint32_t count, const CallSpec* spec) {
  Record* record = instance->record;
  const size_t total = record->fields.size();
  if (spec == nullptr && count == total) {
    for (uint32_t i = 0; i < count; ++i) {
      assign(instance->fields()[i], std::exchange(stack_[first + i], Value()));
    }
    return;
  }
  std::vector<bool> given(total, false);
  const auto put = [&](size_t index, Value owned) {
    given[index] = true;
    assign(instance->fields()[index], owned);
  };
  const auto put_named = [&](Symbol name, Value owned) {
    const Ref held = Ref::shared(owned);
    const auto found = record->field_index.find(name);
    if (found == record->field_index.end()) {
      release(owned);
      fail(name_of(record->name) + " has no field " + name_of(name), field_hint(*record, name));
    }
    put(found->second, owned);
  };
  for (uint32_t i = 0; i < count; ++i) {
    const auto form = spec == nullptr ? CallSpec::Form::kPositional : spec->forms[i];
    const Value value = stack_[first + i];
    if (form == CallSpec::Form::kNamed) {
      put_named(spec->names[i], std::exchange(stack_[first + i], Value()));
    } else if (form == CallSpec::Form::kDictSpread && value.is(Kind::kDict)) {
      for (const auto& entry : as_object<Dict>(value)->entries) {
        if (entry.key.is(Kind::kText)) {
          put_named(intern(text_of(entry.key)), retained(entry.value));
        }
      }
    } else if (form == CallSpec::Form::kBase) {
      if (!value.is(Kind::kInstance) || as_object<Instance>(value)->record != record) {
        fail("..base needs another " + name_of(record->name) + ", not " + type_name(value));
      }
      for (size_t f = 0; f < total; ++f) {
        if (!given[f]) {
          put(f, retained(as_object<Instance>(value)->fields()[f]));
        }
      }
    }
  }
  size_t at = 0;
  const auto put_next = [&](Value owned) {
    while (at < total && given[at]) {
      ++at;
    }
    if (at == total) {
      release(owned);
      fail(name_of(record->name) + " has " + std::to_string(total) + (total == 1 ? " field" : " fields") +
           ", got more values");
    }
    put(at, owned);
  };
  for (uint32_t i = 0; i < count; ++i) {
    const auto form = spec == nullptr ? CallSpec::Form::kPositional : spec->forms[i];
    if (form == CallSpec::Form::kPositional) {
      put_next(std::exchange(stack_[first + i], Value()));
    } else if (form == CallSpec::Form::kSpread) {
      each(stack_[first + i], [&](Value item) {
        put_next(retained(item));
        return true;
      });
    }
  }
  for (size_t i = 0; i < total; ++i) {
    if (given[i] || record->fields[i].initializer == nullptr) {
      continue;
    }
    const Ref closure = Ref::owned(make_closure(record->fields[i].initializer));
    assign(instance->fields()[i], call(closure.get(), nullptr, 0));
  }
}

namespace {

[[noreturn]] void fail_no_payload(const Enum& type, const VariantInfo& variant, Symbol name) {
  SpellingSuggester nearest(name_of(name));
  for (const Symbol field : variant.field_names) {
    nearest.offer(name_of(field));
  }
  fail(name_of(type.name) + "." + name_of(variant.name) + " has no value named " + name_of(name),
       nearest.hint());
}

}  // namespace

bool Thread::construct_variant(Enum* type, uint32_t variant, uint32_t window, uint32_t count,
                               const CallSpec* spec) {
  const VariantInfo& info = type->variants[variant];
  std::vector<Symbol> names;
  if (spec != nullptr) {
    names = spec->names;
    for (const auto form : spec->forms) {
      if (form == CallSpec::Form::kSpread) {
        names.clear();
      }
    }
    count = flatten(window + 1, count, *spec);
  }
  if (count != info.arity) {
    fail(name_of(type->name) + "." + name_of(info.name) + " takes " + std::to_string(info.arity) +
         " values, got " + std::to_string(count));
  }
  if (count == 0) {
    assign(stack_[window], retained(info.singleton));
    return false;
  }
  EnumValue* value = new_enum_value(type, variant);
  Ref held = Ref::owned(Value::object(value));
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t at = i;
    if (i < names.size() && names[i] != kNoSymbol) {
      const auto found = std::find(info.field_names.begin(), info.field_names.end(), names[i]);
      if (found != info.field_names.end()) {
        at = static_cast<uint32_t>(found - info.field_names.begin());
      } else if (!info.field_names.empty() && info.field_names[0] != kNoSymbol) {
        fail_no_payload(*type, info, names[i]);
      }
    }
    assign(value->payload()[at], std::exchange(stack_[window + 1 + i], Value()));
  }
  assign(stack_[window], held.take());
  return false;
}

}  // namespace spl
