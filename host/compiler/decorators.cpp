// Decorators: `@f` above a function, a method or a class replaces it by f(it), where its declaration runs.
//
// Decorators are evaluated from top to bottom and applied from bottom to top, as in Python. A decorated
// function has no value before its declaration runs, so that no call can miss its decorators.
#include <algorithm>

#include "host/compiler/compiler.h"

namespace spl {

namespace {

bool is_applied_in(LoadedModule& module, const Attribute& attribute) {
  return attribute.decorator && (!attribute.is_informative || module.declares(attribute.name));
}

}  // namespace

bool is_decorated(LoadedModule& module, const DeclInfo& info) {
  return std::any_of(info.attributes.begin(), info.attributes.end(),
                     [&](const Attribute& attribute) { return is_applied_in(module, attribute); });
}

void reject_decorators(LoadedModule& module, const DeclInfo& info, const char* declaration) {
  for (const Attribute& attribute : info.attributes) {
    if (is_applied_in(module, attribute)) {
      throw CompileError{attribute.span, std::string("cannot decorate ") + declaration,
                         "decorators apply to functions, methods and classes"};
    }
  }
}

bool FunctionCompiler::is_applied(const Attribute& attribute) const {
  return is_applied_in(module_, attribute);
}

// The decorators' values, in temporaries.
std::vector<Register> FunctionCompiler::decorator_values(const DeclInfo& info) {
  std::vector<Register> values;
  for (const Attribute& attribute : info.attributes) {
    if (is_applied(attribute)) {
      values.push_back(temporary_of(*attribute.decorator));
    }
  }
  return values;
}

// Replaces the value in `function` by the decorated one.
void FunctionCompiler::decorated_to(const DeclInfo& info, Register function,
                                    const std::vector<Register>& decorators) {
  size_t next = decorators.size();
  for (auto attribute = info.attributes.rbegin(); attribute != info.attributes.rend(); ++attribute) {
    if (is_applied(*attribute)) {
      span_ = attribute->span;
      emit(Op::kDecorate, function, decorators[--next], function);
    }
  }
}

void FunctionCompiler::decorate_function(const FunctionDecl& decl) {
  const std::vector<Register> decorators = decorator_values(decl.info);
  const Register function = temporary();
  emit(Op::kLoadConstant, function, constant(retained(module_.undecorated.at(&decl))));
  decorated_to(decl.info, function, decorators);
  set_global(function, module_.slot(decl.info.name));
}

void FunctionCompiler::decorate_type(const DeclInfo& info) {
  if (!is_decorated(module_, info)) {
    return;
  }
  const std::vector<Register> decorators = decorator_values(info);
  const Register type = temporary();
  const uint32_t slot = module_.slot(info.name);
  emit_wide(Op::kGetGlobal, type, static_cast<int32_t>(slot));
  decorated_to(info, type, decorators);
  set_global(type, slot);
}

// Methods are functions of one form. So a decorated method is one that forwards to the decorated value, which
// it captures from a register of this function.
void FunctionCompiler::decorate_methods(TypeLink& link, const std::vector<FunctionPtr>& methods, Symbol type,
                                        const std::vector<Symbol>& fields) {
  const Value owner = type == kNoSymbol ? Value() : module_.lookup(type);
  const bool is_class = owner.is(Kind::kRecord) && as_object<Record>(owner)->is_class;
  for (const auto& decl : methods) {
    if (!is_decorated(module_, decl->info)) {
      continue;
    }
    if (!decl->body || (decl->is_mutating && !is_class)) {
      error_at(decl->span, "cannot decorate method '" + name_of(decl->info.name) + "'",
               decl->body ? "a method that changes a value in place has no function value; use a class"
                          : "it has no body");
    }
    const std::vector<Register> decorators = decorator_values(decl->info);
    const Register function = temporary();
    FunctionCompiler inner(module_, this, cells_, &fields);
    inner.belong_to(type);
    const Proto* proto = inner.function(*decl, !decl->is_static);
    closure_to(proto, inner.captures(), function);
    decorated_to(decl->info, function, decorators);
    FunctionCompiler forwarder(module_, nullptr, cells_, nullptr);
    proto_->protos.push_back(forwarder.forwarding(*decl));
    proto_->capture_lists.push_back({{true, function}});
    Method method;
    method.function = Value::integer(static_cast<int64_t>(proto_->protos.size()) - 1);
    method.is_static = decl->is_static;
    method.is_decorated = true;
    method.is_mutating = decl->is_mutating;
    method.takes_class = takes_class(*decl, decl->is_static);
    link.methods.emplace_back(decl->info.name, method);
  }
}

const Proto* FunctionCompiler::forwarding(const FunctionDecl& decl) {
  proto_->name = name_of(decl.info.name);
  proto_->declaration = &decl;
  span_ = decl.span;
  const Symbol self = intern("self"), rest = intern("args"), named = intern("named");
  const auto parameter = [&](Symbol name) {
    proto_->parameters.push_back(name);
    proto_->has_default.push_back(false);
    return declare(name, &proto_->parameters);
  };
  std::vector<Register> values;
  CallSpec spec;
  if (!decl.is_static) {
    proto_->is_method = true;
    values.push_back(parameter(self));
    spec.forms.push_back(CallSpec::Form::kPositional);
    proto_->required = 1;
  }
  proto_->rest = static_cast<int>(proto_->parameters.size());
  values.push_back(parameter(rest));
  spec.forms.push_back(CallSpec::Form::kSpread);
  proto_->named = static_cast<int>(proto_->parameters.size());
  values.push_back(parameter(named));
  spec.forms.push_back(CallSpec::Form::kDictSpread);
  spec.names.assign(spec.forms.size(), kNoSymbol);
  proto_->specs.push_back(spec);
  const Register window = temporaries(static_cast<uint32_t>(values.size()) + 1);
  emit(Op::kGetCaptured, window, 0);
  for (uint32_t i = 0; i < values.size(); ++i) {
    const bool is_self = i == 0 && proto_->is_method;  // an initializer returns it
    emit(is_self ? Op::kMove : Op::kTake, window + 1 + i, values[i]);
  }
  emit(Op::kCallSpec, window, static_cast<uint32_t>(values.size()), 0);
  emit(Op::kReturn, window);
  return finish();
}

}  // namespace spl
