// A class of Python shares the values that its body assigns: `Shapes.classes[-1]`, `cls.table[name] = f`. A
// class of Simple declares fields with them, of which each object has its own. The fields for which the
// difference would show become variables of the class, unless an object has its own value, too.
#include "host/compiler/class_variables.h"

#include <algorithm>
#include <string_view>

#include "host/compiler/variable_uses.h"
#include "host/syntax/lexer.h"

namespace spl {

namespace {

/// What the program does with `Class.name` and `cls.name`, and whether another object's `name` is assigned.
struct UsesOfName {
  bool is_named = false, is_changed = false, is_assigned_elsewhere = false;
};

bool is_assignment(Tok kind) {
  return kind == Tok::kAssign || (kind >= Tok::kPlusAssign && kind <= Tok::kShiftRightAssign);
}

class ClassVariables {
 public:
  explicit ClassVariables(LoadedModule& module) : module_(module), text_(module.source().text) {
    std::vector<Diagnostic> ignored;
    const auto size = static_cast<uint32_t>(text_.size());
    tokens_ = Lexer(module.source(), {0, size, 1, 1}, ignored).run().tokens;
  }

  void run() {
    for (const auto& stmt : module_.tree().module.statements) {
      if (stmt->kind == StmtKind::kRecord) {
        share(static_cast<RecordDecl&>(*stmt));
      }
    }
  }

 private:
  // `__radd__ = __add__` and `next = __next__` name a method of the class a second time.
  static void take_aliases(RecordDecl& decl) {
    const auto is_method = [&](Symbol name) {
      return std::any_of(decl.methods.begin(), decl.methods.end(),
                         [&](const FunctionPtr& method) { return method->info.name == name; });
    };
    std::erase_if(decl.fields, [&](const FieldDecl& field) {
      if (field.type || !field.default_value || field.default_value->kind != ExprKind::kName) {
        return false;
      }
      const Symbol method = as<NameExpr>(*field.default_value).name;
      if (is_method(method)) {
        decl.method_aliases.emplace_back(field.name, method);
      }
      return is_method(method);
    });
  }

  void share(RecordDecl& decl) {
    take_aliases(decl);
    if (!decl.is_class || decl.is_actor || !decl.info.attributes.empty()) {
      return;
    }
    VariableUses uses;
    for (const auto& method : decl.methods) {
      if (method->body) {
        VariableUses own = uses_of_variables(method->params, method->body->statements);
        uses.changed_fields.merge(own.changed_fields);
        uses.assigned_fields.merge(own.assigned_fields);
      }
    }
    std::vector<FieldDecl> kept;
    for (FieldDecl& field : decl.fields) {
      if (is_shared(decl, field, uses)) {
        decl.constants.push_back(variable_of(field));
      } else {
        kept.push_back(std::move(field));
      }
    }
    decl.fields = std::move(kept);
  }

  bool is_shared(const RecordDecl& decl, const FieldDecl& field, const VariableUses& uses) const {
    if (field.type || !field.default_value || uses.assigned_fields.contains(field.name)) {
      return false;
    }
    const UsesOfName found = uses_of(name_of(decl.info.name), name_of(field.name));
    const bool is_changed_by_object = uses.changed_fields.contains(field.name);
    const bool is_collection =
        field.default_value->kind == ExprKind::kArray || field.default_value->kind == ExprKind::kDict;
    if (found.is_assigned_elsewhere) {
      return false;
    }
    // `self.n += 1` makes a field of the object.
    return is_changed_by_object ? is_collection : found.is_named;
  }

  bool is_class(std::string_view name) const {
    const auto& statements = module_.tree().module.statements;
    return std::any_of(statements.begin(), statements.end(), [&](const StmtPtr& stmt) {
      return stmt->kind == StmtKind::kRecord && name_of(as<RecordDecl>(*stmt).info.name) == name;
    });
  }

  std::string_view spelling(size_t at) const {
    return at < tokens_.size() ? std::string_view(text_).substr(tokens_[at].start, tokens_[at].length)
                               : std::string_view();
  }

  UsesOfName uses_of(std::string_view type, std::string_view name) const {
    UsesOfName found;
    for (size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (tokens_[i].kind != Tok::kDot || spelling(i + 1) != name) {
        continue;
      }
      const std::string_view object = spelling(i - 1);
      const bool is_member = i > 1 && tokens_[i - 2].kind == Tok::kDot;
      const bool of_class = !is_member && (object == type || object == "cls");
      const Tok next = i + 2 < tokens_.size() ? tokens_[i + 2].kind : Tok::kEof;
      found.is_named |= of_class;
      found.is_changed |= of_class && (is_assignment(next) || next == Tok::kDot || next == Tok::kLeftBracket);
      found.is_assigned_elsewhere |=
          !of_class && object != "self" && !is_class(object) && is_assignment(next);
    }
    return found;
  }

  static StmtPtr variable_of(FieldDecl& field) {
    auto pattern = std::make_unique<BindingPattern>();
    pattern->span = field.span;
    pattern->name = field.name;
    pattern->is_mutable = true;
    auto bind = std::make_unique<BindStmt>();
    bind->span = field.span;
    bind->bind = BindKind::kVar;
    bind->pattern = std::move(pattern);
    bind->value = std::move(field.default_value);
    return bind;
  }

  LoadedModule& module_;
  const std::string& text_;
  std::vector<Token> tokens_;
};

}  // namespace

void share_class_variables(LoadedModule& module) {
  if (module.uses_torch && !module.is_library) {
    ClassVariables(module).run();
  }
}

}  // namespace spl
