#include "host/builtins/sqlite_externs.h"

#include <sqlite3.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>

#include "host/builtins/builtins.h"
#include "host/builtins/numbered_objects.h"
#include "host/builtins/system_library.h"
#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

struct SqliteLibrary {
  decltype(&sqlite3_open_v2) open;
  decltype(&sqlite3_close_v2) close;
  decltype(&sqlite3_errmsg) error_message;
  decltype(&sqlite3_busy_timeout) busy_timeout;
  decltype(&sqlite3_progress_handler) progress_handler;
  decltype(&sqlite3_prepare_v2) prepare;
  decltype(&sqlite3_finalize) finalize;
  decltype(&sqlite3_step) step;
  decltype(&sqlite3_reset) reset;
  decltype(&sqlite3_stmt_readonly) is_readonly;
  decltype(&sqlite3_bind_parameter_count) parameter_count;
  decltype(&sqlite3_bind_parameter_name) parameter_name;
  decltype(&sqlite3_bind_null) bind_null;
  decltype(&sqlite3_bind_int64) bind_int;
  decltype(&sqlite3_bind_double) bind_double;
  decltype(&sqlite3_bind_text) bind_text;
  decltype(&sqlite3_bind_blob) bind_blob;
  decltype(&sqlite3_column_count) column_count;
  decltype(&sqlite3_column_name) column_name;
  decltype(&sqlite3_column_type) column_type;
  decltype(&sqlite3_column_int64) column_int;
  decltype(&sqlite3_column_double) column_double;
  decltype(&sqlite3_column_blob) column_blob;
  decltype(&sqlite3_column_bytes) column_bytes;
  decltype(&sqlite3_changes) changes;
  decltype(&sqlite3_total_changes) total_changes;
  decltype(&sqlite3_last_insert_rowid) last_rowid;
  decltype(&sqlite3_get_autocommit) autocommit;
};

SqliteLibrary opened_sqlite() {
  const SystemLibrary library("std.sqlite", "SQLite (libsqlite3.so.0; Debian package libsqlite3-0)",
                              {"libsqlite3.so.0"}, "libsimple_torch_sqlite3.so");
  SqliteLibrary made{};
  library.find(made.open, "sqlite3_open_v2");
  library.find(made.close, "sqlite3_close_v2");
  library.find(made.error_message, "sqlite3_errmsg");
  library.find(made.busy_timeout, "sqlite3_busy_timeout");
  library.find(made.progress_handler, "sqlite3_progress_handler");
  library.find(made.prepare, "sqlite3_prepare_v2");
  library.find(made.finalize, "sqlite3_finalize");
  library.find(made.step, "sqlite3_step");
  library.find(made.reset, "sqlite3_reset");
  library.find(made.is_readonly, "sqlite3_stmt_readonly");
  library.find(made.parameter_count, "sqlite3_bind_parameter_count");
  library.find(made.parameter_name, "sqlite3_bind_parameter_name");
  library.find(made.bind_null, "sqlite3_bind_null");
  library.find(made.bind_int, "sqlite3_bind_int64");
  library.find(made.bind_double, "sqlite3_bind_double");
  library.find(made.bind_text, "sqlite3_bind_text");
  library.find(made.bind_blob, "sqlite3_bind_blob");
  library.find(made.column_count, "sqlite3_column_count");
  library.find(made.column_name, "sqlite3_column_name");
  library.find(made.column_type, "sqlite3_column_type");
  library.find(made.column_int, "sqlite3_column_int64");
  library.find(made.column_double, "sqlite3_column_double");
  library.find(made.column_blob, "sqlite3_column_blob");
  library.find(made.column_bytes, "sqlite3_column_bytes");
  library.find(made.changes, "sqlite3_changes");
  library.find(made.total_changes, "sqlite3_total_changes");
  library.find(made.last_rowid, "sqlite3_last_insert_rowid");
  library.find(made.autocommit, "sqlite3_get_autocommit");
  return made;
}
const SqliteLibrary& sqlite() {
  static const SqliteLibrary library = opened_sqlite();
  return library;
}

struct DatabaseClose {
  void operator()(sqlite3* database) const { sqlite().close(database); }
};
using Database = std::unique_ptr<sqlite3, DatabaseClose>;
struct Connection {
  Database database;
};
struct StatementFinalize {
  void operator()(sqlite3_stmt* statement) const { sqlite().finalize(statement); }
};
struct Statement {
  std::shared_ptr<Connection> connection;  // stays open until the statement goes
  std::unique_ptr<sqlite3_stmt, StatementFinalize> handle;
  // Held by a thread that steps and reads a row; taken without the host lock.
  std::mutex mutex;
};
using Connections = NumberedObjects<Connection>;
using Statements = NumberedObjects<Statement>;

constexpr const char* kClosed = "sqlite: Cannot operate on a closed database.";

std::shared_ptr<Connection> connection_of(Value number) { return Connections::all().get(number, kClosed); }
std::shared_ptr<Statement> statement_of(Value number) { return Statements::all().get(number, kClosed); }

[[noreturn]] void fail_sqlite(sqlite3* database) {
  fail(std::string("sqlite: ") + sqlite().error_message(database));
}

// Ends a statement at an interrupt, which the caller's safepoint then raises.
int stops(void*) { return is_requested(kInterruptReason) ? 1 : 0; }

// (path, milliseconds to wait for a lock, whether it only reads)
Value sqlite_open(Thread&, Value* args, int) {
  const std::string& path = expect_text(args[0], "sqlite: the path");
  const int flags = truthy(args[2]) ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int result = sqlite().open(path.c_str(), &handle, flags | SQLITE_OPEN_FULLMUTEX, nullptr);
  auto connection = std::make_shared<Connection>(Connection{Database(handle)});
  if (result != SQLITE_OK) {
    fail("sqlite: cannot open " + path + ": " + sqlite().error_message(handle));
  }
  sqlite().busy_timeout(handle, static_cast<int>(to_integer(args[1])));
  sqlite().progress_handler(handle, 10000, stops, nullptr);
  return Connections::all().insert(std::move(connection));
}

Value sqlite_close(Thread&, Value* args, int) {
  Connections::all().remove(args[0]);
  return Value();
}

// (connection, SQL): [statement, names of columns, names of parameters or "", whether it only reads, the rest
// of the SQL]; the statement is 0 if there is only white space.
Value sqlite_prepare(Thread&, Value* args, int) {
  auto connection = connection_of(args[0]);
  sqlite3* const database = connection->database.get();
  const std::string& source = expect_text(args[1], "sqlite: the SQL");
  if (source.find('\0') != std::string::npos) {
    fail("sqlite: the query contains a null character");
  }
  sqlite3_stmt* handle = nullptr;
  const char* rest = nullptr;
  if (sqlite().prepare(database, source.c_str(), static_cast<int>(source.size()), &handle, &rest) !=
      SQLITE_OK) {
    fail_sqlite(database);
  }
  std::vector<Value> columns, parameters;
  for (int i = 0; handle != nullptr && i < sqlite().column_count(handle); ++i) {
    columns.push_back(make_text(sqlite().column_name(handle, i)));
  }
  for (int i = 1; handle != nullptr && i <= sqlite().parameter_count(handle); ++i) {
    const char* const name = sqlite().parameter_name(handle, i);
    parameters.push_back(make_text(name == nullptr ? "" : name));
  }
  const bool only_reads = handle == nullptr || sqlite().is_readonly(handle) != 0;
  Value number = Value::integer(0);
  if (handle != nullptr) {
    auto statement = std::make_shared<Statement>();
    statement->connection = std::move(connection);
    statement->handle.reset(handle);
    number = Statements::all().insert(std::move(statement));
  }
  return make_array({number, make_array(std::move(columns)), make_array(std::move(parameters)),
                     Value::boolean(only_reads), make_text(rest == nullptr ? "" : rest)});
}

int bind_value(sqlite3_stmt* statement, int at, Value value) {
  const SqliteLibrary& library = sqlite();
  if (value.is_nil() || is_none(value)) {
    return library.bind_null(statement, at);
  }
  if (value.is_bool()) {
    return library.bind_int(statement, at, value.as_bool ? 1 : 0);
  }
  if (value.is_float() || value.tag == Tag::kFloat32) {
    return library.bind_double(statement, at, to_number(value));
  }
  if (value.is_int() || value.is_sized()) {
    return library.bind_int(statement, at, to_integer(value));
  }
  if (value.is(Kind::kText)) {
    const std::string& text = text_of(value);
    return library.bind_text(statement, at, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
  }
  if (value.is(Kind::kArray) && as_object<Array>(value)->items.size() == 1) {  // of a Blob
    const std::string& bytes = expect_text(as_object<Array>(value)->items[0], "sqlite: a blob");
    return library.bind_blob(statement, at, bytes.data(), static_cast<int>(bytes.size()), SQLITE_TRANSIENT);
  }
  fail("sqlite: Error binding parameter " + std::to_string(at) + ": type " + type_name(value) +
       " is not supported");
}

// (statement, values): starts the statement again with these values.
Value sqlite_bind(Thread&, Value* args, int) {
  const auto statement = statement_of(args[0]);
  sqlite().reset(statement->handle.get());
  int at = 0;
  for (const Value value : as_object<Array>(args[1])->items) {
    if (bind_value(statement->handle.get(), ++at, value) != SQLITE_OK) {
      fail_sqlite(statement->connection->database.get());
    }
  }
  return Value();
}

Value column_value(sqlite3_stmt* statement, int at) {
  const SqliteLibrary& library = sqlite();
  switch (library.column_type(statement, at)) {
    case SQLITE_INTEGER:
      return Value::integer(library.column_int(statement, at));
    case SQLITE_FLOAT:
      return Value::number(library.column_double(statement, at));
    case SQLITE_NULL:
      return Value();
    default: {  // the bytes of a text or a blob
      const auto* const bytes = static_cast<const char*>(library.column_blob(statement, at));
      const auto size = static_cast<size_t>(library.column_bytes(statement, at));
      return make_text(bytes == nullptr ? std::string() : std::string(bytes, size));
    }
  }
}

// (statement, count): the next rows, as tuples; fewer than `count` at the end.
Value sqlite_step(Thread&, Value* args, int) {
  const auto statement = statement_of(args[0]);
  sqlite3_stmt* const handle = statement->handle.get();
  const auto limit = static_cast<size_t>(to_integer(args[1]));
  const Ref rows = Ref::owned(make_array({}));
  auto& items = as_object<Array>(rows.get())->items;
  while (items.size() < limit) {
    std::unique_lock guard(statement->mutex, std::defer_lock);
    int result = SQLITE_ROW;
    {
      const Unlocked unlocked;
      guard.lock();
      result = sqlite().step(handle);
    }
    if (result == SQLITE_DONE) {
      break;
    }
    if (result == SQLITE_INTERRUPT) {
      guard.unlock();
      safepoint();
    }
    if (result != SQLITE_ROW) {
      fail_sqlite(statement->connection->database.get());
    }
    const int count = sqlite().column_count(handle);
    std::vector<Value> columns;
    columns.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      columns.push_back(column_value(handle, i));
    }
    items.push_back(make_tuple(std::move(columns)));
  }
  if (items.size() < limit) {
    sqlite().reset(handle);  // a finished statement holds no lock
  }
  return retained(rows.get());
}

Value sqlite_finalize(Thread&, Value* args, int) {
  Statements::all().remove(args[0]);
  return Value();
}

// [changed rows of the last statement, the last row id, all changed rows, whether a transaction is open]
Value sqlite_status(Thread&, Value* args, int) {
  sqlite3* const database = connection_of(args[0])->database.get();
  return make_array(
      {Value::integer(sqlite().changes(database)), Value::integer(sqlite().last_rowid(database)),
       Value::integer(sqlite().total_changes(database)), Value::boolean(sqlite().autocommit(database) == 0)});
}

constexpr NativeEntry kSqliteExterns[] = {
    {"rt_sqlite_open", sqlite_open, 3, 3},       {"rt_sqlite_close", sqlite_close, 1, 1},
    {"rt_sqlite_prepare", sqlite_prepare, 2, 2}, {"rt_sqlite_bind", sqlite_bind, 2, 2},
    {"rt_sqlite_step", sqlite_step, 2, 2},       {"rt_sqlite_finalize", sqlite_finalize, 1, 1},
    {"rt_sqlite_status", sqlite_status, 1, 1},
};

}  // namespace

std::span<const NativeEntry> sqlite_externs() { return kSqliteExterns; }

}  // namespace spl
