#include "cli/notify/notifier.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/controller/streams/event_watch.h"
#include "cli/frame/json_output.h"
#include "cli/notify/http_post.h"
#include "cli/notify/mail.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/time_text.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr std::chrono::seconds kPostTime{10};
constexpr std::chrono::seconds kMailTime{60};
constexpr std::chrono::seconds kKeepEvery{1};
constexpr unsigned kLookEvery = 15;             // times kKeepEvery
constexpr std::chrono::minutes kAlertLasts{5};  // unless it is told again

}  // namespace

std::string AlertsJson(const std::vector<SentAlert>& alerts, const std::string& cluster) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [alert, ends] : alerts) {
    nlohmann::json labels = {{"alertname", alert.rule},
                             {"severity", alert.severity},
                             {"cluster", cluster},
                             {"subject", alert.subject}};
    for (const auto& [name, value] : {std::pair("node", alert.node), std::pair("job", alert.label),
                                      std::pair("user", alert.user)}) {
      if (!value.empty()) {
        labels[name] = value;
      }
    }
    list.push_back({{"labels", std::move(labels)},
                    {"annotations", {{"summary", alert.text}}},
                    {"startsAt", IsoText(alert.since)},
                    {"endsAt", IsoText(ends)}});
  }
  return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Notifier::Notifier(const NotifierConfig& config, const Address& address, Connection& connection,
                   std::string site_key, NotifierState state, const Clock& clock, const Logger& log)
    : config_(config),
      address_(address),
      connection_(connection),
      site_key_(std::move(site_key)),
      clock_(clock),
      log_(log),
      state_(std::move(state)),
      kept_(state_),
      desk_(Source(), state_),
      deliveries_(log, Deliveries::UsualWaits()) {}

Notifier::~Notifier() {
  {
    const MutexLock lock(&mutex_);
    stopping_ = true;
    stops_.NotifyAll();
  }
  if (watcher_.joinable()) {
    watcher_.join();
  }
}

JobSource Notifier::Source() {
  JobSource source;
  source.show = [this](JobId job) -> absl::StatusOr<JobDetail> {
    ASSIGN_OR_RETURN(const std::vector<JobDetail> details,
                     connection_.Call((ShowJob{JobSelector{job, {}}})));
    for (const JobDetail& detail : details) {
      if (detail.job.id == job) {
        return detail;
      }
    }
    return absl::NotFoundError(absl::StrCat("no job ", job.value()));
  };
  source.live = [this](JobId array) {
    ListJobs filter;
    filter.jobs = {array};
    filter.fold = true;
    return connection_.Call(filter);
  };
  source.ended = [this](JobId array) {
    ListHistory query;
    query.jobs = {array};
    query.limit = 1'000'000;
    return connection_.Call(query);
  };
  source.waiting = [this](std::vector<JobId> jobs) {
    ListJobs filter;
    filter.jobs = std::move(jobs);
    filter.states = {Name(JobState::kPending)};
    filter.fold = true;
    return connection_.Call(filter);
  };
  return source;
}

absl::Status Notifier::Run(const std::function<void()>& reading) {
  ASSIGN_OR_RETURN(const ClusterStatus status, connection_.Call(Ping{}));
  cluster_ = status.cluster;
  EventQuery query;
  query.follow = true;
  {
    const MutexLock lock(&mutex_);
    query.from = state_.next;
  }
  watcher_ = std::thread([this] { Watch(); });
  bool told = false;
  return ReadEvents(address_, query,
                    {.tell =
                         [this](const EventLine& event) {
                           Hear(event.number, event.json);
                           return true;
                         },
                     .reached =
                         [this, &told, &reading](std::uint64_t next) {
                           {
                             const MutexLock lock(&mutex_);
                             state_.next = next;
                           }
                           if (!std::exchange(told, true)) {
                             reading();
                           }
                         }});
}

void Notifier::Hear(std::uint64_t number, const std::string& json) {
  std::vector<Message> messages;
  {
    const MutexLock lock(&mutex_);
    const Time now = clock_.Now();
    state_.next = number;
    messages = desk_.Hear(number, json, now);
  }
  Send(messages);
}

void Notifier::Send(const std::vector<Message>& messages) {
  for (const Message& message : messages) {
    if (!message.asked.mail_to.empty()) {
      AddMail(message);
    }
    if (!message.asked.url.empty()) {
      AddWebhook(message);
    }
  }
}

void Notifier::AddMail(const Message& message) {
  Mail mail;
  mail.from = config_.mail_from;
  mail.to = message.asked.mail_to;
  if (!absl::StrContains(mail.to, "@") && !config_.mail_domain.empty()) {
    absl::StrAppend(&mail.to, "@", config_.mail_domain);
  }
  mail.subject = absl::StrCat("[", cluster_, "] ", message.subject);
  mail.text = absl::StrCat(message.subject, "\n\n", message.text);
  mail.id =
      absl::StrCat(cluster_, ".", message.event, ".", message.label, ".", NewsName(message.news));
  deliveries_.Add({message.event, mail.id + ".mail", mail.to, [this, mail] {
                     return SendMail(config_.sendmail, mail, clock_.Now(), kMailTime);
                   }});
}

void Notifier::AddWebhook(const Message& message) {
  const std::string id =
      absl::StrCat(cluster_, ".", message.event, ".", message.label, ".", NewsName(message.news));
  WebhookBody body = MakeWebhookBody(config_.webhooks, message.asked.url,
                                     {NewsName(message.news), message.subject, message.text,
                                      message.label, message.user, message.json});
  HttpPost post{message.asked.url, std::move(body.type), std::move(body.body)};
  post.to_private = config_.webhook_private;
  deliveries_.Add({message.event, id, post.url,
                   [this, post, id, key = WebhookKeyOf(site_key_, message.user)]() mutable {
                     post.headers = WebhookHeaders(id, clock_.Now(), post.body, key);
                     return Post(post, kPostTime);
                   }});
}

// Keeps the place each second, and looks at clocks, nodes and jobs now and then.
void Notifier::Watch() {
  for (unsigned tick = 0;; ++tick) {
    Keep();
    if (tick % kLookEvery == 0) {
      LookAround();
    }
    const MutexLock lock(&mutex_);
    if (stopping_) {
      return;
    }
    stops_.WaitFor(&mutex_, kKeepEvery);
    if (stopping_) {
      return;
    }
  }
}

void Notifier::Keep() {
  NotifierState keep;
  {
    const MutexLock lock(&mutex_);
    keep = state_;
    keep.next = std::min(keep.next, deliveries_.Oldest().value_or(keep.next));
    if (keep == kept_) {
      return;
    }
    kept_ = keep;
  }
  if (const absl::Status kept = WriteNotifierState(config_.state + "/state.json", keep);
      !kept.ok()) {
    log_.Error("notifier", std::string(kept.message()));
  }
}

void Notifier::LookAround() {
  const Time now = clock_.Now();
  std::vector<Message> messages;
  {
    const MutexLock lock(&mutex_);
    messages = desk_.LookAtClocks(now);
    for (Message& message : desk_.LookAtDependencies()) {
      messages.push_back(std::move(message));
    }
  }
  Send(messages);
  if (!config_.alertmanager.empty()) {
    TellAlertmanager(now);
  }
}

// Those that are open, at each look: an Alertmanager forgets what it is not told again; and, once,
// those that are not open any more.
void Notifier::TellAlertmanager(Time now) {
  const absl::StatusOr<std::vector<Alert>> open = connection_.Call(ListAlerts{});
  if (!open.ok()) {
    return;
  }
  std::vector<SentAlert> sent;
  std::map<std::pair<std::string, std::string>, Alert> over = told_;
  std::map<std::pair<std::string, std::string>, Alert> told;
  for (const Alert& alert : *open) {
    const std::pair name(alert.rule, alert.subject);
    over.erase(name);
    told.emplace(name, alert);
    sent.push_back({alert, now + kAlertLasts});
  }
  for (const auto& [name, alert] : over) {
    sent.push_back({alert, now});
  }
  if (sent.empty()) {
    return;
  }
  HttpPost post{config_.alertmanager + "/api/v2/alerts", "application/json",
                AlertsJson(sent, cluster_)};
  post.to_private = true;  // the operator's own choice
  if (const absl::Status posted = Post(post, kPostTime); !posted.ok()) {
    log_.Warning("notifier", absl::StrCat("alertmanager ", config_.alertmanager, ": ",
                                          std::string(posted.message())));
    return;  // what is over is sent again
  }
  told_ = std::move(told);
}

}  // namespace muster::cli
