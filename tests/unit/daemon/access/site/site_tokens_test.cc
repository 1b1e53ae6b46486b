#include "daemon/access/site/site_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/access/site/key_set.h"
#include "daemon/access/site/key_source.h"
#include "daemon/access/token_store.h"
#include "scheduler/runtime/identity/web_key.h"
#include "tests/unit/scheduler/runtime/temp_directory.h"

namespace muster::daemon {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::json;

const Time kNow(std::chrono::hours(500'000));
constexpr std::int64_t kNowSeconds = 500'000LL * 3600;

std::string Base64(const std::string& bytes) {
  return absl::WebSafeBase64Escape(bytes);
}

std::string NumberOf(EVP_PKEY* key, const char* name, int width) {
  BIGNUM* number = nullptr;
  EXPECT_EQ(EVP_PKEY_get_bn_param(key, name, &number), 1);
  std::string bytes(static_cast<std::size_t>(width == 0 ? BN_num_bytes(number) : width), '\0');
  BN_bn2binpad(number, reinterpret_cast<unsigned char*>(bytes.data()),
               static_cast<int>(bytes.size()));
  BN_free(number);
  return bytes;
}

// An issuer's key: signs, and shows its public half.
class IssuerKey {
 public:
  IssuerKey(std::string kind, std::string id) : kind_(std::move(kind)), id_(std::move(id)) {
    key_.reset(kind_ == "RS256"   ? EVP_RSA_gen(2048)
               : kind_ == "ES256" ? EVP_EC_gen("P-256")
                                  : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  }
  [[nodiscard]] Json Shown() const {
    Json shown = {{"kid", id_}, {"use", "sig"}, {"alg", kind_}};
    if (kind_ == "RS256") {
      shown["kty"] = "RSA";
      shown["n"] = Base64(NumberOf(key_.get(), OSSL_PKEY_PARAM_RSA_N, 0));
      shown["e"] = Base64(NumberOf(key_.get(), OSSL_PKEY_PARAM_RSA_E, 0));
    } else if (kind_ == "ES256") {
      shown["kty"] = "EC";
      shown["crv"] = "P-256";
      shown["x"] = Base64(NumberOf(key_.get(), OSSL_PKEY_PARAM_EC_PUB_X, 32));
      shown["y"] = Base64(NumberOf(key_.get(), OSSL_PKEY_PARAM_EC_PUB_Y, 32));
    } else {
      std::string x(32, '\0');
      std::size_t size = x.size();
      EVP_PKEY_get_raw_public_key(key_.get(), reinterpret_cast<unsigned char*>(x.data()), &size);
      shown["kty"] = "OKP";
      shown["crv"] = "Ed25519";
      shown["x"] = Base64(x);
    }
    return shown;
  }
  [[nodiscard]] std::string Sign(const std::string& text) const {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          EVP_MD_CTX_free);
    EXPECT_EQ(EVP_DigestSignInit(context.get(), nullptr, kind_ == "EdDSA" ? nullptr : EVP_sha256(),
                                 nullptr, key_.get()),
              1);
    std::string signature(512, '\0');
    std::size_t size = signature.size();
    EXPECT_EQ(
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size()),
        1);
    signature.resize(size);
    return kind_ == "ES256" ? PairOf(signature) : signature;
  }
  [[nodiscard]] const std::string& kind() const { return kind_; }
  [[nodiscard]] const std::string& id() const { return id_; }

 private:
  static std::string PairOf(const std::string& der) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(der.data());
    ECDSA_SIG* const signature = d2i_ECDSA_SIG(nullptr, &bytes, static_cast<long>(der.size()));
    std::string pair(64, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(pair.data());
    BN_bn2binpad(ECDSA_SIG_get0_r(signature), out, 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(signature), out + 32, 32);
    ECDSA_SIG_free(signature);
    return pair;
  }
  const std::string kind_;
  const std::string id_;
  std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_{nullptr, EVP_PKEY_free};
};

class SiteTokensTest : public ::testing::Test {
 protected:
  static const IssuerKey& Key(const std::string& kind) {
    static std::map<std::string, std::unique_ptr<IssuerKey>> keys;
    std::unique_ptr<IssuerKey>& key = keys[kind];
    if (key == nullptr) {
      key = std::make_unique<IssuerKey>(kind, "key-" + kind);
    }
    return *key;
  }
  static std::string SetOf(const std::vector<const IssuerKey*>& keys) {
    Json set = {{"keys", Json::array()}};
    for (const IssuerKey* key : keys) {
      set["keys"].push_back(key->Shown());
    }
    return set.dump();
  }
  static KeySet AllKeys() {
    return ReadKeySet(SetOf({&Key("RS256"), &Key("ES256"), &Key("EdDSA")})).value();
  }
  static Json Claims() {
    return {{"iss", "https://login.example.org"}, {"aud", "muster"},          {"sub", "0815"},
            {"preferred_username", "ada"},        {"exp", kNowSeconds + 600}, {"iat", kNowSeconds}};
  }
  static Json HeaderOf(const IssuerKey& key) {
    return {{"alg", key.kind()}, {"kid", key.id()}, {"typ", "JWT"}};
  }
  static std::string TokenOf(const IssuerKey& key, const Json& header, const Json& claims) {
    const std::string text = absl::StrCat(Base64(header.dump()), ".", Base64(claims.dump()));
    return absl::StrCat(text, ".", Base64(key.Sign(text)));
  }
  static std::string Made(const IssuerKey& key, const Json& claims = Claims()) {
    return TokenOf(key, HeaderOf(key), claims);
  }
  [[nodiscard]] absl::StatusOr<SiteGrant> Judge(const std::string& token, Time now = kNow) const {
    return JudgeSiteToken(site_, AllKeys(), token, now);
  }
  [[nodiscard]] std::string Why(const std::string& token) const {
    const absl::StatusOr<SiteGrant> grant = Judge(token);
    EXPECT_FALSE(grant.ok()) << token;
    return std::string(grant.status().message());
  }

  SiteIssuer site_{"https://login.example.org", "muster", "/keys.json", "preferred_username",
                   false};
};

TEST_F(SiteTokensTest, EachAlgorithmsSignatureCounts) {
  for (const char* kind : {"RS256", "ES256", "EdDSA"}) {
    const absl::StatusOr<SiteGrant> grant = Judge(Made(Key(kind)));
    ASSERT_TRUE(grant.ok()) << kind << ": " << grant.status();
    EXPECT_EQ(grant->user, "ada");
    EXPECT_EQ(grant->expires, kNow + std::chrono::seconds(600) + kClockSkew);
  }
}

TEST_F(SiteTokensTest, NoneAndAnotherAlgorithmAreRefusedWhateverTheHeaderSays) {
  const IssuerKey& key = Key("RS256");
  const std::string claims = Base64(Claims().dump());
  for (const char* algorithm : {"none", "None", "NONE", "", "HS256", "ES256", "RS384", "PS256"}) {
    const Json header = {{"alg", algorithm}, {"kid", key.id()}};
    EXPECT_THAT(Why(absl::StrCat(Base64(header.dump()), ".", claims, ".")), HasSubstr("signed"));
    EXPECT_THAT(Why(TokenOf(key, header, Claims())), HasSubstr("signed")) << algorithm;
  }
  // The public key as the secret of an HMAC.
  const Json header = {{"alg", "HS256"}, {"kid", key.id()}};
  const std::string text = absl::StrCat(Base64(header.dump()), ".", claims);
  const std::string secret = key.Shown().dump();
  std::string code(32, '\0');
  unsigned int size = 32;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
       reinterpret_cast<unsigned char*>(code.data()), &size);
  EXPECT_THAT(Why(absl::StrCat(text, ".", Base64(code))), HasSubstr("signed"));
}

TEST_F(SiteTokensTest, WhatWasChangedOrSignedByAnotherIsRefused) {
  for (const char* kind : {"RS256", "ES256", "EdDSA"}) {
    const std::string token = Made(Key(kind));
    Json claims = Claims();
    claims["preferred_username"] = "root";
    const std::size_t first = token.find('.');
    const std::size_t second = token.rfind('.');
    EXPECT_THAT(
        Why(absl::StrCat(token.substr(0, first + 1), Base64(claims.dump()), token.substr(second))),
        HasSubstr("signed"));
    const IssuerKey other(kind, Key(kind).id());
    EXPECT_THAT(Why(Made(other)), HasSubstr("signed"));
    EXPECT_THAT(Why(token.substr(0, token.size() - 4)), HasSubstr(": "));
  }
}

TEST_F(SiteTokensTest, IssuerAudienceAndTimesMustFit) {
  const IssuerKey& key = Key("EdDSA");
  const auto with = [&](const char* name, const Json& value) {
    Json claims = Claims();
    claims[name] = value;
    return Made(key, claims);
  };
  EXPECT_THAT(Why(with("iss", "https://evil.example.org")), HasSubstr("issuer"));
  EXPECT_THAT(Why(with("iss", Json::array({"https://login.example.org"}))), HasSubstr("issuer"));
  EXPECT_THAT(Why(with("aud", "grafana")), HasSubstr("audience"));
  EXPECT_THAT(Why(with("aud", Json::object())), HasSubstr("audience"));
  EXPECT_TRUE(Judge(with("aud", Json::array({"grafana", "muster"}))).ok());
  EXPECT_THAT(Why(with("exp", kNowSeconds - 61)), HasSubstr("ended"));
  EXPECT_TRUE(Judge(with("exp", kNowSeconds - 59)).ok()) << "clocks differ";
  EXPECT_THAT(Why(with("exp", "tomorrow")), HasSubstr("when it ends"));
  EXPECT_THAT(Why(with("exp", 1e300)), HasSubstr("when it ends"));
  EXPECT_THAT(Why(with("nbf", kNowSeconds + 61)), HasSubstr("not count yet"));
  EXPECT_TRUE(Judge(with("nbf", kNowSeconds + 59)).ok());
  EXPECT_THAT(Why(with("iat", kNowSeconds + 61)), HasSubstr("not count yet"));
  EXPECT_THAT(Why(with("preferred_username", 7)), HasSubstr("user"));
  EXPECT_THAT(Why(with("preferred_username", "")), HasSubstr("user"));
  Json endless = Claims();
  endless.erase("exp");
  EXPECT_THAT(Why(Made(key, endless)), HasSubstr("when it ends"));
}

TEST_F(SiteTokensTest, WhatIsNoTokenIsRefused) {
  Json crit = HeaderOf(Key("EdDSA"));
  crit["crit"] = Json::array({"b64"});
  EXPECT_THAT(Why(TokenOf(Key("EdDSA"), crit, Claims())), HasSubstr("not known here"));
  const std::string token = Made(Key("EdDSA"));
  for (const std::string& text :
       {std::string(), std::string("."), std::string(".."), std::string("a.b.c"), token + "=",
        " " + token, token + ".x", std::string(kSiteTokenBytesMax + 1, 'a'),
        Base64("[1]") + "." + Base64("{}") + ".AAAA"}) {
    EXPECT_FALSE(Judge(text).ok()) << text;
  }
  Json unknown = HeaderOf(Key("EdDSA"));
  unknown["kid"] = "elsewhere";
  EXPECT_TRUE(absl::IsNotFound(Judge(TokenOf(Key("EdDSA"), unknown, Claims())).status()));
}

TEST(KeySetTest, KeysThatAreNoneForSignaturesAreLeftOut) {
  const IssuerKey good("EdDSA", "good");
  Json set = {{"keys", Json::array({good.Shown()})}};
  Json other = good.Shown();
  other["use"] = "enc";
  set["keys"].push_back(other);
  other = good.Shown();
  other["alg"] = "RS256";
  set["keys"].push_back(other);
  set["keys"].push_back({{"kty", "oct"}, {"k", "c2VjcmV0"}});
  set["keys"].push_back({{"kty", "EC"},
                         {"crv", "P-256"},
                         {"x", Base64(std::string(32, 'x'))},
                         {"y", Base64(std::string(32, 'y'))}});
  set["keys"].push_back("nonsense");
  EXPECT_EQ(ReadKeySet(set.dump())->size(), 1U);
  EXPECT_FALSE(ReadKeySet(R"({"keys":[{"kty":"oct","k":"c2VjcmV0"}]})").ok());
  for (const char* wrong : {"", "[]", "{}", R"({"keys":{}})", R"({"keys":[]})", "{\"keys\":["}) {
    EXPECT_FALSE(ReadKeySet(wrong).ok()) << wrong;
  }
}

TEST(KeySetTest, AShortRsaKeyIsNone) {
  EXPECT_FALSE(WebKey::FromRsa(std::string(128, '\xff'), "\x01\x00\x01").ok());
  EXPECT_FALSE(WebKey::FromRsa(std::string(256, '\xff'), "\x02").ok()) << "an even exponent";
  EXPECT_FALSE(WebKey::FromP256(std::string(31, 'x'), std::string(32, 'y')).ok());
  EXPECT_FALSE(WebKey::FromEd25519("short").ok());
}

TEST_F(SiteTokensTest, AFileThatChangesRotatesTheKeys) {
  const TempDirectory directory;
  const std::string path = directory / "jwks.json";
  const auto write = [&path](const std::string& text) {
    std::ofstream(path + ".new") << text;
    ASSERT_EQ(rename((path + ".new").c_str(), path.c_str()), 0);
  };
  const ManualClock clock(kNow);
  const Logger log = Logger::ToStandardError(clock);
  site_.jwks = path;
  const SiteTokens tokens(site_, clock, log);
  EXPECT_THAT(std::string(tokens.Judge(Made(Key("EdDSA"))).status().message()),
              HasSubstr("not there yet"));
  write(SetOf({&Key("EdDSA")}));
  EXPECT_TRUE(tokens.Judge(Made(Key("EdDSA"))).ok());
  EXPECT_FALSE(tokens.Judge(Made(Key("ES256"))).ok());
  write(SetOf({&Key("ES256")}));
  EXPECT_FALSE(tokens.Judge(Made(Key("EdDSA"))).ok()) << "it was taken back";
  EXPECT_TRUE(tokens.Judge(Made(Key("ES256"))).ok());
  write("{ broken");
  EXPECT_TRUE(tokens.Judge(Made(Key("ES256"))).ok()) << "the keys before stand";
}

TEST_F(SiteTokensTest, TheStoreTakesThemForUsersOfThisMachineAndNotForOperators) {
  const TempDirectory directory;
  const ManualClock clock(kNow);
  const Logger log = Logger::ToStandardError(clock);
  site_.jwks = directory / "jwks.json";
  std::ofstream(site_.jwks) << SetOf({&Key("EdDSA")});
  const auto store = TokenStore::Open(directory.path(), "here", clock).value();
  Json claims = Claims();
  claims["preferred_username"] = UserOf(geteuid()).name;
  const std::string ours = Made(Key("EdDSA"), claims);
  EXPECT_FALSE(store->Judge(ours).ok()) << "there is no issuer";
  store->Trust(std::make_shared<const SiteTokens>(site_, clock, log));
  EXPECT_THAT(std::string(store->Judge(ours).status().message()), HasSubstr("operator"));
  claims["preferred_username"] = "there-is-no-such-user";
  EXPECT_THAT(std::string(store->Judge(Made(Key("EdDSA"), claims)).status().message()),
              HasSubstr("not known"));
  site_.operators = true;
  store->Trust(std::make_shared<const SiteTokens>(site_, clock, log));
  const absl::StatusOr<TokenGrant> grant = store->Judge(ours);
  ASSERT_TRUE(grant.ok()) << grant.status();
  EXPECT_EQ(grant->user.uid, geteuid());
  EXPECT_TRUE(store->StillGood(grant->id).ok());
  EXPECT_FALSE(store->StillGood("oidc:1000:ada").ok()) << "it has ended";
  store->Trust(nullptr);
  EXPECT_FALSE(store->Judge(ours).ok()) << "the issuer is trusted no more";
  EXPECT_FALSE(store->StillGood(grant->id).ok());
  EXPECT_EQ(store->site(), nullptr);
}

TEST(SiteIssuerTest, MistakesNameTheirLine) {
  const auto read = [](const std::string& text) {
    ConfigFile file = ConfigFile::Parse(text, "m.toml").value();
    SiteIssuer site;
    absl::Status status = ReadSiteIssuer(file, site);
    status.Update(file.RefuseUnknownKeys());
    return status;
  };
  const std::string start = "[oidc]\nissuer = \"https://a\"\naudience = \"m\"\n";
  EXPECT_TRUE(read("").ok());
  EXPECT_TRUE(read(start + "jwks = \"https://a/keys\"\n").ok());
  EXPECT_TRUE(read(start + "jwks = \"/etc/keys\"\nuser_claim = \"uid\"\noperators = true\n").ok());
  EXPECT_EQ(std::string(read(start).message()).substr(0, 9), "m.toml:1:");
  for (const char* place : {"http://a/keys", "keys.json", "file:///etc/keys", ""}) {
    EXPECT_EQ(
        std::string(read(absl::StrCat(start, "jwks = \"", place, "\"\n")).message()).substr(0, 9),
        "m.toml:4:")
        << place;
  }
  EXPECT_TRUE(CheckKeyPlace("http://127.0.0.1:80/keys").ok());
  EXPECT_FALSE(CheckKeyPlace("http://127.0.0.1.evil.org/keys").ok());
}

}  // namespace
}  // namespace muster::daemon
