// How many handles of each kind are live. Each thread counts its own: a shared number would cost each handle
// two locked instructions.
#pragma once

#include <cstdint>

namespace simple_torch::abi {

/// Part of each handle, and known to programs through spt_live_handles. Append; never renumber.
enum class HandleKind : int32_t {
  kTensor = 1,
  kObject = 2,
  kDlpack = 3,
  kOptimizer = 4,
  kGenerator = 5,
  kStream = 6,
  kSafetensors = 7,
  kStep = 8,
  kEventWriter = 9,
  kDataset = 10,
  kDatasetPass = 11,
  kDownload = 12,
  kNode = 13
};
inline constexpr int32_t kHandleKinds = 14;  // one more than the greatest

namespace handle_counts {

void increment(HandleKind kind) noexcept;
void decrement(HandleKind kind) noexcept;

/// Of all threads, also of those that ended.
int64_t live(HandleKind kind) noexcept;

/// The most that were live at once. Handles that other threads make or end at the same time count in groups
/// of up to 16 for each thread.
int64_t peak(HandleKind kind) noexcept;

}  // namespace handle_counts
}  // namespace simple_torch::abi
