// Trial deletion. Every object reachable from a tracked one is a node. A node with more references than the
// other nodes mark has an outside reference, so it and all objects reachable from it are alive. The rest is
// garbage.
#include "host/vm/cycles.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "host/values/error.h"
#include "host/values/objects.h"
#include "host/values/tracking.h"
#include "host/vm/generator.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

template <class Visit>
void visit_all(const std::vector<Value>& values, Visit& visit) {
  for (const Value value : values) {
    visit(value);
  }
}

// Slices hold the object with the elements that they share.
template <class Visit>
void visit_elements(const Elements& elements, Visit& visit) {
  if (SharedValues* shared = elements.shared()) {
    return visit(Value::object(shared));
  }
  for (const Value value : elements) {
    visit(value);
  }
}

// Visits the values that an object holds.
template <class Visit>
void visit_parts(Object* object, Visit visit) {
  switch (object->kind) {
    case Kind::kArray:
      return visit_elements(static_cast<Array*>(object)->items, visit);
    case Kind::kTuple:
      return visit_elements(static_cast<Tuple*>(object)->items, visit);
    case Kind::kSharedValues:
      return visit_all(static_cast<SharedValues*>(object)->values, visit);
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
      for (size_t i = 0; i < instance->record->slot_count(); ++i) {
        visit(instance->fields()[i]);
      }
      return;
    }
    case Kind::kEnumValue: {
      auto* value = static_cast<EnumValue*>(object);
      for (uint32_t i = 0; i < value->part_count(); ++i) {
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
      return;  // holds no values, or is immortal
  }
}

bool has_parts(const Object& object) {
  switch (object.kind) {
    case Kind::kArray:
    case Kind::kTuple:
    case Kind::kSharedValues:
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

/// The nodes of one collection. An object's `mark` is set if it is a node.
class Graph {
 public:
  Graph() {
    for (Links* at = tracked().all.next; at != &tracked().all; at = at->next) {
      add(at->object());
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {  // the loop adds nodes
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

  /// The tracked objects without outside references.
  std::vector<Ref> garbage() {
    mark_alive();
    std::vector<Ref> found;
    for (Object* node : nodes_) {
      if (node->mark == kCandidate && is_tracked(*node)) {
        found.push_back(Ref::shared(Value::object(node)));
      }
    }
    return found;
  }

 private:
  enum Mark : uint16_t { kNone, kCandidate, kAlive };

  static bool is_tracked(const Object& object) {
    return object.kind == Kind::kCell || object.kind == Kind::kGenerator || object.kind == Kind::kIterator ||
           (object.kind == Kind::kInstance && static_cast<const Instance&>(object).record->is_class);
  }

  void add(Object* object) {
    if (object->mark != kNone) {
      return;
    }
    object->mark = kCandidate;
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

  void mark_alive() {
    std::vector<Object*> pending;
    const auto mark = [&](Object* object) {
      if (object->mark != kCandidate) {
        return;
      }
      object->mark = kAlive;
      pending.push_back(object);
    };
    for (Object* node : nodes_) {
      const auto found = inner_.find(node);
      if (found == inner_.end() || node->refs > found->second) {
        mark(node);
      }
    }
    while (!pending.empty()) {
      Object* object = pending.back();
      pending.pop_back();
      visit_parts(object, [&](Value part) {
        if (part.is_object()) {
          mark(part.as_object);
        }
      });
    }
  }

  std::vector<Object*> nodes_;
  std::unordered_map<Object*, uint32_t> inner_;  // references between nodes
};

bool needs_drop(const Ref& ref) {
  if (ref.get().is(Kind::kGenerator)) {
    return !as_object<Generator>(ref.get())->defers.empty();
  }
  if (!ref.get().is(Kind::kInstance)) {
    return false;
  }
  const auto* instance = as_object<Instance>(ref.get());
  return instance->record->drop != nullptr && !instance->dropped;
}

// Whether any drop() ran, which may have brought objects back to life.
bool run_drops(const std::vector<Ref>& garbage) {
  bool ran = false;
  for (const Ref& ref : garbage) {
    if (!needs_drop(ref)) {
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

// Breaks the cycles. The objects are destroyed when `garbage` is cleared.
void clear_fields(const std::vector<Ref>& garbage) {
  std::vector<Ref> parts;
  const auto move_out = [&](Value& slot) { parts.push_back(Ref::owned(std::exchange(slot, Value()))); };
  for (const Ref& ref : garbage) {
    if (ref.get().is(Kind::kCell)) {
      move_out(as_object<Cell>(ref.get())->value);
      continue;
    }
    if (ref.get().is(Kind::kGenerator)) {
      end_generator(as_object<Generator>(ref.get()));
      continue;
    }
    if (ref.get().is(Kind::kIterator)) {
      move_out(as_object<Iterator>(ref.get())->source);
      continue;
    }
    auto* instance = as_object<Instance>(ref.get());
    for (size_t i = 0; i < instance->record->slot_count(); ++i) {
      move_out(instance->fields()[i]);
    }
  }
}

std::vector<Ref> find_garbage() { return Graph().garbage(); }

}  // namespace

int64_t collect_cycles() {
  static bool running = false;  // drop() may pass a safepoint
  if (running) {
    return 0;
  }
  running = true;
  const int64_t before = tracked().count;
  std::vector<Ref> garbage = find_garbage();
  if (run_drops(garbage)) {
    garbage.clear();
    garbage = find_garbage();
    // If a drop() made new garbage that needs drop() too, all of it waits for the next collection.
    if (std::any_of(garbage.begin(), garbage.end(), needs_drop)) {
      garbage.clear();
    }
  }
  clear_fields(garbage);
  garbage.clear();
  running = false;
  tracked().collect_above = std::max(Tracked::kInitialThreshold, 2 * tracked().count);
  return before - tracked().count;
}

}  // namespace spl
