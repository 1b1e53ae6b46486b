#include "scheduler/model/reason.h"

#include <chrono>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace muster {
namespace {

// 3 GiB, 512 MiB, 7 B: exact where it is exact, else with one decimal.
std::string BytesText(std::uint64_t bytes) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  const auto scaled = [bytes](std::uint64_t unit, const char* name) {
    const std::uint64_t whole = bytes / unit;
    const std::uint64_t tenths = bytes % unit * 10 / unit;
    return tenths == 0 ? absl::StrCat(whole, " ", name)
                       : absl::StrCat(whole, ".", tenths, " ", name);
  };
  if (bytes >= kGiB) {
    return scaled(kGiB, "GiB");
  }
  return bytes >= kMiB ? scaled(kMiB, "MiB") : absl::StrCat(bytes, " B");
}

std::string Counted(std::uint64_t count, const char* noun) {
  return absl::StrCat(count, " ", noun, count == 1 ? "" : "s");
}

std::string ShortOf(const std::string& needed, const std::string& has) {
  return absl::StrCat("short of ", needed, " (has ", has, ")");
}

std::string ShortageText(const Shortage& shortage) {
  const std::string text = ToSentence(shortage);
  return shortage.kind == ShortageKind::kNodes ? text : absl::StrCat(shortage.nodes, " ", text);
}

std::string ShortagesText(const Reason& reason) {
  std::string text = absl::StrCat(Counted(reason.nodes, "node"), ":");
  const char* separator = " ";
  for (const Shortage& shortage : reason.shortages) {
    absl::StrAppend(&text, separator, ShortageText(shortage));
    separator = ", ";
  }
  return text;
}

std::string TimeText(Time time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(std::chrono::floor<std::chrono::seconds>(time - day));
  return absl::StrFormat("%04d-%02u-%02u %02d:%02d:%02d UTC", static_cast<int>(date.year()),
                         static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                         clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

}  // namespace

const char* Name(ReasonKind kind) {
  switch (kind) {
    case ReasonKind::kNone:
      return "None";
    case ReasonKind::kResources:
      return "Resources";
    case ReasonKind::kPriority:
      return "Priority";
    case ReasonKind::kBadConstraints:
      return "BadConstraints";
    case ReasonKind::kJobHeldUser:
      return "JobHeldUser";
    case ReasonKind::kBeginTime:
      return "BeginTime";
    case ReasonKind::kJobArrayTaskLimit:
      return "JobArrayTaskLimit";
    case ReasonKind::kReqNodeNotAvail:
      return "ReqNodeNotAvail";
    case ReasonKind::kNotPlannedYet:
      return "NotPlannedYet";
    case ReasonKind::kCleaning:
      return "Cleaning";
  }
  return "None";
}

std::string ToSentence(const Shortage& shortage) {
  switch (shortage.kind) {
    case ShortageKind::kCores:
      return ShortOf(Counted(shortage.needed, "core"), absl::StrCat(shortage.available));
    case ShortageKind::kMemory:
      return ShortOf(BytesText(shortage.needed), BytesText(shortage.available));
    case ShortageKind::kGpus:
      return ShortOf(Counted(shortage.needed, "GPU"), absl::StrCat(shortage.available));
    case ShortageKind::kTasks:
      return absl::StrCat("with room for ", shortage.available, " of ",
                          Counted(shortage.needed, "task"));
    case ShortageKind::kNodes:
      return absl::StrCat("needs ", Counted(shortage.needed, "node"), ", ", shortage.available,
                          " would do");
    case ShortageKind::kGpuType:
      return "without GPUs of that type";
    case ShortageKind::kDown:
      return "down";
    case ShortageKind::kDrained:
      return "drained";
  }
  return "";
}

std::string ToSentence(const Reason& reason) {
  switch (reason.kind) {
    case ReasonKind::kNone:
      return "";
    case ReasonKind::kResources:
      return ShortagesText(reason);
    case ReasonKind::kBadConstraints:
      return absl::StrCat("never on this cluster: ", ShortagesText(reason));
    case ReasonKind::kReqNodeNotAvail:
      return absl::StrCat("fits only on nodes that are not available: ", ShortagesText(reason));
    case ReasonKind::kPriority:
      return absl::StrCat(Counted(reason.ahead, "job"), " before it, first job ",
                          ToString(reason.behind));
    case ReasonKind::kJobHeldUser:
      return "held; muster release starts it on its way";
    case ReasonKind::kBeginTime:
      return absl::StrCat("not before ", TimeText(reason.until));
    case ReasonKind::kJobArrayTaskLimit:
      return absl::StrCat("the array runs at most ", reason.limit, " at a time");
    case ReasonKind::kNotPlannedYet:
      return "no pass has looked at it yet";
    case ReasonKind::kCleaning:
      return "an attempt of it that this controller did not start still runs; it waits for its end";
  }
  return "";
}

}  // namespace muster
