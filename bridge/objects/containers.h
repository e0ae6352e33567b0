// New Python containers of converted items. `item_at(i)` returns a new reference, or NULL with an exception
// set; then the container is NULL, too. Everything here needs the GIL.
#pragma once

#include <cstddef>

#include "bridge/runtime/python.h"

namespace simple_torch::bridge {

template <class ItemAt>
PyObject* new_list(size_t count, ItemAt&& item_at) {
  Ref list(PyList_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; list && i < count; ++i) {
    PyObject* item = item_at(i);
    if (item == nullptr) {
      return nullptr;
    }
    PyList_SET_ITEM(list.get(), static_cast<Py_ssize_t>(i), item);
  }
  return list.release();
}

template <class ItemAt>
PyObject* new_tuple(size_t count, ItemAt&& item_at) {
  Ref tuple(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (size_t i = 0; tuple && i < count; ++i) {
    PyObject* item = item_at(i);
    if (item == nullptr) {
      return nullptr;
    }
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i), item);
  }
  return tuple.release();
}

/// Of the items key, value, key, value and so on.
template <class ItemAt>
PyObject* new_dict(size_t count, ItemAt&& item_at) {
  Ref dict(PyDict_New());
  for (size_t i = 0; dict && i + 1 < count; i += 2) {
    const Ref key(item_at(i));
    const Ref value(key ? item_at(i + 1) : nullptr);
    if (!value || PyDict_SetItem(dict.get(), key.get(), value.get()) != 0) {
      return nullptr;
    }
  }
  if (dict && static_cast<size_t>(PyDict_GET_SIZE(dict.get())) != count / 2) {
    PyErr_SetString(PyExc_ValueError, "two keys of a dict are equal in Python, such as 1 and true");
    return nullptr;
  }
  return dict.release();
}

}  // namespace simple_torch::bridge
