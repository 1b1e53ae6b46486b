#include "scheduler/runtime/identity/certificate_book.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster {
namespace {

using std::chrono::hours;

constexpr hours kDay{24};
const Time kNow(hours(500'000));

CertificateFacts Of(const std::string& node, const std::string& serial, Time begins, Time expires) {
  return {{CertificateRole::kAgent, node}, serial, begins, expires, ""};
}

std::vector<std::string> Serials(CertificateBook& book, Time now) {
  std::vector<std::string> serials;
  for (const CertificateFacts& facts : book.Ending(now)) {
    serials.push_back(facts.serial);
  }
  return serials;
}

TEST(CertificateBookTest, KnowsWhichCertificatesEndSoon) {
  CertificateBook book;
  EXPECT_FALSE(book.Knows("a"));
  book.Note(Of("n1", "a", kNow, kNow + 5 * kDay));
  book.Note(Of("n2", "b", kNow, kNow + 100 * kDay));
  EXPECT_TRUE(book.Knows("a"));
  EXPECT_EQ(Serials(book, kNow), std::vector<std::string>{"a"});
  EXPECT_EQ(Serials(book, kNow + 90 * kDay), std::vector<std::string>{"b"}) << "a is forgotten";
}

TEST(CertificateBookTest, TheOneThatWasIssuedLastCountsOfEachSubject) {
  CertificateBook book;
  book.Note(Of("n1", "old", kNow, kNow + 5 * kDay));
  book.Note(Of("n1", "new", kNow + kDay, kNow + 300 * kDay));
  EXPECT_TRUE(Serials(book, kNow + kDay).empty());
  book.Note(Of("n1", "old", kNow, kNow + 5 * kDay));
  EXPECT_TRUE(Serials(book, kNow + kDay).empty()) << "another of its processes still shows it";
}

TEST(CertificateBookTest, KeepsThoseThatEndFirstWhenThereAreTooMany) {
  CertificateBook book;
  for (std::size_t i = 0; i < CertificateBook::kMost; ++i) {
    book.Note(Of(absl::StrCat("n", i), absl::StrCat(i), kNow, kNow + 20 * kDay + hours(i == 7)));
  }
  book.Note(Of("late", "late", kNow, kNow + 25 * kDay));
  book.Note(Of("early", "early", kNow, kNow + kDay));
  const std::vector<std::string> serials = Serials(book, kNow);
  EXPECT_EQ(serials.size(), CertificateBook::kMost);
  EXPECT_EQ(serials.front(), "early");
  EXPECT_EQ(std::count(serials.begin(), serials.end(), "late"), 0);
  EXPECT_EQ(std::count(serials.begin(), serials.end(), "7"), 0) << "it ended last";
}

}  // namespace
}  // namespace muster
