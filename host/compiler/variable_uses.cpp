#include "host/compiler/variable_uses.h"

#include <algorithm>
#include <string>

#include "host/compiler/compiler.h"
#include "host/syntax/visit.h"

namespace spl {

namespace {

// How an expression uses the value of a name in it.
enum class Use : uint8_t {
  kParts,   // reads elements, or the state of the whole, at once
  kPassed,  // an argument of another function
  kWhole,   // the value itself goes on: it is returned or stored
  kAnother  // another function or a later time: nothing is known
};

// Where the value of a variable comes from.
enum class Origin : uint8_t {
  kNew,     // a value of its own
  kResult,  // of a call, which may return the value of another place
  kHeld     // another place
};

bool is_one_of(Symbol name, const std::unordered_set<std::string>& names) {
  return names.contains(name_of(name));
}

// Functions that read their arguments' elements and keep no argument.
bool reads_elements(Symbol function) {
  static const std::unordered_set<std::string> names = {
      "len",  "print",    "sum",  "max",   "min",  "sorted", "enumerate", "range",     "zip",
      "any",  "all",      "list", "tuple", "dict", "set",    "str",       "bool",      "int",
      "repr", "reversed", "type", "id",    "map",  "filter", "iter",      "isinstance"};
  return is_one_of(function, names);
}

// Functions and methods whose result is a new collection.
bool makes_collection(Symbol function) {
  static const std::unordered_set<std::string> names = {"list", "tuple",  "dict",  "set",    "sorted",
                                                        "copy", "clone",  "array", "slice",  "deepcopy",
                                                        "map",  "filter", "merge", "concat", "fromkeys"};
  return is_one_of(function, names);
}

Symbol called_name(const CallExpr& call) {
  switch (call.callee->kind) {
    case ExprKind::kName:
      return as<NameExpr>(*call.callee).name;
    case ExprKind::kField:
      return as<FieldExpr>(*call.callee).name;
    default:
      return kNoSymbol;
  }
}

// Whether the value is that of another place.
bool is_alias(const Expr& value) {
  switch (value.kind) {
    case ExprKind::kName:
    case ExprKind::kField:
    case ExprKind::kTupleField:
      return true;
    case ExprKind::kIndex: {
      const auto& subscripts = as<IndexExpr>(value).subscripts;
      return std::none_of(subscripts.begin(), subscripts.end(),
                          [](const ExprPtr& subscript) { return subscript->kind == ExprKind::kSlice; });
    }
    case ExprKind::kCall: {
      const Symbol name = called_name(as<CallExpr>(value));
      return name == kNoSymbol || !makes_collection(name);
    }
    case ExprKind::kIf:
      return true;
    case ExprKind::kBinary: {
      const BinaryOp op = as<BinaryExpr>(value).op;
      return op == BinaryOp::kOr || op == BinaryOp::kAnd || op == BinaryOp::kCoalesce;
    }
    default:
      return false;
  }
}

Origin origin_of(const Expr& value) {
  return !is_alias(value) ? Origin::kNew : value.kind == ExprKind::kCall ? Origin::kResult : Origin::kHeld;
}

// Whether a loop over the value visits elements that another place holds.
bool has_aliases(const Expr& iterable) {
  if (iterable.kind == ExprKind::kTuple) {
    const auto& elements = as<TupleExpr>(iterable).elements;
    return std::any_of(elements.begin(), elements.end(), [](const ExprPtr& e) { return has_aliases(*e); });
  }
  if (iterable.kind == ExprKind::kArray) {
    const auto& elements = as<ArrayExpr>(iterable).elements;
    return std::any_of(elements.begin(), elements.end(),
                       [](const Element& e) { return has_aliases(*e.value); });
  }
  if (iterable.kind != ExprKind::kCall) {
    return is_alias(iterable);
  }
  static const std::unordered_set<std::string> views = {"enumerate", "zip",    "reversed",
                                                        "items",     "values", "keys"};
  const auto& call = as<CallExpr>(iterable);
  const Symbol name = called_name(call);
  if (name == kNoSymbol || !is_one_of(name, views)) {
    return false;
  }
  if (call.callee->kind == ExprKind::kField) {
    return is_alias(*as<FieldExpr>(*call.callee).object);
  }
  return std::any_of(call.args.begin(), call.args.end(),
                     [](const Arg& arg) { return has_aliases(*arg.value); });
}

class Walk {
 public:
  void add_parameters(const std::vector<Param>& params) {
    for (const Param& param : params) {
      if (param.kind == ParamKind::kNormal) {
        borrowed_.insert(param.name);
        parameters_.insert(param.name);
      }
    }
  }

  void statements(const std::vector<StmtPtr>& all) {
    for (const auto& stmt : all) {
      visit(*stmt, [this](const auto& node) { walk(node); });
    }
  }

  VariableUses result() {
    VariableUses uses;
    for (const Symbol name : changed_) {
      if (!held_.contains(name) && !parameters_.contains(name) && !changed_in_visits_.contains(name)) {
        uses.owned.insert(name);
      }
      if (parameters_.contains(name) && returned_.contains(name) && !bound_.contains(name)) {
        uses.changed_and_returned.insert(name);
      }
    }
    for (const Symbol name : others_) {
      borrowed_.erase(name);
    }
    for (const Symbol name :
         passed_) {  // a function may store the variable; a parameter's caller sees nothing
      if (!parameters_.contains(name)) {
        borrowed_.erase(name);
      }
    }
    uses.borrowed = std::move(borrowed_);
    uses.taken_apart = std::move(taken_apart_);
    uses.changed = std::move(changed_);
    return uses;
  }

 private:
  void block(const Block& body) { statements(body.statements); }

  void use(const Expr& expr, Use how) {
    const Use before = use_;
    use_ = use_ == Use::kAnother ? Use::kAnother : how;
    visit(expr, [this](const auto& node) { walk(node); });
    use_ = before;
  }
  void use(const ExprPtr& expr, Use how) {
    if (expr) {
      use(*expr, how);
    }
  }
  void use_all(const std::vector<Arg>& args, Use how) {
    for (const Arg& arg : args) {
      use(arg.value, how);
    }
  }
  template <class Body>
  void elsewhere(Body&& body) {
    const Use before = use_;
    use_ = Use::kAnother;
    body();
    use_ = before;
  }

  void bind(const Pattern& pattern, Origin origin) {
    visit(pattern, [&](const auto& node) { bind_node(node, origin); });
  }
  void bind_node(const BindingPattern& node, Origin origin) { bind_name(node.name, origin); }
  void bind_node(const TuplePattern& node, Origin origin) { bind_each(node.elements, origin); }
  void bind_node(const ArrayPattern& node, Origin origin) { bind_each(node.elements, origin); }
  template <class Node>
  void bind_node(const Node&, Origin) {}
  void bind_each(const std::vector<PatternPtr>& elements, Origin origin) {
    for (const auto& element : elements) {
      bind(*element, origin);
    }
  }
  void note_changed(const Expr& target) {
    const Expr& root = root_of(target);
    if (root.kind == ExprKind::kName) {
      const Symbol name = as<NameExpr>(root).name;
      changed_.insert(name);
      if (std::find(visited_.begin(), visited_.end(), name) != visited_.end()) {
        changed_in_visits_.insert(name);
      }
    }
  }
  void note_returned(const Expr& value) {
    if (value.kind == ExprKind::kName) {
      returned_.insert(as<NameExpr>(value).name);
    } else if (value.kind == ExprKind::kTuple) {
      for (const auto& element : as<TupleExpr>(value).elements) {
        note_returned(*element);
      }
    }
  }
  void take_apart(const Expr& value) {
    if (value.kind == ExprKind::kName) {
      taken_apart_.insert(as<NameExpr>(value).name);
    }
  }
  void bind_name(Symbol name, Origin origin) {
    (origin == Origin::kNew ? others_ : borrowed_).insert(name);
    if (!is_conditional_) {
      bound_.insert(name);
    }
    if (origin == Origin::kHeld) {
      held_.insert(name);
    }
  }

  // ---- Expressions

  void walk(const NameExpr& expr) {
    if (use_ == Use::kAnother && parameters_.contains(expr.name)) {
      return;  // the caller does not see what a closure does with it
    }
    if (use_ == Use::kPassed) {
      passed_.insert(expr.name);
    } else if (use_ != Use::kParts) {
      others_.insert(expr.name);
    }
  }
  void walk(const FieldExpr& expr) { use(expr.object, Use::kParts); }
  void walk(const TupleFieldExpr& expr) {
    take_apart(*expr.object);
    use(expr.object, Use::kParts);
  }
  void walk(const IndexExpr& expr) {
    take_apart(*expr.object);
    use(expr.object, Use::kParts);
    for (const auto& subscript : expr.subscripts) {
      use(subscript, Use::kWhole);
    }
  }
  void walk(const SliceExpr& expr) {
    use(expr.start, Use::kWhole);
    use(expr.stop, Use::kWhole);
    use(expr.step, Use::kWhole);
  }
  void walk(const CallExpr& expr) {
    if (expr.callee->kind == ExprKind::kField &&
        mutating_names().contains(as<FieldExpr>(*expr.callee).name)) {
      note_changed(*as<FieldExpr>(*expr.callee).object);
    }
    use(expr.callee, Use::kParts);
    const bool is_function = expr.callee->kind == ExprKind::kName;
    use_all(expr.args, is_function && reads_elements(called_name(expr)) ? Use::kParts : Use::kPassed);
  }
  void walk(const UpdateCallExpr& expr) {
    use(expr.target, Use::kWhole);
    use_all(expr.args, Use::kWhole);
  }
  void walk(const UnaryExpr& expr) {
    use(expr.operand, expr.op == UnaryOp::kNot ? Use::kParts : Use::kWhole);
  }
  void walk(const BinaryExpr& expr) {
    const bool selects =
        expr.op == BinaryOp::kAnd || expr.op == BinaryOp::kOr || expr.op == BinaryOp::kCoalesce;
    use(expr.left, selects ? Use::kWhole : Use::kParts);
    use(expr.right, selects ? Use::kWhole : Use::kParts);
  }
  void walk(const CompareExpr& expr) {
    use(expr.first, Use::kParts);
    for (const CompareLink& link : expr.links) {
      use(link.right, Use::kParts);
    }
  }
  void walk(const InterpolationExpr& expr) {
    for (const InterpolationPart& part : expr.parts) {
      use(part.value, Use::kParts);
    }
  }
  void walk(const RangeExpr& expr) {
    use(expr.start, Use::kParts);
    use(expr.end, Use::kParts);
  }
  void walk(const TryExpr& expr) { use(expr.operand, Use::kWhole); }
  void walk(const PresentExpr& expr) { use(expr.operand, Use::kParts); }
  void walk(const CastExpr& expr) { use(expr.operand, Use::kWhole); }
  void walk(const NewExpr& expr) { use(expr.operand, Use::kWhole); }
  void walk(const TypeApplyExpr& expr) { use(expr.object, use_); }
  void walk(const LambdaExpr& expr) {
    elsewhere([&] {
      for (const Param& param : expr.params) {
        others_.insert(param.name);
      }
      block(expr.body);
    });
  }
  void walk(const ArrayExpr& expr) {
    for (const Element& element : expr.elements) {
      use(element.value, element.spread ? Use::kParts : Use::kWhole);
    }
  }
  void walk(const ArrayRepeatExpr& expr) {
    use(expr.value, Use::kWhole);
    use(expr.count, Use::kParts);
  }
  void walk(const TupleExpr& expr) {
    for (const auto& element : expr.elements) {
      use(element, Use::kWhole);
    }
  }
  void walk(const DictExpr& expr) {
    for (const DictEntry& entry : expr.entries) {
      use(entry.key, Use::kWhole);
      use(entry.value, entry.key ? Use::kWhole : Use::kParts);
    }
  }
  void walk(const ComprehensionExpr& expr) {
    for (const ComprehensionClause& clause : expr.clauses) {
      use(clause.iterable, Use::kParts);
      bind(*clause.pattern, Origin::kNew);
      if (clause.second) {
        bind(*clause.second, Origin::kNew);
      }
      for (const auto& condition : clause.conditions) {
        use(condition, Use::kParts);
      }
    }
    use(expr.key, Use::kWhole);
    use(expr.value, Use::kWhole);
  }
  void walk(const StructLiteralExpr& expr) { use_all(expr.args, Use::kWhole); }
  void walk(const IfExpr& expr) {
    const bool was_conditional = is_conditional_;
    for (const IfClause& clause : expr.clauses) {
      condition(clause.condition);
      is_conditional_ = true;
      block(clause.body);
    }
    if (expr.otherwise) {
      block(*expr.otherwise);
    }
    is_conditional_ = was_conditional;
  }
  void walk(const MatchExpr& expr) {
    take_apart(*expr.subject);
    use(expr.subject, Use::kParts);
    for (const MatchArm& arm : expr.arms) {
      bind(*arm.pattern, Origin::kNew);
      use(arm.guard, Use::kParts);
      block(arm.body);
    }
  }
  void condition(const Condition& condition) {
    use(condition.value, condition.kind == ConditionKind::kTest ? Use::kParts : Use::kWhole);
    if (condition.pattern) {
      bind(*condition.pattern, Origin::kNew);
    }
  }

  // ---- Statements

  void walk(const ExprStmt& stmt) { use(stmt.value, Use::kWhole); }
  void walk(const BindStmt& stmt) {
    const Origin origin = stmt.value ? origin_of(*stmt.value) : Origin::kNew;
    use(stmt.value, Use::kWhole);
    if (stmt.value && stmt.pattern->kind != PatternKind::kBinding) {
      take_apart(*stmt.value);
    }
    bind(*stmt.pattern, origin);
  }
  void walk(const AssignStmt& stmt) {
    use(stmt.value, stmt.op ? Use::kParts : Use::kWhole);
    if (stmt.targets.size() > 1) {
      take_apart(*stmt.value);
    }
    for (const auto* targets : {&stmt.targets, &stmt.chained}) {
      for (const auto& target : *targets) {
        assigned(*target, stmt);
      }
    }
  }
  void assigned(const Expr& target, const AssignStmt& stmt) {
    if (target.kind == ExprKind::kName) {
      if (!stmt.op) {
        bind_name(as<NameExpr>(target).name, origin_of(*stmt.value));
      }
    } else if (target.kind == ExprKind::kTuple) {
      for (const auto& element : as<TupleExpr>(target).elements) {
        assigned(*element, stmt);
      }
    } else {
      note_changed(target);
      use(target, Use::kParts);
    }
  }
  void walk(const ReturnStmt& stmt) {
    if (stmt.value) {
      note_returned(*stmt.value);
    }
    use(stmt.value, Use::kWhole);
  }
  void walk(const AssertStmt& stmt) {
    use(stmt.condition, Use::kParts);
    use(stmt.message, Use::kParts);
  }
  void walk(const DeferStmt& stmt) {
    elsewhere([&] { block(stmt.body); });
  }
  void walk(const ForStmt& stmt) {
    use(stmt.iterable, Use::kParts);
    const Origin origin = has_aliases(*stmt.iterable) ? Origin::kHeld : Origin::kNew;
    bind(*stmt.pattern, origin);
    if (stmt.second) {
      bind(*stmt.second, origin);
    }
    const size_t outer = visited_.size();
    add_visited(*stmt.iterable);
    block(stmt.body);
    visited_.resize(outer);
    if (stmt.otherwise) {
      block(*stmt.otherwise);
    }
  }
  /// Notes the variables that a loop visits: `xs`, `enumerate(xs)`, `d.items()`.
  void add_visited(const Expr& iterable) {
    if (iterable.kind == ExprKind::kName) {
      visited_.push_back(as<NameExpr>(iterable).name);
    } else if (iterable.kind == ExprKind::kField) {
      add_visited(*as<FieldExpr>(iterable).object);
    } else if (iterable.kind == ExprKind::kCall) {
      const auto& call = as<CallExpr>(iterable);
      if (call.callee->kind == ExprKind::kField) {
        add_visited(*call.callee);
      }
      for (const Arg& arg : call.args) {
        add_visited(*arg.value);
      }
    }
  }
  void walk(const WhileStmt& stmt) {
    condition(stmt.condition);
    block(stmt.body);
    if (stmt.otherwise) {
      block(*stmt.otherwise);
    }
  }
  void walk(const LoopStmt& stmt) { block(stmt.body); }
  void walk(const WithStmt& stmt) {
    for (const WithItem& item : stmt.items) {
      use(item.resource, Use::kWhole);
      others_.insert(item.name);
    }
    block(stmt.body);
  }
  void walk(const UnsafeStmt& stmt) { block(stmt.body); }
  void walk(const FunctionDecl& decl) {
    elsewhere([&] {
      for (const Param& param : decl.params) {
        others_.insert(param.name);
      }
      if (decl.body) {
        block(*decl.body);
      }
    });
  }
  void walk(const RecordDecl& decl) { methods(decl.methods); }
  void walk(const EnumDecl& decl) { methods(decl.methods); }
  void walk(const TraitDecl& decl) { methods(decl.methods); }
  void walk(const ImplDecl& decl) { methods(decl.methods); }
  void methods(const std::vector<FunctionPtr>& all) {
    for (const auto& method : all) {
      walk(*method);
    }
  }
  template <class Node>
  void walk(const Node&) {}  // literals, and statements without expressions

  Use use_ = Use::kWhole;
  bool is_conditional_ = false;  // inside a branch
  std::unordered_set<Symbol> borrowed_;
  std::unordered_set<Symbol> parameters_;
  std::unordered_set<Symbol> passed_;
  std::unordered_set<Symbol> taken_apart_;
  std::unordered_set<Symbol> changed_, changed_in_visits_, returned_, bound_;
  std::unordered_set<Symbol> held_;    // by the variable, field or element from which they come
  std::vector<Symbol> visited_;        // by the loops around the current statement
  std::unordered_set<Symbol> others_;  // with another origin too, or that leave the function
};

}  // namespace

VariableUses uses_of_variables(const std::vector<Param>& params, const std::vector<StmtPtr>& statements) {
  Walk walk;
  walk.add_parameters(params);
  walk.statements(statements);
  return walk.result();
}

}  // namespace spl
