#pragma once

// Reports upward: each attempt's journal, in order, sent until it is acknowledged.
//
// The journal is the queue; nothing else is kept. After a (re)connection everything that was not
// acknowledged goes again, and RunEnded goes in any case, because only its acknowledgement lets the
// attempt's directory go. Thread promise: the owner thread's. Invariant: of one attempt, reports
// leave in the order of their numbers and none is skipped.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>

#include "agent/attempts/place/attempt_key.h"
#include "agent/attempts/place/state_directory.h"
#include "agent/supervisor/attempt/journal.h"
#include "scheduler/model/job/report.h"
#include "scheduler/runtime/log.h"

namespace muster::agent {

class Outbox {
 public:
  // `send` takes a report or, returning false, leaves it for later.
  using Send = std::function<bool(const Report&)>;
  Outbox(const StateDirectory& state, const Logger& log, Send send)
      : state_(state), log_(log), send_(std::move(send)) {}

  // Sends what the attempt's journal has that was not sent.
  void Pump(const AttemptKey& key);
  // From now on what was not acknowledged counts as not sent.
  void Rewind(const AttemptKey& key);
  // From now on nothing counts as acknowledged.
  void Restart(const AttemptKey& key);

  // The controller has the attempt's reports up to `index`. True when that is its end: it can go.
  bool Acknowledge(const AttemptKey& key, std::uint64_t index);

  void Forget(const AttemptKey& key) { cursors_.erase(key); }

  // Writes down what was acknowledged since the last time, so that the next agent sends only the
  // rest. Called every few seconds: most attempts are over before.
  void Save();

 private:
  struct Cursor {
    AttemptJournalReader journal;
    std::deque<Report> waiting;  // read and not sent
    std::uint64_t acked = 0;
    std::uint64_t saved = 0;  // of these
    std::uint64_t sent = 0;
    std::uint64_t ended = 0;  // the number of its RunEnded, once read
  };
  Cursor& CursorOf(const AttemptKey& key);
  void Read(const AttemptKey& key, Cursor* cursor);

  const StateDirectory& state_;
  const Logger& log_;
  const Send send_;
  std::map<AttemptKey, Cursor> cursors_;
};

}  // namespace muster::agent
