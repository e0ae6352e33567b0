// Records the program location of each node's forward call, for errors in its backward.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace torch::autograd {
struct AnomalyMetadata;
struct Engine;
}  // namespace torch::autograd

namespace simple_torch::core {

/// Returns the calling thread's location in the program; empty if it is unknown.
using LocationProvider = std::function<std::string()>;

/// Sets the function that is called for each node made in anomaly mode; an empty function removes it.
void set_location_provider(LocationProvider provider);

/// The metadata of a new node: its location or, if that is unknown, the metadata of the wrapped engine.
std::unique_ptr<torch::autograd::AnomalyMetadata> location_metadata(torch::autograd::Engine& wrapped);

/// Returns and clears the location of the forward call whose backward failed last in this process.
std::string take_anomaly_location();

}  // namespace simple_torch::core
