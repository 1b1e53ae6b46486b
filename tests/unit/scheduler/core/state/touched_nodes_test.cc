#include "scheduler/core/state/touched_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

namespace muster::core {
namespace {

using ::testing::UnorderedElementsAre;

std::vector<NodeId> Since(const TouchedNodes& touched, std::uint64_t version) {
  std::vector<NodeId> nodes;
  EXPECT_TRUE(touched.AppendSince(Version(version), nodes));
  return nodes;
}

NodeLost Lost(std::uint32_t node) {
  NodeLost event;
  event.node = NodeId(node);
  return event;
}

// A job that runs on the nodes 4 and 5.
JobTable OneJob() {
  Job job;
  job.id = JobId(1);
  job.spec = std::make_shared<const JobSpec>();
  job.state = JobState::kRunning;
  job.attempt.emplace();
  for (const std::uint32_t node : {4U, 5U}) {
    NodeAllocation part;
    part.node = NodeId(node);
    job.attempt->allocation.nodes.push_back(part);
  }
  JobTable jobs;
  jobs.Add(std::move(job));
  return jobs;
}

TEST(TouchedNodes, NamesWhatChangedAfterAVersion) {
  TouchedNodes touched;
  const JobTable none;
  touched.Note(Lost(1), none, Version(1));
  touched.Note(Lost(2), none, Version(2));
  EXPECT_THAT(Since(touched, 0), UnorderedElementsAre(NodeId(1), NodeId(2)));
  EXPECT_THAT(Since(touched, 1), UnorderedElementsAre(NodeId(2)));
  EXPECT_THAT(Since(touched, 2), UnorderedElementsAre());
}

TEST(TouchedNodes, AnEventOnAJobTouchesTheNodesOnWhichItRuns) {
  TouchedNodes touched;
  const JobTable jobs = OneJob();
  AttemptEnding ending;
  ending.job = JobId(1);
  touched.Note(ending, jobs, Version(1));
  EXPECT_THAT(Since(touched, 0), UnorderedElementsAre(NodeId(4), NodeId(5)));
  ending.job = JobId(2);  // not live
  touched.Note(ending, jobs, Version(2));
  EXPECT_TRUE(Since(touched, 1).empty());
}

TEST(TouchedNodes, ANewEpochTouchesAll) {
  TouchedNodes touched;
  touched.Note(EpochBegan{}, JobTable(), Version(3));
  std::vector<NodeId> nodes;
  EXPECT_FALSE(touched.AppendSince(Version(2), nodes));
  EXPECT_TRUE(touched.AppendSince(Version(3), nodes));
}

TEST(TouchedNodes, WhatWasBeforeAStateWasLoadedIsNotKnown) {
  const TouchedNodes touched(Version(7));
  std::vector<NodeId> nodes;
  EXPECT_FALSE(touched.AppendSince(Version(6), nodes));
  EXPECT_TRUE(touched.AppendSince(Version(7), nodes));
}

TEST(TouchedNodes, ForgetsTheOldestAndSaysSo) {
  TouchedNodes touched;
  const JobTable none;
  for (std::uint64_t version = 1; version <= TouchedNodes::kMax + 2; ++version) {
    touched.Note(Lost(1), none, Version(version));
  }
  std::vector<NodeId> nodes;
  EXPECT_FALSE(touched.AppendSince(Version(1), nodes));
  EXPECT_TRUE(touched.AppendSince(Version(2), nodes));
  EXPECT_EQ(nodes.size(), TouchedNodes::kMax);
}

}  // namespace
}  // namespace muster::core
