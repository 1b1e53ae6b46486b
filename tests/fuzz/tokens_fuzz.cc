// What strangers send to the door as text: tokens of the site's issuer and key sets, bodies of REST
// and of slurmrestd's submissions, values that programs report. Any bytes are taken or refused; no
// token that nobody signed counts. Returns 1 when that does not hold. The first byte says which.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "agent/supervisor/attempt/reported_values.h"
#include "daemon/access/site/site_tokens.h"
#include "daemon/gateway/rest/json_message.h"
#include "daemon/gateway/slurm/slurm_submit.h"
#include "proto/controller.pb.h"
#include "scheduler/base/text/named_values.h"

namespace muster::fuzz {
namespace {

using daemon::JudgeSiteToken;
using daemon::KeySet;
using daemon::ReadKeySet;
using daemon::SiteIssuer;

// RFC 8037's example, whose private half nobody here has used.
constexpr const char* kKeys = R"({"keys":[{"kty":"OKP","crv":"Ed25519","kid":"k",)"
                              R"("x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]})";

bool TakeToken(std::string_view said) {
  static const KeySet keys = ReadKeySet(kKeys).value();
  static const SiteIssuer site{"https://issuer", "muster", "/keys", "sub", false};
  return !JudgeSiteToken(site, keys, said, Time(std::chrono::hours(500'000))).ok();
}

bool TakeKeys(std::string_view said) {
  const absl::StatusOr<KeySet> keys = ReadKeySet(said);
  return !keys.ok() || (!keys->empty() && keys->size() <= daemon::kKeysMax);
}

// What was read is written and read again the same.
bool TakeJson(std::string_view said) {
  wire::SubmitRequest request;
  if (!daemon::ReadJson(std::string(said), &request).ok()) {
    return true;
  }
  const absl::StatusOr<std::string> json = daemon::WriteJson(request);
  wire::SubmitRequest again;
  return !json.ok() || (daemon::ReadJson(*json, &again).ok() &&
                        again.SerializeAsString().size() == request.SerializeAsString().size());
}

bool TakeSlurm(std::string_view said) {
  const absl::StatusOr<wire::SubmitRequest> request =
      daemon::slurm::ReadSubmission(std::string(said));
  return !request.ok() ||
         (!request->program().script().empty() && request->program().work_dir().front() == '/');
}

bool TakeValues(std::string_view said) {
  const absl::StatusOr<std::vector<NamedValue>> values = ParseNamedValues(said);
  for (std::size_t i = 0; values.ok() && i < values->size(); ++i) {
    if (!IsValueName((*values)[i].name)) {
      return false;
    }
  }
  // What is read of a file is printed and read again the same.
  const std::string once = agent::PrintReported(agent::ParseReported(said));
  return agent::PrintReported(agent::ParseReported(once)) == once;
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view said(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0:
      return muster::fuzz::TakeToken(said) ? 0 : 1;
    case 1:
      return muster::fuzz::TakeKeys(said) ? 0 : 1;
    case 2:
      return muster::fuzz::TakeJson(said) ? 0 : 1;
    case 3:
      return muster::fuzz::TakeSlurm(said) ? 0 : 1;
    default:
      return muster::fuzz::TakeValues(said) ? 0 : 1;
  }
}
