#include "daemon/store/rows/program_secret.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "daemon/store/database/blob.h"
#include "scheduler/base/status.h"

namespace muster::daemon {
namespace {

// Of the environment, what jobs are shown with after they ended.
constexpr std::string_view kShown = "MUSTER_SUBMIT_HOST=";

void Put(Program secret, Program* program) {
  if (!secret.script.empty()) {
    program->script = std::move(secret.script);
  }
  if (!secret.environment.empty()) {
    program->environment = std::move(secret.environment);
  }
}

}  // namespace

Program TakeSecret(Scripts scripts, Program* program) {
  Program secret;
  secret.environment.swap(program->environment);
  if (scripts == Scripts::kErased) {
    secret.script.swap(program->script);
  }
  std::copy_if(secret.environment.begin(), secret.environment.end(),
               std::back_inserter(program->environment), [](const std::string& variable) {
                 return absl::StartsWith(variable, std::string(kShown));
               });
  return secret;
}

// As a submission without anything else, so that the components' secrets keep their order.
std::string TakeSecrets(Scripts scripts, JobSubmitted* event) {
  JobSubmitted secrets;
  secrets.first = event->first;
  secrets.program = TakeSecret(scripts, &event->program);
  for (Component& component : event->components) {
    secrets.components.push_back({JobSpec(), TakeSecret(scripts, &component.program)});
  }
  std::string blob;
  Encode(JournalEntry{Version(1), std::move(secrets)}, &blob);
  return blob;
}

JournalEntry WithoutSecrets(JournalEntry entry) {
  if (auto* submitted = std::get_if<JobSubmitted>(&entry.event)) {
    TakeSecret(Scripts::kErased, &submitted->program);
    for (Component& component : submitted->components) {
      TakeSecret(Scripts::kErased, &component.program);
    }
  } else if (auto* started = std::get_if<StepStarted>(&entry.event)) {
    TakeSecret(Scripts::kErased, &started->program);
  } else if (auto* queued = std::get_if<StepQueued>(&entry.event)) {
    TakeSecret(Scripts::kErased, &queued->program);
  }
  return entry;
}

absl::Status PutSecret(std::string_view blob, const std::string& where, Program* program) {
  if (blob.empty()) {
    return absl::OkStatus();
  }
  Program secret;
  RETURN_IF_ERROR(Decode(blob, where, &secret));
  Put(std::move(secret), program);
  return absl::OkStatus();
}

absl::Status PutSecrets(std::string_view blob, const std::string& where, JobSubmitted* event) {
  if (blob.empty()) {
    return absl::OkStatus();
  }
  JournalEntry entry;
  RETURN_IF_ERROR(Decode(blob, where, &entry));
  auto* secrets = std::get_if<JobSubmitted>(&entry.event);
  if (secrets == nullptr || secrets->components.size() < event->components.size()) {
    return Unreadable(where, "other secrets than the submission's");
  }
  Put(std::move(secrets->program), &event->program);
  for (std::size_t i = 0; i < event->components.size(); ++i) {
    Put(std::move(secrets->components[i].program), &event->components[i].program);
  }
  return absl::OkStatus();
}

}  // namespace muster::daemon
