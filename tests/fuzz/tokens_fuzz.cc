// What strangers send to the door as text: heads of HTTP, our own tokens and those of the site's
// issuer, key sets, bodies of REST and of slurmrestd's submissions, values that programs report.
// Any bytes are taken or refused; no token that nobody signed counts. Returns 1 when that does not
// hold. The first byte says which.

#include <boost/asio/buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "agent/supervisor/attempt/reported_values.h"
#include "daemon/access/site/site_tokens.h"
#include "daemon/access/token_store.h"
#include "daemon/gateway/http/head.h"
#include "daemon/gateway/http/target.h"
#include "daemon/gateway/rest/json_message.h"
#include "daemon/gateway/slurm/slurm_submit.h"
#include "proto/controller.pb.h"
#include "scheduler/base/text/named_values.h"
#include "scheduler/runtime/clock.h"

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

// A store whose one token is known to nobody.
bool TakeOwnToken(std::string_view said) {
  static const SystemClock clock;
  static const std::unique_ptr<daemon::TokenStore> store = [] {
    std::string place = std::filesystem::temp_directory_path() / "muster-tokens-XXXXXX";
    if (mkdtemp(place.data()) == nullptr) {
      std::abort();
    }
    auto opened = daemon::TokenStore::Open(place, "fuzz", clock).value();
    const bool minted = opened->Mint({1000, 1000, "ada"}, std::chrono::hours(1), false).ok();
    std::filesystem::remove_all(place);  // what it keeps there is read at its beginning alone
    if (!minted) {
      std::abort();
    }
    return opened;
  }();
  return !store->Judge(said).ok();
}

// A head that is served has one length, a path from the root, and nothing in it that is no text.
bool TakeHead(std::string_view said) {
  namespace beast = boost::beast;
  beast::http::request_parser<beast::http::string_body> parser;
  const daemon::http::ServerLimits limits;
  parser.header_limit(static_cast<std::uint32_t>(limits.header_bytes));
  parser.body_limit(limits.body_bytes);
  beast::error_code error;
  parser.put(boost::asio::buffer(said.data(), said.size()), error);
  if (!parser.is_header_done()) {
    const auto answer = daemon::http::AnswerToBadHead(error);
    return !answer.has_value() || answer->status >= 400;
  }
  daemon::http::Request request;
  const auto refused = daemon::http::ReadHeadOf(parser.get(), limits, request);
  if (refused.has_value()) {
    return refused->status >= 400;
  }
  bool clean = request.path.front() == '/' && daemon::http::IsCleanText(request.path) &&
               request.bearer.find_first_of(" \t\r\n,;") == std::string::npos && !parser.chunked();
  for (const auto& [key, value] : request.query) {
    clean = clean && daemon::http::IsCleanText(key) && daemon::http::IsCleanText(value);
  }
  return clean;
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::string_view said(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 7) {
    case 0:
      return muster::fuzz::TakeToken(said) ? 0 : 1;
    case 1:
      return muster::fuzz::TakeKeys(said) ? 0 : 1;
    case 2:
      return muster::fuzz::TakeJson(said) ? 0 : 1;
    case 3:
      return muster::fuzz::TakeSlurm(said) ? 0 : 1;
    case 4:
      return muster::fuzz::TakeValues(said) ? 0 : 1;
    case 5:
      return muster::fuzz::TakeHead(said) ? 0 : 1;
    default:
      return muster::fuzz::TakeOwnToken(said) ? 0 : 1;
  }
}
