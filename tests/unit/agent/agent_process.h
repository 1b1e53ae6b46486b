#pragma once

// The real agent as a child process, with a controller in this one.
//
// Thread promise: one test's thread. Invariant: when the fixture goes, so has every process that
// the agent started: this process is their subreaper.

#include <gtest/gtest.h>
#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "scheduler/model/job/order.h"
#include "tests/unit/agent/test_controller.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::agent {

// Calls `holds` until it is true, for ten seconds at most.
bool Eventually(const std::function<bool()>& holds);

// True while a process of that pid runs (a zombie does not).
bool Runs(pid_t pid);

class AgentProcessTest : public ::testing::Test {
 protected:
  AgentProcessTest();
  ~AgentProcessTest() override;

  std::string address() const { return "unix:" + temp_ / "controller.sock"; }
  std::string state() const { return temp_ / "agent"; }
  std::string attempt(const std::string& name) const { return state() + "/attempts/" + name; }

  // Starts the agent with the scripted supervisor; `options` come on top or instead. A descriptor
  // `ready` becomes the agent's 3.
  void StartAgent(std::map<std::string, std::string> options = {}, int ready = -1);
  // Ends the agent by `signal` and returns its wait status.
  int StopAgent(int signal);
  // Waits for the agent to end by itself.
  int AwaitAgentExit();
  // Whether an agent of this test has said so in its log.
  bool HasLogged(const std::string& text) const;
  std::string LogPath() const { return temp_ / "agent.log"; }
  // Starts the agent and welcomes it.
  void StartAttached();

  // An order for job `job`, first attempt, this node; `script` says what its supervisor does.
  LaunchOrder Order(std::uint64_t job, const std::string& script) const;
  static TerminateOrder TerminateOf(const LaunchOrder& order);

  // How often supervisors claimed, by their own record.
  std::size_t Starts() const;
  // The pids that the scripted supervisor wrote down as its ranks'.
  std::vector<pid_t> Ranks() const;
  // The pid in an attempt's claim; 0 when there is none.
  pid_t ClaimHolder(const std::string& name) const;

  TempDirectory temp_;
  std::unique_ptr<TestController> controller_;
  pid_t agent_ = 0;
};

}  // namespace muster::agent
