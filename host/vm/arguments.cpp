// How the arguments of a call become the parameters of a function.
#include <algorithm>
#include <utility>
#include <vector>

#include "host/vm/hints.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

Dict& dict_in(Ref& named) {
  if (named.get().is_nil()) {
    named = Ref::owned(Value::object(new Dict()));
  }
  return *as_object<Dict>(named.get());
}

void add_named(Ref& named, Value dict) {
  for (const auto& entry : as_object<Dict>(dict)->entries) {
    if (!entry.key.is_missing()) {
      dict_in(named).set(retained(entry.key), retained(entry.value));
    }
  }
}

}  // namespace

// Leaves only positional arguments in place, with spread arrays expanded. Named ones go to `named`, a dict;
// without any it stays nil.
uint32_t Thread::flatten(uint32_t first, uint32_t count, const CallSpec& spec, Ref& named) {
  std::vector<Ref> flat;
  for (uint32_t i = 0; i < count; ++i) {
    Ref value = Ref::owned(std::exchange(stack_[first + i], Value()));
    switch (spec.forms[i]) {
      case CallSpec::Form::kPositional:
        flat.push_back(std::move(value));
        break;
      case CallSpec::Form::kNamed:
        dict_in(named).set(make_text(name_of(spec.names[i])), value.take());
        break;
      case CallSpec::Form::kSpread:
        each(value.get(), [&](Value item) {
          flat.push_back(Ref::shared(item));
          return true;
        });
        break;
      case CallSpec::Form::kDictSpread:
        add_named(named, value.get());
        break;
      case CallSpec::Form::kBase:
        fail_arguments("..base is only allowed in a constructor call");
    }
  }
  check_stack(first + static_cast<uint32_t>(flat.size()) + 8);
  for (uint32_t i = 0; i < flat.size(); ++i) {
    stack_[first + i] = flat[i].take();
  }
  return static_cast<uint32_t>(flat.size());
}

// The same for a function that has no other form of named arguments than its parameters' names.
uint32_t Thread::flatten_named(uint32_t first, uint32_t count, const CallSpec& spec,
                               const std::string& callee, const std::vector<Symbol>& parameters) {
  Ref named;
  count = flatten(first, count, spec, named);
  if (named.get().is_nil()) {
    return count;
  }
  Dict& arguments = *as_object<Dict>(named.get());
  const uint32_t positional = count;
  for (; count < parameters.size(); ++count) {
    const Ref name = Ref::owned(make_text(name_of(parameters[count])));
    const Value* found = arguments.find(name.get());
    if (found == nullptr) {
      break;
    }
    stack_[first + count] = retained(*found);
  }
  if (count - positional == arguments.live) {
    return count;
  }
  for (uint32_t i = 0; i < count; ++i) {
    assign(stack_[first + i], Value());
  }
  for (const auto& entry : arguments.entries) {
    const auto is_name = [&](Symbol name) { return name_of(name) == display(entry.key); };
    const auto found = std::find_if(parameters.begin(), parameters.end(), is_name);
    if (found == parameters.end()) {
      fail_arguments(callee + "(): there is no parameter " + display(entry.key));
    }
    if (found - parameters.begin() < positional) {
      fail_arguments(callee + "(): the argument " + display(entry.key) + " is passed twice");
    }
  }
  fail_arguments(callee + "(): the argument " + name_of(parameters[count]) + " is missing");
}

namespace {

// The function's name as the caller wrote it: the class for an initializer, Class.method for a method.
std::string called_name(const Proto& proto, Value self) {
  if (!proto.is_method || !self.is(Kind::kInstance)) {
    return proto.name;
  }
  const std::string& type = name_of(as_object<Instance>(self)->record->name);
  return proto.name == "init" || proto.name == "__init__" ? type : type + "." + proto.name;
}

struct CollectedArguments {
  std::vector<Ref> positional;
  std::vector<std::pair<Symbol, Ref>> named;
};

void collect_dict(CollectedArguments& collected, Value dict) {
  as_object<Dict>(dict)->compact();
  for (const auto& entry : as_object<Dict>(dict)->entries) {
    if (!entry.key.is(Kind::kText)) {
      fail_arguments("the keys of a dict after ** must be text, got " + type_name(entry.key));
    }
    collected.named.emplace_back(intern(text_of(entry.key)), Ref::shared(entry.value));
  }
}

/// Moves arguments into the slots of a function's parameters. On an error it releases the slots, because no
/// frame owns them yet.
class ArgumentBinder {
 public:
  ArgumentBinder(const Proto& proto, Value* slots)
      : proto_(proto), slots_(slots), count_(static_cast<int>(proto.parameters.size())) {
    for (int i = 0; i < count_; ++i) {
      slots_[i] = Value::missing();
    }
    if (proto.rest >= 0) {
      slots_[proto.rest] = Value::object(rest_ = new Array());
    }
    if (proto.named >= 0) {
      slots_[proto.named] = Value::object(others_ = new Dict());
    }
  }

  void bind_positional(std::vector<Ref>& values) {
    const int limit = proto_.only_named < 0 ? count_ : proto_.only_named;
    int at = 0;
    for (Ref& value : values) {
      while (at < limit && at == proto_.named && at != proto_.rest) {
        ++at;
      }
      if (at < limit && at != proto_.rest) {
        slots_[at++] = value.take();
      } else if (rest_ != nullptr) {
        rest_->items.push_back(value.take());
      } else {
        const int self = proto_.is_method ? 1 : 0;
        reject(wrong_count(limit - self, limit - self, static_cast<int64_t>(values.size()) - self),
               parameters_hint(proto_));
      }
    }
  }

  void bind_named(Symbol name, Ref& value) {
    const auto found = std::find(proto_.parameters.begin(), proto_.parameters.end(), name);
    const auto index = static_cast<int>(found - proto_.parameters.begin());
    const bool is_self = proto_.is_method && index == 0;  // self cannot be passed by name
    if (found != proto_.parameters.end() && index != proto_.rest && index != proto_.named && !is_self) {
      if (!slots_[index].is_missing()) {
        reject("the argument " + name_of(name) + " is passed twice", parameters_hint(proto_));
      }
      slots_[index] = value.take();
    } else if (others_ != nullptr) {
      others_->set(make_text(name_of(name)), value.take());
    } else {
      reject("there is no parameter " + name_of(name), parameter_hint(proto_, name));
    }
  }

  void check_required() {
    for (int i = 0; i < count_; ++i) {
      const auto parameter = static_cast<size_t>(i);
      if (slots_[i].is_missing() && !proto_.has_default[parameter]) {
        reject("the argument " + name_of(proto_.parameters[parameter]) + " is missing",
               parameters_hint(proto_));
      }
    }
  }

 private:
  [[noreturn]] void reject(const std::string& message, const std::string& hint) {
    const std::string name = called_name(proto_, count_ == 0 ? Value() : slots_[0]);
    for (int i = 0; i < count_; ++i) {
      assign(slots_[i], Value());
    }
    fail_arguments(name + "(): " + message, hint);
  }

  const Proto& proto_;
  Value* slots_;
  int count_;
  Array* rest_ = nullptr;   // collects surplus positional arguments
  Dict* others_ = nullptr;  // collects surplus named arguments
};

}  // namespace

// The arguments start at `base`. `leading` of them (self) precede those that `spec` describes.
void Thread::bind_arguments(const Proto& proto, uint32_t base, uint32_t count, uint32_t leading,
                            const CallSpec* spec) {
  const auto parameters = static_cast<uint32_t>(proto.parameters.size());
  if (spec == nullptr && proto.plain() && count == parameters) {
    return;
  }
  check_stack(base + std::max(parameters, count) + 8);
  CollectedArguments collected;
  for (uint32_t i = 0; i < count; ++i) {
    Ref value = Ref::owned(std::exchange(stack_[base + i], Value()));
    const auto form = spec == nullptr || i < leading ? CallSpec::Form::kPositional : spec->forms[i - leading];
    switch (form) {
      case CallSpec::Form::kPositional:
        // A trailing block may follow named arguments.
        if (!collected.named.empty() && !(i + 1 == count && value.get().is(Kind::kClosure))) {
          fail_arguments(proto.name + "(): a positional argument follows a named one");
        }
        collected.positional.push_back(std::move(value));
        break;
      case CallSpec::Form::kNamed:
        collected.named.emplace_back(spec->names[i - leading], std::move(value));
        break;
      case CallSpec::Form::kSpread:
        each(value.get(), [&](Value item) {
          collected.positional.push_back(Ref::shared(item));
          return true;
        });
        break;
      case CallSpec::Form::kDictSpread:
        collect_dict(collected, value.get());
        break;
      case CallSpec::Form::kBase:
        fail_arguments("..base is only allowed in a constructor call");
    }
  }
  ArgumentBinder binder(proto, stack_ + base);
  binder.bind_positional(collected.positional);
  for (auto& [name, value] : collected.named) {
    binder.bind_named(name, value);
  }
  binder.check_required();
}

}  // namespace spl
