// Converts SDN trees to arrays, dicts and tuples.
#include "host/sdn/sdn_values.h"

#include "host/sdn/sdn.h"
#include "host/values/conversions.h"
#include "host/values/objects.h"

namespace spl {

namespace {

using NodeKind = sdn::Node::Kind;

Value value_of(const sdn::Node& node);

Value array_of(const std::vector<sdn::Node>& nodes) {
  std::vector<Value> items;
  items.reserve(nodes.size());
  for (const sdn::Node& node : nodes) {
    items.push_back(value_of(node));
  }
  return make_array(std::move(items));
}

Value words_of(const std::vector<std::string>& words) {
  if (words.empty()) {
    return Value();
  }
  std::vector<Value> items;
  items.reserve(words.size());
  for (const std::string& word : words) {
    items.push_back(make_text(word));
  }
  return make_array(std::move(items));
}

Value dict_of(const sdn::Node& node) {
  auto* dict = new Dict();
  for (size_t i = 0; i < node.items.size(); ++i) {
    dict->set(make_text(node.names[i]), value_of(node.items[i]));
  }
  return Value::object(dict);
}

Value value_of(const sdn::Node& node) {
  switch (node.kind) {
    case NodeKind::kNull:
      return Value();
    case NodeKind::kBool:
      return Value::boolean(node.flag);
    case NodeKind::kInt:
      return Value::integer(node.integer);
    case NodeKind::kFloat:
      return Value::number(node.number);
    case NodeKind::kText:
      return make_text(node.text);
    case NodeKind::kArray:
      return array_of(node.items);
    case NodeKind::kDict:
      return dict_of(node);
    case NodeKind::kTable:
      return make_tuple({words_of(node.names), words_of(node.types), array_of(node.items)});
  }
  return Value();
}

void collect_positions(const sdn::Node& dict, const std::string& prefix, Dict& positions) {
  for (size_t i = 0; i < dict.items.size(); ++i) {
    const sdn::Node& item = dict.items[i];
    const std::string path = prefix + dict.names[i];
    positions.set(make_text(path), make_tuple({Value::integer(item.line), Value::integer(item.column)}));
    if (item.kind == NodeKind::kDict) {
      collect_positions(item, path + ".", positions);
    }
  }
}

}  // namespace

Value sdn_parse(Thread&, Value* args, int) {
  const sdn::Document document = sdn::parse(expect_text(args[0], "the content"));
  if (const auto& problem = document.problem) {
    return make_array(
        {Value::integer(problem->line), Value::integer(problem->column), make_text(problem->message)});
  }
  auto* positions = new Dict();
  collect_positions(document.root, "", *positions);
  return make_array({value_of(document.root), Value::object(positions)});
}

}  // namespace spl
