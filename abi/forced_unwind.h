// The unwinding of a thread that ends by pthread_exit or pthread_cancel.
#pragma once

#include <exception>

namespace simple_torch {

/// In a `catch (...)` block: whether the thread is ending. The block must then rethrow, or never end.
///
/// `catch (abi::__forced_unwind&)` would bind a reference to null, because such an unwind has no exception
/// object; UBSan reports that.
inline bool is_forced_unwind() noexcept { return std::current_exception() == nullptr; }

}  // namespace simple_torch
