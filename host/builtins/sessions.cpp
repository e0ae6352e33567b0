#include "host/builtins/sessions.h"

#include "host/builtins/embedding.h"
#include "host/modules/loader.h"
#include "host/modules/session.h"
#include "host/values/error.h"
#include "host/vm/failure.h"

namespace spl {

namespace {

constexpr size_t kLargeCollection = 1000;

LoadedModule& module_in(Value array) {
  const Value first = element(array);
  if (!first.is(Kind::kModule)) {
    fail("expected a module");
  }
  return *static_cast<LoadedModule*>(first.as_object);
}

LoadedModule& session_in(Value array) {
  LoadedModule& module = module_in(array);
  if (!module.is_session) {
    fail("expected a session");
  }
  return module;
}

Value session_new(Thread&, Value* args, int) {
  return Value::object(&add_session(expect_text(args[0], "the name")));
}

// Arguments: an array with the session, the source text and the cell's name. Returns an array with the cell's
// value, or the diagnostics of a cell that does not compile as text.
Value session_run(Thread&, Value* args, int) {
  try {
    const std::string text = expect_text(args[1], "the text");
    return make_array({run_cell(session_in(args[0]), text, expect_text(args[2], "the name"))});
  } catch (const LoadError& error) {
    return make_text(error.report.substr(0, error.report.find_last_not_of('\n') + 1));
  }
}

// Arguments: an array with the session and a value, and the name. Returns false if `use` bound the name,
// which then stays as it is.
Value session_define(Thread&, Value* args, int) {
  LoadedModule& session = session_in(args[0]);
  const Symbol name = intern(expect_text(args[1], "the name"));
  if (is_imported(session, name)) {
    return Value::boolean(false);
  }
  session.define(name, retained(element(args[0], 1)));
  return Value::boolean(true);
}

Value session_remove(Thread&, Value* args, int) {
  LoadedModule& session = session_in(args[0]);
  const Symbol name = intern(expect_text(args[1], "the name"));
  if (!is_imported(session, name)) {
    session.forget(name);
    session.define(name, Value::missing());
  }
  return Value();
}

bool is_large(Value value) {
  return (value.is(Kind::kArray) && as_object<Array>(value)->items.size() > kLargeCollection) ||
         (value.is(Kind::kDict) && as_object<Dict>(value)->live > kLargeCollection);
}

// Arguments: an array with the session, and whether large collections are included. Returns alternating names
// and values of the variables that Simple code set since the last call; the value of a name without one is
// the session itself.
Value session_changes(Thread&, Value* args, int) {
  LoadedModule& session = session_in(args[0]);
  const bool all = args[1].is_bool() && args[1].as_bool;
  session_watch.has_changes.store(false);
  std::vector<Value> changes;
  for (size_t slot = 0; slot < session.changed.size(); ++slot) {
    const Value value = session.slots[slot];
    const Symbol name = session.slot_names[slot];
    if (!session.changed[slot] || is_imported(session, name) || (!all && is_large(value))) {
      continue;
    }
    session.changed[slot] = false;
    changes.push_back(make_text(name_of(name)));
    changes.push_back(value.is_missing() ? Value::object(&session) : retained(value));
  }
  return make_array(std::move(changes));
}

// The names that the session's code mentions: those that another language's variables may stand for.
Value session_mentions(Thread&, Value* args, int) {
  std::vector<Value> names;
  for (const Symbol name : session_in(args[0]).slot_names) {
    names.push_back(make_text(name_of(name)));
  }
  return make_array(std::move(names));
}

void add_public_names(const LoadedModule& module, std::vector<Value>& names) {
  for (size_t slot = 0; slot < module.slots.size(); ++slot) {
    if (!module.slots[slot].is_missing() && module.is_public(module.slot_names[slot])) {
      names.push_back(make_text(name_of(module.slot_names[slot])));
    }
  }
}

// The names that a module shows to other modules, also imported ones.
Value module_names(Thread&, Value* args, int) {
  const LoadedModule& module = module_in(args[0]);
  std::vector<Value> names;
  add_public_names(module, names);
  for (const auto& [name, import] : module.imports) {
    names.push_back(make_text(name_of(name)));
  }
  return make_array(std::move(names));
}

// The names that a cell can use: variables, functions and types, imported names, and built-in ones.
Value session_names(Thread&, Value* args, int) {
  LoadedModule& session = session_in(args[0]);
  std::vector<Value> names;
  for (size_t slot = 0; slot < session.slots.size(); ++slot) {
    if (!session.slots[slot].is_missing()) {
      names.push_back(make_text(name_of(session.slot_names[slot])));
    }
  }
  for (const auto& [name, import] : session.imports) {
    names.push_back(make_text(name_of(name)));
  }
  for (const LoadedModule* imported : session.wildcards) {
    add_public_names(*imported, names);
  }
  for (const auto& [name, value] : builtins()) {
    names.push_back(make_text(name_of(name)));
  }
  return make_array(std::move(names));
}

// Arguments: an array with the session, and the name. Returns an array with the name's value; an empty one if
// it has none.
Value session_value(Thread&, Value* args, int) {
  const Value value = session_in(args[0]).lookup(intern(expect_text(args[1], "the name")));
  return value.is_missing() ? make_array({}) : make_array({retained(value)});
}

// Arguments: an array with a module, and the name by which other modules import it.
Value import_as(Thread&, Value* args, int) {
  LoadedModule& module = module_in(args[0]);
  make_importable(module, expect_text(args[1], "the name"));
  return retained(Value::object(&module));
}

constexpr NativeEntry kSessionExterns[] = {
    {"rt_session_new", session_new, 1, 1},           {"rt_session_run", session_run, 3, 3},
    {"rt_session_define", session_define, 2, 2},     {"rt_session_remove", session_remove, 2, 2},
    {"rt_session_changes", session_changes, 2, 2},   {"rt_session_names", session_names, 1, 1},
    {"rt_session_mentions", session_mentions, 1, 1}, {"rt_session_value", session_value, 2, 2},
    {"rt_module_names", module_names, 1, 1},         {"rt_import_as", import_as, 2, 2},
};

}  // namespace

std::span<const NativeEntry> session_externs() { return kSessionExterns; }

}  // namespace spl
