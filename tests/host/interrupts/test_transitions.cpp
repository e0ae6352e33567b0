// Every transition of abi/interrupt_transitions.h.
#include "abi/interrupt_transitions.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace simple_torch::interrupts {
namespace {

constexpr auto kPending = Request::kPending;

struct Row {
  std::string name;
  State state;
  Context context;
  Transition expected;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

/// The process is the host's. Python's main thread runs the handler unless a row overrides it.
Context in_python(bool main, bool workers, bool simple_is_active) {
  return {.main_in_python = main,
          .workers_in_python = workers,
          .on_python_main = true,
          .simple_is_active = simple_is_active};
}

const Context kOutsidePython{.simple_is_active = true};

/// Rows 1 to 5: the mark, Python processes, the wrong thread.
std::vector<Row> rows_before_requests() {
  return {
      // 1, 2: the mark, whatever else is going on
      {"WatchedMarkIsSet", {.mark = Mark::kWatched}, kOutsidePython, {{.mark = Mark::kSet}, kSetMark}},
      {"WatchedMarkIsSetWhilePythonRuns",
       {.mark = Mark::kWatched},
       in_python(true, true, true),
       {{.mark = Mark::kSet}, kSetMark}},
      {"SetMarkEndsTheProcess", {.mark = Mark::kSet}, kOutsidePython, {{.mark = Mark::kSet}, kEndNow}},
      // 3, 4: a Python process
      {"PythonProcessThatWaitsForSimpleStopsSimple",
       {},
       {.python_owns_process = true, .python_waits = true},
       {{}, kStopSimple}},
      {"PythonProcessInsidePythonAgainPassesToPython",
       {},
       {.python_owns_process = true, .python_waits = true, .main_in_python = true},
       {{}, kPassToPython}},
      {"PythonProcessOutsideSimplePassesToPython",
       {},
       {.python_owns_process = true, .python_waits = false},
       {{}, kPassToPython}},
      // 5: the wrong thread
      {"HandlerOnAnotherThreadForwardsToPythonsMainThread",
       {},
       {.main_in_python = true, .on_python_main = false},
       {{}, kForwardToPythonMain}},
      {"ForwardingComesBeforeTheSecondInterrupt",
       {.python_main = kPending},
       {.main_in_python = true, .on_python_main = false},
       {{.python_main = kPending}, kForwardToPythonMain}},
  };
}

/// Row 0 comes before every other one.
std::vector<Row> rows_of_wake_ups() {
  const Context woken{.main_in_python = true, .on_python_main = true, .is_wake_up = true};
  const State requested{.simple = kPending, .python_main = kPending};
  Context owned = woken;
  owned.python_owns_process = true;
  return {
      {"WakeUp", {}, woken, {{}, 0}},
      {"WakeUpIsNoSecondInterrupt", requested, woken, {requested, 0}},
      {"WakeUpIsNotForTheMark", {.mark = Mark::kWatched}, woken, {{.mark = Mark::kWatched}, 0}},
      {"WakeUpWithTheMarkSet", {.mark = Mark::kSet}, woken, {{.mark = Mark::kSet}, 0}},
      {"WakeUpOfAPythonProcess", {}, owned, {{}, 0}},
  };
}

/// Rows 6 to 10: first and later requests.
std::vector<Row> rows_of_requests() {
  return {
      // 6, 7: no thread inside Python
      {"FirstInterruptStopsSimple", {}, kOutsidePython, {{.simple = kPending}, kStopSimple}},
      {"SecondInterruptEndsTheProcess",
       {.simple = kPending},
       kOutsidePython,
       {{.simple = kPending}, kEndNow}},
      // 8, 9: a second interrupt while Python runs
      {"SecondInterruptOfPythonsMainThreadEndsInOrder",
       {.python_main = kPending},
       in_python(true, false, false),
       {{.python_main = kPending, .is_ending = true}, kEndInOrder}},
      {"SecondInterruptOfPythonsWorkersEndsInOrder",
       {.python_workers = kPending},
       in_python(false, true, false),
       {{.python_workers = kPending, .is_ending = true}, kEndInOrder}},
      {"ThirdInterruptEndsNow",
       {.python_main = kPending, .is_ending = true},
       in_python(true, false, false),
       {{.python_main = kPending, .is_ending = true}, kEndNow}},
      // 10: a first interrupt while Python runs
      {"MainThreadInsidePython",
       {},
       in_python(true, false, false),
       {{.python_main = kPending}, kStopPythonMain}},
      {"WorkersInsidePython",
       {},
       in_python(false, true, false),
       {{.python_workers = kPending}, kStopPythonWorkers}},
      {"MainThreadAndWorkersInsidePython",
       {},
       in_python(true, true, false),
       {{.python_main = kPending, .python_workers = kPending}, kStopPythonMain | kStopPythonWorkers}},
      {"MainThreadInsidePythonAndActiveSimple",
       {},
       in_python(true, false, true),
       {{.simple = kPending, .python_main = kPending}, kStopPythonMain | kStopSimple}},
      {"WorkersInsidePythonAndActiveSimple",
       {},
       in_python(false, true, true),
       {{.simple = kPending}, kStopPythonWorkers | kStopSimple}},
      {"AllThreadsInsidePythonAndActiveSimple",
       {},
       in_python(true, true, true),
       {{.simple = kPending, .python_main = kPending}, kStopPythonMain | kStopPythonWorkers | kStopSimple}},
      {"SecondInterruptOfWorkersAndActiveSimpleEndsNow",
       {.simple = kPending},
       in_python(false, true, true),
       {{.simple = kPending}, kStopPythonWorkers | kEndNow}},
  };
}

class Transitions : public testing::TestWithParam<Row> {};

TEST_P(Transitions, OfASignal) {
  const Transition transition = on_signal(GetParam().state, GetParam().context);
  EXPECT_EQ(transition.actions, GetParam().expected.actions);
  EXPECT_EQ(transition.next, GetParam().expected.next);
}

std::string name_of(const testing::TestParamInfo<Row>& row) { return row.param.name; }

INSTANTIATE_TEST_SUITE_P(WakeUps, Transitions, testing::ValuesIn(rows_of_wake_ups()), name_of);
INSTANTIATE_TEST_SUITE_P(BeforeRequests, Transitions, testing::ValuesIn(rows_before_requests()), name_of);
INSTANTIATE_TEST_SUITE_P(Requests, Transitions, testing::ValuesIn(rows_of_requests()), name_of);

// ---- what a client reports

/// A client's state with some members set.
SplInterruptClientState client_state(
    std::initializer_list<std::pair<int32_t SplInterruptClientState::*, int32_t>> members) {
  SplInterruptClientState state{};
  for (const auto& [member, value] : members) {
    state.*member = value;
  }
  return state;
}

State read(const SplInterruptClientState& client, int active_threads, Context& context) {
  State state;
  add_client(client, active_threads, state, context);
  return state;
}

TEST(Client, ReportsRequestsAndThreadsInsidePython) {
  Context context;
  const State state = read(client_state({{&SplInterruptClientState::main_inside, 1},
                                         {&SplInterruptClientState::workers_inside, 2},
                                         {&SplInterruptClientState::on_main_thread, 1},
                                         {&SplInterruptClientState::main_requested, 1},
                                         {&SplInterruptClientState::workers_requested, 1},
                                         {&SplInterruptClientState::is_ending, 1}}),
                           3, context);
  EXPECT_EQ(state, (State{.python_main = kPending, .python_workers = kPending, .is_ending = true}));
  EXPECT_TRUE(context.main_in_python);
  EXPECT_TRUE(context.workers_in_python);
  EXPECT_TRUE(context.on_python_main);
}

TEST(Client, SimpleIsActiveWhenMoreThreadsAreActiveThanInsidePython) {
  Context context;
  read(client_state({{&SplInterruptClientState::workers_inside, 1}}), 1, context);
  EXPECT_FALSE(context.simple_is_active);
  read(client_state({{&SplInterruptClientState::workers_inside, 1}}), 2, context);
  EXPECT_TRUE(context.simple_is_active);
  read(client_state(
           {{&SplInterruptClientState::main_inside, 1}, {&SplInterruptClientState::workers_inside, 1}}),
       3, context);
  EXPECT_TRUE(context.simple_is_active);
}

TEST(Client, TheFirstThreadInsidePythonHasTheInterruptAlone) {
  Context context;
  read(client_state(
           {{&SplInterruptClientState::main_inside, 1}, {&SplInterruptClientState::main_is_first_thread, 1}}),
       5, context);
  EXPECT_FALSE(context.simple_is_active);
}

}  // namespace
}  // namespace simple_torch::interrupts
