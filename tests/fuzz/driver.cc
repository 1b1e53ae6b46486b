// Runs a fuzz target without libFuzzer: the files of a corpus, then seeded random mutations of
// them.
//
//   time_fuzz CORPUS_DIR MUTATIONS
//
// Deterministic: the same corpus and count give the same inputs. A crash or a broken invariant ends
// the process, and the input that did it is on stderr as hexadecimal before it runs.

#include <algorithm>
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
  if (LLVMFuzzerTestOneInput(bytes.data(), bytes.size()) != 0) {
    std::fprintf(stderr, "failed on:");
    for (const std::uint8_t byte : bytes) {
      std::fprintf(stderr, " %02x", byte);
    }
    std::fprintf(stderr, "\n");
    std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s CORPUS_DIR MUTATIONS\n", argv[0]);
    return 2;
  }
  const std::vector<std::string> corpus = ReadCorpus(argv[1]);
  if (corpus.empty()) {
    std::fprintf(stderr, "%s: the corpus is empty\n", argv[1]);
    return 2;
  }
  for (const std::string& input : corpus) {
    RunOne(input);
  }
  std::mt19937_64 random(20260314);
  const long mutations = std::strtol(argv[2], nullptr, 10);
  for (long i = 0; i < mutations; ++i) {
    std::string input = corpus[static_cast<std::size_t>(i) % corpus.size()];
    for (std::uint64_t changes = 1 + random() % 6; changes > 0; --changes) {
      Mutate(random, corpus, &input);
    }
    RunOne(input);
  }
  std::printf("%zu kept inputs and %ld mutations\n", corpus.size(), mutations);
  return 0;
}
