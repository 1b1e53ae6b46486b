#include "scheduler/simulator/workload/wishes.h"

#include <gtest/gtest.h>

#include "scheduler/simulator/workload/site_changes.h"

namespace muster::sim {
namespace {

WishList List() {
  WishList list;
  list.nodes = 4;
  list.cpus_per_node = 4;
  list.gpus_per_node = 2;
  list.memory_per_node = kGibibyte;
  NameSite(&list);
  return list;
}

JobSpec Drawn(RandomSequence& random) {
  JobSpec spec;
  spec.request.min_nodes = spec.request.max_nodes = spec.request.tasks = 1;
  AddWishes(List(), Time(Duration(0)), random, &spec);
  return spec;
}

TEST(Wishes, OneSequenceWishesTheSameTwice) {
  RandomSequence one(7);
  RandomSequence other(7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(Drawn(one), Drawn(other));
  }
}

TEST(Wishes, AllThatCanBeAskedForIsAskedForInTheEnd) {
  RandomSequence random(1);
  int shares = 0;
  int wide = 0;
  int alternatives = 0;
  int licenses = 0;
  int named = 0;
  int deadlines = 0;
  for (int i = 0; i < 1000; ++i) {
    const JobSpec spec = Drawn(random);
    shares += spec.request.gpu_share.zero() ? 0 : 1;
    wide += spec.request.tasks == 0 ? 1 : 0;
    alternatives += spec.alternatives.empty() ? 0 : 1;
    licenses += spec.licenses.empty() ? 0 : 1;
    named += spec.request.nodelist.empty() ? 0 : 1;
    deadlines += spec.deadline == kNoTime ? 0 : 1;
  }
  for (const int count : {shares, wide, alternatives, licenses, named, deadlines}) {
    EXPECT_GT(count, 10);
  }
}

TEST(Wishes, ADependencyIsOnAJobThatThereIsOrOnTheNameAlone) {
  RandomSequence random(3);
  const std::vector<JobId> jobs = {JobId(4), JobId(9)};
  int alone = 0;
  for (int i = 0; i < 200; ++i) {
    const Dependency dependency = DrawDependency(jobs, random);
    ASSERT_FALSE(dependency.terms.empty());
    alone += IsSingleton(dependency) ? 1 : 0;
    for (const DependencyTerm& term : dependency.terms) {
      EXPECT_TRUE(IsSingleton(dependency) || term.job == jobs[0] || term.job == jobs[1]);
    }
  }
  EXPECT_GT(alone, 5);
}

}  // namespace
}  // namespace muster::sim
