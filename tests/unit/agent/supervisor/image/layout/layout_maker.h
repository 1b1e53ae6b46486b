#pragma once

// A small OCI image layout, whose digests are right.

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "scheduler/runtime/mac.h"

namespace muster::agent {

struct MadeLayout {
  std::string manifest;  // digests
  std::string config;
  std::string layer;
};

inline std::string DigestOfText(const std::string& text) {
  Sha256 hash;
  hash.Add(text);
  return "sha256:" + hash.Hex();
}

inline MadeLayout MakeLayout(const std::string& directory, std::size_t layer_bytes = 100'000) {
  std::filesystem::create_directories(directory + "/blobs/sha256");
  const auto blob = [&](const std::string& text) {
    const std::string digest = DigestOfText(text);
    std::ofstream(directory + "/blobs/sha256/" + digest.substr(7)) << text;
    return digest;
  };
  MadeLayout made;
  std::string layer(layer_bytes, '\0');
  for (std::size_t i = 0; i < layer.size(); ++i) {
    layer[i] = static_cast<char>(i * 7 % 251);
  }
  made.layer = blob(layer);
  made.config = blob(R"({"config":{"Env":["A=1"]}})");
  made.manifest = blob(absl::StrCat(R"({"config":{"digest":")", made.config,
                                    R"("},"layers":[{"digest":")", made.layer, "\"}]}"));
  std::ofstream(directory + "/index.json")
      << R"({"manifests":[{"digest":")" << made.manifest
      << R"(","annotations":{"org.opencontainers.image.ref.name":"image"}}]})";
  std::ofstream(directory + "/oci-layout") << R"({"imageLayoutVersion":"1.0.0"})";
  return made;
}

}  // namespace muster::agent
