#include "scheduler/simulator/crash/operators.h"

#include <gtest/gtest.h>

#include <set>

#include "scheduler/simulator/crash/requests.h"

namespace muster::sim {
namespace {

TEST(Requests, AreRepeatedUntilThereIsAnAnswer) {
  VirtualClock clock{Time(Duration(0))};
  Faults faults(1, FaultRates());
  int brought = 0;
  int heard = 0;
  Requests requests(clock, faults, [&](const Command&, const ControllerLoop::Done& done) {
    if (++brought == 3) {
      done(core::Transition());
    }
  });
  requests.Send(TickHealth{}, [&](const core::Transition&) { ++heard; });
  EXPECT_EQ(requests.unanswered(), 1U);
  while (requests.unanswered() > 0 && clock.RunNext()) {
  }
  EXPECT_EQ(heard, 1);
  EXPECT_EQ(brought, 3);
}

TEST(Operators, DoEverythingInTheEnd) {
  VirtualClock clock{Time(Duration(1'000'000))};
  Faults faults(1, FaultRates());
  std::set<std::size_t> kinds;
  Requests requests(clock, faults, [&](const Command& command, const ControllerLoop::Done& done) {
    kinds.insert(command.index());
    done(core::Transition());
  });
  Operators operators(clock, requests, OperatorPlan{4, 500, Duration(60'000), 1});
  operators.Start();
  while (requests.unanswered() > 0 && clock.RunNext()) {
  }
  EXPECT_EQ(kinds.size(), 11U);
}

}  // namespace
}  // namespace muster::sim
