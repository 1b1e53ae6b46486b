#include "cli/cmd_resume.h"

#include "cli/controller.h"
#include "cli/parse/number.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

constexpr std::size_t kNameBytesMax = 500;

absl::StatusOr<int> Resume(const Invocation& invocation) {
  RETURN_IF_ERROR(CheckText(invocation.arguments.front(), kNameBytesMax));
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  RETURN_IF_ERROR(connection->Drain(invocation.arguments.front(), /*drained=*/false, ""));
  return 0;
}

}  // namespace

Verb ResumeVerb() {
  Verb verb;
  verb.name = "resume";
  verb.purpose = "Put a drained node back into service";
  verb.synopsis = "NODE";
  verb.examples = {"muster resume node2"};
  verb.arguments_min = 1;
  verb.arguments_max = 1;
  verb.run = Resume;
  return verb;
}

}  // namespace muster
