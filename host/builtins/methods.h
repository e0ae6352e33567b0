// Methods of the built-in types, and what they share.
#pragma once

#include <string>
#include <vector>

#include "../values/error.h"
#include "../values/objects.h"
#include "../vm/thread.h"

namespace spl {

/// One method. args[0] is the receiver; all arguments are borrowed, the result is owned. One that mutates
/// makes args[0] unique and changes it in place.
struct BuiltinMethod {
  const char* name;
  NativeFn fn;
  int least, most;  // arguments besides the receiver; most -1: any number
  bool mutates;
};

using MethodTable = std::vector<BuiltinMethod>;
const MethodTable& text_methods();
const MethodTable& array_methods();
const MethodTable& sequence_methods();  // what arrays share with tuples and ranges
const MethodTable& dict_methods();
const MethodTable& number_methods();
const MethodTable& range_methods();
const MethodTable& option_methods();  // Option, and plain values that stand for one
const MethodTable& result_methods();

// ---- Reading arguments: each fails with the method's name and what came instead -----------------------

const std::string& text_argument(Value v, const char* method);
int64_t int_argument(Value v, const char* method);

/// The elements of an array, tuple, range, dict or text, each owned by the result.
std::vector<Ref> elements_of(Thread& thread, Value iterable);
Value array_of(std::vector<Ref> elements);

}  // namespace spl
