#include "agent/node/files/mount_counters.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/node/files/mount_table.h"
#include "scheduler/runtime/file.h"

namespace muster::agent {
namespace {

using Counters = std::map<std::string, MountCounters>;
using Words = std::vector<std::string>;

std::optional<Bytes> BytesAt(const Words& words, std::size_t place) {
  std::uint64_t bytes = 0;
  return place < words.size() && absl::SimpleAtoi(words[place], &bytes)
             ? std::optional(Bytes(bytes))
             : std::nullopt;
}

// "device server:/export mounted on /data with fstype nfs4 statvers=1.1", and lines of it, one of
// them "bytes:" with what was read and written by calls, directly, and from and to the server.
void AddNfs(const std::string& mountstats, Counters& counters) {
  constexpr std::size_t kPoint = 4;
  constexpr std::size_t kType = 7;
  constexpr std::size_t kServerRead = 5;
  constexpr std::size_t kServerWritten = 6;
  std::string point;
  for (const std::string& line : Words(absl::StrSplit(mountstats, '\n'))) {
    const Words words = absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
    if (words.empty()) {
      continue;
    }
    if (words[0] == "device") {
      const bool nfs = words.size() > kType && absl::StartsWith(words[kType], "nfs");
      point.clear();
      if (nfs && !absl::CUnescape(words[kPoint], &point)) {
        point.clear();
      }
    } else if (words[0] == "bytes:" && !point.empty()) {
      const std::optional<Bytes> read = BytesAt(words, kServerRead);
      const std::optional<Bytes> written = BytesAt(words, kServerWritten);
      if (read.has_value() && written.has_value()) {
        counters[point] = {*read, *written};
      }
    }
  }
}

// "read_bytes 12 samples [bytes] 4096 1048576 8388608": the least, the most and the sum.
MountCounters LustreCounters(const std::string& stats) {
  constexpr std::size_t kSum = 6;
  MountCounters counters;
  for (const std::string& line : Words(absl::StrSplit(stats, '\n'))) {
    const Words words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (!words.empty() && words[0] == "read_bytes") {
      counters.read = BytesAt(words, kSum).value_or(Bytes());
    } else if (!words.empty() && words[0] == "write_bytes") {
      counters.written = BytesAt(words, kSum).value_or(Bytes());
    }
  }
  return counters;
}

// Where the file system of that name is mounted, of "mgs@tcp:/scratch"; "" where that is not clear.
std::string LustrePoint(const MountTable& table, std::string_view name) {
  std::string point;
  for (const Mount& mount : table.mounts()) {
    const std::string source = mount.source.substr(mount.source.rfind(":/") + 1);
    if (mount.type == "lustre" &&
        (source == absl::StrCat("/", std::string(name)) ||
         absl::StartsWith(source, absl::StrCat("/", std::string(name), "/")))) {
      if (!point.empty()) {
        return "";
      }
      point = mount.point;
    }
  }
  return point;
}

// A directory for each mounted client: "scratch-ffff8b7c2b0c8000".
void AddLustre(const std::string& clients, const std::string& proc, Counters& counters) {
  std::error_code error;
  std::optional<MountTable> table;
  for (std::filesystem::directory_iterator entry(clients, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string client = entry->path().filename();
    const absl::StatusOr<std::string> stats = ReadFile(entry->path() / "stats");
    if (!table.has_value()) {
      table.emplace(ReadFile(proc + "/self/mountinfo").value_or(""));
    }
    const std::string point = LustrePoint(*table, client.substr(0, client.rfind('-')));
    if (stats.ok() && !point.empty()) {
      counters[point] = LustreCounters(*stats);
    }
  }
}

}  // namespace

std::map<std::string, MountCounters> ReadMountCounters(const std::string& proc,
                                                       const std::string& debug) {
  Counters counters;
  AddNfs(ReadFile(proc + "/self/mountstats").value_or(""), counters);
  AddLustre(proc + "/fs/lustre/llite", proc, counters);
  AddLustre(debug + "/lustre/llite", proc, counters);
  return counters;
}

std::vector<FileSystemUse> MountMeter::Look() {
  std::vector<FileSystemUse> uses;
  Counters now = ReadMountCounters(proc_, debug_);
  for (const auto& [point, counters] : now) {
    if (const auto before = before_.find(point); before != before_.end()) {
      uses.push_back({point, GrownBy(counters.read, before->second.read),
                      GrownBy(counters.written, before->second.written)});
    }
  }
  before_ = std::move(now);
  return uses;
}

}  // namespace muster::agent
