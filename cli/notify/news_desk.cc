#include "cli/notify/news_desk.h"

#include <array>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "cli/notify/array_digest.h"
#include "cli/page/quantity.h"
#include "cli/sheet/job_sheet.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

struct Share {
  unsigned percent;
  News news;
};
// The largest first: who comes late hears of one.
constexpr std::array<Share, 3> kShares = {
    {{90, News::kTimeLimit90}, {80, News::kTimeLimit80}, {50, News::kTimeLimit50}}};

constexpr std::string_view kNeverSatisfied = "DependencyNeverSatisfied";

bool WatchesTime(const NewsKinds& kinds) {
  for (const Share& share : kShares) {
    if (kinds.Has(share.news)) {
      return true;
    }
  }
  return false;
}

std::string HowItEnded(const std::string& state, const ExitStatus& exit) {
  return exit.success() ? state : absl::StrCat(state, ", ", ExitText(exit));
}

}  // namespace

struct NewsDesk::Event {
  std::uint64_t number = 0;
  std::string json;
  std::string type;
  JobId job;
  JobId array;  // of an element, or of a whole array
  std::string label;
  std::string name;
  std::string user;
  std::string state;
  std::string text;
  ExitStatus exit;
  Notices asked;

  [[nodiscard]] Message Tell(News news, const std::string& what, std::string body) const {
    return {number,          news,
            label,           user,
            asked,           absl::StrCat("job ", label, " ", name, " ", what),
            std::move(body), json};
  }

  static Event Of(std::uint64_t number, const std::string& json) {
    Event event;
    const nlohmann::json read = nlohmann::json::parse(json, nullptr, false);
    if (!read.is_object() || !read.contains("data") || !read["data"].is_object()) {
      return event;
    }
    const nlohmann::json& data = read["data"];
    event.number = number;
    event.json = json;
    event.type = read.value("type", "");
    event.job = JobId(data.value("job", std::uint64_t{0}));
    event.array = JobId(data.value("array_job", std::uint64_t{0}));
    event.label = data.value("label", "");
    event.name = data.value("name", "");
    event.user = data.value("user", "");
    event.state = data.value("state", "");
    event.text = data.value("text", "");
    event.exit = {data.value("exit_code", 0), data.value("exit_signal", 0)};
    event.asked = ReadNotices(data.value("notices", std::vector<std::string>()), event.user);
    if (!event.array.valid() && absl::StrContains(event.label, "_")) {
      event.array = event.job;  // the first element has its array's id
    }
    return event;
  }
};

NewsDesk::Event NewsDesk::LookedAt(const JobDetail& detail) const {
  Event event;
  event.number = state_.next;
  event.label = detail.job.label;
  event.name = detail.job.name;
  event.user = detail.job.user;
  event.asked = ReadNotices(detail.recorded, detail.job.user);
  return event;
}

bool NewsDesk::IsToldUnmet(const Event& event) const {
  const auto wait = state_.waits.find((event.array.valid() ? event.array : event.job).value());
  return wait != state_.waits.end() && wait->second != NotifierState::Wait::kOpen;
}

std::string NewsDesk::SheetOf(JobId job, Time now) const {
  const absl::StatusOr<JobDetail> detail = jobs_.show(job);
  return detail.ok()
             ? PrintJobSheet(*detail, now, Style())
             : absl::StrCat("More is not known: ", std::string(detail.status().message()), "\n");
}

// Whether this is the first message about the array as a whole.
bool NewsDesk::FirstOfArray(const Event& event, News news) {
  return state_.arrays.insert(absl::StrCat(event.array.value(), " ", NewsName(news))).second;
}

void NewsDesk::Begin(const Event& event, std::vector<Message>& messages) {
  const NewsKinds& kinds = event.asked.kinds;
  if (WatchesTime(kinds)) {
    state_.watched[event.job.value()] = {};
  }
  const bool whole = event.array.valid() && !kinds.of_each_element;
  if (kinds.Has(News::kBegin) && (!whole || FirstOfArray(event, News::kBegin))) {
    messages.push_back(event.Tell(News::kBegin, whole ? "(array) has begun" : "has begun", ""));
  }
}

void NewsDesk::EndArray(const Event& event, std::vector<Message>& messages) {
  const absl::StatusOr<std::vector<JobView>> live = jobs_.live(event.array);
  if (!live.ok() || !live->empty()) {
    return;
  }
  absl::StatusOr<std::vector<JobView>> ended = jobs_.ended(event.array);
  if (!ended.ok() || !FirstOfArray(event, News::kEnd)) {
    return;
  }
  const ArrayDigest digest = DigestOf(*std::move(ended), jobs_.show);
  if (!event.asked.kinds.Has(News::kEnd) &&
      (digest.all_well || !event.asked.kinds.Has(News::kFail))) {
    return;
  }
  Message message = event.Tell(digest.all_well ? News::kEnd : News::kFail, "", digest.text);
  message.label = ToString(event.array);
  message.subject =
      absl::StrCat("array ", event.array.value(), " ", event.name, " has ended: ", digest.sums);
  messages.push_back(std::move(message));
  // That its end was told stays known for a while: elements' ends that came together follow.
  constexpr std::size_t kRemembered = 10'000;
  const std::string end = absl::StrCat(event.array.value(), " ", NewsName(News::kEnd));
  std::erase_if(state_.arrays,
                [&end, prefix = absl::StrCat(event.array.value(), " ")](const std::string& told) {
                  return told != end && absl::StartsWith(told, prefix);
                });
  while (state_.arrays.size() > kRemembered) {
    state_.arrays.erase(state_.arrays.begin());
  }
}

void NewsDesk::End(const Event& event, Time now, std::vector<Message>& messages) {
  state_.watched.erase(event.job.value());
  const NewsKinds& kinds = event.asked.kinds;
  if (event.array.valid() && !kinds.of_each_element) {
    EndArray(event, messages);
    return;
  }
  const bool failed = !IsSuccess(event.state);
  const bool late = IsTimedOut(event.state) && kinds.Has(News::kTimeLimit);
  const bool unmet = absl::StrContains(event.text, "depend") && kinds.Has(News::kInvalidDepend) &&
                     !IsToldUnmet(event);
  const bool wanted = kinds.Has(News::kEnd) || (failed && kinds.Has(News::kFail)) || late || unmet;
  if (!wanted) {
    return;
  }
  const News news = unmet                              ? News::kInvalidDepend
                    : late                             ? News::kTimeLimit
                    : failed && kinds.Has(News::kFail) ? News::kFail
                                                       : News::kEnd;
  messages.push_back(event.Tell(
      news, absl::StrCat("has ended: ", HowItEnded(event.state, event.exit)),
      absl::StrCat(event.text, event.text.empty() ? "" : "\n\n", SheetOf(event.job, now))));
}

std::vector<Message> NewsDesk::Hear(std::uint64_t number, const std::string& json, Time now) {
  std::vector<Message> messages;
  const Event event = Event::Of(number, json);
  if (!event.job.valid() || event.asked.kinds.bits == 0) {
    return messages;
  }
  const bool whole = event.array.valid() && !event.asked.kinds.of_each_element;
  if (event.type == "muster.job.submitted" && event.asked.kinds.Has(News::kInvalidDepend)) {
    state_.waits.emplace(event.job.value(), NotifierState::Wait::kOpen);
  } else if (event.type == "muster.job.started") {
    Begin(event, messages);
  } else if (event.type == "muster.job.ended") {
    End(event, now, messages);
  } else if (event.type == "muster.job.requeued" && event.asked.kinds.Has(News::kRequeue) &&
             (!whole || FirstOfArray(event, News::kRequeue))) {
    messages.push_back(event.Tell(News::kRequeue, "is requeued", event.text + "\n"));
  }
  return messages;
}

// What was told is kept for one look more than it waits: the event of its end is yet to come.
std::vector<Message> NewsDesk::LookAtDependencies() {
  using Wait = NotifierState::Wait;
  std::vector<Message> messages;
  std::vector<JobId> jobs;
  for (const auto& [id, wait] : state_.waits) {
    jobs.emplace_back(id);
  }
  const absl::StatusOr<std::vector<JobView>> waiting =
      jobs.empty() ? std::vector<JobView>() : jobs_.waiting(std::move(jobs));
  if (!waiting.ok()) {
    return messages;
  }
  std::set<std::uint64_t> wait_still;
  for (const JobView& job : *waiting) {
    const auto wait = state_.waits.find(job.array_job_id.value());
    if (wait == state_.waits.end()) {
      continue;
    }
    wait_still.insert(wait->first);
    if (wait->second != Wait::kOpen || job.reason.kind != kNeverSatisfied) {
      continue;
    }
    const absl::StatusOr<JobDetail> detail = jobs_.show(job.id);
    if (!detail.ok()) {
      continue;
    }
    wait->second = Wait::kTold;
    Event event = LookedAt(*detail);
    event.label = job.label;  // of all elements that wait alike
    if (event.asked.kinds.Has(News::kInvalidDepend)) {
      messages.push_back(event.Tell(
          News::kInvalidDepend, "can never start: its dependency can never be met any more",
          absl::StrCat(job.reason.text, "\n\nIt waits until it is cancelled, or gets another ",
                       "dependency (muster update --dependency).\n")));
    }
  }
  for (auto at = state_.waits.begin(); at != state_.waits.end();) {
    const bool gone = !wait_still.contains(at->first);
    if (gone && at->second != Wait::kTold) {
      at = state_.waits.erase(at);
      continue;
    }
    at->second = gone ? Wait::kToldAndGone : at->second;
    ++at;
  }
  return messages;
}

std::vector<Message> NewsDesk::LookAtClocks(Time now) {
  std::vector<Message> messages;
  for (auto& [id, told] : state_.watched) {
    const absl::StatusOr<JobDetail> detail = jobs_.show(JobId(id));
    if (!detail.ok() || detail->job.start_time == kNoTime || detail->job.time_limit.count() <= 0) {
      continue;
    }
    const JobView& job = detail->job;
    const std::int64_t used = 100 * (now - job.start_time - job.suspended) / job.time_limit;
    Event event = LookedAt(*detail);
    event.array = job.array_task_id.empty() ? JobId() : job.array_job_id;
    const bool whole = event.array.valid() && !event.asked.kinds.of_each_element;
    for (const Share& share : kShares) {
      if (used >= share.percent && event.asked.kinds.Has(share.news)) {
        if (told.insert(share.percent).second && (!whole || FirstOfArray(event, share.news))) {
          messages.push_back(event.Tell(
              share.news, absl::StrCat("has used ", share.percent, " % of its time limit"),
              absl::StrCat("It ends at its limit of ", ElapsedText(job.time_limit), ".\n")));
        }
        break;
      }
    }
  }
  return messages;
}

}  // namespace muster::cli
