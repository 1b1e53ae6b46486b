#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "agent/kernels/gpu/device.h"
#include "agent/kernels/gpu/libraries.h"
#include "agent/kernels/gpu/operations.h"
#include "agent/kernels/gpu/tiled_product.h"
#include "agent/kernels/harness/choice_search.h"
#include "agent/kernels/harness/tuning.h"
#include "agent/kernels/place/seeded.h"

namespace muster::kernels {
namespace {

struct Matrices {
  explicit Matrices(int side)
      : n(side), a(int64_t{side} * side), b(int64_t{side} * side), c(int64_t{side} * side) {}

  void Launch(GPU(Stream_t) on) const {
    LaunchTiledProduct(shape, {a.data(), b.data(), c.data(), n}, on);
  }

  int n;
  size_t shape = 0;
  DeviceArray<float> a;
  DeviceArray<float> b;
  DeviceArray<float> c;
  Stream stream;
  Blas blas;
};

std::vector<float> Inputs(uint64_t seed, int n, float magnitude) {
  std::vector<float> values(static_cast<size_t>(n) * static_cast<size_t>(n));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = magnitude * static_cast<float>(2 * SeededUnit(seed, i) - 1);
  }
  return values;
}

// `samples` elements against double precision, both corners among them; all must be numbers.
// The bound: (n + 1) epsilon x n x the largest product (Higham 2002, section 3.5).
void CheckProduct(const Matrices& m, int samples, double magnitude, const std::string& what,
                  Check* check) {
  const std::vector<float> a = m.a.Get();
  const std::vector<float> b = m.b.Get();
  const std::vector<float> c = m.c.Get();
  const auto n = static_cast<size_t>(m.n);
  check->Hold(what + ": elements that are no number",
              static_cast<double>(
                  std::count_if(c.begin(), c.end(), [](float value) { return std::isnan(value); })),
              0);
  double worst = 0;
  for (size_t i = 0; i < static_cast<size_t>(samples); ++i) {
    const size_t row = i == 1 ? n - 1 : i * 7919 % n;
    const size_t column = i == 1 ? n - 1 : i * 104729 % n;
    double sum = 0;
    for (size_t k = 0; k < n; ++k) {
      sum += static_cast<double>(a[row * n + k]) * static_cast<double>(b[k * n + column]);
    }
    worst = std::max(worst, ErrorOf(static_cast<double>(c[row * n + column]), sum));
  }
  const auto terms = static_cast<double>(n);
  check->Hold(
      what, worst,
      (terms + 1) * static_cast<double>(std::numeric_limits<float>::epsilon()) * terms * magnitude);
}

using Json = nlohmann::ordered_json;

TuningKey KeyOf(const GpuOptions& options) {
  const DeviceProperties properties = PropertiesOf(static_cast<int>(options.device));
  const std::string side = std::to_string(options.side);
  return {"gpu-gemm", side + "x" + side + "x" + side, "float32",
          std::string(properties.name) + ", " + kRuntimeName + " " +
              std::to_string(properties.major) + "." + std::to_string(properties.minor) + ", " +
              std::to_string(properties.multiProcessorCount) + " multiprocessors"};
}

Json ShapeJson(const TileShape& shape) {
  return {{"rows", shape.rows},
          {"columns", shape.columns},
          {"depth", shape.depth},
          {"own_rows", shape.own_rows},
          {"own_columns", shape.own_columns}};
}

// Which of the shapes is meant; nothing where none is, as after another version.
std::optional<size_t> ReadShape(const Json& choice) {
  const std::span<const TileShape> shapes = TileShapes();
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (choice == ShapeJson(shapes[i])) {
      return i;
    }
  }
  return std::nullopt;
}

// The shortest of some launches, by a shape whose result was looked at first.
std::optional<double> TryShape(Matrices* matrices, size_t shape, std::vector<bool>* right) {
  constexpr int kLaunches = 5;
  matrices->shape = shape;
  if (!right->at(shape)) {
    matrices->c.Poison();
    matrices->Launch(matrices->stream.get());
    matrices->stream.Wait();
    Check check;
    CheckProduct(*matrices, 64, 1, "candidate", &check);
    if (!check.ok()) {
      return std::nullopt;
    }
    right->at(shape) = true;
  }
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kLaunches; ++i) {
    best = std::min(
        best, TimeOn(matrices->stream, [&](GPU(Stream_t) stream) { matrices->Launch(stream); }));
  }
  return best;
}

// By search where that is wanted, else what was found here or by the cluster, else by rule.
void ChooseShape(const GpuOptions& options, Matrices* matrices) {
  const TuningKey key = KeyOf(options);
  const DeviceProperties properties = PropertiesOf(static_cast<int>(options.device));
  const size_t rule = ShapeByRule(matrices->n, properties.multiProcessorCount);
  matrices->shape = rule;
  std::string source = "rule";
  Json found;
  if (options.tune > 0) {
    std::vector<bool> right(TileShapes().size(), false);
    const ChoiceSearch search = SearchChoices(rule, right.size(), options.tune, [&](size_t shape) {
      return TryShape(matrices, shape, &right);
    });
    matrices->shape = search.best;
    source = "search";
    found = TuningJson(key, ShapeJson(TileShapes()[search.best]));
    found["seconds"] = search.seconds;
    found["seconds_by_rule"] = search.first_seconds;
    found["tried"] = search.tried;
    found["rejected"] = search.rejected;
    KeepTuning(key, TuningsFile(), found["choice"]);
  } else if (!options.by_rule) {
    const std::optional<Json> kept = FindTuning(key, TuningsFile(), GivenTunings());
    const std::optional<size_t> shape = kept.has_value() ? ReadShape(*kept) : std::nullopt;
    matrices->shape = shape.value_or(rule);
    source = shape.has_value() ? "tuned" : "rule";
  }
  Json& facts = *options.facts;
  facts["tile"] = ShapeJson(TileShapes()[matrices->shape]);
  facts["tile"]["source"] = source;
  if (!found.is_null()) {
    facts["tuning"] = found;
  }
}

}  // namespace

void AddMatrixProducts(const GpuOptions& options, Operations* operations) {
  const int n = static_cast<int>(options.side);
  auto matrices = std::make_shared<Matrices>(n);
  matrices->a.Set(Inputs(options.seed, n, 1));
  matrices->b.Set(Inputs(options.seed + 1, n, 1));
  ChooseShape(options, matrices.get());
  const auto side = static_cast<double>(n);
  for (const bool library : {false, true}) {
    if (library && !matrices->blas.found()) {
      continue;
    }
    const auto launch = [matrices, n, library](GPU(Stream_t) stream) {
      if (library) {
        matrices->blas.Multiply(n, matrices->a.data(), matrices->b.data(), matrices->c.data(),
                                stream);
      } else {
        matrices->Launch(stream);
      }
    };
    Operation operation;
    operation.name = library ? "gemm-library" : "gemm-tiled";
    operation.flop = 2 * side * side * side;
    operation.bytes = 3 * sizeof(float) * side * side;
    operation.run = [matrices, launch] { return TimeOn(matrices->stream, launch); };
    operation.check = [matrices, launch, name = operation.name](Check* check) {
      matrices->c.Poison();
      launch(matrices->stream.get());
      matrices->stream.Wait();
      CheckProduct(*matrices, 256, 1, name, check);
    };
    operations->push_back(operation);
  }
}

// Every shape, whichever is used: a search may choose any.
void VerifyMatrixProducts(uint64_t seed, Check* check) {
  for (const int n : {1, 2, 3, 4, 7, 15, 16, 17, 63, 65, 127, 128, 129, 130, 257, 260}) {
    for (const float magnitude : {1.0F, 0x1p60F}) {
      Matrices matrices(n);
      matrices.a.Set(Inputs(seed, n, magnitude));
      matrices.b.Set(Inputs(seed + 1, n, 1));
      for (matrices.shape = 0; matrices.shape < TileShapes().size(); ++matrices.shape) {
        matrices.c.Poison();
        matrices.Launch(matrices.stream.get());
        matrices.stream.Wait();
        CheckProduct(matrices, 1000, static_cast<double>(magnitude),
                     "tiled product of side " + std::to_string(n) + " by shape " +
                         std::to_string(matrices.shape),
                     check);
      }
    }
  }
}

}  // namespace muster::kernels
