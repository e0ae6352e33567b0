#include "host/modules/session.h"

#include <utility>

#include "host/compiler/bytecode.h"
#include "host/modules/loader.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

// Restores the names and values of a session unless keep() is called.
class SessionRollback {
 public:
  explicit SessionRollback(LoadedModule& session) : session_(session), names_(session) {
    for (const Value value : session.slots) {
      values_.push_back(Ref::shared(value));
    }
  }
  ~SessionRollback() {
    if (is_kept_) {
      return;
    }
    static_cast<ModuleNames&>(session_) = std::move(names_);
    values_.resize(session_.slots.size(), Ref::owned(Value::missing()));
    for (size_t i = 0; i < values_.size(); ++i) {
      assign(session_.slots[i], values_[i].take());
    }
  }
  SessionRollback(const SessionRollback&) = delete;
  SessionRollback& operator=(const SessionRollback&) = delete;

  void keep() { is_kept_ = true; }

 private:
  LoadedModule& session_;
  ModuleNames names_;
  std::vector<Ref> values_;
  bool is_kept_ = false;
};

const Proto* compile_cell(LoadedModule& session, std::string text, const std::string& name) {
  SessionRollback rollback(session);
  auto unit = std::make_unique<SourceUnit>();
  unit->source.id = session.source().id;
  unit->source.path = name;
  unit->source.text = std::move(text);
  std::swap(session.unit, unit);
  session.warnings.clear();
  session.uses_of_names.clear();
  session.near_locals.clear();
  session.ended_locals.clear();
  session.bare_fields.clear();
  session.imports_later = false;
  try {
    const Proto* const body = prepare(session);
    session.earlier_units.push_back(std::move(unit));
    rollback.keep();
    return body;
  } catch (...) {
    std::swap(session.unit, unit);
    session.earlier_units.push_back(std::move(unit));  // tables of the compiler refer to its tree
    throw;
  }
}

}  // namespace

LoadedModule& add_session(const std::string& name) {
  static int64_t count = 0;
  const std::string key = "<" + name + " " + std::to_string(++count) + ">";
  LoadedModule& session = add_module(key, name, key, "");
  session.is_session = true;
  session.state = LoadedModule::State::kReady;
  return session;
}

Value run_cell(LoadedModule& session, std::string text, const std::string& name) {
  const Ref body = Ref::owned(make_closure(compile_cell(session, std::move(text), name)));
  return current_thread().call(body.get(), nullptr, 0);
}

bool is_imported(const LoadedModule& session, Symbol name) {
  return session.imports.contains(name) || session.namespaces.contains(name);
}

}  // namespace spl
