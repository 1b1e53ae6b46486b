#pragma once

// Writes facts into the attempt's journal, in order, and notifies the agent.
//
// A notification is about all facts since the last one. That a process runs, and where, waits a
// moment for company, and so does what the attempt's end is about to follow: a job that is over at
// once costs one notification, its agent one message, and its controller one commit.
// A disk that is full delays facts, it does not lose them: they wait here and are tried again each
// second while the job goes on. Thread promise: the loop's thread.

#include <deque>
#include <functional>
#include <string>

#include "agent/supervisor/attempt/journal.h"
#include "scheduler/model/job/report.h"
#include "scheduler/runtime/event_loop.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class Reporter {
 public:
  // `name` is the attempt's, sent to `agent_socket` after each append. The loop and the log outlive
  // it.
  Reporter(EventLoop& loop, const Logger& log, JournalWriter journal, std::string agent_socket,
           std::string name)
      : loop_(loop),
        log_(log),
        journal_(std::move(journal)),
        agent_socket_(std::move(agent_socket)),
        name_(std::move(name)),
        timers_(loop) {}
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  // `end_follows`: the attempt is about to end.
  void Report(Fact fact, bool end_follows = false);
  // Calls `done` once everything reported so far is in the journal.
  void WhenWritten(std::function<void()> done);

 private:
  void Flush();
  void Notify();

  EventLoop& loop_;
  const Logger& log_;
  JournalWriter journal_;
  const std::string agent_socket_;
  const std::string name_;
  bool notifies_later_ = false;
  struct Waiting {
    Fact fact;
    bool can_wait = false;
  };
  std::deque<Waiting> waiting_;
  bool retrying_ = false;
  std::function<void()> when_written_;
  OwnTimers timers_;
};

}  // namespace muster::agent
