// `bitfield Flags(u8):` with `name: bits` is a struct of unsigned integers of these widths, the lowest bits
// first. `Flags(5)` makes one of its bits as an integer, and raw() returns them.
#include <utility>

#include "host/syntax/parser.h"

namespace spl {

namespace {

template <class Node>
std::unique_ptr<Node> node_at(const SourceSpan& span) {
  auto node = std::make_unique<Node>();
  node->span = span;
  return node;
}

ExprPtr integer_node(const SourceSpan& span, int64_t value) {
  auto node = node_at<IntExpr>(span);
  node->value = value;
  return node;
}

ExprPtr binary_node(BinaryOp op, ExprPtr left, ExprPtr right) {
  auto node = node_at<BinaryExpr>(left->span);
  node->op = op;
  node->left = std::move(left);
  node->right = std::move(right);
  return node;
}

ExprPtr name_node(const SourceSpan& span, Symbol name) {
  auto node = node_at<NameExpr>(span);
  node->name = name;
  return node;
}

FunctionPtr method_of(const RecordDecl& record, const char* name, ExprPtr value) {
  auto method = node_at<FunctionDecl>(record.span);
  method->info.name = intern(name);
  auto result = node_at<ExprStmt>(record.span);
  result->value = std::move(value);
  method->body.emplace();
  method->body->span = record.span;
  method->body->statements.push_back(std::move(result));
  return method;
}

}  // namespace

bool Parser::starts_bitfield() const {
  return is_word("bitfield") && ahead().kind == Tok::kName && !ahead().line_start &&
         (ahead(2).kind == Tok::kColon || ahead(2).kind == Tok::kLeftParen);
}

StmtPtr Parser::bitfield(std::vector<Attribute> attributes, bool exported) {
  auto node = make<RecordDecl>(here());
  type_head(*node, std::move(attributes), exported, "a type name");
  uint32_t width = 64;
  if (accept(Tok::kLeftParen)) {
    const std::string_view type = spelling(current());
    width = type == "u8" ? 8 : type == "u16" ? 16 : type == "u32" ? 32 : type == "u64" ? 64 : 0;
    if (width == 0) {
      fail_expected("u8, u16, u32 or u64");
    }
    advance();
    expect(Tok::kRightParen, "after the type");
  }
  expect(Tok::kColon, "after the type name");
  uint32_t used = 0;
  members(node->info.doc, [&] { bitfield_member(*node, used, width); });
  node->methods.push_back(bits_reader(*node));
  node->methods.push_back(bits_maker(*node));
  return node;
}

/// `name: bits`, or a member that structs have too.
void Parser::bitfield_member(RecordDecl& record, uint32_t& used, uint32_t width) {
  if (!is_name() || ahead().kind != Tok::kColon || ahead(2).kind != Tok::kInt) {
    record_member(record);
    return;
  }
  FieldDecl field;
  field.span = here();
  field.name = expect_name("a field");
  advance();
  const ExprPtr bits = expression();
  const int64_t count = bits->kind == ExprKind::kInt ? as<IntExpr>(*bits).value : 0;
  if (count < 1 || count > 64 - used || used + count > width) {
    fail_at(bits->span, "the fields of " + name_of(record.info.name) + " need more than " +
                            std::to_string(width) + " bits, or none");
  }
  used += static_cast<uint32_t>(count);
  field.bits = static_cast<uint8_t>(count);
  field.default_value = integer_node(field.span, 0);
  record.fields.push_back(std::move(field));
}

/// `fn raw(): a | b << 4`
FunctionPtr Parser::bits_reader(const RecordDecl& record) {
  ExprPtr bits = integer_node(record.span, 0);
  int64_t offset = 0;
  for (const FieldDecl& field : record.fields) {
    auto value = node_at<FieldExpr>(record.span);
    value->object = node_at<SelfExpr>(record.span);
    value->name = field.name;
    bits =
        binary_node(BinaryOp::kBitOr, std::move(bits),
                    binary_node(BinaryOp::kShiftLeft, std::move(value), integer_node(record.span, offset)));
    offset += field.bits;
  }
  FunctionPtr method = method_of(record, "raw", std::move(bits));
  method->uses_self = true;
  return method;
}

/// `static fn new(bits): Flags(a: bits & 15, b: bits >> 4 & 15)`
FunctionPtr Parser::bits_maker(const RecordDecl& record) {
  static const Symbol parameter = intern("bits");
  auto made = node_at<StructLiteralExpr>(record.span);
  made->type = name_node(record.span, record.info.name);
  int64_t offset = 0;
  for (const FieldDecl& field : record.fields) {
    const uint64_t mask = field.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << field.bits) - 1;
    ExprPtr shifted = binary_node(BinaryOp::kShiftRight, name_node(record.span, parameter),
                                  integer_node(record.span, offset));
    made->args.push_back({ArgKind::kNamed, field.name,
                          binary_node(BinaryOp::kBitAnd, std::move(shifted),
                                      integer_node(record.span, static_cast<int64_t>(mask)))});
    offset += field.bits;
  }
  FunctionPtr method = method_of(record, "new", std::move(made));
  method->is_static = true;
  Param& param = method->params.emplace_back();
  param.name = parameter;
  param.span = record.span;
  return method;
}

}  // namespace spl
