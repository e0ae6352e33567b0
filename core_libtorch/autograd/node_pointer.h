// Nodes of LibTorch's graph, whose counting differs between the supported versions.
#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/autograd/function.h>

#include <memory>
#include <type_traits>
#include <utility>

namespace simple_torch::core {

/// std::shared_ptr in torch 2.11, c10::intrusive_ptr in torch 2.15.
using NodePointer = decltype(std::declval<torch::autograd::Node&>().getptr());

template <class Node>
inline constexpr bool is_intrusive = std::is_base_of_v<c10::intrusive_ptr_target, Node>;

/// Base of node classes. A node calls release() when its last owner does: a node that is counted intrusively
/// stays allocated as long as a weak reference exists, and what the node saved may hold one.
template <class Base, bool = is_intrusive<Base>>
class ReleasingNode : public Base {
 public:
  using Base::Base;

 protected:
  virtual void release() = 0;
};

template <class Base>
class ReleasingNode<Base, true> : public Base {
 public:
  using Base::Base;
  void release_resources() override {
    Base::release_resources();
    release();
  }

 protected:
  virtual void release() = 0;
};

template <class Node, class... Arguments>
auto make_node(Arguments&&... arguments) {
  if constexpr (is_intrusive<Node>) {
    return c10::make_intrusive<Node>(std::forward<Arguments>(arguments)...);
  } else {  // deleteNode() deletes a long graph without recursion; argument-dependent lookup finds it
    return std::shared_ptr<Node>(new Node(std::forward<Arguments>(arguments)...),
                                 [](auto* node) { deleteNode(node); });
  }
}

}  // namespace simple_torch::core
