// Automatic mixed precision: which dtypes operations use. All state belongs to the calling thread.
// Source: torch.amp.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>
#include <string>

namespace simple_torch::core {

/// `device_type` is "cpu", "cuda" or another type that LibTorch's autocast supports; an index after it is
/// ignored. Throws Error(kInvalidArgument) for others.
bool is_autocast_enabled(const std::string& device_type);
void set_autocast_enabled(const std::string& device_type, bool enabled);
c10::ScalarType autocast_dtype(const std::string& device_type);
void set_autocast_dtype(const std::string& device_type, c10::ScalarType dtype);

/// Whether converted weights are kept until the outermost scope of the thread ends.
bool is_autocast_cache_enabled();
void set_autocast_cache_enabled(bool enabled);
void clear_autocast_cache();

/// The depth of autocast scopes after the change. Throws Error(kInvalidArgument) below 0.
int64_t autocast_increment_nesting();
int64_t autocast_decrement_nesting();

}  // namespace simple_torch::core
