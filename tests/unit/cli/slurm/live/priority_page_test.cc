// sprio's page against what Slurm itself printed of the same priorities.

#include "cli/slurm/live/priority_page.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/slurm/recorded.h"

namespace muster::cli::slurm {
namespace {

RankedJob Ranked(std::uint64_t id, const std::string& user, const std::string& partition,
                 std::int32_t nice, std::int64_t size, std::uint32_t size_factor,
                 std::uint32_t total) {
  RankedJob job;
  job.job.id = JobId(id);
  job.job.array_job_id = job.job.id;
  job.job.label = std::to_string(id);
  job.job.user = user;
  job.job.partition = partition;
  job.job.nice = nice;
  job.job.state = "PENDING";
  job.priority.total = total;
  job.priority.terms = {{"age", 1000, Factor(0), 0},
                        {"fairshare", 10000, kWholeFactor, 10000},
                        {"jobsize", 100, Factor(size_factor), size},
                        {"partition", 1000, kWholeFactor, 1000},
                        {"qos", 1000, Factor(0), 0}};
  return job;
}

// The jobs that waited when people.golden was recorded.
std::vector<RankedJob> Waiting() {
  return {Ranked(51, "ada", "debug", 0, 12, 115'625'000, 11011),
          Ranked(26, "bob", "debug", 0, 12, 115'625'000, 11011),
          Ranked(27, "ada", "closed", 0, 12, 115'625'000, 11011),
          Ranked(28, "ada", "gpu", 0, 12, 115'625'000, 11011),
          Ranked(29, "ada", "debug", 0, 12, 115'625'000, 11011),
          Ranked(31, "ada", "debug,long", 0, 35, 346'875'000, 11034),
          Ranked(32, "bob", "debug", 1000, 35, 346'875'000, 10034)};
}

std::string Page(const char* format, SprioRequest request = {}) {
  request.format = ReadPriorityFormat(format).value();
  return PriorityPage(request, Waiting());
}

TEST(PriorityPage, IsSlurmsPage) {
  EXPECT_EQ(Page(kPriorityFormat), recorded::Of("people", "sprio").out);
  EXPECT_EQ(Page(kLongPriorityFormat), recorded::Of("people", "sprio -l").out);
  EXPECT_EQ(Page(kNormPriorityFormat), recorded::Of("people", "sprio -n").out);
  EXPECT_EQ(Page(kPriorityFormat, {.format = {}, .sort = {}, .header = false, .cluster = ""}),
            recorded::Of("people", "sprio -h").out);
}

TEST(PriorityPage, ShowsTheWeightsAlone) {
  SprioRequest request;
  request.weights = true;
  EXPECT_EQ(Page(kPriorityFormat, request), recorded::Of("people", "sprio -w").out);
  EXPECT_EQ(Page(kNormPriorityFormat, request), recorded::Of("people_more", "sprio -wn").out);
}

TEST(PriorityPage, SortsByAnyField) {
  SprioRequest request;
  request.header = false;
  request.sort = {"-y"};
  EXPECT_EQ(Page("%i", request), recorded::Of("people", "sprio -S -y -h -o '%i'").out);
  request.sort = {"-u", "i"};
  EXPECT_EQ(Page("%u%i", request).substr(0, 12), "bob26\nbob32\n");
}

TEST(PriorityPage, EveryLetterIsAFieldOrRefused) {
  EXPECT_EQ(Page("%J"), recorded::Of("people", "sprio -o %J").out);
  EXPECT_EQ(ReadPriorityFormat("%i %~").status().message(), "Invalid job format specification: ~");
}

}  // namespace
}  // namespace muster::cli::slurm
