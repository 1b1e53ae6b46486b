#include "cli/checkpoint/ledger.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "checkpoint/disk/durable_file.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/file.h"

namespace muster::cli {
namespace {

using LedgerJson = nlohmann::ordered_json;

constexpr const char* kLedgerName = "/ledger.json";

std::uint64_t NumberOf(const LedgerJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::string WordOf(const LedgerJson& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::string PrintLedger(const LedgerPage& page) {
  LedgerJson entries = LedgerJson::array();
  for (const LedgerEntry& each : page.entries) {
    entries.push_back({{"directory", each.directory},
                       {"cluster", each.cluster},
                       {"job", each.job},
                       {"bytes", each.bytes},
                       {"count", each.count},
                       {"refused", each.refused},
                       {"refused_ms", static_cast<std::uint64_t>(each.refused_ms)}});
  }
  const LedgerJson document = {
      {"quota", {{"bytes", page.quota.bytes.value()}, {"count", page.quota.count}}},
      {"directories", entries}};
  return document.dump(1, ' ', false, LedgerJson::error_handler_t::replace) + "\n";
}

absl::StatusOr<LedgerPage> ParseLedger(std::string_view text) {
  const LedgerJson document = LedgerJson::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto entries = document.is_object() ? document.find("directories") : document.end();
  if (!document.is_object() || entries == document.end() || !entries->is_array()) {
    return absl::FailedPreconditionError("is no list of checkpoints");
  }
  LedgerPage page;
  if (const auto quota = document.find("quota"); quota != document.end() && quota->is_object()) {
    page.quota.bytes = Bytes(NumberOf(*quota, "bytes"));
    page.quota.count = static_cast<std::uint32_t>(NumberOf(*quota, "count"));
  }
  for (const LedgerJson& each : *entries) {
    if (each.is_object() && !WordOf(each, "directory").empty()) {
      page.entries.push_back({WordOf(each, "directory"), WordOf(each, "cluster"),
                              NumberOf(each, "job"), NumberOf(each, "bytes"),
                              NumberOf(each, "count"), WordOf(each, "refused"),
                              static_cast<std::int64_t>(NumberOf(each, "refused_ms"))});
    }
  }
  return page;
}

absl::StatusOr<std::string> LedgerPlace(const Environment& environment) {
  if (std::string said = environment.Get("MUSTER_CHECKPOINT_LEDGER"); !said.empty()) {
    return said;
  }
  if (const std::string data = environment.Get("XDG_DATA_HOME"); !data.empty()) {
    return absl::StrCat(data, "/muster/checkpoints");
  }
  const std::string home = environment.Get("HOME");
  if (home.empty()) {
    return absl::FailedPreconditionError(
        "HOME: is not set: set it, or MUSTER_CHECKPOINT_LEDGER to a directory of your own");
  }
  return absl::StrCat(home, "/.local/share/muster/checkpoints");
}

absl::StatusOr<LedgerPage> ReadLedger(const std::string& place) {
  const std::string path = place + kLedgerName;
  const absl::StatusOr<std::string> text = ReadFile(path);
  if (absl::IsNotFound(text.status())) {
    return LedgerPage();
  }
  RETURN_IF_ERROR(text.status());
  absl::StatusOr<LedgerPage> page = ParseLedger(*text);
  if (!page.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": ", std::string(page.status().message()),
                     ": move it away; jobs that checkpoint make it again"));
  }
  return page;
}

absl::StatusOr<Ledger> Ledger::Hold(const std::string& place) {
  std::error_code failed;
  std::filesystem::create_directories(place, failed);
  UniqueFd lock(open((place + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC,
                     S_IRUSR | S_IWUSR));
  if (!lock.valid()) {
    return absl::ErrnoToStatus(errno, absl::StrCat(place, "/lock"));
  }
  while (flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) {
      return absl::ErrnoToStatus(errno, absl::StrCat(place, "/lock"));
    }
  }
  ASSIGN_OR_RETURN(LedgerPage page, ReadLedger(place));
  return Ledger(place, std::move(lock), std::move(page));
}

LedgerEntry& Ledger::Of(const std::string& directory) {
  const auto found =
      std::find_if(page_.entries.begin(), page_.entries.end(),
                   [&](const LedgerEntry& each) { return each.directory == directory; });
  if (found != page_.entries.end()) {
    return *found;
  }
  page_.entries.push_back({});
  page_.entries.back().directory = directory;
  return page_.entries.back();
}

absl::Status Ledger::Write() const {
  const std::string text = PrintLedger(page_);
  const std::string path = place_ + kLedgerName;
  const checkpoint::FileError error = checkpoint::WriteDurably(path, text.data(), text.size());
  return error.failed() ? absl::UnavailableError(absl::StrCat(path, ": ", error.Text()))
                        : absl::OkStatus();
}

}  // namespace muster::cli
