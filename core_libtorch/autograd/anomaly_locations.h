// Where in the program the nodes of graphs were made, for the errors of their backward.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace torch::autograd {
struct AnomalyMetadata;
struct Engine;
}  // namespace torch::autograd

namespace simple_torch::core {

/// Where the calling thread stands in the program; empty where that is not known.
using Place = std::function<std::string()>;

/// Asked for each node that is made in anomaly mode; none: nobody knows.
void set_place(Place place);

/// What a new node remembers: its place or, where that is nowhere, what the engine behind remembers.
std::unique_ptr<torch::autograd::AnomalyMetadata> place_metadata(torch::autograd::Engine& behind);

/// Where the operation was called whose backward failed last on behalf of this process; asked once.
std::string take_anomaly_place();

}  // namespace simple_torch::core
