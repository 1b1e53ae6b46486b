#pragma once

// The processes of a machine, as /proc lists them (proc(5)), and from which of some each descends.
//
// Invariant: what cannot be read is not there; a process that ends meanwhile is none.

#include <sys/types.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace muster::agent {

// Fields of /proc/PID/stat counted from the state, which is field 3 of proc(5).
enum ProcStatField : std::size_t {
  kParent = 1,
  kChildrenMinorFaults = 8,  // of those that it waited for
  kMajorFaults = 9,
  kChildrenMajorFaults = 10,
  kUserTime = 11,
  kSystemTime = 12,
  kChildrenUserTime = 13,
  kChildrenSystemTime = 14,
  kResidentPages = 21,
  kFieldsLeast = 22,
  kProcessor = 36,
  kBlockedTime = 39,  // delayacct_blkio_ticks, of the first thread
  kFields = 40,
};

using ProcStat = std::array<std::int64_t, kFields>;
using ProcessTable = std::unordered_map<pid_t, ProcStat>;

// The start of a file, which is all of those that are read so; empty when it cannot be read.
std::string_view ReadStart(const std::string& path, std::array<char, 1024>& buffer);

// The whole numbers at the start of `text`, with blanks between them: how many there are, at most
// all. One that is too large for its place, as no limit is, is the largest.
template <std::size_t kCount>
std::size_t ReadNumbers(std::string_view text, std::array<std::int64_t, kCount>& fields) {
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  std::size_t count = 0;
  for (std::int64_t& field : fields) {
    while (at != end && *at == ' ') {
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, field);
    if (error == std::errc::result_out_of_range) {
      field = std::numeric_limits<std::int64_t>::max();
    } else if (error != std::errc()) {
      break;
    }
    at = next;
    ++count;
  }
  return count;
}

// Of a process or a thread.
std::optional<ProcStat> ReadProcStat(const std::string& path);

ProcessTable ReadProcessTable(const std::string& proc);

// The number that is all of a name; nothing: it is another name.
std::optional<pid_t> PidOf(std::string_view name);

// The nearest root above `pid`; 0: none. Remembers what it finds on its way.
pid_t RootOf(pid_t pid, const std::set<pid_t>& roots, const ProcessTable& table,
             std::unordered_map<pid_t, pid_t>& known);

// Of each root that is there, the processes below it, which may be none.
std::map<pid_t, std::vector<pid_t>> ProcessesBelow(const std::set<pid_t>& roots,
                                                   const ProcessTable& table);

}  // namespace muster::agent
