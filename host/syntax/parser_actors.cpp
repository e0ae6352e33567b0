// `actor Name:`, a class whose objects handle messages, and `spawn e`, which starts one.
#include "host/syntax/parser.h"

namespace spl {

/// Whether `actor Name:` follows, rather than a call of a function of that name.
bool Parser::starts_actor() const {
  if (!is_word("actor") || ahead().kind != Tok::kName || ahead().line_start) {
    return false;
  }
  const Tok next = ahead(2).kind;
  return next == Tok::kColon || next == Tok::kLess || next == Tok::kLeftBracket || next == Tok::kLeftParen ||
         next == Tok::kWith;
}

/// A member of an actor that a class does not have: `state:`, or `on Message(params):`. Returns whether one
/// followed.
bool Parser::actor_member(RecordDecl& actor) {
  if (is_word("state") && ahead().kind == Tok::kColon && ahead(2).line_start) {
    advance();
    advance();
    std::string unused_doc;
    members(unused_doc, [&] { actor.fields.push_back(field(false)); });
    return true;
  }
  if (is_word("on") && ahead().kind == Tok::kName && ahead(2).kind == Tok::kLeftParen) {
    actor.methods.push_back(message_handler());
    return true;
  }
  return false;
}

/// `on Add(n: i64) async -> i64: …` is a method. It runs in the thread of the actor, so that `async` has no
/// effect.
FunctionPtr Parser::message_handler() {
  Level level(*this);
  auto node = make<FunctionDecl>(here());
  node->info.doc = doc_comment();
  advance();
  node->span = here();
  node->info.name = member_name();
  signature(*node);
  node->is_async = false;
  function_body(*node);
  if (!node->body) {
    fail_at(node->span, "a message handler needs a body");
  }
  return node;
}

/// `spawn Worker(n: 1)`.
ExprPtr Parser::spawn_expression() {
  Level level(*this);
  advance();
  return call_of("__spawn__", postfix());
}

}  // namespace spl
