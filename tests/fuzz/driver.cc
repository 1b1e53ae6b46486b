// Runs a fuzz target without libFuzzer: the files of a corpus, then seeded random mutations of
// them.
//
//   time_fuzz CORPUS_DIR 4000        that many mutations
//   time_fuzz CORPUS_DIR 30s [SEED]  as many as 30 seconds are enough for
//
// Deterministic: the same corpus and seed give the same inputs in the same order. A crash or a
// broken invariant ends the process with the input that did it on stderr, as hexadecimal.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr std::size_t kInputBytesMax = 4096;
constexpr unsigned long kSeed = 20260314;

const std::vector<std::uint8_t>* current = nullptr;  // the input that runs

// Only what a signal handler may do.
void TellCurrent() {
  static char line[16 + 3 * kInputBytesMax];
  constexpr char kDigits[] = "0123456789abcdef";
  std::size_t length = 0;
  for (const char c : {'f', 'a', 'i', 'l', 'e', 'd', ' ', 'o', 'n', ':'}) {
    line[length++] = c;
  }
  for (const std::uint8_t byte : *current) {
    line[length++] = ' ';
    line[length++] = kDigits[byte >> 4U];
    line[length++] = kDigits[byte & 15U];
  }
  line[length++] = '\n';
  if (write(STDERR_FILENO, line, length) < 0) {
    _exit(1);
  }
}

void OnCrash(int signal) {
  TellCurrent();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

std::vector<std::string> ReadCorpus(const char* directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> inputs;
  for (const std::filesystem::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// One change: a byte flipped, replaced, taken out or put in, or a piece of another input spliced
// in.
void Mutate(std::mt19937_64& random, const std::vector<std::string>& corpus, std::string* input) {
  const std::string kTelling = "0123456789-:,%_[]=+?&|!()*KMGT \n\"'\\#";
  const auto below = [&random](std::size_t limit) {
    return limit == 0 ? 0 : static_cast<std::size_t>(random() % limit);
  };
  const std::size_t at = below(input->size() + 1);
  switch (below(5)) {
    case 0:
      if (at < input->size()) {
        (*input)[at] = static_cast<char>((*input)[at] ^ (1 << below(8)));
      }
      break;
    case 1:
      input->insert(at, 1, static_cast<char>(random()));
      break;
    case 2:
      input->insert(at, 1, kTelling[below(kTelling.size())]);
      break;
    case 3:
      input->erase(at, below(4));
      break;
    default: {
      const std::string& other = corpus[below(corpus.size())];
      input->insert(at, other.substr(below(other.size() + 1), below(16)));
    }
  }
  input->resize(std::min(input->size(), kInputBytesMax));
}

void RunOne(const std::string& input) {
  // Copied into a buffer of the exact size, so that a sanitizer sees a read past its end.
  const std::vector<std::uint8_t> bytes(input.begin(), input.end());
  current = &bytes;
  if (LLVMFuzzerTestOneInput(bytes.data(), bytes.size()) != 0) {
    std::abort();
  }
}

// How long to go on: a count, or a time.
class Budget {
 public:
  explicit Budget(const std::string& text)
      : timed_(text.ends_with('s')), amount_(std::strtol(text.c_str(), nullptr, 10)) {}
  [[nodiscard]] bool Allows(long done) const {
    if (!timed_) {
      return done < amount_;
    }
    return done % 64 != 0 ||
           std::chrono::steady_clock::now() - start_ < std::chrono::seconds(amount_);
  }

 private:
  const bool timed_;
  const long amount_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 4) {
    std::fprintf(stderr, "usage: %s CORPUS_DIR COUNT|SECONDSs [SEED]\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> corpus = ReadCorpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: the corpus is empty\n", argv[1]);
    return 2;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(signal, OnCrash);
  }
  for (const std::string& input : corpus) {
    RunOne(input);
  }
  std::mt19937_64 random(argc == 4 ? std::strtoul(argv[3], nullptr, 10) : kSeed);
  const Budget budget{argv[2]};
  long mutations = 0;
  for (; budget.Allows(mutations); ++mutations) {
    std::string input = corpus[static_cast<std::size_t>(mutations) % corpus.size()];
    for (std::uint64_t changes = 1 + random() % 6; changes > 0; --changes) {
      Mutate(random, corpus, &input);
    }
    RunOne(input);
  }
  std::printf("%zu kept inputs and %ld mutations\n", corpus.size(), mutations);
  return 0;
}
