#include "scheduler/runtime/identity/certificate.h"

#include <gtest/gtest.h>

#include "scheduler/runtime/file.h"
#include "scheduler/runtime/identity/certificate_authority.h"
#include "scheduler/runtime/identity/expiry_watch.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster {
namespace {

using std::chrono::hours;

constexpr hours kYear{24 * 365};

class CertificateTest : public ::testing::Test {
 protected:
  CertificateAuthority Authority() const {
    const CertifiedKey own = CertificateAuthority::Make(now_, 10 * kYear).value();
    return CertificateAuthority::From(own.certificate, own.key).value();
  }
  const Time now_ = SystemClock().Now();
};

TEST_F(CertificateTest, ACertificateSaysWhoseItIsAndUntilWhen) {
  const CertificateAuthority authority = Authority();
  for (const CertificateSubject& subject :
       {CertificateSubject{CertificateRole::kController, ""},
        CertificateSubject{CertificateRole::kAgent, "gpu-01.rack_2"},
        CertificateSubject{CertificateRole::kClient, std::string(64, 'x')}}) {
    const CertifiedKey issued = authority.Issue(subject, now_, kYear).value();
    const CertificateFacts facts = ReadCertificate(issued.certificate).value();
    EXPECT_EQ(facts.subject, subject);
    EXPECT_LT(facts.begins, now_);
    EXPECT_LE(std::chrono::abs(facts.expires - (now_ + kYear)), std::chrono::seconds(1));
    EXPECT_EQ(facts.fingerprint, FingerprintOf(issued.certificate).value());
    EXPECT_EQ(facts.serial.size(), 32U);
    EXPECT_TRUE(authority.Signed(issued.certificate));
    EXPECT_FALSE(Authority().Signed(issued.certificate));
    EXPECT_TRUE(SigningKey::FromPem(issued.key).ok());
  }
}

TEST_F(CertificateTest, NamesThatCouldMeanAnythingElseAreRefused) {
  const CertificateAuthority authority = Authority();
  for (const std::string& name :
       {std::string(), std::string("a,URI:muster:controller"), std::string("a b"),
        std::string("n1/../n2"), std::string("n1\n"), std::string("n1\0x", 4), std::string(65, 'x'),
        std::string("n1:n2")}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        authority.Issue({CertificateRole::kAgent, name}, now_, kYear).status()))
        << name;
  }
  EXPECT_FALSE(authority.Issue({CertificateRole::kController, "n1"}, now_, kYear).ok());
}

TEST_F(CertificateTest, TheAuthorityItselfHasNoRole) {
  const CertifiedKey own = CertificateAuthority::Make(now_, kYear).value();
  EXPECT_FALSE(ReadCertificate(own.certificate).ok());
  EXPECT_FALSE(ReadCertificate("").ok());
  EXPECT_FALSE(ReadCertificate(own.key).ok());
}

TEST_F(CertificateTest, ACertificateEndsWithItsAuthorityAtTheLatest) {
  const CertifiedKey own = CertificateAuthority::Make(now_, hours(24)).value();
  const CertificateAuthority authority =
      CertificateAuthority::From(own.certificate, own.key).value();
  const CertificateSubject subject{CertificateRole::kAgent, "n1"};
  const CertifiedKey issued = authority.Issue(subject, now_, kYear).value();
  EXPECT_LT(ReadCertificate(issued.certificate)->expires, now_ + hours(25));
  EXPECT_TRUE(
      absl::IsFailedPrecondition(authority.Issue(subject, now_ + hours(25), kYear).status()));
}

TEST_F(CertificateTest, AKeyThatIsNotTheAuthoritysIsRefused) {
  const CertifiedKey one = CertificateAuthority::Make(now_, kYear).value();
  const CertifiedKey other = CertificateAuthority::Make(now_, kYear).value();
  EXPECT_FALSE(CertificateAuthority::From(one.certificate, other.key).ok());
}

TEST_F(CertificateTest, ARevokedSerialIsFoundWholeOnly) {
  const CertificateFacts facts{.subject = {}, .serial = "4a0b", .fingerprint = ""};
  EXPECT_TRUE(IsRevoked("11\n4a0b agent n1\n", facts));
  EXPECT_TRUE(IsRevoked("4a0b", facts));
  EXPECT_FALSE(IsRevoked("4a0b1 agent n1\n4a0\n\n", facts));
  EXPECT_FALSE(IsRevoked("", facts));
}

TEST_F(CertificateTest, TheLastMonthIsTold) {
  CertificateFacts facts;
  facts.subject = {CertificateRole::kAgent, "n1"};
  facts.expires = now_ + hours(24 * 31);
  EXPECT_EQ(ExpiryWarning(facts, now_), "");
  EXPECT_EQ(ExpiryWarning(facts, now_ + hours(24 * 20)),
            "the certificate of agent n1 expires in 11 days; make another with: "
            "muster keys agent n1 --renew");
  EXPECT_NE(ExpiryWarning(facts, facts.expires).find("has expired"), std::string::npos);
}

TEST_F(CertificateTest, ADaemonIsToldOnceADayAndNoMoreOnceThereIsAnother) {
  const TempDirectory directory;
  const std::string path = directory / "agent.pem";
  const CertificateSubject subject{CertificateRole::kAgent, "n1"};
  const auto put = [&](std::chrono::hours life) {
    const CertifiedKey issued = Authority().Issue(subject, now_, life).value();
    ASSERT_TRUE(WriteFileAtomically(path, issued.certificate).ok());
  };
  put(hours(24 * 32));
  ExpiryWatch watch(path, now_);
  EXPECT_EQ(watch.Look(now_ + hours(24)), "") << "31 days are left";
  EXPECT_NE(watch.Look(now_ + hours(24 * 5)), "");
  EXPECT_EQ(watch.Look(now_ + hours(24 * 5 + 23)), "") << "said already";
  EXPECT_NE(watch.Look(now_ + hours(24 * 6)).find("muster keys agent n1 --renew"),
            std::string::npos);
  put(kYear);
  EXPECT_EQ(watch.Look(now_ + hours(24 * 8)), "");
  ASSERT_TRUE(WriteFileAtomically(path, "garbage").ok());
  EXPECT_NE(watch.Look(now_ + hours(24 * 10)).find(path), std::string::npos);
  EXPECT_EQ(ExpiryWatch("", now_).Look(now_ + hours(24 * 400)), "");
}

}  // namespace
}  // namespace muster
