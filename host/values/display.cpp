// Type names, and values as text.
#include <charconv>
#include <cmath>

#include "host/values/module.h"
#include "host/values/nesting.h"
#include "host/values/object_hooks.h"
#include "host/values/sized.h"

namespace spl {

namespace {

std::string object_type_name(Value v) {
  switch (v.as_object->kind) {
    case Kind::kText:
      return "text";
    case Kind::kArray:
      return "array";
    case Kind::kTuple:
      return "tuple";
    case Kind::kDict:
      return "dict";
    case Kind::kRange:
      return "range";
    case Kind::kSlice:
      return "slice";
    case Kind::kInstance:
      return name_of(as_object<Instance>(v)->record->name);
    case Kind::kEnumValue:
      return name_of(as_object<EnumValue>(v)->type->name);
    case Kind::kClosure:
    case Kind::kNative:
    case Kind::kExtern:
    case Kind::kBoundMethod:
      return "function";
    case Kind::kRecord:
      return as_object<Record>(v)->is_class ? "class" : "struct";
    case Kind::kEnum:
      return "enum";
    case Kind::kTrait:
      return "trait";
    case Kind::kModule:
      return "module";
    case Kind::kGenerator:
      return "generator";
    case Kind::kIterator:
      return "iterator";
    case Kind::kThread:
      return object_hooks().is_future(v) ? "future" : "thread";
    case Kind::kCell:
    case Kind::kCause:
    case Kind::kSharedValues:
      break;
  }
  return "internal";
}

}  // namespace

std::string type_name(Value v) {
  switch (v.tag) {
    case Tag::kNil:
    case Tag::kMissing:
      return "nil";
    case Tag::kBool:
      return "bool";
    case Tag::kInt:
      return "i64";
    case Tag::kFloat:
      return "f64";
    case Tag::kObject:
      return object_type_name(v);
    default:
      return sized_name(v.tag);
  }
}

namespace {

// The shortest digits that read back as the same number, always with a decimal point or an exponent.
template <class Number>
std::string shortest(Number value) {
  if (std::isnan(value)) {
    return "nan";
  }
  if (std::isinf(value)) {
    return value < 0 ? "-inf" : "inf";
  }
  char buffer[64];
  const double size = std::fabs(static_cast<double>(value));
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific);
  std::string text(buffer, end.ptr);
  if (plain && text.find('.') == std::string::npos) {
    text += ".0";
  }
  return text;
}

}  // namespace

std::string display_float(double value) { return shortest(value); }
std::string display_single(float value) { return shortest(value); }

namespace {

// An object in a collection shows its __repr__, if it has one; an object alone shows its __str__.
std::string display_part(Value v) {
  return v.is(Kind::kInstance) ? object_hooks().representation(v) : display(v);
}

std::string display_items(const Elements& items, const char* open, const char* close) {
  std::string text = open;
  for (size_t i = 0; i < items.size(); ++i) {
    text += (i == 0 ? "" : ", ") + display_part(items[i]);
  }
  return text + close;
}

std::string display_tuple(const Tuple& tuple) {
  if (tuple.names.empty()) {
    return display_items(tuple.items, "(", tuple.items.size() == 1 ? ",)" : ")");
  }
  if (tuple.names.size() > tuple.items.size()) {  // Python's namedtuple
    std::string text = name_of(tuple.names.back()) + "(";
    for (size_t i = 0; i < tuple.items.size(); ++i) {
      text += (i == 0 ? "" : ", ") + name_of(tuple.names[i]) + "=" + representation(tuple.items[i]);
    }
    return text + ")";
  }
  std::string text = "(";
  for (size_t i = 0; i < tuple.items.size(); ++i) {
    text += (i == 0 ? "" : ", ") + name_of(tuple.names[i]) + ": " + display_part(tuple.items[i]);
  }
  return text + ")";
}

std::string display_dict(Dict& dict) {
  dict.compact();
  std::string text = "{";
  for (size_t i = 0; i < dict.entries.size(); ++i) {
    text +=
        (i == 0 ? "" : ", ") + display_part(dict.entries[i].key) + ": " + display_part(dict.entries[i].value);
  }
  return text + "}";
}

std::string display_or_nothing(Value part) { return part.is_nil() ? "" : display(part); }

std::string display_range(const Range& range) {
  return display_or_nothing(range.start) + (range.inclusive ? "..=" : "..") + display_or_nothing(range.end);
}

std::string display_slice(const Slice& slice) {
  return display_or_nothing(slice.start) + ":" + display_or_nothing(slice.stop) +
         (slice.step.is_nil() ? "" : ":" + display(slice.step));
}

std::string display_enum(Value v) {
  static const Symbol hook = intern("__str__");
  auto* value = as_object<EnumValue>(v);
  if (value->type->find(hook) != nullptr) {
    return object_hooks().display(v);
  }
  const VariantInfo& info = value->info();
  const CoreTypes& core = core_types();
  const bool built_in =
      value->type == core.option || value->type == core.result || value->type == core.ellipsis;
  const char* separator = value->type->is_of_python ? "." : "::";
  std::string text =
      built_in ? name_of(info.name) : name_of(value->type->name) + separator + name_of(info.name);
  if (info.arity == 0) {
    return text;
  }
  text += "(";
  for (uint32_t i = 0; i < info.arity; ++i) {
    text += (i == 0 ? "" : ", ") + display(value->payload()[i]);
  }
  return text + ")";
}

std::string display_object(Value v) {
  const Nesting nesting(200, "shown");
  switch (v.as_object->kind) {
    case Kind::kArray:
      return display_items(as_object<Array>(v)->items, "[", "]");
    case Kind::kTuple:
      return display_tuple(*as_object<Tuple>(v));
    case Kind::kDict:
      return display_dict(*as_object<Dict>(v));
    case Kind::kRange:
      return display_range(*as_object<Range>(v));
    case Kind::kSlice:
      return display_slice(*as_object<Slice>(v));
    case Kind::kInstance:
    case Kind::kClosure:
      return object_hooks().display(v);
    case Kind::kEnumValue:
      return display_enum(v);
    case Kind::kNative:
      return std::string("<fn ") + as_object<Native>(v)->name + ">";
    case Kind::kRecord:
    case Kind::kEnum:
    case Kind::kTrait:
      return "<" + type_name(v) + " " + name_of(as_object<Type>(v)->name) + ">";
    case Kind::kModule:
      return "<module " + static_cast<LoadedModule*>(v.as_object)->name + ">";
    default:
      return "<" + type_name(v) + ">";
  }
}

}  // namespace

std::string display(Value v) {
  switch (v.tag) {
    case Tag::kNil:
    case Tag::kMissing:
      return "nil";
    case Tag::kBool:
      return v.as_bool ? "true" : "false";
    case Tag::kInt:
      return std::to_string(v.as_int);
    case Tag::kFloat:
      return display_float(v.as_float);
    case Tag::kObject:
      return v.is(Kind::kText) ? text_of(v) : display_object(v);
    default:
      return display_sized(v);
  }
}

}  // namespace spl
