#include "scheduler/simulator/workload/rare_wishes.h"

#include <gtest/gtest.h>

#include "scheduler/simulator/workload/draws.h"
#include "scheduler/simulator/workload/site_changes.h"

namespace muster::sim {
namespace {

WishList RareList() {
  WishList list;
  list.nodes = 4;
  list.cpus_per_node = 8;
  list.gpus_per_node = 4;
  list.memory_per_node = kGibibyte;
  NameSite(&list);
  NameRareSite(&list);
  return list;
}

JobSpec RareJob(RandomSequence& random) {
  JobSpec spec;
  spec.request.min_nodes = spec.request.max_nodes = spec.request.tasks = 1;
  AddRareWishes(RareList(), Time(Duration(0)), random, &spec);
  return spec;
}

TEST(RareWishes, OneSequenceWishesTheSameTwice) {
  RandomSequence one(7);
  RandomSequence other(7);
  for (int i = 0; i < 200; ++i) {
    EXPECT_EQ(RareJob(one), RareJob(other));
    EXPECT_EQ(DrawStep(RareList(), one), DrawStep(RareList(), other));
    EXPECT_EQ(DrawUpdate(RareList(), {JobId(3)}, Time(), one),
              DrawUpdate(RareList(), {JobId(3)}, Time(), other));
  }
}

TEST(RareWishes, AllThatFewAskForIsAskedForInTheEnd) {
  RandomSequence random(1);
  int layouts = 0;
  int segments = 0;
  int features = 0;
  int kinds = 0;
  int again = 0;
  int components = 0;
  for (int i = 0; i < 2000; ++i) {
    SubmitJob submit;
    submit.spec = RareJob(random);
    AddComponents(RareList(), Time(), random, &submit);
    const ResourceRequest& request = submit.spec.request;
    layouts += request.layout.has_value() ? 1 : 0;
    segments += request.segment > 0 ? 1 : 0;
    features += request.constraint == Constraint() ? 0 : 1;
    kinds += request.gpus.type.empty() ? 0 : 1;
    again += submit.spec.every.empty() ? 0 : 1;
    components += submit.components.empty() ? 0 : 1;
  }
  for (const int count : {layouts, segments, features, kinds, again, components}) {
    EXPECT_GT(count, 20);
  }
}

}  // namespace
}  // namespace muster::sim
