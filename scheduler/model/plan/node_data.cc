#include "scheduler/model/plan/node_data.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/value/fingerprint.h"
#include "scheduler/model/value/job_text.h"

namespace muster {
namespace {

constexpr const char* kOption = "--stage-in-node";
constexpr std::size_t kSourceBytesMax = 4096;

}  // namespace

std::string NameOfSource(const std::string& source) {
  const std::size_t last = source.find_last_not_of('/');
  const std::string whole = last == std::string::npos ? "" : source.substr(0, last + 1);
  return whole.substr(whole.find_last_of("/:") + 1);
}

absl::Status CheckNodeData(const std::vector<std::string>& sources) {
  if (sources.size() > kNodeDataMax) {
    return absl::InvalidArgumentError(absl::StrCat(kOption, ": ", sources.size(),
                                                   " sources; at most ", kNodeDataMax,
                                                   ": name the directory that holds them"));
  }
  std::set<std::string> names;
  for (const std::string& source : sources) {
    RETURN_IF_ERROR(CheckJobText(kOption, source, kSourceBytesMax));
    const std::string name = NameOfSource(source);
    if (name.empty() || name == "." || name == ".." || name == "~") {
      return absl::InvalidArgumentError(
          absl::StrCat(kOption, ": ", Quote(source),
                       " has no name of its own at its end: use /PATH/NAME or REMOTE:PATH/NAME"));
    }
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          kOption, ": two sources are called ", Quote(name), ", and the job finds them by name"));
    }
  }
  return absl::OkStatus();
}

std::uint64_t MarkOfData(std::uint32_t uid, const std::string& source) {
  return std::max<std::uint64_t>(
      Fingerprint().Add(uid).Add(std::string("data")).Add(source).value(), 1);
}

std::vector<std::uint64_t> MarksOf(const JobSpec& spec) {
  std::vector<std::uint64_t> marks;
  if (const std::uint64_t image =
          spec.container.given() ? MarkOfImage(spec.user.uid, spec.container.image) : 0;
      image != 0) {
    marks.push_back(image);
  }
  for (const std::string& source : spec.node_data) {
    marks.push_back(MarkOfData(spec.user.uid, source));
  }
  return marks;
}

}  // namespace muster
