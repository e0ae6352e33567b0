// Trial deletion. Each object reachable from a tracked one is a node; a node with more references than the
// nodes hold on it is held from outside, and so is all that it reaches. The rest is garbage.
#include "host/vm/cycles.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/values/error.h"
#include "host/values/generator.h"
#include "host/values/objects.h"
#include "host/values/tracking.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"
#include "host/vm/thread.h"

namespace spl {

void ask_for_collection() { host_lock().request_safepoint(kCollectionReason); }

namespace {

template <class Visit>
void visit_all(const std::vector<Value>& values, Visit& visit) {
  for (const Value value : values) {
    visit(value);
  }
}

// The values that an object holds.
template <class Visit>
void visit_parts(Object* object, Visit visit) {
  switch (object->kind) {
    case Kind::kArray:
      return visit_all(static_cast<Array*>(object)->items, visit);
    case Kind::kTuple:
      return visit_all(static_cast<Tuple*>(object)->items, visit);
    case Kind::kClosure:
      return visit_all(static_cast<Closure*>(object)->captured, visit);
    case Kind::kDict:
      for (const auto& entry : static_cast<Dict*>(object)->entries) {
        visit(entry.key);
        visit(entry.value);
      }
      return;
    case Kind::kInstance: {
      auto* instance = static_cast<Instance*>(object);
      for (size_t i = 0; i < instance->record->fields.size(); ++i) {
        visit(instance->fields()[i]);
      }
      return;
    }
    case Kind::kEnumValue: {
      auto* value = static_cast<EnumValue*>(object);
      for (uint32_t i = 0; i < value->info().arity; ++i) {
        visit(value->payload()[i]);
      }
      return;
    }
    case Kind::kBoundMethod:
      visit(static_cast<BoundMethod*>(object)->self);
      visit(static_cast<BoundMethod*>(object)->function);
      return;
    case Kind::kCell:
      return visit(static_cast<Cell*>(object)->value);
    case Kind::kIterator:
      return visit(static_cast<Iterator*>(object)->source);
    case Kind::kGenerator: {
      auto* generator = static_cast<Generator*>(object);
      visit(generator->closure);
      for (const Defer& defer : generator->defers) {
        visit(defer.value);
      }
      return visit_all(generator->registers, visit);
    }
    default:
      return;  // holds nothing, or lives as long as the process
  }
}

bool has_parts(const Object& object) {
  switch (object.kind) {
    case Kind::kArray:
    case Kind::kTuple:
    case Kind::kClosure:
    case Kind::kDict:
    case Kind::kInstance:
    case Kind::kEnumValue:
    case Kind::kBoundMethod:
    case Kind::kCell:
    case Kind::kIterator:
    case Kind::kGenerator:
      return true;
    default:
      return false;
  }
}

/// The nodes of one collection. An object's `mark` says whether it is one.
class Graph {
 public:
  Graph() {
    for (Links* at = tracked().all.next; at != &tracked().all; at = at->next) {
      add(at->object());
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {  // grows while it is walked
      visit_parts(nodes_[i], [&](Value part) {
        if (part.is_object() && has_parts(*part.as_object)) {
          add(part.as_object);
        }
      });
    }
    count_inner_references();
  }

  ~Graph() {
    for (Object* node : nodes_) {
      node->mark = kNone;
    }
  }

  /// The tracked objects that nothing outside holds; each is retained for the caller.
  std::vector<Ref> garbage() {
    keep_what_is_held();
    std::vector<Ref> found;
    for (Object* node : nodes_) {
      if (node->mark == kSuspect && is_tracked(*node)) {
        found.push_back(Ref::shared(Value::object(node)));
      }
    }
    return found;
  }

 private:
  enum Mark : uint16_t { kNone, kSuspect, kHeld };

  static bool is_tracked(const Object& object) {
    return object.kind == Kind::kCell || object.kind == Kind::kGenerator || object.kind == Kind::kIterator ||
           (object.kind == Kind::kInstance && static_cast<const Instance&>(object).record->is_class);
  }

  void add(Object* object) {
    if (object->mark != kNone) {
      return;
    }
    object->mark = kSuspect;
    nodes_.push_back(object);
  }

  void count_inner_references() {
    inner_.reserve(nodes_.size());
    for (Object* node : nodes_) {
      visit_parts(node, [&](Value part) {
        if (part.is_object() && part.as_object->mark != kNone) {
          ++inner_[part.as_object];
        }
      });
    }
  }

  void keep_what_is_held() {
    std::vector<Object*> reached;
    const auto hold = [&](Object* object) {
      if (object->mark != kSuspect) {
        return;
      }
      object->mark = kHeld;
      reached.push_back(object);
    };
    for (Object* node : nodes_) {
      const auto found = inner_.find(node);
      if (found == inner_.end() || node->refs > found->second) {
        hold(node);
      }
    }
    while (!reached.empty()) {
      Object* object = reached.back();
      reached.pop_back();
      visit_parts(object, [&](Value part) {
        if (part.is_object()) {
          hold(part.as_object);
        }
      });
    }
  }

  std::vector<Object*> nodes_;
  std::unordered_map<Object*, uint32_t> inner_;  // references that nodes hold on a node
};

bool wants_drop(const Ref& ref) {
  if (ref.get().is(Kind::kGenerator)) {
    return !as_object<Generator>(ref.get())->defers.empty();
  }
  if (!ref.get().is(Kind::kInstance)) {
    return false;
  }
  const auto* instance = as_object<Instance>(ref.get());
  return instance->record->drop != nullptr && !instance->dropped;
}

// Whether any drop() ran; it may have brought its object back to life.
bool run_drops(const std::vector<Ref>& garbage) {
  bool ran = false;
  for (const Ref& ref : garbage) {
    if (!wants_drop(ref)) {
      continue;
    }
    if (ref.get().is(Kind::kGenerator)) {
      end_generator(as_object<Generator>(ref.get()));
    } else {
      run_drop(as_object<Instance>(ref.get()));
    }
    ran = true;
  }
  return ran;
}

// Cuts the cycles; the objects go when the last of `garbage` lets go.
void empty(const std::vector<Ref>& garbage) {
  std::vector<Ref> parts;
  const auto take = [&](Value& slot) { parts.push_back(Ref::owned(std::exchange(slot, Value()))); };
  for (const Ref& ref : garbage) {
    if (ref.get().is(Kind::kCell)) {
      take(as_object<Cell>(ref.get())->value);
      continue;
    }
    if (ref.get().is(Kind::kGenerator)) {
      end_generator(as_object<Generator>(ref.get()));
      continue;
    }
    if (ref.get().is(Kind::kIterator)) {
      take(as_object<Iterator>(ref.get())->source);
      continue;
    }
    auto* instance = as_object<Instance>(ref.get());
    for (size_t i = 0; i < instance->record->fields.size(); ++i) {
      take(instance->fields()[i]);
    }
  }
}

std::vector<Ref> find_garbage() { return Graph().garbage(); }

}  // namespace

int64_t collect_cycles() {
  static bool running = false;  // drop() may come past a safepoint
  if (running) {
    return 0;
  }
  running = true;
  const int64_t before = tracked().count;
  std::vector<Ref> garbage = find_garbage();
  if (run_drops(garbage)) {
    garbage.clear();
    garbage = find_garbage();
    // What became garbage meanwhile and still wants its drop(), and all beside it, waits for the next
    // collection.
    if (std::any_of(garbage.begin(), garbage.end(), wants_drop)) {
      garbage.clear();
    }
  }
  empty(garbage);
  garbage.clear();
  running = false;
  tracked().collect_above = std::max(Tracked::kFirst, 2 * tracked().count);
  return before - tracked().count;
}

}  // namespace spl
