#pragma once

// From events to who is told what.
//
// An array is one message, unless its user asked for ARRAY_TASKS: once when its first
// element begins, once when its last has ended. That a dependency can never be met is told once of
// a submission. Thread promise: one owner; it may wait for the
// controller. Invariant: an event makes at most one message, and a share of a time limit one.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/notify/notifier_state.h"
#include "cli/parse/request/notice_words.h"
#include "scheduler/model/view/view.h"

namespace muster::cli {

struct Message {
  std::uint64_t event = 0;
  News news = News::kEnd;
  std::string label;  // the job's
  std::string user;   // whose job
  Notices asked;
  std::string subject;
  std::string text;
  std::string json;  // the event
};

// What the desk asks the controller.
struct JobSource {
  // A job in full; of an array's element that element alone.
  std::function<absl::StatusOr<JobDetail>(JobId job)> show;
  // What lives of an array, and what has ended.
  std::function<absl::StatusOr<std::vector<JobView>>(JobId array)> live;
  std::function<absl::StatusOr<std::vector<JobView>>(JobId array)> ended;
  // Of these jobs and arrays what waits.
  std::function<absl::StatusOr<std::vector<JobView>>(std::vector<JobId> jobs)> waiting;
};

class NewsDesk {
 public:
  // `state` outlives it.
  NewsDesk(JobSource jobs, NotifierState& state) : jobs_(std::move(jobs)), state_(state) {}

  std::vector<Message> Hear(std::uint64_t number, const std::string& json, Time now);
  // Running jobs that have used up a share of their time limits.
  std::vector<Message> LookAtClocks(Time now);
  // Waiting jobs whose dependencies can never be met any more: no event says so.
  std::vector<Message> LookAtDependencies();

 private:
  struct Event;
  void Begin(const Event& event, std::vector<Message>& messages);
  void End(const Event& event, Time now, std::vector<Message>& messages);
  void EndArray(const Event& event, std::vector<Message>& messages);
  // Of a job that was looked at: no event says what is found.
  [[nodiscard]] Event LookedAt(const JobDetail& detail) const;
  [[nodiscard]] bool IsToldUnmet(const Event& event) const;
  bool FirstOfArray(const Event& event, News news);
  std::string SheetOf(JobId job, Time now) const;

  const JobSource jobs_;
  NotifierState& state_;
};

}  // namespace muster::cli
