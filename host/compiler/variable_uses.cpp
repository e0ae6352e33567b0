#include "host/compiler/variable_uses.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "host/compiler/compiler.h"
#include "host/syntax/visit.h"

namespace spl {

bool shows_arguments(const Expr& callee) {
  static const std::unordered_set<std::string> names = {"print", "str", "repr"};
  return callee.kind == ExprKind::kName && names.contains(name_of(as<NameExpr>(callee).name));
}

namespace {

class Walk {
 public:
  explicit Walk(const std::vector<Param>& params) {
    for (const Param& param : params) {
      note_assigned(param.name, true);
      note_bound(param.pattern);
      if (param.kind == ParamKind::kNormal && !param.pattern) {
        watched_[param.name] = {};
      }
    }
  }

  /// The value of the last statement is the function's.
  void body(const std::vector<StmtPtr>& all) {
    note_result(all);
    statements(all);
    for (const auto& [name, variable] : watched_) {
      finish_watch(variable);
    }
  }

  void statements(const std::vector<StmtPtr>& all) {
    for (const auto& stmt : all) {
      visit(*stmt, [this](const auto& node) { walk(node); });
    }
  }

  VariableUses result() {
    for (const auto& [name, first] : firsts_) {
      if (first.is_assigned && (first.is_read_later || first.is_part)) {
        uses_.assigned_first.insert(name);
      }
    }
    return std::move(uses_);
  }

 private:
  void block(const Block& body) { statements(body.statements); }

  void use(const Expr& expr) {
    visit(expr, [this](const auto& node) { walk(node); });
  }
  void use(const ExprPtr& expr) {
    if (expr) {
      use(*expr);
    }
  }
  /// `object` in `object.field` and `object[i]`.
  void use_part(const ExprPtr& object) {
    if (object->kind != ExprKind::kSelf) {
      use(object);
    }
  }
  void use_all(const std::vector<Arg>& args) {
    for (const Arg& arg : args) {
      use(arg.value);
    }
  }
  /// The first use of a name in the function.
  struct First {
    bool is_assigned = false;
    bool is_read_later = false;
    bool is_part = false;  // of the targets of an assignment
  };
  void note_read(Symbol name) {
    if (!is_hidden(name)) {
      firsts_[name].is_read_later = true;  // of no effect if nothing has assigned it
    }
  }
  void note_assigned(Symbol name, bool is_part) {
    if (depth_ > 0) {
      hidden_.push_back(name);
      return;
    }
    const auto [at, is_first] = firsts_.try_emplace(name, First{true, false, is_part});
    if (!is_first && !at->second.is_assigned) {
      uses_.assigned_later.insert(name);
    }
  }
  /// What the function does with a parameter or with the variable of a loop.
  struct Watched {
    size_t last_read = 0;
    std::vector<std::pair<size_t, const Expr*>> changes;
    bool is_kept = false;  // a closure uses it, or it is assigned
  };
  void note_watched_read(const NameExpr& expr) {
    const auto found = watched_.find(expr.name);
    if (found != watched_.end() && !roots_.contains(&expr)) {
      found->second.last_read = ++position_;
      found->second.is_kept |= depth_ > 0;
    }
  }
  void keep_watched(Symbol name) {
    if (const auto found = watched_.find(name); found != watched_.end()) {
      found->second.is_kept = true;
    }
  }
  /// The parts of the change are visited between the two calls.
  const NameExpr* begin_change(const Expr& target) {
    const Expr& root = root_of(target);
    if (root.kind != ExprKind::kName || !watched_.contains(as<NameExpr>(root).name)) {
      return nullptr;
    }
    roots_.insert(&root);
    return &as<NameExpr>(root);
  }
  void end_change(const NameExpr* root) {
    if (root == nullptr) {
      return;
    }
    if (Watched& variable = watched_[root->name]; depth_ > 0) {
      variable.is_kept = true;
    } else {
      variable.changes.emplace_back(++position_, root);
    }
  }
  /// What a loop reads, it may read again after a change.
  void end_loop(size_t start) {
    for (auto& [name, variable] : watched_) {
      if (variable.last_read > start) {
        variable.last_read = position_ + 1;
      }
    }
    ++position_;
  }
  void finish_watch(const Watched& variable) {
    for (const auto& [position, root] : variable.changes) {
      if (!variable.is_kept && position > variable.last_read) {
        uses_.unread_changes.insert(root);
      }
    }
  }
  /// The expressions whose values the function returns as its last ones.
  void note_result(const std::vector<StmtPtr>& all) {
    if (all.empty() || all.back()->kind != StmtKind::kExpr) {
      return;
    }
    const Expr& value = *as<ExprStmt>(*all.back()).value;
    results_.insert(&value);
    if (value.kind == ExprKind::kIf) {
      for (const IfClause& clause : as<IfExpr>(value).clauses) {
        note_result(clause.body.statements);
      }
      if (as<IfExpr>(value).otherwise) {
        note_result(as<IfExpr>(value).otherwise->statements);
      }
    } else if (value.kind == ExprKind::kMatch) {
      for (const MatchArm& arm : as<MatchExpr>(value).arms) {
        note_result(arm.body.statements);
      }
    }
  }
  bool is_hidden(Symbol name) const {
    return std::find(hidden_.begin(), hidden_.end(), name) != hidden_.end();
  }
  void note_bound(const PatternPtr& pattern) {
    if (pattern && pattern->kind == PatternKind::kBinding) {
      keep_watched(as<BindingPattern>(*pattern).name);
      note_assigned(as<BindingPattern>(*pattern).name, true);
    } else if (pattern && pattern->kind == PatternKind::kTuple) {
      for (const auto& element : as<TuplePattern>(*pattern).elements) {
        note_bound(element);
      }
    }
  }
  void hide(const PatternPtr& pattern) {
    if (pattern && pattern->kind == PatternKind::kBinding) {
      hidden_.push_back(as<BindingPattern>(*pattern).name);
    } else if (pattern && pattern->kind == PatternKind::kTuple) {
      for (const auto& element : as<TuplePattern>(*pattern).elements) {
        hide(element);
      }
    }
  }
  /// The code of a function inside the function, whose parameters hide names.
  template <class Body>
  void within(const std::vector<Param>& params, Body&& body) {
    const size_t outer = hidden_.size();
    for (const Param& param : params) {
      hidden_.push_back(param.name);
      hide(param.pattern);
    }
    ++depth_;
    body();
    --depth_;
    hidden_.resize(outer);
  }

  void note_changed(const Expr& target) {
    const Expr& root = root_of(target);
    if (root.kind == ExprKind::kName) {
      uses_.changed.insert(as<NameExpr>(root).name);
    } else if (root.kind == ExprKind::kSelf) {
      note_changed_field(target);
    }
  }
  void note_changed_field(const Expr& place) {
    if (place.kind == ExprKind::kSelf) {
      return;
    }
    const Expr& object = object_of(place);
    if (object.kind == ExprKind::kSelf && place.kind == ExprKind::kField) {
      uses_.changed_fields.insert(as<FieldExpr>(place).name);
    } else {
      note_changed_field(object);
    }
  }
  void note_shown(const ExprPtr& value) {
    if (value && value->kind == ExprKind::kName) {
      uses_.shown.insert(as<NameExpr>(*value).name);
    }
  }
  void take_apart(const Expr& value) {
    if (value.kind == ExprKind::kName) {
      uses_.taken_apart.insert(as<NameExpr>(value).name);
    }
  }
  /// `name = place`, and later `place = name`.
  void note_copied(const Expr& target, const Expr& value) {
    if (target.kind == ExprKind::kName) {
      origins_[as<NameExpr>(target).name].insert(place_spelling(value));
    } else if (value.kind == ExprKind::kName) {
      const auto origins = origins_.find(as<NameExpr>(value).name);
      if (origins != origins_.end() && origins->second.contains(place_spelling(target))) {
        uses_.stored_back.insert(as<NameExpr>(value).name);
      }
    }
  }

  // ---- Expressions

  void walk(const NameExpr& expr) {
    note_read(expr.name);
    note_watched_read(expr);
  }
  void walk(const SelfExpr&) { uses_.keeps_self = true; }
  void walk(const FieldExpr& expr) { use_part(expr.object); }
  void walk(const TupleFieldExpr& expr) {
    take_apart(*expr.object);
    use(expr.object);
  }
  void walk(const IndexExpr& expr) {
    take_apart(*expr.object);
    use_part(expr.object);
    for (const auto& subscript : expr.subscripts) {
      use(subscript);
    }
  }
  void walk(const SliceExpr& expr) {
    use(expr.start);
    use(expr.stop);
    use(expr.step);
  }
  void walk(const CallExpr& expr) {
    const NameExpr* root = nullptr;
    if (expr.callee->kind == ExprKind::kField &&
        mutating_names().contains(as<FieldExpr>(*expr.callee).name)) {
      const auto& callee = as<FieldExpr>(*expr.callee);
      note_changed(*callee.object);
      // The value of push() is the collection, which is then used.
      const bool is_dropped = statement_ == &expr && !results_.contains(&expr);
      root = is_dropped || !returns_receiver(callee.name) ? begin_change(*callee.object) : nullptr;
    }
    if (shows_arguments(*expr.callee)) {
      for (const Arg& arg : expr.args) {
        note_shown(arg.value);
      }
    }
    use(expr.callee);
    use_all(expr.args);
    end_change(root);
  }
  void walk(const UpdateCallExpr& expr) {
    use(expr.target);
    use_all(expr.args);
  }
  void walk(const UnaryExpr& expr) { use(expr.operand); }
  void walk(const BinaryExpr& expr) {
    use(expr.left);
    use(expr.right);
  }
  void walk(const CompareExpr& expr) {
    use(expr.first);
    for (const CompareLink& link : expr.links) {
      use(link.right);
    }
  }
  void walk(const InterpolationExpr& expr) {
    for (const InterpolationPart& part : expr.parts) {
      if (part.format.empty()) {
        note_shown(part.value);
      }
      use(part.value);
    }
  }
  void walk(const RangeExpr& expr) {
    use(expr.start);
    use(expr.end);
  }
  void walk(const TryExpr& expr) { use(expr.operand); }
  void walk(const PresentExpr& expr) { use(expr.operand); }
  void walk(const CastExpr& expr) { use(expr.operand); }
  void walk(const NewExpr& expr) { use(expr.operand); }
  void walk(const TypeApplyExpr& expr) { use(expr.object); }
  void walk(const LambdaExpr& expr) {
    within(expr.params, [&] { block(expr.body); });
  }
  void walk(const ArrayExpr& expr) {
    for (const Element& element : expr.elements) {
      use(element.value);
    }
  }
  void walk(const ArrayRepeatExpr& expr) {
    use(expr.value);
    use(expr.count);
  }
  void walk(const TupleExpr& expr) {
    for (const auto& element : expr.elements) {
      use(element);
    }
  }
  void walk(const DictExpr& expr) {
    for (const DictEntry& entry : expr.entries) {
      use(entry.key);
      use(entry.value);
    }
  }
  void walk(const ComprehensionExpr& expr) {
    const size_t outer = hidden_.size();
    for (const ComprehensionClause& clause : expr.clauses) {
      use(clause.iterable);
      hide(clause.pattern);
      hide(clause.second);
      for (const auto& condition : clause.conditions) {
        use(condition);
      }
    }
    use(expr.key);
    use(expr.value);
    hidden_.resize(outer);
  }
  void walk(const StructLiteralExpr& expr) { use_all(expr.args); }
  void walk(const IfExpr& expr) {
    for (const IfClause& clause : expr.clauses) {
      use(clause.condition.value);
      block(clause.body);
    }
    if (expr.otherwise) {
      block(*expr.otherwise);
    }
  }
  void walk(const MatchExpr& expr) {
    take_apart(*expr.subject);
    use(expr.subject);
    for (const MatchArm& arm : expr.arms) {
      use(arm.guard);
      block(arm.body);
    }
  }
  // ---- Statements

  void walk(const ExprStmt& stmt) {
    statement_ = stmt.value.get();
    use(stmt.value);
  }
  void walk(const BindStmt& stmt) {
    use(stmt.value);
    if (stmt.value && stmt.pattern->kind == PatternKind::kBinding) {
      origins_[as<BindingPattern>(*stmt.pattern).name].insert(place_spelling(*stmt.value));
    } else if (stmt.value) {
      take_apart(*stmt.value);
    }
    note_bound(stmt.pattern);
  }
  void walk(const AssignStmt& stmt) {
    if (stmt.op) {
      const NameExpr* const root = begin_change(*stmt.targets[0]);
      use(*stmt.targets[0]);
      end_change(root);
    }
    use(stmt.value);
    if (stmt.targets.size() > 1) {
      take_apart(*stmt.value);
    }
    for (const auto* targets : {&stmt.targets, &stmt.chained}) {
      for (const auto& target : *targets) {
        assigned(*target, stmt, stmt.targets.size() > 1);
      }
    }
  }
  void assigned(const Expr& target, const AssignStmt& stmt, bool is_part) {
    if (target.kind == ExprKind::kTuple) {
      for (const auto& element : as<TupleExpr>(target).elements) {
        assigned(*element, stmt, true);
      }
      return;
    }
    if (target.kind == ExprKind::kName) {
      note_assigned(as<NameExpr>(target).name, is_part);
      if (!stmt.op) {
        keep_watched(as<NameExpr>(target).name);
      }
    }
    if (!stmt.op) {
      note_copied(target, *stmt.value);
    }
    if (target.kind == ExprKind::kField && as<FieldExpr>(target).object->kind == ExprKind::kSelf &&
        !stmt.op) {
      uses_.assigned_fields.insert(as<FieldExpr>(target).name);
      return;
    }
    if (target.kind != ExprKind::kName && target.kind != ExprKind::kSelf) {
      note_changed(target);
      const NameExpr* const root = begin_change(target);
      use(target);
      end_change(root);
    }
  }
  void walk(const ReturnStmt& stmt) { use(stmt.value); }
  void walk(const AssertStmt& stmt) {
    use(stmt.condition);
    use(stmt.message);
  }
  void walk(const DeferStmt& stmt) { block(stmt.body); }
  void walk(const ForStmt& stmt) {
    use(stmt.iterable);
    note_bound(stmt.pattern);
    note_bound(stmt.second);
    // The elements of a place: changes of the variable do not reach them.
    const bool has_place = stmt.iterable->kind == ExprKind::kName ||
                           stmt.iterable->kind == ExprKind::kField || stmt.iterable->kind == ExprKind::kIndex;
    const Symbol name = has_place && !stmt.second && stmt.pattern->kind == PatternKind::kBinding
                            ? as<BindingPattern>(*stmt.pattern).name
                            : kNoSymbol;
    std::optional<Watched> hidden;
    if (const auto found = watched_.find(name); found != watched_.end()) {
      hidden = std::move(found->second);
    }
    if (name != kNoSymbol) {
      watched_[name] = {};
    }
    const size_t start = position_;
    block(stmt.body);
    if (name != kNoSymbol) {
      finish_watch(watched_[name]);
      watched_.erase(name);
      if (hidden) {
        watched_[name] = std::move(*hidden);
      }
    }
    end_loop(start);
    if (stmt.otherwise) {
      block(*stmt.otherwise);
    }
  }
  void walk(const WhileStmt& stmt) {
    const size_t start = position_;
    use(stmt.condition.value);
    block(stmt.body);
    end_loop(start);
    if (stmt.otherwise) {
      block(*stmt.otherwise);
    }
  }
  void walk(const LoopStmt& stmt) {
    const size_t start = position_;
    block(stmt.body);
    end_loop(start);
  }
  void walk(const WithStmt& stmt) {
    for (const WithItem& item : stmt.items) {
      use(item.resource);
      if (item.name != kNoSymbol) {
        keep_watched(item.name);
        note_assigned(item.name, true);
      }
    }
    block(stmt.body);
  }
  void walk(const UnsafeStmt& stmt) { block(stmt.body); }
  void walk(const FunctionDecl& decl) {
    if (decl.body) {
      within(decl.params, [&] { block(*decl.body); });
    }
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

  VariableUses uses_;
  std::unordered_map<Symbol, First> firsts_;
  std::vector<Symbol> hidden_;  // by parameters of inner functions and by variables of comprehensions
  int depth_ = 0;               // of inner functions
  std::unordered_map<Symbol, Watched> watched_;
  size_t position_ = 0;                    // of the latest read or change, in the order of evaluation
  std::unordered_set<const Expr*> roots_;  // names that begin the place of a change
  std::unordered_set<const Expr*> results_;
  const Expr* statement_ = nullptr;                                      // the latest expression statement
  std::unordered_map<Symbol, std::unordered_set<std::string>> origins_;  // places whose value a variable had
};

}  // namespace

VariableUses uses_of_variables(const std::vector<Param>& params, const std::vector<StmtPtr>& statements) {
  Walk walk(params);
  walk.body(statements);
  return walk.result();
}

}  // namespace spl
