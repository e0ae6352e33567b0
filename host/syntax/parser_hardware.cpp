// What programs for other hardware contain: inline assembly, memory-mapped variables, declarations for one
// target. All of it parses, so that the rest of the file can be used.
#include <algorithm>
#include <unordered_set>

#include "host/syntax/parser.h"

namespace spl {

/// `asm "…"`, `asm volatile: …`, `asm { … }`.
bool Parser::starts_assembly() const {
  if (!is_word("asm") || ahead().line_start) {
    return false;
  }
  const Tok next = ahead().kind;
  return next == Tok::kText || next == Tok::kColon || next == Tok::kLeftBrace ||
         spelling(ahead()) == "volatile" || (next == Tok::kBang && ahead(2).kind == Tok::kLeftParen);
}

/// Inline assembly is for a compiler. It fails when it runs.
StmtPtr Parser::assembly() {
  const SourceSpan span = here();
  advance();
  accept(Tok::kBang);
  accept_word("volatile");
  if (is(Tok::kLeftParen) || is(Tok::kLeftBrace)) {
    const size_t close = matching_bracket(pos_);
    if (close == kNone) {
      fail(found() + " was never closed");
    }
    while (pos_ <= close) {
      advance();
    }
  } else {
    const bool block = is(Tok::kColon) && ahead().line_start;
    do {
      advance();
    } while (current().kind != Tok::kEof &&
             (!current().line_start || (block && current().indent > context_.indent)));
  }
  auto message = make<TextExpr>(span);
  message->value = "asm: inline assembly is not supported";
  return statement_of(span, call_of("panic", std::move(message)));
}

/// Whether `@address(e) @volatile val: T` follows, a variable at an address of the machine.
bool Parser::starts_memory_mapped() const {
  if (!is(Tok::kAt) || spelling(ahead()) != "address" || ahead(2).kind != Tok::kLeftParen) {
    return false;
  }
  const size_t close = matching_bracket(pos_ + 2);
  return close != kNone && stream_.tokens[close + 1].kind == Tok::kAt;
}

/// Raises an error when it is evaluated: programs of this host have no access to addresses.
ExprPtr Parser::memory_mapped() {
  const SourceSpan span = here();
  advance();
  advance();
  arguments(Tok::kRightParen);
  while (accept(Tok::kAt)) {
    member_name();
  }
  if (const std::string_view word = spelling(current()); word == "val" || word == "var") {
    advance();
  } else {
    fail_expected("'val' or 'var' after the attributes of an address");
  }
  expect(Tok::kColon, "after 'val' or 'var'");
  type();
  auto message = make<TextExpr>(from(span));
  message->value = "@address: memory-mapped variables are not supported";
  return call_of("panic", std::move(message));
}

namespace {

#if defined(__x86_64__)
constexpr std::string_view kArchitecture = "x86_64";
#elif defined(__aarch64__)
constexpr std::string_view kArchitecture = "aarch64";
#else
constexpr std::string_view kArchitecture = "";
#endif

/// Whether a program can name this architecture alone, as `@cfg(riscv64)`.
bool is_architecture(std::string_view name) {
  static const std::unordered_set<std::string_view> names = {
      "x86_64", "x86_32", "x86", "arm64", "aarch64", "arm32", "arm", "riscv64", "riscv32",
  };
  return names.contains(name);
}

bool is_this_architecture(std::string_view name) {
  return (name == "arm64" ? "aarch64" : name) == kArchitecture;
}

/// The architecture in `@cfg("target_arch", "arm")` or `@cfg(arm)`; null for another attribute or form.
const std::string* required_architecture(const Attribute& attribute) {
  if (!attribute.decorator || name_of(attribute.name) != "cfg" ||
      attribute.decorator->kind != ExprKind::kCall) {
    return nullptr;
  }
  const std::vector<Arg>& args = as<CallExpr>(*attribute.decorator).args;
  if (args.size() == 1 && args[0].value && args[0].value->kind == ExprKind::kName) {
    const std::string& name = name_of(as<NameExpr>(*args[0].value).name);
    return is_architecture(name) ? &name : nullptr;
  }
  const auto is_text = [](const Arg& arg) { return arg.value && arg.value->kind == ExprKind::kText; };
  if (args.size() != 2 || !std::all_of(args.begin(), args.end(), is_text) ||
      as<TextExpr>(*args[0].value).value != "target_arch") {
    return nullptr;
  }
  return &as<TextExpr>(*args[1].value).value;
}

/// Whether the attributes name architectures, and this machine's is not among them.
bool is_for_another_target(const std::vector<Attribute>& attributes) {
  bool has_condition = false;
  for (const Attribute& attribute : attributes) {
    if (const std::string* architecture = required_architecture(attribute)) {
      if (is_this_architecture(*architecture)) {
        return false;
      }
      has_condition = true;
    }
  }
  return has_condition;
}

}  // namespace

/// Of several functions with one name, keeps those that are for this target. A single one stays, so that
/// other modules can import it.
void Parser::drop_other_targets(std::vector<StmtPtr>& statements) {
  const auto function_of = [](const StmtPtr& stmt) {
    return stmt->kind == StmtKind::kFunction ? &as<FunctionDecl>(*stmt) : nullptr;
  };
  std::unordered_set<Symbol> kept;
  for (const auto& stmt : statements) {
    if (const FunctionDecl* function = function_of(stmt);
        function != nullptr && !is_for_another_target(function->info.attributes)) {
      kept.insert(function->info.name);
    }
  }
  std::erase_if(statements, [&](const StmtPtr& stmt) {
    const FunctionDecl* function = function_of(stmt);
    return function != nullptr && is_for_another_target(function->info.attributes) &&
           !kept.insert(function->info.name).second;
  });
}

}  // namespace spl
