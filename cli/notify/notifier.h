#pragma once

// The loop of the notifier: events in, deliveries and alerts out.
//
// Thread promise: Run blocks its thread and never returns but with an error; a thread of its own
// looks at clocks and alerts. Invariant: the place that is kept is never beyond an event whose
// deliveries have not ended.

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "cli/controller/address.h"
#include "cli/controller/connection.h"
#include "cli/notify/deliveries.h"
#include "cli/notify/news_desk.h"
#include "cli/notify/notifier_config.h"
#include "cli/notify/notifier_state.h"
#include "scheduler/model/change/alert.h"
#include "scheduler/runtime/clock.h"
#include "scheduler/runtime/log.h"
#include "scheduler/runtime/mutex.h"

namespace muster::cli {

// An alert as an Alertmanager takes it.
struct SentAlert {
  Alert alert;
  Time ends = kNoTime;  // or ended
};
// As the v2 API of Alertmanager takes them, the cluster among their labels.
std::string AlertsJson(const std::vector<SentAlert>& alerts, const std::string& cluster);

class Notifier {
 public:
  // What is referred to outlives it. `site_key` signs webhooks.
  Notifier(const NotifierConfig& config, const Address& address, Connection& connection,
           std::string site_key, NotifierState state, const Clock& clock, const Logger& log);
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;
  ~Notifier();

  // `reading` is called once the controller has answered.
  absl::Status Run(const std::function<void()>& reading);

 private:
  JobSource Source();
  void Hear(std::uint64_t number, const std::string& json);
  void Send(const std::vector<Message>& messages);
  void AddMail(const Message& message);
  void AddWebhook(const Message& message);
  void Watch();
  void LookAround();
  void TellAlertmanager(Time now);
  void Keep();

  const NotifierConfig& config_;
  const Address& address_;
  Connection& connection_;
  const std::string site_key_;
  const Clock& clock_;
  const Logger& log_;
  std::string cluster_;
  Mutex mutex_;
  CondVar stops_;
  NotifierState state_ ABSL_GUARDED_BY(mutex_);
  NotifierState kept_ ABSL_GUARDED_BY(mutex_);
  NewsDesk desk_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::map<std::pair<std::string, std::string>, Alert> told_;  // the watcher's: open the last time
  Deliveries deliveries_;
  std::thread watcher_;
};

}  // namespace muster::cli
