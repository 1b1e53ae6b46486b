#pragma once

// A checkpoint directory of a test, and generations with contents that are known.
//
// Thread promise: one thread at a time.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "checkpoint/store/store.h"

namespace muster::checkpoint {

namespace fs = std::filesystem;

class StoreFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    // Thousands of flushes: in memory where there is such a place.
    const fs::path memory = "/dev/shm";
    const fs::path parent = access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
    std::string pattern = (parent / "muster-store-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  static constexpr std::uint32_t kRanks = 3;

  // Begins the next generation.
  static Result<std::uint64_t> Begin(Store* store) {
    const Result<std::uint64_t> number = store->Next();
    return number.ok() ? Result<std::uint64_t>{number.value, store->BeginAs(number.value)} : number;
  }

  // Writes a generation of three ranks whose region "state" holds `content` and the rank.
  static Error WriteGeneration(Store* store, const std::string& content, std::uint32_t keep = 1,
                               const std::string& job = "job7") {
    if (Error error = store->LockForWriting(); error.failed()) {
      return error;
    }
    const Result<std::uint64_t> generation = Begin(store);
    if (!generation.ok()) {
      return generation.error;
    }
    Manifest manifest;
    manifest.job = job;
    manifest.generation = generation.value;
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      const std::string bytes = content + std::to_string(rank);
      const Result<ShardSeal> seal =
          store->Write({job, generation.value, rank, kRanks},
                       {{"step", &rank, sizeof rank}, {"state", bytes.data(), bytes.size()}});
      if (!seal.ok()) {
        return seal.error;
      }
      manifest.shards.push_back(seal.value);
    }
    if (Error error = store->Commit(manifest); error.failed()) {
      return error;
    }
    return store->Retire(generation.value, {.keep = keep});
  }

  Error WriteGenerationHere(const std::string& content, std::uint32_t keep = 1,
                            const std::string& job = "job7") {
    Result<Store> store = Store::Open(Disk::Real(), directory_.string());
    return store.ok() ? WriteGeneration(&store.value, content, keep, job) : store.error;
  }

  // What the chosen generation's ranks hold, or why there is none.
  std::string Chosen(const std::string& job = "job7") {
    const Result<Store> store = Store::Open(Disk::Real(), directory_.string());
    passed_.clear();
    const Result<Manifest> manifest = store.value.ChooseForRestart(job, &passed_);
    if (!manifest.ok()) {
      return manifest.error.text;
    }
    std::string all;
    for (std::uint32_t rank = 0; rank < manifest.value.shards.size(); ++rank) {
      const Result<Shard> shard = store.value.OpenShard(manifest.value, rank);
      const RegionPlace* place = shard.ok() ? shard.value.Find("state") : nullptr;
      if (place == nullptr) {
        return shard.ok() ? "no region" : shard.error.text;
      }
      std::string bytes(place->size, '\0');
      EXPECT_FALSE(shard.value.Read(*place, bytes.data()).failed());
      all += (all.empty() ? "" : " ") + bytes;
    }
    return all;
  }

  static std::string Of(const std::string& content) {
    return content + "0 " + content + "1 " + content + "2";
  }

  fs::path Generation(int number) const {
    return directory_ / ("gen-000000000" + std::to_string(number));
  }

  static std::string Slurp(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  static void Spill(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  fs::path directory_;
  std::vector<std::string> passed_;
};

// Runs `work` in a child; its exit status, or minus the signal that ended it.
template <class Work>
int EndOfChild(const Work& work) {
  const pid_t child = fork();
  if (child == 0) {
    _exit(work());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace muster::checkpoint
