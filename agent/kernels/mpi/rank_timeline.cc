#include "agent/kernels/mpi/rank_timeline.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <vector>

#include "agent/kernels/harness/command_line.h"

namespace muster::kernels {
namespace {

constexpr size_t kBracketBytes = 2;  // "[\n" before the events, "]\n" behind them

// The events of a marker's file, without the brackets; empty when it cannot be read.
std::string EventsIn(const std::string& path) {
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return text.size() < 2 * kBracketBytes
             ? ""
             : text.substr(kBracketBytes, text.size() - 2 * kBracketBytes);
}

// Every rank's text on rank 0; nothing elsewhere, or where they are more than a message may hold.
std::vector<std::string> GatherTexts(MPI_Comm comm, int rank, const std::string& own) {
  int ranks = 1;
  MPI_Comm_size(comm, &ranks);
  auto most = static_cast<int64_t>(own.size());
  MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_INT64_T, MPI_MAX, comm);
  if (most > std::numeric_limits<int>::max() / ranks) {
    return {};
  }
  const int size = static_cast<int>(own.size());
  std::vector<int> sizes(static_cast<size_t>(ranks));
  MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, comm);
  std::vector<int> begins = {0};
  for (const int each : sizes) {
    begins.push_back(begins.back() + each);
  }
  std::string all(rank == 0 ? static_cast<size_t>(begins.back()) : 0, '\0');
  MPI_Gatherv(own.data(), size, MPI_CHAR, all.data(), sizes.data(), begins.data(), MPI_CHAR, 0,
              comm);
  std::vector<std::string> texts;
  for (size_t i = 0; rank == 0 && i < sizes.size(); ++i) {
    texts.push_back(all.substr(static_cast<size_t>(begins[i]), static_cast<size_t>(sizes[i])));
  }
  return texts;
}

bool WriteAll(const std::string& path, const std::vector<std::string>& texts) {
  std::ofstream file(path);
  file << "[\n";
  for (size_t i = 0; i < texts.size(); ++i) {
    file << (i == 0 ? "" : ",") << texts[i];
  }
  file << "]\n";
  file.close();
  return !texts.empty() && file.good();
}

}  // namespace

RankTimeline::RankTimeline(MPI_Comm comm, const std::string& path) : comm_(comm), path_(path) {
  int ranks = 1;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks);
  if (!path.empty() && ranks > 1 && path.find("%r") == std::string::npos) {
    part_ = path + "." + std::to_string(rank_);
  }
  marker_.emplace(part_.empty() ? path : part_, rank_);
  int failed = marker_->failed() ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, comm);
  if (failed != 0) {
    problem_ = "--timeline: " + Printable(path) +
               " cannot be written by every rank: name a file in a directory of yours";
    marker_.emplace("", rank_);
  }
}

bool RankTimeline::Join() {
  if (part_.empty() || !problem_.empty()) {
    return true;
  }
  marker_.emplace("", rank_);
  const std::vector<std::string> texts = GatherTexts(comm_, rank_, EventsIn(part_));
  int written = rank_ == 0 && WriteAll(path_, texts) ? 1 : 0;
  MPI_Bcast(&written, 1, MPI_INT, 0, comm_);
  if (written != 0) {
    unlink(part_.c_str());
  }
  return written != 0;
}

}  // namespace muster::kernels
