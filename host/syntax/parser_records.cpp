// Structs, classes, enums, traits and impls.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "host/syntax/parser.h"

namespace spl {

/// The members of a type, indented or on the same line, including `pass` and a docstring.
void Parser::members(std::string& doc, const std::function<void()>& member) {
  const auto one = [&] {
    declaration_ = pos_;
    if (is(Tok::kText)) {
      std::vector<StmtPtr> text;
      text.push_back(expression_statement());
      text.push_back(make<PassStmt>(here()));  // so that a plain string is a docstring too
      doc = take_docstring(text, 0);
    } else if (is_pass()) {
      skip_pass();
    } else {
      member();
    }
  };
  const auto some = [&] {
    do {
      one();
    } while ((accept(Tok::kSemicolon) || accept(Tok::kComma)) && !at_statement_end());
  };
  Level level(*this);
  if (opens_indented()) {
    Scope scope(*this);
    enter_indented();
    each_line(some);
  } else {
    if (current().line_start || is(Tok::kEof)) {
      fail_expected("indented members after ':'");
    }
    some();
  }
}

/// A method after its attributes and its visibility.
FunctionPtr Parser::method() {
  std::vector<Attribute> attributes = this->attributes();
  const bool exported = visibility();
  if (!starts_function()) {
    fail_expected("a method");
  }
  return function(std::move(attributes), exported);
}

/// The record around the tokens, also when an error abandons it.
class Parser::RecordScope {
 public:
  RecordScope(const RecordDecl*& current, const RecordDecl* record)
      : current_(current), outer_(std::exchange(current, record)) {}
  ~RecordScope() { current_ = outer_; }
  RecordScope(const RecordScope&) = delete;
  RecordScope& operator=(const RecordScope&) = delete;

 private:
  const RecordDecl*& current_;
  const RecordDecl* outer_;
};

StmtPtr Parser::record(std::vector<Attribute> attributes, bool exported) {
  auto node = make<RecordDecl>(here());
  node->is_actor = starts_actor();
  node->is_class = is(Tok::kClass) || node->is_actor;
  type_head(*node, std::move(attributes), exported, "a type name");
  parents(node->parents);
  derive_from_collections(node->parents);
  const RecordScope scope(record_, node.get());
  if (accept(Tok::kColon)) {
    members(node->info.doc, [&] { record_member(*node); });
  }
  return is_enum_of_python(*node) ? enum_of_class(*node) : std::move(node);
}

/// `(A<T>)`, `extends A`, `with A, B`.
void Parser::parents(std::vector<TypePtr>& out) {
  if (is(Tok::kLeftParen)) {
    Scope scope(*this);
    open_bracket();
    while (!is(Tok::kRightParen)) {
      out.push_back(parent());
      if (out.size() > 1 && out.back()->keyword == kNoSymbol && out[out.size() - 2]->keyword != kNoSymbol) {
        fail("a parent cannot follow a keyword argument");
      }
      if (!accept(Tok::kComma)) {
        break;
      }
      join_line();
    }
    close_bracket(Tok::kRightParen, "after the parent");
  }
  if (is_word("extends")) {
    advance();
    out.push_back(type());
  }
  std::erase_if(out, [](const TypePtr& parent) {  // Python's root of all classes
    return parent->kind == TypeKind::kName && parent->path.size() == 1 &&
           name_of(parent->path[0]) == "object";
  });
  if (!accept(Tok::kWith)) {
    return;
  }
  do {
    out.push_back(type());
  } while (accept(Tok::kComma));
}

/// A type, an expression that calls a function, `namedtuple("P", "x y")`, or a keyword argument of the class.
TypePtr Parser::parent() {
  if (is_name() && (ahead().kind == Tok::kColon || ahead().kind == Tok::kAssign)) {
    auto keyword = make<TypeExpr>(here());
    keyword->kind = TypeKind::kComputed;
    keyword->keyword = expect_name("a keyword argument");
    advance();
    keyword->value_of = expression();
    return keyword;
  }
  size_t at = pos_;
  const auto kind_at = [&](size_t i) {
    return i < stream_.tokens.size() ? stream_.tokens[i].kind : Tok::kEof;
  };
  while (can_name(kind_at(at)) && (kind_at(at + 1) == Tok::kDot || kind_at(at + 1) == Tok::kColonColon)) {
    at += 2;
  }
  ++at;
  if (kind_at(at) == Tok::kLeftBracket) {
    const size_t close = matching_bracket(at);
    at = close == kNone ? at : close + 1;
  }
  if (kind_at(at) != Tok::kLeftParen) {
    note_exception(current());
    return type_argument();
  }
  auto computed = make<TypeExpr>(here());
  computed->kind = TypeKind::kComputed;
  computed->value_of = expression();
  return computed;
}

void Parser::record_member(RecordDecl& record) {
  if (record.is_actor && actor_member(record)) {
    return;
  }
  if (is(Tok::kAt) || is(Tok::kHashBracket)) {
    record.methods.push_back(method());
    mark_accessor(record, *record.methods.back());
    return;
  }
  if ((is(Tok::kPub) || is_word("private")) && !(ahead().kind == Tok::kColon)) {
    const bool exported = visibility();
    if (starts_function()) {
      record.methods.push_back(function({}, exported));
    } else {
      record.fields.push_back(field(exported));
    }
    return;
  }
  if (starts_function()) {
    record.methods.push_back(method());
    FunctionDecl& made = *record.methods.back();
    made.is_static = made.is_static || (name_of(made.info.name) == "new" && !made.takes_self);
    return;
  }
  if (starts_inner_declaration()) {
    inner_declaration(record);
    return;
  }
  const bool static_value = is(Tok::kStatic) && ahead().kind != Tok::kColon;
  if (static_value) {
    advance();
  }
  if (static_value || is(Tok::kConst)) {
    if (!is(Tok::kVal) && !is(Tok::kVar) && !is(Tok::kConst)) {
      fail_expected("'fn' or 'val' after 'static'");
    }
    record.constants.push_back(bind_statement(false));
    return;
  }
  record.fields.push_back(field(false));
}

/// `@x.setter fn x(value)`: a method with a name of its own, `x.setter`, which no other method can have.
void Parser::mark_accessor(const RecordDecl& record, FunctionDecl& method) {
  auto& attributes = method.info.attributes;
  if (attributes.empty() || !attributes.back().decorator ||
      attributes.back().decorator->kind != ExprKind::kField) {
    return;
  }
  const auto& field = as<FieldExpr>(*attributes.back().decorator);
  const std::string& accessor = name_of(field.name);
  const bool is_accessor = accessor == "setter" || accessor == "deleter" || accessor == "getter";
  const bool is_own =
      field.object->kind == ExprKind::kName &&
      std::any_of(record.methods.begin(), record.methods.end(), [&](const FunctionPtr& other) {
        return other.get() != &method && other->info.name == as<NameExpr>(*field.object).name;
      });
  if (!is_accessor || !is_own) {
    return;
  }
  if (as<NameExpr>(*field.object).name != method.info.name) {
    fail_at(attributes.back().span, "a " + accessor + " must have the name of its property",
            "write 'fn " + name_of(as<NameExpr>(*field.object).name) + "'");
  }
  if (!record.is_class) {
    fail_at(attributes.back().span, "a " + accessor + " requires a class",
            "a struct is a value; use a method");
  }
  if (record.parents.empty() && accessor != "setter") {
    fail_at(attributes.back().span, "a " + accessor + " requires a class with a Python parent");
  }
  method.info.name = intern(name_of(method.info.name) + "." + accessor);
  attributes.pop_back();
}

bool Parser::starts_inner_declaration() const {
  const bool is_field = ahead().kind == Tok::kColon || ahead().kind == Tok::kAssign;
  return !is_field && starts_declaration();
}

/// Moves a declaration inside a record to the module, before the record. A type is also a static value of it.
void Parser::inner_declaration(RecordDecl& record) {
  StmtPtr inner = declaration();
  if (inner->kind == StmtKind::kRecord) {
    record.inner_types.push_back(as<RecordDecl>(*inner).info.name);
  } else if (inner->kind == StmtKind::kEnum) {
    record.inner_types.push_back(as<EnumDecl>(*inner).info.name);
  }
  hoisted_.push_back(std::move(inner));
}

/// `[mut] name: type [= value]`; a leading `val` or `var` is allowed.
FieldDecl Parser::field(bool exported) {
  FieldDecl field;
  field.exported = exported;
  field.is_mutable = is(Tok::kMut) || is(Tok::kVar);
  if (is(Tok::kMut) || is(Tok::kVar) || is(Tok::kVal)) {
    advance();
  }
  if (!is_name()) {
    fail_expected("a field or a method");
  }
  field.span = here();
  field.name = expect_name("a field");
  if (accept(Tok::kColon)) {
    field.type = type();
    if (is(Tok::kColon) && ahead().kind == Tok::kInt) {
      advance();
      const std::string bits(spelling(current()));
      const int width = std::atoi(bits.c_str());
      if (width < 1 || width > 64) {
        fail("a bit field has 1 to 64 bits, got " + bits);
      }
      field.bits = static_cast<uint8_t>(width);
      advance();
    }
  }
  if (is(Tok::kAssign)) {
    advance();
    if (is(Tok::kNewline) && opens_indented()) {
      begin_line();
    }
    field.default_value = expression();
  } else if (!field.type) {
    fail_expected("':' and a type after the field name");
  }
  return field;
}

StmtPtr Parser::enumeration(std::vector<Attribute> attributes, bool exported) {
  auto node = make<EnumDecl>(here());
  type_head(*node, std::move(attributes), exported, "an enum name");
  expect(Tok::kColon, "after the enum name");
  members(node->info.doc, [&] {
    if (starts_function() || is(Tok::kAt) || is(Tok::kHashBracket) || is(Tok::kPub)) {
      node->methods.push_back(method());
    } else {
      accept(Tok::kPipe);
      do {
        accept(Tok::kCase);
        node->variants.push_back(variant());
      } while (accept(Tok::kPipe));
    }
  });
  return node;
}

/// `Dot`, `Disc(r: f64)`, `Pair(i64, i64)`, `Red = 1`. A line may have several: `A | B`.
VariantDecl Parser::variant() {
  VariantDecl variant;
  variant.span = here();
  variant.name = expect_name("a variant");
  if (is(Tok::kLeftParen)) {
    Scope scope(*this);
    open_bracket();
    while (!is(Tok::kRightParen)) {
      const bool named = is_name() && ahead().kind == Tok::kColon;
      variant.field_names.push_back(named ? expect_name("a field") : kNoSymbol);
      if (named) {
        advance();
      }
      variant.field_types.push_back(type());
      if (!accept(Tok::kComma)) {
        break;
      }
    }
    close_bracket(Tok::kRightParen, "after the variant fields");
  }
  if (accept(Tok::kAssign)) {
    variant.value = binary_above_pipe();
  }
  return variant;
}

StmtPtr Parser::trait(std::vector<Attribute> attributes, bool exported) {
  auto node = make<TraitDecl>(here());
  type_head(*node, std::move(attributes), exported, "a trait name");
  parents(node->parents);
  expect(Tok::kColon, "after the trait name");
  members(node->info.doc, [&] {
    if (!associated_type()) {
      node->methods.push_back(method());
    }
  });
  return node;
}

/// `type Item`, `type Item = i64`: associated types, which have no effect.
bool Parser::associated_type() {
  if (!is(Tok::kType) || !can_name(ahead().kind)) {
    return false;
  }
  advance();
  expect_name("a type name");
  if (accept(Tok::kColon)) {
    type();
  }
  if (accept(Tok::kAssign)) {
    type();
  }
  return true;
}

/// `impl T:`, `impl T: Trait:`, `impl<T> Trait<T> for Type<T>:`.
StmtPtr Parser::implementation() {
  auto node = make<ImplDecl>(here());
  advance();
  if (is(Tok::kLess) || (is(Tok::kLeftBracket) && touches_previous())) {
    node->generics = generic_params();
  }
  node->target = type();
  if (accept(Tok::kFor)) {
    node->trait = std::move(node->target);
    node->target = type();
  }
  expect(Tok::kColon, "after the type");
  if (is(Tok::kName) && !current().line_start) {  // impl Type: Trait:
    node->trait = type();
    expect(Tok::kColon, "after the trait");
  }
  std::string unused_doc;
  members(unused_doc, [&] {
    if (!associated_type()) {
      node->methods.push_back(method());
    }
  });
  return node;
}

}  // namespace spl
