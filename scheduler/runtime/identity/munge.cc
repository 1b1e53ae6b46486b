#include "scheduler/runtime/identity/munge.h"

#include <munge.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/loaded_library.h"

namespace muster {
namespace {

constexpr const char* kLibrary = "libmunge.so.2";
constexpr std::string_view kHead = "muster call 1\n";

}  // namespace

struct Munge::Library {
  LoadedLibrary library{kLibrary};
  decltype(munge_encode)* encode = nullptr;
  decltype(munge_decode)* decode = nullptr;
  decltype(munge_ctx_create)* create = nullptr;
  decltype(munge_ctx_destroy)* destroy = nullptr;
  decltype(munge_ctx_set)* set = nullptr;
  decltype(munge_ctx_strerror)* context_error = nullptr;
  decltype(munge_strerror)* error = nullptr;

  Library() {
    if (library.loaded()) {
      library.Need("munge_encode", encode);
      library.Need("munge_decode", decode);
      library.Need("munge_ctx_create", create);
      library.Need("munge_ctx_destroy", destroy);
      library.Need("munge_ctx_set", set);
      library.Need("munge_ctx_strerror", context_error);
      library.Need("munge_strerror", error);
    }
  }

  // A context for one call; null when the options are refused.
  munge_ctx_t Context(const std::string& socket) const {
    munge_ctx_t context = create();
    const bool ready =
        context != nullptr && set(context, MUNGE_OPT_TTL, kLifeSeconds) == EMUNGE_SUCCESS &&
        (socket.empty() || set(context, MUNGE_OPT_SOCKET, socket.c_str()) == EMUNGE_SUCCESS);
    if (!ready && context != nullptr) {
      destroy(context);
      context = nullptr;
    }
    return context;
  }

  // What went wrong, in one line.
  absl::Status Error(munge_err_t code, munge_ctx_t context) const {
    const char* const words = context_error(context);
    const std::string text = absl::StrCat("MUNGE: ", words != nullptr ? words : error(code));
    return code == EMUNGE_SOCKET
               ? absl::UnavailableError(absl::StrCat(text, "; is munged running?"))
               : absl::UnauthenticatedError(text);
  }
};

Munge::Munge(std::unique_ptr<const Library> library, std::string socket)
    : library_(std::move(library)), socket_(std::move(socket)) {}

Munge::~Munge() = default;

absl::StatusOr<std::shared_ptr<const Munge>> Munge::Load(const std::string& socket) {
  auto library = std::make_unique<Library>();
  if (!library->library.loaded() || !library->library.missing().empty()) {
    return absl::UnavailableError(
        absl::StrCat(kLibrary, ": not here; install MUNGE (Debian: libmunge2 and munge)"));
  }
  return std::shared_ptr<const Munge>(new Munge(std::move(library), socket));
}

absl::StatusOr<std::string> Munge::Encode(const std::string& payload) const {
  munge_ctx_t context = library_->Context(socket_);
  if (context == nullptr) {
    return absl::InternalError("MUNGE: no context");
  }
  char* credential = nullptr;
  const munge_err_t code =
      library_->encode(&credential, context, payload.data(), static_cast<int>(payload.size()));
  absl::StatusOr<std::string> encoded = code == EMUNGE_SUCCESS
                                            ? absl::StatusOr<std::string>(credential)
                                            : library_->Error(code, context);
  free(credential);
  library_->destroy(context);
  return encoded;
}

absl::StatusOr<Munge::Proof> Munge::Decode(const std::string& credential) const {
  munge_ctx_t context = library_->Context(socket_);
  if (context == nullptr) {
    return absl::InternalError("MUNGE: no context");
  }
  Proof proof;
  void* payload = nullptr;
  int size = 0;
  const munge_err_t code =
      library_->decode(credential.c_str(), context, &payload, &size, &proof.uid, &proof.gid);
  if (payload != nullptr && size > 0) {
    proof.payload.assign(static_cast<const char*>(payload), static_cast<std::size_t>(size));
  }
  free(payload);
  const absl::Status failed =
      code == EMUNGE_SUCCESS ? absl::OkStatus() : library_->Error(code, context);
  library_->destroy(context);
  RETURN_IF_ERROR(failed);
  return proof;
}

std::string MungePayload(const std::string& server_fingerprint, const std::string& method,
                         const std::string& nonce) {
  return absl::StrCat(std::string(kHead), server_fingerprint, "\n", method, "\n", nonce, "\n");
}

bool IsMungePayload(const std::string& payload, const std::string& server_fingerprint,
                    const std::string& method) {
  const std::string head = absl::StrCat(std::string(kHead), server_fingerprint, "\n", method, "\n");
  return payload.size() > head.size() && payload.compare(0, head.size(), head) == 0;
}

}  // namespace muster
