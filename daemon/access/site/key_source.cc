#include "daemon/access/site/key_source.h"

#include <curl/curl.h>

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "scheduler/runtime/file.h"
#include "scheduler/runtime/loaded_library.h"

namespace muster::daemon {
namespace {

constexpr long kAskSeconds = 10;

// libcurl, of a controller that asks for keys alone.
class Curl {
 public:
  Curl() : library_("libcurl.so.4") {
    if (library_.loaded()) {
      library_.Need("curl_easy_init", init);
      library_.Need("curl_easy_setopt", set);
      library_.Need("curl_easy_perform", perform);
      library_.Need("curl_easy_getinfo", get);
      library_.Need("curl_easy_strerror", explain);
      library_.Need("curl_easy_cleanup", cleanup);
    }
  }
  [[nodiscard]] bool usable() const { return library_.loaded() && library_.missing().empty(); }

  CURL* (*init)() = nullptr;
  CURLcode (*set)(CURL*, CURLoption, ...) = nullptr;
  CURLcode (*perform)(CURL*) = nullptr;
  CURLcode (*get)(CURL*, CURLINFO, ...) = nullptr;
  const char* (*explain)(CURLcode) = nullptr;
  void (*cleanup)(CURL*) = nullptr;

 private:
  LoadedLibrary library_;
};

std::size_t Gather(char* data, std::size_t size, std::size_t count, void* text) {
  std::string& gathered = *static_cast<std::string*>(text);
  if (gathered.size() + size * count > kKeySetBytesMax) {
    return 0;  // ends the transfer
  }
  gathered.append(data, size * count);
  return size * count;
}

absl::StatusOr<std::string> Fetch(const std::string& url) {
  static const Curl& curl = *new Curl();  // never unloaded: TLS libraries keep what they registered
  CURL* const handle = curl.usable() ? curl.init() : nullptr;
  if (handle == nullptr) {
    return absl::UnavailableError("libcurl.so.4 cannot be loaded: install libcurl4");
  }
  std::string text;
  curl.set(handle, CURLOPT_URL, url.c_str());
  curl.set(handle, CURLOPT_PROTOCOLS_STR, "http,https");  // CheckKeyPlace says which goes where
  curl.set(handle, CURLOPT_FOLLOWLOCATION, 0L);
  curl.set(handle, CURLOPT_NOSIGNAL, 1L);
  curl.set(handle, CURLOPT_TIMEOUT, kAskSeconds);
  curl.set(handle, CURLOPT_USERAGENT, "musterd");
  curl.set(handle, CURLOPT_WRITEFUNCTION, Gather);
  curl.set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&text));
  const CURLcode code = curl.perform(handle);
  long answer = 0;
  curl.get(handle, CURLINFO_RESPONSE_CODE, &answer);
  curl.cleanup(handle);
  if (code != CURLE_OK) {
    return absl::UnavailableError(curl.explain(code));
  }
  if (answer != 200) {
    return absl::UnavailableError(absl::StrCat("HTTP status ", answer));
  }
  return text;
}

bool IsRemote(const std::string& place) {
  return !absl::StartsWith(place, "/");
}

}  // namespace

absl::Status CheckKeyPlace(const std::string& place) {
  const bool here = absl::StartsWith(place, "http://127.0.0.1:") ||
                    absl::StartsWith(place, "http://[::1]:") ||
                    absl::StartsWith(place, "http://127.0.0.1/");
  if (absl::StartsWith(place, "/") || absl::StartsWith(place, "https://") || here) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      "an absolute path or an https:// address (http:// on 127.0.0.1 alone)");
}

KeySource::KeySource(std::string place, const Logger& log)
    : place_(std::move(place)), log_(log), remote_(IsRemote(place_)) {
  if (remote_) {
    thread_ = std::thread([this] { Run(); });
  }
}

KeySource::~KeySource() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) {
    thread_.join();
  }
}

void KeySource::Run() {
  std::unique_lock hold(mutex_);
  while (!stopping_) {
    hold.unlock();
    const absl::StatusOr<std::string> text = Fetch(place_);
    hold.lock();
    Take(text);
    missed_ = false;
    if (!wake_.wait_for(hold, kAskLeast, [this] { return stopping_; })) {
      // Without keys, soon again.
      const auto rest =
          keys_ == nullptr ? std::chrono::seconds(0) : std::chrono::seconds(kAskEvery) - kAskLeast;
      wake_.wait_for(hold, rest, [this] { return stopping_ || missed_; });
    }
  }
}

// REQUIRES: mutex_ is held.
void KeySource::Take(const absl::StatusOr<std::string>& text) const {
  absl::StatusOr<KeySet> set =
      text.ok() ? ReadKeySet(*text) : absl::StatusOr<KeySet>(text.status());
  const std::string problem = set.ok() ? "" : std::string(set.status().message());
  if (set.ok()) {
    keys_ = std::make_shared<const KeySet>(*std::move(set));
  }
  if (!problem.empty() && problem != complained_) {
    log_.Warning("access", absl::StrCat("[oidc] jwks ", place_, ": ", problem,
                                        keys_ == nullptr ? "; its tokens are refused"
                                                         : "; the keys before stand"));
  }
  complained_ = problem;
}

// REQUIRES: mutex_ is held.
void KeySource::ReadChangedFile() const {
  struct stat now = {};
  if (stat(place_.c_str(), &now) == 0 && now.st_ino == read_.st_ino &&
      now.st_size == read_.st_size && now.st_mtim.tv_sec == read_.st_mtim.tv_sec &&
      now.st_mtim.tv_nsec == read_.st_mtim.tv_nsec) {
    return;
  }
  read_ = now;
  Take(ReadFile(place_, kKeySetBytesMax));
}

absl::StatusOr<std::shared_ptr<const KeySet>> KeySource::Now() const {
  const std::lock_guard hold(mutex_);
  if (!remote_) {
    ReadChangedFile();
  }
  if (keys_ == nullptr) {
    return absl::UnavailableError("the keys of this site's issuer are not there yet");
  }
  return keys_;
}

void KeySource::Miss() const {
  const std::lock_guard hold(mutex_);
  missed_ = true;
  wake_.notify_all();
}

}  // namespace muster::daemon
