#include "scheduler/runtime/sealed/sealed_stream.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/little_endian.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/loaded_library.h"
#include "scheduler/runtime/mac.h"

namespace muster {

constexpr const char* kSealingLibrary = "libcrypto.so.3";

// What we use of libcrypto beyond mac.h. It is no part of the supervisor, whose start it would slow
// down, and few steps need it.
struct SealingLibrary {
  LoadedLibrary library{kSealingLibrary};
  decltype(EVP_CIPHER_CTX_new)* make = nullptr;
  decltype(EVP_CIPHER_CTX_free)* free = nullptr;
  decltype(EVP_aes_256_gcm)* cipher = nullptr;
  decltype(EVP_CipherInit_ex)* init = nullptr;
  decltype(EVP_CipherUpdate)* update = nullptr;
  decltype(EVP_CipherFinal_ex)* finish = nullptr;
  decltype(EVP_CIPHER_CTX_ctrl)* control = nullptr;

  SealingLibrary() {
    if (library.loaded()) {
      library.Need("EVP_CIPHER_CTX_new", make);
      library.Need("EVP_CIPHER_CTX_free", free);
      library.Need("EVP_aes_256_gcm", cipher);
      library.Need("EVP_CipherInit_ex", init);
      library.Need("EVP_CipherUpdate", update);
      library.Need("EVP_CipherFinal_ex", finish);
      library.Need("EVP_CIPHER_CTX_ctrl", control);
    }
  }
};

namespace {

constexpr std::string_view kMark = "mustrio1";
constexpr std::size_t kTagBytes = 16;

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* Bytes(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

absl::StatusOr<const SealingLibrary*> TheCrypto() {
  static const SealingLibrary crypto;
  if (!crypto.library.loaded() || !crypto.library.missing().empty()) {
    return absl::UnavailableError(
        absl::StrCat(kSealingLibrary,
                     ": not here: output between nodes is encrypted; install OpenSSL's library ",
                     "(Debian: libssl3)"));
  }
  return &crypto;
}

}  // namespace

// One key, and the number of the next record under it.
class SealedStream::Direction {
 public:
  static absl::StatusOr<std::unique_ptr<Direction>> Make(const std::string& key, bool seals) {
    ASSIGN_OR_RETURN(const SealingLibrary* const crypto, TheCrypto());
    std::unique_ptr<Direction> made(new Direction(crypto, seals));
    if (made->context_ == nullptr || crypto->init(made->context_, crypto->cipher(), nullptr,
                                                  Bytes(key), nullptr, seals ? 1 : 0) != 1) {
      return absl::InternalError("libcrypto refuses AES-256-GCM");
    }
    return made;
  }
  ~Direction() { crypto_->free(context_); }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

  // Ciphertext and tag.
  absl::StatusOr<std::string> Seal(std::string_view plain) {
    std::string sealed(plain.size() + kTagBytes, '\0');
    if (!Begin() || !Update(plain, sealed) || !Finish() ||
        crypto_->control(context_, EVP_CTRL_AEAD_GET_TAG, kTagBytes,
                         sealed.data() + plain.size()) != 1) {
      return absl::InternalError("libcrypto cannot encrypt");
    }
    return sealed;
  }

  // REQUIRES: it has at least the tag's bytes.
  absl::StatusOr<std::string> Open(std::string_view sealed) {
    std::string tag(sealed.substr(sealed.size() - kTagBytes));
    std::string plain(sealed.size() - kTagBytes, '\0');
    if (!Begin() || !Update(sealed.substr(0, plain.size()), plain) ||
        crypto_->control(context_, EVP_CTRL_AEAD_SET_TAG, kTagBytes, tag.data()) != 1 ||
        !Finish()) {
      return absl::PermissionDeniedError("a record that was not sealed with this step's token");
    }
    return plain;
  }

 private:
  Direction(const SealingLibrary* crypto, bool seals)
      : crypto_(crypto), seals_(seals), context_(crypto->make()) {}

  bool Begin() {
    std::array<unsigned char, 12> nonce = {};
    std::uint64_t number = next_++;
    for (std::size_t i = 0; i < sizeof(number); ++i) {
      nonce[i] = static_cast<unsigned char>(number >> (8 * i) & 0xFF);
    }
    return crypto_->init(context_, nullptr, nullptr, nullptr, nonce.data(), seals_ ? 1 : 0) == 1;
  }
  bool Update(std::string_view from, std::string& to) {
    int length = 0;
    return crypto_->update(context_, Bytes(to), &length, Bytes(from),
                           static_cast<int>(from.size())) == 1 &&
           length == static_cast<int>(from.size());
  }
  bool Finish() {
    std::array<unsigned char, EVP_MAX_BLOCK_LENGTH> rest = {};  // GCM leaves none
    int length = 0;
    return crypto_->finish(context_, rest.data(), &length) == 1;
  }

  const SealingLibrary* const crypto_;
  const bool seals_;
  EVP_CIPHER_CTX* const context_;
  std::uint64_t next_ = 0;
};

SealedStream::SealedStream() = default;
SealedStream::SealedStream(SealedStream&&) noexcept = default;
SealedStream& SealedStream::operator=(SealedStream&&) noexcept = default;
SealedStream::~SealedStream() = default;

absl::StatusOr<SealedStream> SealedStream::Make(std::string_view token, std::string_view preface,
                                                bool caller) {
  const std::string to_answerer = MacOf(token, {"muster step stream to run\n", preface});
  const std::string to_caller = MacOf(token, {"muster step stream to node\n", preface});
  SealedStream stream;
  ASSIGN_OR_RETURN(stream.sending_, Direction::Make(caller ? to_answerer : to_caller, true));
  ASSIGN_OR_RETURN(stream.receiving_, Direction::Make(caller ? to_caller : to_answerer, false));
  return stream;
}

absl::StatusOr<SealedStream> SealedStream::Call(std::string_view token, std::string* preface) {
  ASSIGN_OR_RETURN(const std::string nonce, RandomBytes(kPrefaceBytes - kMark.size()));
  *preface = std::string(kMark) + nonce;
  return Make(token, *preface, true);
}

absl::StatusOr<SealedStream> SealedStream::Answer(std::string_view token,
                                                  std::string_view preface) {
  if (preface.size() != kPrefaceBytes || !preface.starts_with(kMark)) {
    return absl::InvalidArgumentError("no sealed stream");
  }
  return Make(token, preface, false);
}

absl::StatusOr<std::string> SealedStream::Seal(std::string_view plain) {
  std::string records;
  while (!plain.empty()) {
    const std::string_view part = plain.substr(0, kRecordBytesMax);
    plain.remove_prefix(part.size());
    ASSIGN_OR_RETURN(const std::string sealed, sending_->Seal(part));
    PutNumber(sealed.size(), records);
    records += sealed;
  }
  return records;
}

absl::Status SealedStream::Open(std::string_view bytes, std::string* plain) {
  kept_ += bytes;
  std::size_t at = 0;
  while (kept_.size() - at >= kNumberBytes) {
    const std::string_view rest = std::string_view(kept_).substr(at);
    const std::size_t length = NumberAt(rest, 0);
    if (length < kTagBytes || length > kRecordBytesMax + kTagBytes) {
      return absl::PermissionDeniedError("no record of a sealed stream");
    }
    if (rest.size() < kNumberBytes + length) {
      break;
    }
    ASSIGN_OR_RETURN(const std::string opened, receiving_->Open(rest.substr(kNumberBytes, length)));
    *plain += opened;
    at += kNumberBytes + length;
  }
  kept_.erase(0, at);
  return absl::OkStatus();
}

absl::Status SealedAnswer::Take(std::string_view bytes, const std::vector<std::string>& tokens,
                                std::set<std::string>* seen, std::string* plain) {
  if (known()) {
    return stream_->Open(bytes, plain);
  }
  kept_ += bytes;
  constexpr std::size_t kFirstRecord = SealedStream::kPrefaceBytes + kNumberBytes;
  if (kept_.size() < kFirstRecord) {
    return absl::OkStatus();
  }
  const std::size_t length = NumberAt(kept_, SealedStream::kPrefaceBytes);
  if (!kept_.starts_with(kMark) || length > SealedStream::kRecordBytesMax + kTagBytes) {
    return absl::PermissionDeniedError("no sealed stream");
  }
  if (kept_.size() < kFirstRecord + length) {
    return absl::OkStatus();
  }
  if (!seen->insert(kept_.substr(0, SealedStream::kPrefaceBytes)).second) {
    return absl::PermissionDeniedError("a stream that was played again");
  }
  return Find(tokens, plain);
}

absl::Status SealedAnswer::Find(const std::vector<std::string>& tokens, std::string* plain) {
  const std::string_view preface = std::string_view(kept_).substr(0, SealedStream::kPrefaceBytes);
  for (const std::string& token : tokens) {
    ASSIGN_OR_RETURN(SealedStream stream, SealedStream::Answer(token, preface));
    std::string opened;
    const absl::Status status =
        stream.Open(std::string_view(kept_).substr(SealedStream::kPrefaceBytes), &opened);
    if (status.ok()) {
      stream_ = std::make_unique<SealedStream>(std::move(stream));
      *plain += opened;
      kept_.clear();
      return absl::OkStatus();
    }
  }
  return absl::PermissionDeniedError("the peer does not have this step's token");
}

}  // namespace muster
