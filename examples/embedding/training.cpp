// Trains a network of two layers on XOR from C++17 without LibTorch. Links libspl_torch.
#include <simple_torch/simple_torch.hpp>

#include <cstdio>
#include <exception>
#include <vector>

namespace st = simple_torch;

namespace {

st::Tensor parameter(const std::vector<int64_t>& sizes) {
  st::Tensor made = st::randn(sizes);
  st::set_requires_grad(made, true);
  return made;
}

void train() {
  st::manual_seed(0);
  const st::Tensor inputs =
      st::to_dtype(st::from_data({0, 0, 0, 1, 1, 0, 1, 1}, {4, 2}), st::dtype_code("float32"));
  const st::Tensor targets = st::to_dtype(st::from_data({0, 1, 1, 0}, {4, 1}), st::dtype_code("float32"));
  const st::Tensor w1 = parameter({8, 2}), b1 = parameter({8}), w2 = parameter({1, 8}), b2 = parameter({1});
  const auto forward = [&] { return st::linear(st::tanh(st::linear(inputs, w1, b1)), w2, b2); };

  // learning rate, betas, epsilon, weight decay, amsgrad, decoupled
  const st::OptimizerHandle adam =
      st::optim_adam_new({w1, b1, w2, b2}, 0.05, 0.9, 0.999, 1e-8, 0.0, false, false);
  for (int step = 0; step < 200; ++step) {
    st::optim_zero_grad(adam, true);
    const st::Tensor logits = forward();
    // An operator by its name, with PyTorch's defaults.
    st::backward(st::op("binary_cross_entropy_with_logits", logits, targets).tensor());
    st::optim_step(adam);
  }

  const st::NoGradGuard no_grad;
  const std::vector<double> answers = st::to_list(st::round(st::sigmoid(forward())));
  for (size_t i = 0; i < answers.size(); ++i) {
    std::printf("%zu xor %zu = %.0f\n", i / 2, i % 2, answers[i]);
  }

  // Any library that speaks DLPack can own the exported memory; here it comes back.
  const st::Tensor same = st::from_dlpack(st::to_dlpack(st::detach(w1)));
  std::printf("%s\n", st::data_ptr(same) == st::data_ptr(w1) ? "shared by DLPack" : "copied");
}

}  // namespace

int main() {
  try {
    if (!st::available()) {
      std::fprintf(stderr, "%s\n", st::why_unavailable().c_str());
      return 1;
    }
    train();
    st::matmul(st::ones({2, 3}), st::ones({2, 3}));
  } catch (const st::TorchError& error) {
    std::printf("%s\n", error.what());
    return error.kind() == SPT_SHAPE_MISMATCH ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
  }
  return 1;
}
