// Lists the members of modules. The tree is read anew at each call, so that assignments need no bookkeeping.
#include "host/builtins/member_tree.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "host/values/direct_calls.h"
#include "host/values/nesting.h"
#include "host/values/object_hooks.h"
#include "host/vm/thread.h"

namespace spl {

namespace {

constexpr int kMaxModuleDepth = 100;  // Simple code handles deeper trees, and reports cycles

struct MemberClasses {
  const Record* module = nullptr;
  const Record* parameter = nullptr;
  const Record* buffer = nullptr;
  const Record* transient_buffer = nullptr;
};

enum class MemberKind : uint8_t { kNone, kModule, kParameter, kBuffer, kTransientBuffer };

struct TreeMember {
  std::string name;
  Ref value;
  MemberKind kind;
};
using TreeMembers = std::vector<TreeMember>;

bool is_instance_of(const Record* record, const Record* type) {
  return record == type ||
         std::find(record->parents.begin(), record->parents.end(), type) != record->parents.end();
}

MemberKind member_kind(const MemberClasses& classes, Value value) {
  if (!value.is(Kind::kInstance)) {
    return MemberKind::kNone;
  }
  const Record* record = as_object<Instance>(value)->record;
  if (is_instance_of(record, classes.parameter)) {
    return MemberKind::kParameter;
  }
  if (is_instance_of(record, classes.module)) {
    return MemberKind::kModule;
  }
  if (!is_instance_of(record, classes.buffer)) {
    return MemberKind::kNone;
  }
  return is_instance_of(record, classes.transient_buffer) ? MemberKind::kTransientBuffer
                                                          : MemberKind::kBuffer;
}

bool is_buffer_kind(MemberKind kind) {
  return kind == MemberKind::kBuffer || kind == MemberKind::kTransientBuffer;
}

// The array [Module, Parameter, Buffer, TransientBuffer].
MemberClasses member_classes(Value value) {
  MemberClasses classes;
  const Record** all[] = {&classes.module, &classes.parameter, &classes.buffer, &classes.transient_buffer};
  if (!value.is(Kind::kArray) || as_object<Array>(value)->items.size() != std::size(all)) {
    fail("expected an array of the classes of members");
  }
  for (size_t i = 0; i < std::size(all); ++i) {
    const Value item = as_object<Array>(value)->items[i];
    if (!item.is(Kind::kRecord)) {
      fail("expected an array of the classes of members");
    }
    *all[i] = as_object<Record>(item);
  }
  return classes;
}

const Elements& tree_arguments(Value array, size_t count) {
  if (!array.is(Kind::kArray) || as_object<Array>(array)->items.size() != count) {
    fail("expected an array of " + std::to_string(count) + " values");
  }
  return as_object<Array>(array)->items;
}

/// What a walk needs of the members.
enum class Wanted : uint8_t { kAll, kModules };

bool is_wanted(Wanted wanted, MemberKind kind) {
  return wanted == Wanted::kAll ? kind != MemberKind::kNone : kind == MemberKind::kModule;
}

// The member that stands for a Python object in a field of `owner`; nil for other objects.
Ref foreign_member(Value owner, Value value) {
  static const Symbol hook = intern("__member__");
  const Record* record = as_object<Instance>(value)->record;
  const Method* method = leaves_names(record->direct) ? record->find(hook) : nullptr;
  return method == nullptr ? Ref() : Ref::owned(object_hooks().call_method(value, *method, &owner, 1));
}

/// Collects the wanted members of a module.
class MemberSearch {
 public:
  MemberSearch(const MemberClasses& classes, Wanted wanted, Value owner)
      : classes_(classes), wanted_(wanted), owner_(owner) {}

  TreeMembers& found() { return found_; }

  /// Appends the member, or the items of an array, tuple or dict that are members, as `name.index` or
  /// `name.key`.
  void add_under(const std::string& name, Value value) {
    if (!value.is_object()) {
      return;
    }
    switch (value.as_object->kind) {
      case Kind::kInstance:
        add_instance(name, value);
        return;
      case Kind::kArray:
        add_items(name, as_object<Array>(value)->items);
        return;
      case Kind::kTuple:
        add_items(name, as_object<Tuple>(value)->items);
        return;
      case Kind::kDict:
        add_entries(name, *as_object<Dict>(value));
        return;
      case Kind::kEnumValue: {
        auto* option = as_object<EnumValue>(value);
        if (option->type == core_types().option && option->variant == kSome) {
          add_under(name, option->payload()[0]);
        }
        return;
      }
      default:
        return;
    }
  }

  /// Appends pairs of name and value that were registered at run time.
  void add_registered(Value pairs) {
    if (!pairs.is(Kind::kArray)) {
      return;
    }
    for (const Value pair : as_object<Array>(pairs)->items) {
      if (!pair.is(Kind::kTuple) || as_object<Tuple>(pair)->items.size() != 2) {
        continue;
      }
      const auto& items = as_object<Tuple>(pair)->items;
      if (const MemberKind kind = member_kind(classes_, items[1]); is_wanted(wanted_, kind)) {
        found_.push_back({display(items[0]), Ref::shared(items[1]), kind});
      }
    }
  }

 private:
  void add_instance(const std::string& name, Value value) {
    const MemberKind kind = member_kind(classes_, value);
    if (kind != MemberKind::kNone) {
      if (is_wanted(wanted_, kind)) {
        found_.push_back({name, Ref::shared(value), kind});
      }
      return;
    }
    Ref member = foreign_member(owner_, value);
    if (const MemberKind foreign = member_kind(classes_, member.get()); is_wanted(wanted_, foreign)) {
      found_.push_back({name, std::move(member), foreign});
    }
  }

  template <class Items>
  void add_items(const std::string& name, const Items& items) {
    const Nesting nesting(kMaxModuleDepth, "searched for members");
    for (size_t i = 0; i < items.size(); ++i) {
      if (items[i].is_object()) {
        add_under(name + "." + std::to_string(i), items[i]);
      }
    }
  }

  void add_entries(const std::string& name, const Dict& dict) {
    const Nesting nesting(kMaxModuleDepth, "searched for members");
    for (const auto& entry : dict.entries) {
      if (!entry.key.is_missing() && entry.value.is_object()) {
        add_under(name + "." + display(entry.key), entry.value);
      }
    }
  }

  const MemberClasses& classes_;
  const Wanted wanted_;
  const Value owner_;
  TreeMembers found_;
};

bool is_among(const Elements& names, const std::string& name) {
  return std::any_of(names.begin(), names.end(),
                     [&](Value each) { return each.is(Kind::kText) && text_of(each) == name; });
}

// The wanted members in the fields of the module, in the order of their first assignment, without the fields
// `excluded`.
TreeMembers own_members(const MemberClasses& classes, Wanted wanted, Instance& module,
                        const Elements& excluded) {
  static const Symbol registered = intern("_registered");
  MemberSearch search(classes, wanted, Value::object(&module));
  const auto& fields = module.record->fields;
  for (const size_t i : order_of_fields(module)) {
    if (!module.fields()[i].is_object()) {
      continue;
    }
    const Ref value = Ref::shared(module.fields()[i]);  // code of Python objects may change the field
    const Symbol name = fields[i].name;
    if (name == registered) {
      search.add_registered(value.get());
    } else if (excluded.empty() || !is_among(excluded, name_of(name))) {
      search.add_under(name_of(name), value.get());
    }
  }
  return std::move(search.found());
}

Value pair_of(const std::string& name, Value value) { return make_tuple({make_text(name), retained(value)}); }

// Whether the class has the method of the base class, not one of its own.
bool inherits(const Record* record, const Record* base, Symbol method) {
  const Method* own = record->find(method);
  const Method* expected = base->find(method);
  return own != nullptr && expected != nullptr && own->function.as_object == expected->function.as_object;
}

std::string joined_path(const std::string& prefix, const std::string& name) {
  return prefix.empty() || name.empty() ? prefix + name : prefix + "." + name;
}

/// Walks a module and its submodules. Every walk returns false where Simple code has to do it: the tree is
/// too deep, or contains itself.
class MemberTree {
 public:
  MemberTree(Thread& thread, const MemberClasses& classes, bool with_names, Wanted wanted = Wanted::kAll)
      : thread_(thread), classes_(classes), with_names_(with_names), wanted_(wanted) {}

  /// The wanted direct members. A class may override named_members().
  TreeMembers members_of(Value module) {
    static const Symbol hook = intern("named_members");
    auto& instance = *as_object<Instance>(module);
    if (inherits(instance.record, classes_.module, hook)) {
      return own_members(classes_, wanted_, instance, {});
    }
    const Ref pairs = Ref::owned(thread_.call_method(module, hook, nullptr, 0));
    TreeMembers found;
    thread_.each(pairs.get(), [&](Value pair) {
      const bool is_pair = pair.is(Kind::kTuple) && as_object<Tuple>(pair)->items.size() == 2;
      if (!is_pair) {
        fail("named_members() must return tuples of name and value, got " + type_name(pair));
      }
      const auto& items = as_object<Tuple>(pair)->items;
      if (const MemberKind kind = member_kind(classes_, items[1]); is_wanted(wanted_, kind)) {
        found.push_back({with_names_ ? display(items[0]) : std::string(), Ref::shared(items[1]), kind});
      }
      return true;
    });
    return found;
  }

  /// Calls visit(module, path, members) for a module and its submodules, outer modules first. With `once`
  /// each module is visited once; otherwise under each of its names.
  template <class Visit>
  bool walk(Value module, const std::string& path, bool once, Visit&& visit) {
    if (once && !seen_.insert(module.as_object).second) {
      return true;
    }
    const bool is_cycle =
        std::find(ancestors_.begin(), ancestors_.end(), module.as_object) != ancestors_.end();
    if (is_cycle || ancestors_.size() >= kMaxModuleDepth) {
      return false;
    }
    ancestors_.push_back(module.as_object);
    const TreeMembers members = members_of(module);
    bool completed = visit(module, path, members);
    for (size_t i = 0; completed && i < members.size(); ++i) {
      const TreeMember& member = members[i];
      if (member.kind == MemberKind::kModule) {
        completed =
            walk(member.value.get(), with_names_ ? joined_path(path, member.name) : path, once, visit);
      }
    }
    ancestors_.pop_back();
    return completed;
  }

 private:
  Thread& thread_;
  const MemberClasses classes_;
  const bool with_names_;
  const Wanted wanted_;
  std::unordered_set<const Object*> seen_;
  std::vector<const Object*> ancestors_;
};

bool is_module_value(const MemberClasses& classes, Value value) {
  return member_kind(classes, value) == MemberKind::kModule;
}

// Whether the class of the module does not override the method with that name; true for nil.
bool inherits_named(const MemberClasses& classes, Value module, Value name) {
  return !name.is(Kind::kText) ||
         inherits(as_object<Instance>(module)->record, classes.module, intern(text_of(name)));
}

Value released_all(std::vector<Value>& items) {
  for (const Value item : items) {
    release(item);
  }
  return Value();
}

// Arguments: [module, excluded names], classes. The direct members as pairs of name and value.
Value own_members_of(Thread&, Value* args, int) {
  const auto& of = tree_arguments(args[0], 2);
  const MemberClasses classes = member_classes(args[1]);
  if (!of[0].is(Kind::kInstance) || !of[1].is(Kind::kArray)) {
    fail("expected a module and an array of names");
  }
  std::vector<Value> pairs;
  for (const TreeMember& member :
       own_members(classes, Wanted::kAll, *as_object<Instance>(of[0]), as_object<Array>(of[1])->items)) {
    pairs.push_back(pair_of(member.name, member.value.get()));
  }
  return make_array(std::move(pairs));
}

bool matches(MemberKind kind, const std::string& wanted) {
  return wanted == "parameters" ? kind == MemberKind::kParameter : is_buffer_kind(kind);
}

// Arguments: [module, "parameters" or "buffers", prefix, recurse, remove_duplicate, with_names, method],
// classes. The tensors, with their paths as pairs or without. nil if Simple code has to find them, also
// because the class overrides the method.
Value tensors_in_tree(Thread& thread, Value* args, int) {
  const auto& of = tree_arguments(args[0], 7);
  const MemberClasses classes = member_classes(args[1]);
  if (!is_module_value(classes, of[0]) || !of[2].is(Kind::kText) || !of[3].is_bool() || !of[4].is_bool() ||
      !inherits_named(classes, of[0], of[6])) {
    return Value();
  }
  const std::string wanted = expect_text(of[1], "the kind of members"), prefix = text_of(of[2]);
  const bool recurse = of[3].as_bool, once = of[4].as_bool, with_names = truthy(of[5]);
  std::vector<Value> found;
  std::unordered_set<const Object*> seen;
  MemberTree tree(thread, classes, with_names);
  const auto add = [&](Value, const std::string& path, const TreeMembers& members) {
    for (const TreeMember& member : members) {
      const Value value = member.value.get();
      if (matches(member.kind, wanted) && (!once || seen.insert(value.as_object).second)) {
        found.push_back(with_names ? pair_of(joined_path(path, member.name), value) : retained(value));
      }
    }
    return true;
  };
  const Ref root = Ref::shared(of[0]);
  try {
    if (!recurse) {
      add(root.get(), prefix, tree.members_of(root.get()));
    } else if (!tree.walk(root.get(), prefix, once, add)) {
      return released_all(found);
    }
  } catch (...) {
    released_all(found);
    throw;
  }
  return make_array(std::move(found));
}

// Arguments: [module, prefix, remove_duplicate, with_names, method, methods], classes. The module and all
// submodules, with their paths as pairs or without. nil if Simple code has to find them, also because the
// class of the module overrides the method, or any class one of the methods.
Value modules_in_tree(Thread& thread, Value* args, int) {
  const auto& of = tree_arguments(args[0], 6);
  const MemberClasses classes = member_classes(args[1]);
  if (!is_module_value(classes, of[0]) || !of[1].is(Kind::kText) || !of[5].is(Kind::kArray) ||
      !inherits_named(classes, of[0], of[4])) {
    return Value();
  }
  const std::string prefix = text_of(of[1]);
  const bool once = truthy(of[2]), with_names = truthy(of[3]);
  std::vector<Symbol> methods;
  for (const Value method : as_object<Array>(of[5])->items) {
    methods.push_back(intern(expect_text(method, "a method")));
  }
  std::vector<Value> found;
  MemberTree tree(thread, classes, with_names, Wanted::kModules);
  const auto add = [&](Value module, const std::string& path, const TreeMembers&) {
    const Record* record = as_object<Instance>(module)->record;
    for (const Symbol method : methods) {
      if (!inherits(record, classes.module, method)) {
        return false;
      }
    }
    found.push_back(with_names ? pair_of(path, module) : retained(module));
    return true;
  };
  const Ref root = Ref::shared(of[0]);
  try {
    if (!tree.walk(root.get(), prefix, once, add)) {
      return released_all(found);
    }
  } catch (...) {
    released_all(found);
    throw;
  }
  return make_array(std::move(found));
}

bool field_is_nil(Value module, Symbol name) {
  auto* instance = as_object<Instance>(module);
  const auto field = instance->record->field_index.find(name);
  return field != instance->record->field_index.end() && instance->fields()[field->second].is_nil();
}

// Arguments: [module, prefix], classes. The state of the module and its submodules: an array of names and one
// of tensors, the parameters of each module before its persistent buffers. nil if Simple code has to find
// them, also because a module has hooks or extra state.
Value state_in_tree(Thread& thread, Value* args, int) {
  static const Symbol hooks = intern("_hooks"), extra_state = intern("get_extra_state");
  const auto& of = tree_arguments(args[0], 2);
  const MemberClasses classes = member_classes(args[1]);
  if (!is_module_value(classes, of[0]) || !of[1].is(Kind::kText)) {
    return Value();
  }
  const std::string prefix = text_of(of[1]);
  std::vector<Value> names, tensors;
  MemberTree tree(thread, classes, true);
  const auto add = [&](Value module, const std::string& path, const TreeMembers& members) {
    if (!field_is_nil(module, hooks) || as_object<Instance>(module)->record->find(extra_state) != nullptr) {
      return false;
    }
    const std::string beginning = prefix + (path.empty() ? path : path + ".");
    for (const MemberKind kind : {MemberKind::kParameter, MemberKind::kBuffer}) {
      for (const TreeMember& member : members) {
        if (member.kind == kind) {
          names.push_back(make_text(beginning + member.name));
          tensors.push_back(retained(member.value.get()));
        }
      }
    }
    return true;
  };
  const Ref root = Ref::shared(of[0]);
  try {
    if (!tree.walk(root.get(), "", false, add)) {
      released_all(names);
      return released_all(tensors);
    }
  } catch (...) {
    released_all(names);
    released_all(tensors);
    throw;
  }
  return make_array({make_array(std::move(names)), make_array(std::move(tensors))});
}

constexpr NativeEntry kMemberTreeExterns[] = {
    {"rt_own_members", own_members_of, 2, 2},
    {"rt_tensors_in_tree", tensors_in_tree, 2, 2},
    {"rt_modules_in_tree", modules_in_tree, 2, 2},
    {"rt_state_in_tree", state_in_tree, 2, 2},
};

}  // namespace

std::vector<size_t> order_of_fields(Instance& instance) {
  const size_t count = instance.record->fields.size();
  std::vector<size_t> order;
  order.reserve(count);
  const int32_t own = instance.record->order_index;
  if (own < 0 || !instance.fields()[own].is(Kind::kArray)) {
    for (size_t i = 0; i < count; ++i) {
      order.push_back(i);
    }
    return order;
  }
  const auto& recorded = as_object<Array>(instance.fields()[own])->items;
  std::vector<bool> is_recorded(count);
  for (const Value field : recorded) {
    is_recorded.at(static_cast<size_t>(field.as_int)) = true;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!is_recorded[i]) {
      order.push_back(i);
    }
  }
  for (const Value field : recorded) {
    order.push_back(static_cast<size_t>(field.as_int));
  }
  return order;
}

std::span<const NativeEntry> member_tree_externs() { return kMemberTreeExterns; }

}  // namespace spl
