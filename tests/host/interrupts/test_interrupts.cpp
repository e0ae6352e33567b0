// The host's owner of SIGINT: handler, mark and client, in one process.
#include "host/interrupts/interrupts.h"

#include <gtest/gtest.h>

#include <csignal>
#include <initializer_list>
#include <utility>

#include "host/interrupts/scopes.h"

namespace spl {
namespace {

/// A client's state with some members set.
SplInterruptClientState client_state(
    std::initializer_list<std::pair<int32_t SplInterruptClientState::*, int32_t>> members) {
  SplInterruptClientState state{};
  for (const auto& [member, value] : members) {
    state.*member = value;
  }
  return state;
}

SplInterruptClientState python{};  // what the client reports
uint32_t performed = 0;

void read_python(SplInterruptClientState* out) { *out = python; }
void perform(uint32_t actions, SplInterruptClientState /*next*/) { performed = actions; }
constexpr SplInterruptClient kPython{read_python, perform};

int other_signals = 0;
void other_handler(int) { ++other_signals; }

class HostInterrupts : public testing::Test {
 protected:
  void SetUp() override {
    python = {};
    performed = 0;
    other_signals = 0;
    install_interrupt_handler();
    interrupt_service()->attach(&kPython);
    take_interrupt();
  }
};

TEST_F(HostInterrupts, RequestASafepointOnce) {
  raise(SIGINT);
  EXPECT_TRUE(is_interrupt_requested());
  EXPECT_FALSE(request_interrupt()) << "an earlier request is pending";
  EXPECT_TRUE(take_interrupt());
  EXPECT_FALSE(take_interrupt());
  EXPECT_FALSE(is_interrupt_requested());
  EXPECT_EQ(performed, 0U);
}

TEST_F(HostInterrupts, EndTheProcessTheSecondTime) {
  EXPECT_EXIT(
      {
        raise(SIGINT);
        raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST_F(HostInterrupts, AskTheClientWhilePythonRuns) {
  python = client_state({{&SplInterruptClientState::main_inside, 1},
                         {&SplInterruptClientState::main_is_first_thread, 1},
                         {&SplInterruptClientState::on_main_thread, 1}});
  raise(SIGINT);
  EXPECT_EQ(performed, static_cast<uint32_t>(SPL_INTERRUPT_STOP_MAIN));
  EXPECT_FALSE(is_interrupt_requested());
  python.main_requested = 1;
  raise(SIGINT);
  EXPECT_EQ(performed, static_cast<uint32_t>(SPL_INTERRUPT_END));
}

TEST_F(HostInterrupts, AskBothWhereSimpleWorksNextToPython) {
  const ActiveThread second;
  python = client_state({{&SplInterruptClientState::workers_inside, 1}});
  raise(SIGINT);
  EXPECT_EQ(performed, static_cast<uint32_t>(SPL_INTERRUPT_STOP_WORKERS));
  EXPECT_TRUE(take_interrupt());
}

TEST_F(HostInterrupts, OnlySetTheMarkWhileALoopWatchesIt) {
  python = client_state(
      {{&SplInterruptClientState::main_inside, 1}, {&SplInterruptClientState::on_main_thread, 1}});
  watch_interrupt_mark();
  EXPECT_FALSE(is_interrupt_mark_set());
  raise(SIGINT);
  EXPECT_TRUE(is_interrupt_mark_set());
  EXPECT_EQ(performed, 0U);
  EXPECT_FALSE(is_interrupt_requested());
  unwatch_interrupt_mark();
  EXPECT_FALSE(is_interrupt_mark_set());
  python = {};
  raise(SIGINT);
  EXPECT_TRUE(take_interrupt()) << "the mark is off";
}

TEST_F(HostInterrupts, EndTheProcessWhenTheMarkIsSet) {
  EXPECT_EXIT(
      {
        watch_interrupt_mark();
        raise(SIGINT);
        raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST_F(HostInterrupts, KeepTheMarkUntilTheLastLoopEnds) {
  watch_interrupt_mark();
  watch_interrupt_mark();
  unwatch_interrupt_mark();
  raise(SIGINT);
  EXPECT_TRUE(is_interrupt_mark_set());
  unwatch_interrupt_mark();
  EXPECT_FALSE(is_interrupt_mark_set());
}

TEST_F(HostInterrupts, TakeTheSignalBackForTheMarkAndRestoreTheOtherHandler) {
  watch_interrupt_mark();
  std::signal(SIGINT, other_handler);
  EXPECT_FALSE(is_interrupt_mark_set()) << "and the handler is installed again";
  raise(SIGINT);
  EXPECT_TRUE(is_interrupt_mark_set());
  EXPECT_EQ(other_signals, 0);
  unwatch_interrupt_mark();
  raise(SIGINT);
  EXPECT_EQ(other_signals, 1);
}

TEST_F(HostInterrupts, ReclaimTheSignalForTheClient) {
  std::signal(SIGINT, other_handler);
  interrupt_service()->reclaim();
  raise(SIGINT);
  EXPECT_EQ(other_signals, 0);
  EXPECT_TRUE(take_interrupt());
}

TEST_F(HostInterrupts, LeaveAnIgnoredSignalIgnored) {
  std::signal(SIGINT, SIG_IGN);
  EXPECT_EQ(interrupt_service()->attach(&kPython), 1);
  watch_interrupt_mark();
  raise(SIGINT);
  EXPECT_FALSE(is_interrupt_mark_set());
  unwatch_interrupt_mark();
  raise(SIGINT);
  EXPECT_FALSE(is_interrupt_requested());
}

// ---- which thread an interrupt stops

TEST_F(HostInterrupts, StopAnyThreadWhileNoneAllowsThem) { EXPECT_TRUE(may_be_interrupted()); }

TEST_F(HostInterrupts, WaitWhileTheyAreMasked) {
  const InterruptsMasked masked;
  EXPECT_FALSE(may_be_interrupted());
}

TEST_F(HostInterrupts, StopAThreadThatAllowsThem) {
  const InterruptsAllowed allowed;
  EXPECT_TRUE(InterruptsAllowed::is_this_thread());
  EXPECT_TRUE(may_be_interrupted());
}

}  // namespace
}  // namespace spl
