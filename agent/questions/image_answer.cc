#include "agent/questions/image_answer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "agent/supervisor/image/cache/kept_images.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/value/fetch_variables.h"
#include "scheduler/runtime/program/program_answer.h"

namespace muster::agent {
namespace {

// Less than a question may take: what is not off the disk by then goes later.
constexpr Duration kRemoveWithin = std::chrono::seconds(8);
constexpr std::chrono::seconds kStartWithin{5};
constexpr int kAddressesMax = 64;

KeptChoice ChoiceIn(const wire::PruneImagesRequest& request) {
  KeptChoice choice;
  choice.all = request.all();
  choice.images.assign(request.images().begin(), request.images().end());
  choice.containers.assign(request.containers().begin(), request.containers().end());
  choice.unused_for = Duration(request.unused_for());
  return choice;
}

std::string CacheOf(const ContainerSettings& settings) {
  return absl::StrCat(settings.cache, "/", geteuid());
}

// Of rclone's variables one that describes a remote, but no program that rclone would run for it.
bool IsRemoteVariable(const std::string& assignment) {
  const std::string name = absl::AsciiStrToUpper(assignment.substr(0, assignment.find('=')));
  return absl::StartsWith(name, "RCLONE_CONFIG_") && !absl::EndsWith(name, "_COMMAND") &&
         !absl::EndsWith(name, "_SSH");
}

const char* VerdictWord(const wire::ImageGive& give) {
  switch (give.verdict()) {
    case wire::IMAGE_VERDICT_GIVE:
      return give.kept() ? "kept" : "image";
    case wire::IMAGE_VERDICT_ALONE:
      return "alone";
    default:
      return "fetch";
  }
}

// What it prints before its work goes on without us.
absl::StatusOr<std::string> Start(SpawnRequest request, const char* what) {
  request.working_directory = "/";
  ASSIGN_OR_RETURN(ProgramAnswer answer,
                   AnswerOf(std::move(request), AnswerStreams::kBoth, kStartWithin));
  if (answer.success) {
    return std::move(answer.text);
  }
  const std::string why =
      absl::StrCat(what, EscapeControl(answer.text.substr(0, answer.text.find('\n'))));
  return absl::StrContains(why, kFetchBusy) ? absl::UnavailableError(why)
                                            : absl::InternalError(why);
}

}  // namespace

wire::ImageAnswer AnswerOfImages(const wire::ImageQuestion& question, const std::string& cache,
                                 Time now) {
  const std::vector<KeptImage> told =
      question.has_prune() ? RemoveKept(cache, ChoiceIn(question.prune()), now, kRemoveWithin)
                           : ListKept(cache);
  wire::ImageAnswer answer;
  for (const KeptImage& each : told) {
    wire::NodeImage& image = *answer.add_images();
    image.set_name(AsUtf8(each.name));
    image.set_digest(AsUtf8(each.digest));
    image.set_container(AsUtf8(each.container));
    image.set_architecture(AsUtf8(each.architecture));
    image.set_size(each.bytes);
    image.set_used(each.used.time_since_epoch().count());
    image.set_in_use(each.in_use);
  }
  return answer;
}

absl::StatusOr<std::string> StartFetch(const wire::ImageFetch& fetch,
                                       const ContainerSettings& settings,
                                       const std::string& program) {
  SpawnRequest request;
  request.program = program;
  request.arguments = {program,
                       "fetch",
                       fetch.image(),
                       CacheOf(settings),
                       absl::StrCat(settings.cache_size),
                       absl::StrCat(settings.fetch_patience)};
  if (fetch.shared() && settings.share) {
    request.arguments.emplace_back(settings.one_machine ? "shared-here" : "shared");
  }
  request.environment = FetchEnvironment({fetch.environment().begin(), fetch.environment().end()});
  return Start(std::move(request), "the fetch did not begin: ");
}

std::vector<std::string> CopyEnvironment(const NetworkClasses& network, CopiesAhead ahead,
                                         const std::vector<std::string>& environment, bool roots) {
  const bool whole = ahead == CopiesAhead::kAll && !roots;
  std::vector<std::string> variables = whole ? environment : FetchEnvironment(environment);
  if (ahead == CopiesAhead::kAll && roots) {
    std::copy_if(environment.begin(), environment.end(), std::back_inserter(variables),
                 IsRemoteVariable);
  }
  std::erase_if(variables, [](const std::string& each) {
    return absl::StartsWith(each, "MUSTER_") || absl::StartsWith(each, "SLURM_");
  });
  for (const auto& [name, value] : BulkVariables(ClassNamed(network, kStaging), "STAGING")) {
    variables.push_back(absl::StrCat(name, "=", value));
  }
  return variables;
}

absl::Status StartBring(const std::vector<std::string>& sources,
                        const std::vector<std::string>& environment,
                        const StagingSettings& settings, CopiesAhead ahead,
                        const std::string& program) {
  SpawnRequest request;
  request.program = program;
  request.arguments = {program,
                       kBringAheadVerb,
                       ahead == CopiesAhead::kAll ? "all" : "paths",
                       settings.cache,
                       absl::StrCat(settings.size),
                       settings.program};
  request.arguments.insert(request.arguments.end(), sources.begin(), sources.end());
  request.environment = environment;
  return Start(std::move(request), "the copy did not begin: ").status();
}

absl::Status StartGive(const wire::ImageGive& give, const ContainerSettings& settings,
                       const std::string& program) {
  if (give.wanted().addresses().empty() || give.wanted().addresses_size() > kAddressesMax) {
    return absl::InvalidArgumentError("an image is wanted at no address, or at too many");
  }
  if (give.verdict() == wire::IMAGE_VERDICT_GIVE && !settings.share) {
    return absl::FailedPreconditionError("no images are given there ([containers] share)");
  }
  SpawnRequest request;
  request.program = program;
  request.arguments = {program, "give", VerdictWord(give), give.wanted().digest(),
                       CacheOf(settings)};
  for (const std::string& address : give.wanted().addresses()) {
    request.arguments.push_back(address);
  }
  request.environment = FetchEnvironment({});
  request.environment.push_back(absl::StrCat(kImageTokenVariable, "=", give.wanted().token()));
  return Start(std::move(request), "the image is not given: ").status();
}

}  // namespace muster::agent
