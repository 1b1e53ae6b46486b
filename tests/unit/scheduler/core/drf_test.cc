#include "scheduler/core/drf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <limits>

#include "tests/unit/scheduler/core/many_cases.h"

namespace muster {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using testing::HoldsInManyCases;
using Amounts = std::vector<std::uint64_t>;
using Demands = std::vector<DrfDemand>;

constexpr std::size_t kAll = 100'000;
constexpr double kNear = 1e-9;

DrfDemand Demand(Amounts task, std::uint64_t weight = 1) {
  return {.task = std::move(task), .weight = weight, .tasks_max = kNoTaskLimit};
}

TEST(Drf, TheExampleOfThePaper) {
  const DrfFilling filling = FillByDominantShare({9, 18}, {Demand({1, 4}), Demand({3, 1})}, kAll);
  EXPECT_THAT(filling.order, ElementsAre(0, 1, 0, 1, 0));
  EXPECT_THAT(filling.tasks, ElementsAre(3, 2));
  EXPECT_THAT(filling.used, ElementsAre(9, 14));
  const std::vector<double> divisible = DivisibleDrf({9, 18}, {Demand({1, 4}), Demand({3, 1})});
  EXPECT_THAT(divisible, ElementsAre(DoubleNear(3, kNear), DoubleNear(2, kNear)));
}

TEST(Drf, AWeightOfTwoGetsTwice) {
  const DrfFilling filling = FillByDominantShare({9}, {Demand({1}, 2), Demand({1})}, kAll);
  EXPECT_THAT(filling.tasks, ElementsAre(6, 3));
  EXPECT_THAT(filling.order, ElementsAre(0, 1, 0, 0, 1, 0, 0, 1, 0));
}

TEST(Drf, AUserWhoHasEnoughLeavesTheRestToOthers) {
  DrfDemand modest = Demand({1});
  modest.tasks_max = 2;
  EXPECT_THAT(FillByDominantShare({10}, {modest, Demand({1})}, kAll).tasks, ElementsAre(2, 8));
}

TEST(Drf, AUserWhoseTaskDoesNotFitDoesNotStopOthers) {
  const DrfFilling filling = FillByDominantShare({10, 10}, {Demand({6, 1}), Demand({1, 1})}, kAll);
  EXPECT_THAT(filling.tasks, ElementsAre(1, 4));
  EXPECT_EQ(filling.before_first_drop, 5U);
}

TEST(Drf, WhatTheClusterDoesNotHaveNobodyGets) {
  EXPECT_THAT(FillByDominantShare({4, 0}, {Demand({1, 1}), Demand({1, 0})}, kAll).tasks,
              ElementsAre(0, 4));
  EXPECT_THAT(DivisibleDrf({4, 0}, {Demand({1, 1}), Demand({1, 0})}),
              ElementsAre(0, DoubleNear(4, kNear)));
  EXPECT_THAT(DivisibleDrf({0}, {Demand({1})}), ElementsAre(0));
  EXPECT_THAT(FillByDominantShare({4}, {}, kAll).order, ElementsAre());
}

TEST(Drf, StopsAtTheTasksAskedFor) {
  EXPECT_EQ(FillByDominantShare({100}, {Demand({1})}, 7).order.size(), 7U);
}

// --- The four properties of the paper, section 3 -------------------------------------------------

struct Instance {
  Amounts capacity;
  Demands demands;
};

// Up to four resources and six users of equal weight; needs of zero are common.
Instance AnyInstance() {
  Instance instance;
  const auto resources = *rc::gen::inRange<std::size_t>(1, 5);
  for (std::size_t r = 0; r < resources; ++r) {
    instance.capacity.push_back(*rc::gen::inRange<std::uint64_t>(20, 100));
  }
  const auto users = *rc::gen::inRange<std::size_t>(1, 7);
  for (std::size_t i = 0; i < users; ++i) {
    Amounts task;
    for (std::size_t r = 0; r < resources; ++r) {
      task.push_back(*rc::gen::inRange<std::uint64_t>(0, 20));
    }
    task[*rc::gen::inRange<std::size_t>(0, resources)] += 1;
    instance.demands.push_back(Demand(task));
  }
  return instance;
}

// How many tasks of `task` the amounts hold; more than any number when it needs none of them.
template <class Amount>
double TasksFrom(const std::vector<Amount>& amounts, const Amounts& task) {
  double tasks = std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < task.size(); ++r) {
    if (task[r] != 0) {
      tasks = std::min(tasks, static_cast<double>(amounts[r]) / static_cast<double>(task[r]));
    }
  }
  return tasks;
}

std::vector<double> Bundle(const Amounts& task, double tasks) {
  std::vector<double> bundle;
  for (const std::uint64_t need : task) {
    bundle.push_back(tasks * static_cast<double>(need));
  }
  return bundle;
}

double ShareOfOneTask(const Amounts& capacity, const Amounts& task) {
  return 1 / TasksFrom(capacity, task);
}

template <class Check>
void OnManyInstances(Check check) {
  HoldsInManyCases([&check] {
    const Instance instance = AnyInstance();
    check(instance);
  });
}

TEST(DrfProperty, SharingIsNoWorseThanAnEqualPartOfEverything) {
  OnManyInstances([](const Instance& instance) {
    const std::vector<double> tasks = DivisibleDrf(instance.capacity, instance.demands);
    const auto users = static_cast<double>(tasks.size());
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      RC_ASSERT(tasks[i] * (1 + kNear) >=
                TasksFrom(instance.capacity, instance.demands[i].task) / users);
    }
  });
}

TEST(DrfProperty, AskingForMoreOfAnythingNeverGivesMoreUsefulTasks) {
  OnManyInstances([](const Instance& instance) {
    const std::vector<double> honest = DivisibleDrf(instance.capacity, instance.demands);
    Demands lies = instance.demands;
    const auto liar = *rc::gen::inRange<std::size_t>(0, lies.size());
    for (std::uint64_t& need : lies[liar].task) {
      need += *rc::gen::inRange<std::uint64_t>(0, 5);
    }
    const double claimed = DivisibleDrf(instance.capacity, lies)[liar];
    const double useful = TasksFrom(Bundle(lies[liar].task, claimed), instance.demands[liar].task);
    RC_ASSERT(useful <= honest[liar] * (1 + kNear));
  });
}

TEST(DrfProperty, NobodyCanHaveMoreWithoutAnotherHavingLess) {
  OnManyInstances([](const Instance& instance) {
    const std::vector<double> tasks = DivisibleDrf(instance.capacity, instance.demands);
    std::vector<double> used(instance.capacity.size(), 0.0);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (std::size_t r = 0; r < used.size(); ++r) {
        used[r] += tasks[i] * static_cast<double>(instance.demands[i].task[r]);
      }
    }
    for (const DrfDemand& demand : instance.demands) {
      bool stopped = false;
      for (std::size_t r = 0; r < used.size(); ++r) {
        const auto capacity = static_cast<double>(instance.capacity[r]);
        RC_ASSERT(used[r] <= capacity * (1 + kNear));
        stopped = stopped || (demand.task[r] != 0 && used[r] >= capacity * (1 - kNear));
      }
      RC_ASSERT(stopped);
    }
  });
}

TEST(DrfProperty, NobodyWantsWhatAnotherHas) {
  OnManyInstances([](const Instance& instance) {
    const std::vector<double> tasks = DivisibleDrf(instance.capacity, instance.demands);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (std::size_t j = 0; j < tasks.size(); ++j) {
        RC_ASSERT(TasksFrom(Bundle(instance.demands[j].task, tasks[j]), instance.demands[i].task) <=
                  tasks[i] * (1 + kNear));
      }
    }
  });
}

// --- Whole tasks ---------------------------------------------------------------------------------

// Up to the moment at which somebody's task does not fit: who is next envies nobody by more than
// one task of the other's, and lacks an equal part by no more than the mean of one task of each.
TEST(DrfProperty, WholeTasksAreFairUpToOneTaskOfEach) {
  OnManyInstances([](const Instance& instance) {
    const std::size_t until =
        FillByDominantShare(instance.capacity, instance.demands, kAll).before_first_drop;
    const DrfFilling filling = FillByDominantShare(instance.capacity, instance.demands, until);
    const std::size_t users = instance.demands.size();
    double slack = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < users; ++i) {
      const double one = ShareOfOneTask(instance.capacity, instance.demands[i].task);
      slack += one;
      least = std::min(least, static_cast<double>(filling.tasks[i]) * one);
      for (std::size_t j = 0; j < users; ++j) {
        const double others = static_cast<double>(filling.tasks[j]) - 1;
        RC_ASSERT(TasksFrom(Bundle(instance.demands[j].task, std::max(others, 0.0)),
                            instance.demands[i].task) <=
                  static_cast<double>(filling.tasks[i]) * (1 + kNear));
      }
    }
    RC_ASSERT(least + slack / static_cast<double>(users) >=
              (1 - kNear) / static_cast<double>(users));
  });
}

TEST(DrfProperty, WholeTasksLeaveNothingThatAnybodyCouldUse) {
  OnManyInstances([](const Instance& instance) {
    const DrfFilling filling = FillByDominantShare(instance.capacity, instance.demands, kAll);
    for (const DrfDemand& demand : instance.demands) {
      bool fits = true;
      for (std::size_t r = 0; r < filling.used.size(); ++r) {
        RC_ASSERT(filling.used[r] <= instance.capacity[r]);
        fits = fits && filling.used[r] + demand.task[r] <= instance.capacity[r];
      }
      RC_ASSERT(!fits);
    }
  });
}

}  // namespace
}  // namespace muster
