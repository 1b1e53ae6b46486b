#include "scheduler/runtime/mac.h"

#include <openssl/sha.h>
#include <sys/random.h>

#include <array>
#include <cerrno>

#include "absl/strings/escaping.h"
#include "scheduler/base/status.h"

namespace muster {
namespace {

static_assert(kMacBytes == SHA256_DIGEST_LENGTH);

using Block = std::array<unsigned char, SHA256_CBLOCK>;

std::string Finish(SHA256_CTX* context) {
  std::array<unsigned char, kMacBytes> digest;  // NOLINT: filled by the next line
  SHA256_Final(digest.data(), context);
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// The key as one block: a longer one is hashed first.
Block BlockOf(std::string_view key) {
  std::string text(key);
  if (text.size() > SHA256_CBLOCK) {
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, text.data(), text.size());
    text = Finish(&context);
  }
  Block block = {};
  for (std::size_t i = 0; i < text.size(); ++i) {
    block[i] = static_cast<unsigned char>(text[i]);
  }
  return block;
}

void Begin(Block block, unsigned char pad, SHA256_CTX* context) {
  for (unsigned char& byte : block) {
    byte ^= pad;
  }
  SHA256_Init(context);
  SHA256_Update(context, block.data(), block.size());
}

}  // namespace

std::string MacOf(std::string_view key, std::initializer_list<std::string_view> parts) {
  constexpr unsigned char kInner = 0x36;
  constexpr unsigned char kOuter = 0x5c;
  const Block block = BlockOf(key);
  SHA256_CTX context;
  Begin(block, kInner, &context);
  for (const std::string_view part : parts) {
    SHA256_Update(&context, part.data(), part.size());
  }
  const std::string inner = Finish(&context);
  Begin(block, kOuter, &context);
  SHA256_Update(&context, inner.data(), inner.size());
  return Finish(&context);
}

struct Sha256::State {
  SHA256_CTX context;
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  SHA256_Init(&state_->context);
}

Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::Add(std::string_view piece) {
  SHA256_Update(&state_->context, piece.data(), piece.size());
}

std::string Sha256::Hex() {
  return absl::BytesToHexString(Finish(&state_->context));
}

bool SameBytes(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |=
        static_cast<unsigned>(static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]));
  }
  return difference == 0;
}

absl::StatusOr<std::string> RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  std::size_t filled = 0;
  while (filled < count) {
    const ssize_t got = getrandom(bytes.data() + filled, count - filled, 0);
    if (got < 0 && errno != EINTR) {
      return absl::ErrnoToStatus(errno, "the kernel gives no random bytes");
    }
    filled += got > 0 ? static_cast<std::size_t>(got) : 0;
  }
  return bytes;
}

}  // namespace muster
