// Registers, names and register numbering.
#include "host/compiler/compiler.h"

#include <algorithm>

#include "host/compiler/direct_methods.h"
#include "host/compiler/type_names.h"
#include "host/values/spelling_suggester.h"

namespace spl {

FunctionCompiler::FunctionCompiler(LoadedModule& module, FunctionCompiler* parent, CellSet& cells,
                                   const std::vector<Symbol>* fields)
    : module_(module), parent_(parent), cells_(cells), fields_(fields), proto_(new Proto()) {
  proto_->module = &module;
  proto_->source = &module.source();
  open_scope();
}

void FunctionCompiler::error_at(const SourceSpan& span, const std::string& message,
                                const std::string& hint) const {
  throw CompileError{span, message, hint};
}

size_t FunctionCompiler::emit(Op op, uint32_t a, uint32_t b, uint32_t c) {
  Instruction instruction;
  instruction.op = op;
  instruction.a = static_cast<uint16_t>(a);
  instruction.b = static_cast<uint16_t>(b);
  instruction.c = static_cast<uint16_t>(c);
  proto_->code.push_back(instruction);
  proto_->positions.push_back({span_.line, span_.column});
  return here() - 1;
}

size_t FunctionCompiler::emit_wide(Op op, uint32_t a, int32_t d) {
  const size_t at = emit(op, a);
  proto_->code[at].d = d;
  return at;
}

void FunctionCompiler::emit_extra(int32_t d) { emit_wide(Op::kExtra, 0, d); }

size_t FunctionCompiler::emit_jump(Op op, uint32_t a) { return emit_wide(op, a, 0); }

// Distances are relative to the word that holds them.
void FunctionCompiler::patch_to(size_t jump, size_t target) {
  proto_->code[jump].d = static_cast<int32_t>(target) - static_cast<int32_t>(jump);
}

namespace {
constexpr size_t kComparedConstants = 64;  // so that a function with many constants compiles in linear time
constexpr size_t kConstantsOfLiterals = 0x8000;  // the others stay free for instructions with 16-bit operands
}  // namespace

// A constant of a literal. There may be any number of them, as a literal of a dict may have any size.
void FunctionCompiler::load_constant(Register dest, Value owned) {
  if (proto_->constants.size() < kConstantsOfLiterals) {
    emit(Op::kLoadConstant, dest, constant(owned));
    return;
  }
  proto_->literals.push_back(owned);
  emit_wide(Op::kLoadLiteral, dest, static_cast<int32_t>(proto_->literals.size() - 1));
}

uint16_t FunctionCompiler::constant(Value owned) {
  if (proto_->constants.size() > 0xFFFF) {
    error_at(span_, "function has more than 65536 constants");
  }
  if (!owned.is_object()) {
    for (size_t i = 0; i < std::min(proto_->constants.size(), kComparedConstants); ++i) {
      const Value known = proto_->constants[i];
      if (known.tag == owned.tag && known.as_int == owned.as_int) {
        return static_cast<uint16_t>(i);
      }
    }
  }
  proto_->constants.push_back(owned);
  return static_cast<uint16_t>(proto_->constants.size() - 1);
}

uint16_t FunctionCompiler::cache(Symbol name) {
  if (proto_->caches.size() > 0xFFFF) {
    error_at(span_, "function is too large");
  }
  Cache made;
  made.name = name;
  proto_->caches.push_back(made);
  return static_cast<uint16_t>(proto_->caches.size() - 1);
}

Register FunctionCompiler::temporaries(uint32_t count) {
  const uint32_t first = temporary_count_;
  temporary_count_ += count;
  temporary_peak_ = std::max(temporary_peak_, temporary_count_);
  if (temporary_peak_ >= kTemporary) {
    error_at(span_, "expression is too large");
  }
  return static_cast<Register>(kTemporary | first);
}
Register FunctionCompiler::temporary() { return temporaries(1); }

Register FunctionCompiler::hidden() {
  const uint32_t reg = local_count_++;
  local_peak_ = std::max(local_peak_, local_count_);
  if (local_peak_ >= kWide) {
    error_at(span_, "function has too many variables");
  }
  return static_cast<Register>(reg);
}

// Declares a variable of the whole function inside a nested block. Its register follows those of the blocks.
void FunctionCompiler::declare_wide(Symbol name, const void* key) {
  const auto reg = static_cast<Register>(kWide | wide_count_++);
  if (wide_count_ >= kWide) {
    error_at(span_, "function has too many variables");
  }
  const bool is_cell = cells_.contains(key);
  if (is_cell) {
    wide_cells_.push_back(reg);
  }
  locals_.insert(locals_.begin(), {name, reg, key, is_cell});
  for (size_t i = 1; i < scopes_.size(); ++i) {
    ++scopes_[i].first_local;
  }
}

Register FunctionCompiler::declare(Symbol name, const void* key) {
  const Register reg = hidden();
  declare_at(reg, name, key);
  return reg;
}

void FunctionCompiler::declare_at(Register reg, Symbol name, const void* key) {
  locals_.push_back({name, reg, key, cells_.contains(key)});
  locals_.back().loops = repeated_.size();
  locals_.back().line = span_.line;
}

void FunctionCompiler::declared(Register reg) {
  for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
    if (local->reg != reg) {
      continue;
    }
    if (local->is_cell) {
      emit(Op::kNewCell, reg);
    }
    return;
  }
}

void FunctionCompiler::open_scope() { scopes_.push_back({locals_.size(), local_count_}); }

void FunctionCompiler::close_scope() {
  const Scope scope = scopes_.back();
  if (scope.defer_mark >= 0) {
    emit(Op::kRunDefers, static_cast<uint32_t>(scope.defer_mark));
  }
  scopes_.pop_back();
  for (size_t i = scope.first_local; i < locals_.size(); ++i) {
    ended_locals_[locals_[i].name] = locals_[i].line;
  }
  locals_.resize(scope.first_local);
  local_count_ = scope.first_register;
}

FunctionCompiler::Local* FunctionCompiler::find_local(Symbol name) {
  for (auto local = locals_.rbegin(); local != locals_.rend(); ++local) {
    if (local->name == name) {
      return &*local;
    }
  }
  return nullptr;
}

// Returns -1 if no enclosing function has the name.
int FunctionCompiler::capture(Symbol name) {
  for (size_t i = 0; i < captured_.size(); ++i) {
    if (captured_[i].name == name) {
      return static_cast<int>(i);
    }
  }
  if (parent_ == nullptr) {
    return -1;
  }
  if (Local* local = parent_->find_local(name)) {
    parent_->note_capture(*local);
    captured_.push_back({name, local->is_cell});
    captures_.push_back({true, local->reg});
    return static_cast<int>(captured_.size() - 1);
  }
  const int outer = parent_->capture(name);
  if (outer < 0) {
    return -1;
  }
  captured_.push_back({name, parent_->captured_[static_cast<size_t>(outer)].is_cell});
  captures_.push_back({false, static_cast<uint16_t>(outer)});
  return static_cast<int>(captured_.size() - 1);
}

FunctionCompiler::Name FunctionCompiler::resolve(Symbol name) {
  if (const Local* local = find_local(name)) {
    return {local->is_cell ? Name::Form::kLocalCell : Name::Form::kLocal, local->reg};
  }
  if (name == own_name_ && name != kNoSymbol) {
    return {Name::Form::kSelfClosure, 0};
  }
  if (const int index = capture(name); index >= 0) {
    const bool cell = captured_[static_cast<size_t>(index)].is_cell;
    return {cell ? Name::Form::kCapturedCell : Name::Form::kCaptured, static_cast<uint32_t>(index)};
  }
  if (fields_ != nullptr && has_self() &&
      std::find(fields_->begin(), fields_->end(), name) != fields_->end()) {
    return {Name::Form::kField, name};
  }
  if (const Type* type = owner(); type != nullptr && type->declared_statics.contains(name)) {
    return {Name::Form::kStatic, name};
  }
  if (!module_.knows(name)) {
    note_wanted(name);
    suggest_local(name);
    note_ended(name);
    if (AssignedFields* fields = assigned_fields(); fields != nullptr) {
      fields->unknown.push_back(name);
    }
  }
  const uint32_t slot = module_.slot(name);
  if (!is_module_) {
    module_.slots_in_functions.insert(slot);
  }
  return {Name::Form::kGlobal, slot};
}

// Those of the class whose method contains this function, or null.
AssignedFields* FunctionCompiler::assigned_fields() const {
  const FunctionCompiler* method = this;
  while (!method->has_own_self_ && method->parent_ != nullptr) {
    method = method->parent_;
  }
  return method->assigned_fields_;
}

// `self.name = …` in a method of a class makes the field.
void FunctionCompiler::note_field(Symbol name) {
  AssignedFields* fields = assigned_fields();
  const auto holds = [name](const std::vector<Symbol>& names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  if (fields != nullptr && !holds(fields->names) && (fields_ == nullptr || !holds(*fields_))) {
    fields->names.push_back(name);
  }
}

// Records a similar visible name for the error that the undefined name raises at run time.
void FunctionCompiler::suggest_local(Symbol unknown) {
  SpellingSuggester suggester(name_of(unknown));
  for (const FunctionCompiler* at = this; at != nullptr; at = at->parent_) {
    for (const Local& local : at->locals_) {
      suggester.offer(name_of(local.name));
    }
  }
  if (fields_ != nullptr && has_self()) {
    for (const Symbol field : *fields_) {
      suggester.offer(name_of(field));
    }
  }
  if (!suggester.name().empty()) {
    module_.near_locals.emplace(unknown, suggester.name());
  }
}

// Records the variable of an ended block that has the undefined name, for the same error.
void FunctionCompiler::note_ended(Symbol unknown) {
  for (const FunctionCompiler* at = this; at != nullptr; at = at->parent_) {
    if (const auto ended = at->ended_locals_.find(unknown); ended != at->ended_locals_.end()) {
      module_.ended_locals.emplace(unknown, ended->second);
      return;
    }
  }
}

void FunctionCompiler::read(Name name, Register dest) {
  switch (name.form) {
    case Name::Form::kLocal:
      emit(Op::kMove, dest, name.operand);
      break;
    case Name::Form::kLocalCell:
      emit(Op::kGetCell, dest, name.operand);
      break;
    case Name::Form::kCaptured:
      emit(Op::kGetCaptured, dest, name.operand);
      break;
    case Name::Form::kCapturedCell:
      emit(Op::kGetCapturedCell, dest, name.operand);
      break;
    case Name::Form::kSelfClosure:
      emit(Op::kGetSelfClosure, dest);
      break;
    case Name::Form::kGlobal:
      emit_wide(Op::kGetGlobal, dest, static_cast<int32_t>(name.operand));
      break;
    case Name::Form::kField:
    case Name::Form::kStatic: {
      const uint32_t mark = temporary_count_;
      const Register holder = temporary();
      name.form == Name::Form::kField ? self_to(holder) : owner_to(holder);
      emit(Op::kGetField, dest, holder, cache(name.operand));
      temporary_count_ = mark;
      break;
    }
  }
}

void FunctionCompiler::write(Name name, Register value, Symbol symbol, const SourceSpan& span) {
  switch (name.form) {
    case Name::Form::kLocal:
      emit((value & kTemporary) != 0 ? Op::kTake : Op::kMove, name.operand, value);
      break;
    case Name::Form::kLocalCell:
      emit(Op::kSetCell, name.operand, value);
      break;
    case Name::Form::kCapturedCell:
      emit(Op::kSetCapturedCell, value, name.operand);
      break;
    case Name::Form::kGlobal:
      set_global(value, name.operand);
      break;
    case Name::Form::kCaptured:
      release_temporary(value);
      break;  // the function is compiled again with a cell
    case Name::Form::kSelfClosure:
      error_at(span, "cannot assign to function '" + name_of(symbol) + "' in its own body");
    case Name::Form::kField:
      write_field(name.operand, value);
      break;
    case Name::Form::kStatic: {
      const uint32_t mark = temporary_count_;
      const Register holder = temporary();
      owner_to(holder);
      emit(Op::kSetField, holder, value, cache(name.operand));
      emit(Op::kRelease, holder);
      temporary_count_ = mark;
      break;
    }
  }
}

// Assigns a field of `self`.
void FunctionCompiler::write_field(Symbol field, Register value) {
  note_change(intern("self"));
  if (const Local* self = find_local(intern("self")); self != nullptr && !self->is_cell) {
    emit(Op::kSetField, self->reg, value, cache(field));
    return;
  }
  LvaluePath path;
  lvalue_path(SelfExpr(), path);
  path.steps.push_back({LvaluePath::Step::Form::kField, field});
  set_lvalue(path, value);
}

void FunctionCompiler::set_global(Register value, uint32_t slot) {
  emit_wide(Op::kSetGlobal, value, static_cast<int32_t>(slot));
  if (is_module_) {
    assigned_slots_.insert(slot);
  }
  if (module_.is_session) {
    emit_wide(Op::kNoteChange, 0, static_cast<int32_t>(slot));
  }
}

void FunctionCompiler::set_lvalue(const LvaluePath& path, Register value) {
  proto_->paths.push_back(path);
  emit_wide(Op::kSetLvalue, value, static_cast<int32_t>(proto_->paths.size() - 1));
  note_shared_change(path);
}

// A session shares its variables with another language, which must see the change.
void FunctionCompiler::note_shared_change(const LvaluePath& path) {
  if (module_.is_session && path.root == LvaluePath::Root::kGlobal) {
    emit_wide(Op::kNoteChange, 0, static_cast<int32_t>(path.operand));
  }
}

bool FunctionCompiler::has_self() const {
  for (const FunctionCompiler* at = this; at != nullptr; at = at->parent_) {
    if (at->has_own_self_) {
      return true;
    }
  }
  return false;
}

Symbol FunctionCompiler::owner_name() const {
  for (const FunctionCompiler* at = this; at != nullptr; at = at->parent_) {
    if (at->owner_name_ != kNoSymbol) {
      return at->owner_name_;
    }
  }
  return kNoSymbol;
}

// The type whose method encloses this code, or null.
const Type* FunctionCompiler::owner() const {
  const Symbol name = owner_name();
  const Value type = name == kNoSymbol ? Value() : module_.lookup(name);
  return type.is(Kind::kRecord) ? as_object<Type>(type) : nullptr;
}

void FunctionCompiler::owner_to(Register dest) {
  emit_wide(Op::kGetGlobal, dest, static_cast<int32_t>(module_.slot(owner_name())));
}

void FunctionCompiler::self_to(Register dest) {
  if (!has_self()) {
    error_at(span_, "'self' outside method");
  }
  read(resolve(intern("self")), dest);
}

// The parameter that receives the class in the method around this code.
Symbol FunctionCompiler::class_parameter() const {
  for (const FunctionCompiler* at = this; at != nullptr; at = at->parent_) {
    if (at->class_parameter_ != kNoSymbol) {
      return at->class_parameter_;
    }
  }
  return kNoSymbol;
}

// Arguments of another language are converted to the types that their parameters declare.
void FunctionCompiler::convert_arguments(const std::vector<Param>& params, size_t first) {
  for (size_t i = 0; i < params.size(); ++i) {
    const bool is_single = params[i].kind == ParamKind::kNormal && params[i].type != nullptr;
    const std::string type = is_single ? convertible_type(module_.unaliased(*params[i].type)) : "";
    if (!type.empty()) {
      emit_wide(Op::kAsDeclared, static_cast<uint32_t>(first + i), text_constant(type));
    }
  }
  proto_->conversions = static_cast<uint32_t>(here());
}

void FunctionCompiler::parameters(const std::vector<Param>& params) {
  for (const Param& param : params) {
    const auto index = static_cast<int>(proto_->parameters.size());
    if (param.kind == ParamKind::kRest) {
      proto_->rest = index;
    }
    if (param.kind == ParamKind::kNamed) {
      proto_->named = index;
    }
    if (param.only_named && proto_->only_named < 0) {
      proto_->only_named = index;
    }
    proto_->parameters.push_back(param.pattern ? kNoSymbol : param.name);
    proto_->has_default.push_back(param.default_value != nullptr);
    declare(param.pattern ? kNoSymbol : param.name, &param);
    locals_.back().is_unique = is_unique_type(param.type.get());
  }
  proto_->required = 0;
  while (proto_->required < proto_->parameters.size() && !proto_->has_default[proto_->required] &&
         static_cast<int>(proto_->required) != proto_->rest &&
         static_cast<int>(proto_->required) != proto_->named) {
    ++proto_->required;
  }
  const size_t first = proto_->parameters.size() - params.size();
  const size_t first_local = locals_.size() - params.size();
  for (const Param& param : params) {
    show_type(param.type.get());
  }
  convert_arguments(params, first);  // before all other instructions: a call may skip it
  for (size_t i = 0; i < first; ++i) {
    declared(static_cast<Register>(i));  // self
  }
  // A default value sees only the parameters before its own.
  for (size_t i = 0; i < params.size(); ++i) {
    locals_[first_local + i].name = kNoSymbol;
  }
  for (size_t i = 0; i < params.size(); ++i) {
    const auto reg = static_cast<Register>(first + i);
    if (params[i].default_value) {
      span_ = params[i].span;
      const size_t provided = emit_jump(Op::kJumpIfPassed, reg);
      expr_to(*params[i].default_value, reg);
      patch(provided);
      show_default(params[i], i);
    }
    locals_[first_local + i].name = proto_->parameters[first + i];
    check_parameter(locals_[first_local + i], params[i]);
    declared(reg);
  }
  for (size_t i = 0; i < params.size(); ++i) {
    if (params[i].pattern) {
      bind_pattern(*params[i].pattern, static_cast<Register>(first + i));
    }
  }
}

namespace {

bool is_bool(const TypeExpr* type) {
  static const Symbol name = intern("bool");
  return type != nullptr && type->kind == TypeKind::kName && !type->optional && type->path.size() == 1 &&
         type->path[0] == name;
}

// Functions that the host calls cannot be generators.
bool is_called_by_language(const FunctionDecl& decl, bool is_method) {
  const std::string& name = name_of(decl.info.name);
  if (!is_method) {
    return name == "main";
  }
  return name == "drop" || name == "init" ||
         (name.starts_with("__") && name != "__call__" && name != "__invoke__" && name != "__iter__");
}

}  // namespace

const Proto* FunctionCompiler::function(const FunctionDecl& decl, bool is_method) {
  declaration_ = &decl;
  tree_ = &decl;
  proto_->declaration = &decl;
  proto_->declared_parameters = &decl.params;
  proto_->line = decl.span.line;
  proto_->name = name_of(decl.info.name);
  proto_->is_async = decl.is_async;
  proto_->makes_scope = std::any_of(decl.info.attributes.begin(), decl.info.attributes.end(),
                                    [](const Attribute& a) { return name_of(a.name) == "makes_scope"; });
  proto_->returns_bool = is_bool(decl.return_type.get());
  proto_->operator_call = operator_call_of(decl);
  span_ = decl.span;
  if (is_method && !decl.is_static) {
    has_own_self_ = true;
    proto_->is_method = true;
    proto_->parameters.push_back(intern("self"));
    proto_->has_default.push_back(false);
    declare(intern("self"), &decl);
  }
  const bool is_constructor = decl.is_static && name_of(decl.info.name) == "__new__" && !decl.params.empty();
  if (is_constructor || takes_class(decl, decl.is_static)) {
    class_parameter_ = decl.params.front().name;
  }
  if (parent_ != nullptr && !is_method && !is_decorated(module_, decl.info)) {
    own_name_ = decl.info.name;
  }
  parameters(decl.params);
  declare_early_variables();
  check_defaults(decl.params);
  check_result(decl);
  result_demand_ = decl.is_async ? 0 : declared_demand(module_, decl.return_type.get());
  show_type(decl.return_type.get());
  may_yield_ = !decl.is_async && !is_called_by_language(decl, is_method);
  if (VariableUses uses =
          module_.is_library ? VariableUses() : uses_of_variables(decl.params, decl.body->statements);
      is_port()) {
    uses_ = std::move(uses);
    check_kept_defaults(decl.params);
  } else {
    keeps_self_ = uses.keeps_self;
    unread_changes_ = std::move(uses.unread_changes);
  }
  body_value(*decl.body);
  return finish();
}

const Proto* FunctionCompiler::lambda(const LambdaExpr& lambda) {
  proto_->name = lambda.scope_block ? "block" : "lambda";
  proto_->declared_parameters = &lambda.params;
  proto_->line = lambda.span.line;
  span_ = lambda.span;
  tree_ = &lambda;
  parameters(lambda.params);
  declare_early_variables();
  may_yield_ = !lambda.scope_block;
  body_value(lambda.body);
  return finish();
}

const Proto* FunctionCompiler::deferred(const Block& block) {
  proto_->name = "defer";
  body_value(block);
  return finish();
}

const Proto* FunctionCompiler::initializer(const Expr& value, std::string name) {
  proto_->name = std::move(name);
  span_ = value.span;
  const Register dest = temporary();
  expr_to(value, dest);
  emit(Op::kReturn, dest);
  return finish();
}

namespace {

// The last statement of a cell, if it is an expression that people read as one.
const Expr* shown_result(const std::vector<StmtPtr>& statements) {
  if (statements.empty() || statements.back()->kind != StmtKind::kExpr) {
    return nullptr;
  }
  const Expr& value = *as<ExprStmt>(*statements.back()).value;
  return value.kind == ExprKind::kIf || value.kind == ExprKind::kMatch ? nullptr : &value;
}

}  // namespace

const Proto* FunctionCompiler::module_body(const std::vector<StmtPtr>& statements) {
  proto_->name = "module";
  is_module_ = true;
  if (VariableUses uses = module_.is_library ? VariableUses() : uses_of_variables({}, statements);
      is_port()) {
    uses_ = std::move(uses);
  } else {
    unread_changes_ = std::move(uses.unread_changes);
  }
  mark_defers(statements);
  const Expr* result = module_.is_session ? shown_result(statements) : nullptr;
  for (size_t i = 0; i + (result != nullptr ? 1 : 0) < statements.size(); ++i) {
    statement(*statements[i]);
  }
  scopes_.resize(1);
  const Register value = result == nullptr ? 0 : temporary();
  if (result != nullptr) {
    span_ = result->span;
    is_result_ = true;
    last_value_to(*result, value);
    is_result_ = false;
  }
  if (scopes_.back().defer_mark >= 0) {
    emit(Op::kRunDefers, static_cast<uint32_t>(scopes_.back().defer_mark));
  }
  result != nullptr ? emit(Op::kReturn, value) : emit(Op::kReturnNil);
  return finish();
}

namespace {

// Which operands of each opcode are registers.
constexpr const char* kOperands[] = {
#define SPL_OPCODE(name, operands) operands,
    SPL_OPCODES(SPL_OPCODE)
#undef SPL_OPCODE
};

// Variables of blocks come first, then function-wide variables, then temporaries.
template <class Number>
void assign_number(Number& operand, uint32_t blocks, uint32_t wide) {
  if ((operand & kTemporary) != 0) {
    operand = static_cast<Number>((operand & ~static_cast<uint32_t>(kTemporary)) + blocks + wide);
  } else if ((operand & kWide) != 0) {
    operand = static_cast<Number>((operand & ~static_cast<uint32_t>(kWide)) + blocks);
  }
}

}  // namespace

// Creates the cells before any block runs, after the conversions, which contain no jumps. Jumps are relative,
// so code can be inserted there.
void FunctionCompiler::make_wide_cells() {
  const auto at = static_cast<std::ptrdiff_t>(proto_->conversions);
  for (const Register reg : wide_cells_) {
    Instruction make;
    make.op = Op::kNewCell;
    make.a = reg;
    proto_->code.insert(proto_->code.begin() + at, make);
    proto_->positions.insert(proto_->positions.begin() + at, SourcePosition{span_.line, span_.column});
  }
}

// Assigns final numbers to registers.
const Proto* FunctionCompiler::finish() {
  const uint32_t blocks = local_peak_, wide = wide_count_;
  proto_->locals = blocks + wide;
  proto_->registers = proto_->locals + temporary_peak_;
  if (proto_->registers >= 0xFFFF) {
    error_at(span_, "function is too large");
  }
  make_wide_cells();
  for (Instruction& instruction : proto_->code) {
    const char* operands = kOperands[static_cast<size_t>(instruction.op)];
    if (operands[0] == 'r') {
      assign_number(instruction.a, blocks, wide);
    }
    if (operands[1] == 'r') {
      assign_number(instruction.b, blocks, wide);
    }
    if (operands[2] == 'r') {
      assign_number(instruction.c, blocks, wide);
    }
  }
  for (LvaluePath& path : proto_->paths) {
    if (path.root == LvaluePath::Root::kRegister || path.root == LvaluePath::Root::kCell ||
        path.root == LvaluePath::Root::kValue) {
      assign_number(path.operand, blocks, wide);
    }
    for (auto& step : path.steps) {
      if (step.form == LvaluePath::Step::Form::kIndex) {
        assign_number(step.operand, blocks, wide);
      }
    }
  }
  for (TypeLink& link : proto_->links) {
    for (LinkedValue& value : link.values) {
      assign_number(value.source, blocks, wide);
    }
  }
  for (auto& captures : proto_->capture_lists) {
    for (Capture& capture : captures) {
      if (capture.from_local) {
        assign_number(capture.index, blocks, wide);
      }
    }
  }
  return proto_;
}

}  // namespace spl
