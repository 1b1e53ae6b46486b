#include "agent/supervisor/pmix/pmix_wire.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "scheduler/base/little_endian.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr int kVariablesMax = 256;  // of a rank; libpmix 4.2 and we give some forty
constexpr std::size_t kVariableBytesMax = 8192;
constexpr std::size_t kTextBytesMax = 1024;
constexpr std::array<std::string_view, 3> kPrefixes = {"PMIX_", "OMPI_", "JSM_"};

bool IsLocal(const PmixStepConfig& step, std::uint32_t rank) {
  return rank < step.node_of_rank.size() && step.node_of_rank[rank] == step.node_index;
}

absl::Status CheckLocal(const PmixStepConfig& step, std::uint32_t rank) {
  return IsLocal(step, rank) ? absl::OkStatus()
                             : absl::InvalidArgumentError(absl::StrCat("no rank ", rank, " here"));
}

absl::Status CheckRank(const PmixStepConfig& step, std::uint32_t rank) {
  return rank < step.node_of_rank.size()
             ? absl::OkStatus()
             : absl::InvalidArgumentError(absl::StrCat("the step has no rank ", rank));
}

bool IsNameCharacter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

absl::Status CheckVariable(std::string_view variable) {
  const std::string_view name = variable.substr(0, variable.find('='));
  const bool known = std::any_of(kPrefixes.begin(), kPrefixes.end(),
                                 [&](std::string_view prefix) { return name.starts_with(prefix); });
  if (!known || name.size() == variable.size() || variable.size() > kVariableBytesMax ||
      !std::all_of(name.begin(), name.end(), IsNameCharacter) ||
      variable.find('\0') != std::string_view::npos) {
    return absl::InvalidArgumentError("a variable of a rank that is not PMIx's");
  }
  return absl::OkStatus();
}

absl::Status CheckStarted(const wire::PmixStarted& started, const PmixStepConfig& step) {
  if (!started.error().empty()) {
    return started.error().size() <= kTextBytesMax ? absl::OkStatus()
                                                   : absl::InvalidArgumentError("a long error");
  }
  if (static_cast<std::size_t>(started.ranks_size()) != step.local_cpusets.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "variables of ", started.ranks_size(), " ranks instead of ", step.local_cpusets.size()));
  }
  if (started.pattern_size() > kVariablesMax) {
    return absl::InvalidArgumentError("too long a pattern of variables");
  }
  for (const std::string& each : started.pattern()) {
    RETURN_IF_ERROR(CheckVariable(each));
  }
  for (const wire::PmixRankVariables& rank : started.ranks()) {
    if (rank.variables_size() > kVariablesMax) {
      return absl::InvalidArgumentError("too many variables of a rank");
    }
    for (const std::string& variable : rank.variables()) {
      RETURN_IF_ERROR(CheckVariable(variable));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckFence(const wire::PmixFence& fence, const PmixStepConfig& step) {
  if (static_cast<std::size_t>(fence.ranks_size()) > step.node_of_rank.size()) {
    return absl::InvalidArgumentError("a fence of more ranks than the step has");
  }
  for (const std::uint32_t rank : fence.ranks()) {
    RETURN_IF_ERROR(CheckRank(step, rank));
  }
  return absl::OkStatus();
}

}  // namespace

void AppendFrame(const google::protobuf::MessageLite& message, std::string* bytes) {
  const std::size_t length = message.ByteSizeLong();
  PutNumber(length, *bytes);
  message.AppendToString(bytes);
}

absl::Status PmixFrameReader::Take(std::string_view bytes, std::vector<std::string>* frames) {
  kept_ += bytes;
  std::size_t at = 0;
  while (kept_.size() - at >= kNumberBytes) {
    const std::string_view rest = std::string_view(kept_).substr(at);
    const std::size_t length = NumberAt(rest, 0);
    if (length > kPmixFrameBytesMax) {
      return absl::InvalidArgumentError(absl::StrCat("a message of ", length, " bytes"));
    }
    if (rest.size() < kNumberBytes + length) {
      break;
    }
    frames->emplace_back(rest.substr(kNumberBytes, length));
    at += kNumberBytes + length;
  }
  kept_.erase(0, at);
  return absl::OkStatus();
}

wire::PmixStart StartRequest(const PmixStepConfig& step) {
  wire::PmixStart start;
  start.set_nspace(step.nspace);
  start.mutable_nodes()->Assign(step.nodes.begin(), step.nodes.end());
  start.set_node_index(step.node_index);
  start.mutable_node_of_rank()->Assign(step.node_of_rank.begin(), step.node_of_rank.end());
  start.mutable_local_cpusets()->Assign(step.local_cpusets.begin(), step.local_cpusets.end());
  start.set_universe_size(step.universe_size);
  start.set_cores_shared(step.cores_shared);
  start.set_host_memory_only(step.host_memory_only);
  start.set_one_machine(step.one_machine);
  start.set_segments(step.segments);
  return start;
}

PmixStepConfig StepOf(const wire::PmixStart& start) {
  PmixStepConfig step;
  step.nspace = start.nspace();
  step.nodes.assign(start.nodes().begin(), start.nodes().end());
  step.node_index = start.node_index();
  step.node_of_rank.assign(start.node_of_rank().begin(), start.node_of_rank().end());
  step.local_cpusets.assign(start.local_cpusets().begin(), start.local_cpusets().end());
  step.universe_size = start.universe_size();
  step.cores_shared = start.cores_shared();
  step.host_memory_only = start.host_memory_only();
  step.one_machine = start.one_machine();
  step.segments = start.segments();
  return step;
}

absl::Status CheckPmixReply(const wire::PmixReply& reply, const PmixStepConfig& step) {
  switch (reply.body_case()) {
    case wire::PmixReply::kStarted:
      return CheckStarted(reply.started(), step);
    case wire::PmixReply::kConnected:
      return CheckLocal(step, reply.connected());
    case wire::PmixReply::kFinalized:
      return CheckLocal(step, reply.finalized());
    case wire::PmixReply::kAbort:
      if (reply.abort().message().size() > kTextBytesMax) {
        return absl::InvalidArgumentError("a long message of an abort");
      }
      return CheckLocal(step, reply.abort().rank());
    case wire::PmixReply::kFence:
      return CheckFence(reply.fence(), step);
    case wire::PmixReply::kModex:
      return CheckRank(step, reply.modex().rank());
    case wire::PmixReply::kPublished:
      return absl::OkStatus();  // whoever asked knows the number
    case wire::PmixReply::kBroken:
      return reply.broken().size() <= kTextBytesMax ? absl::OkStatus()
                                                    : absl::InvalidArgumentError("a long error");
    case wire::PmixReply::BODY_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a message of no known kind");
}

}  // namespace muster::agent
