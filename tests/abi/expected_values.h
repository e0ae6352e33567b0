// Recorded from Python's PyTorch 2.15.0 by record_expected.py.
// clang-format off
#pragma once

#include <array>
#include <string>

namespace expected {

struct Text {
  std::string name;
  std::string text;
};

// The output of Python's print for the tensors of record_expected.py.
inline const Text kTexts[] = {
    {"whole floats", R"~(tensor([[1., 1., 1.],
        [1., 1., 1.]]))~"},
    {"fractions", R"~(tensor([[  1.5000,  -2.2500],
        [  0.0000, 100.0000]]))~"},
    {"scientific", R"~(tensor([1.0000e-05, 1.0000e+00, 1.0000e+05]))~"},
    {"wide range of whole numbers", R"~(tensor([1.0000e+00, 1.0000e+05]))~"},
    {"not finite", R"~(tensor([1., nan, inf, -inf]))~"},
    {"only zeros", R"~(tensor([0., 0., 0.]))~"},
    {"scalar", R"~(tensor(3.1416))~"},
    {"integer scalar", R"~(tensor(7))~"},
    {"integers", R"~(tensor([[-2, -1,  0,  1],
        [ 2,  3,  4,  5],
        [ 6,  7,  8,  9]]))~"},
    {"bools", R"~(tensor([ True, False]))~"},
    {"float64", R"~(tensor([0.1000], dtype=torch.float64))~"},
    {"uint8", R"~(tensor([  1, 255], dtype=torch.uint8))~"},
    {"half", R"~(tensor([0.5000, 2.0000], dtype=torch.float16))~"},
    {"empty", R"~(tensor([]))~"},
    {"empty matrix", R"~(tensor([], size=(2, 0), dtype=torch.int64))~"},
    {"three dimensions", R"~(tensor([[[0., 1.],
         [2., 3.]],

        [[4., 5.],
         [6., 7.]]]))~"},
    {"wrapped line", R"~(tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,
        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
        36, 37, 38, 39]))~"},
    {"summarized", R"~(tensor([   0,    1,    2,  ...,  998,  999, 1000]))~"},
    {"summarized matrix", R"~(tensor([[0.0000e+00, 1.0000e+00, 2.0000e+00,  ..., 4.7000e+01, 4.8000e+01,
         4.9000e+01],
        [5.0000e+01, 5.1000e+01, 5.2000e+01,  ..., 9.7000e+01, 9.8000e+01,
         9.9000e+01],
        [1.0000e+02, 1.0100e+02, 1.0200e+02,  ..., 1.4700e+02, 1.4800e+02,
         1.4900e+02],
        ...,
        [2.8500e+03, 2.8510e+03, 2.8520e+03,  ..., 2.8970e+03, 2.8980e+03,
         2.8990e+03],
        [2.9000e+03, 2.9010e+03, 2.9020e+03,  ..., 2.9470e+03, 2.9480e+03,
         2.9490e+03],
        [2.9500e+03, 2.9510e+03, 2.9520e+03,  ..., 2.9970e+03, 2.9980e+03,
         2.9990e+03]]))~"},
    {"summarized long rows", R"~(tensor([[   0,    1,    2,  ...,  998,  999, 1000],
        [1001, 1002, 1003,  ..., 1999, 2000, 2001]]))~"},
    {"complex", R"~(tensor([ 1.0000-1.0000j, -2.5000+0.2500j]))~"},
    {"requires grad", R"~(tensor([1., 1.], requires_grad=True))~"},
    {"has a grad_fn", R"~(tensor([-1., -1.], grad_fn=<NegBackward0>))~"},
    {"suffix on its own line", R"~(tensor([ 0.5000,  1.5000,  2.5000,  3.5000,  4.5000,  5.5000,  6.5000,  7.5000,
         8.5000,  9.5000, 10.5000, 11.5000, 12.5000, 13.5000, 14.5000, 15.5000],
       dtype=torch.float64))~"},
};

// Four weights after 5 steps.
inline constexpr double kAdam[] = {0.5079637169837952, -1.5029557943344116, 0.027814462780952454, 2.501779556274414};
inline constexpr double kAdamDecayAmsgrad[] = {0.7514778971672058, -1.7506338357925415, 0.2539818286895752, 2.750401258468628};
inline constexpr double kAdamW[] = {0.4337383210659027, -1.3319075107574463, 0.0036674663424491882, 2.2344467639923096};
inline constexpr double kSgd[] = {0.32767996191978455, -1.1809799671173096, 0.03888000175356865, 2.7117621898651123};
inline constexpr double kSgdMomentum[] = {-0.5374376773834229, -0.0311786700040102, -0.3863270878791809, 2.263643741607666};
inline constexpr double kSgdNesterov[] = {-0.41571754217147827, 0.20916330814361572, -0.08256790041923523, 2.0697178840637207};

inline constexpr double kRandnOfSeed42[] = {0.33669036626815796, 0.12880940735340118, 0.23446236550807953, 0.23033303022384644};
inline constexpr double kRandAfterIt[] = {0.9407714605331421, 0.13318592309951782, 0.9345980882644653, 0.5935796499252319};

struct Activation {
  const char* name;
  std::array<double, 5> at;  // -2, -0.5, 0, 0.5, 2
};

inline constexpr Activation kActivations[] = {
    {"gelu", {-0.045500099658966064, -0.1542687863111496, 0.0, 0.3457311987876892, 1.9544999599456787}},
    {"silu", {-0.23840583860874176, -0.1887703388929367, 0.0, 0.3112296760082245, 1.7615940570831299}},
    {"mish", {-0.2525014579296112, -0.22074376046657562, 0.0, 0.37524524331092834, 1.9439589977264404}},
    {"hardswish", {-0.3333333432674408, -0.2083333283662796, 0.0, 0.2916666567325592, 1.6666666269302368}},
    {"softplus", {0.12692800164222717, 0.4740769863128662, 0.6931471824645996, 0.9740769863128662, 2.1269280910491943}},
    {"elu", {-0.8646647334098816, -0.39346933364868164, 0.0, 0.5, 2.0}},
};

}  // namespace expected
