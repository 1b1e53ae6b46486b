#include "cli/service/endpoint_file.h"

#include <poll.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "cli/frame/output.h"
#include "cli/frame/result_file.h"
#include "cli/page/text.h"
#include "cli/service/service_jobs.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/process.h"
#include "scheduler/runtime/program/child_end.h"

namespace muster::cli {
namespace {

constexpr std::chrono::milliseconds kLookEvery{1'000};

// Runs the command to its end; its exit code.
absl::StatusOr<int> Reload(const EndpointFile& file) {
  if (file.reload.empty()) {
    return 0;
  }
  SpawnRequest request;
  request.program = "/bin/sh";
  request.arguments = {"sh", "-c", file.reload};
  request.environment = file.environment;
  ASSIGN_OR_RETURN(const pid_t command, Spawn(request));
  const int code = ShellCode(AwaitEnd(command));
  if (code != 0) {
    std::cerr << "muster service: --reload: " << Printable(file.reload)
              << ": ended with the exit code " << code << std::endl;
  }
  return code;
}

// The text of the service, also of one that has no replica any more.
absl::StatusOr<std::string> TextNow(Connection& connection, const EndpointFile& file) {
  ASSIGN_OR_RETURN(const std::vector<ServiceReplica> replicas,
                   FindReplicas(connection, file.service));
  return EndpointText(file.service, replicas, file.port, file.format);
}

absl::Status Renew(Connection& connection, const EndpointFile& file) {
  ASSIGN_OR_RETURN(const std::string text, TextNow(connection, file));
  ASSIGN_OR_RETURN(const bool changed, ReplaceFile(file.path, text));
  return changed ? Reload(file).status() : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> EndpointsNow(Connection& connection, const EndpointFile& file) {
  RETURN_IF_ERROR(ReplicasOf(connection, file.service).status());
  return TextNow(connection, file);
}

absl::StatusOr<bool> ReplaceFile(const std::string& path, const std::string& text) {
  std::ifstream before(path, std::ios::binary);
  if (before.is_open() && std::string(std::istreambuf_iterator<char>(before), {}) == text) {
    return false;
  }
  RETURN_IF_ERROR(WriteResult(path, text));
  return true;
}

absl::StatusOr<int> WriteEndpoints(Connection& connection, const EndpointFile& file) {
  ASSIGN_OR_RETURN(const std::string text, EndpointsNow(connection, file));
  if (file.path.empty()) {
    RETURN_IF_ERROR(WriteOut(text));
    return 0;
  }
  ASSIGN_OR_RETURN(const bool changed, ReplaceFile(file.path, text));
  return changed ? Reload(file) : 0;
}

absl::StatusOr<int> FollowEndpoints(Connection& connection, const EndpointFile& file,
                                    const UniqueFd& signals) {
  RETURN_IF_ERROR(EndpointsNow(connection, file).status());
  std::string trouble;
  for (;;) {
    const absl::Status renewed = Renew(connection, file);
    if (const std::string said(renewed.message()); said != trouble) {
      trouble = said;
      std::cerr << "muster service: "
                << (renewed.ok() ? "the endpoints are followed again" : Printable(said))
                << std::endl;
    }
    pollfd watched = {signals.get(), POLLIN, 0};
    if (poll(&watched, 1, static_cast<int>(kLookEvery.count())) == 1) {
      return 0;
    }
  }
}

}  // namespace muster::cli
