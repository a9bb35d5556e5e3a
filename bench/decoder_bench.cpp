// Tokens per second of a Qwen2-style decoder with random weights, prefill and decode.
//
//   decoder_bench [--layers=24] [--threads=1,2]
//   [--types=Float32,BFloat16,Float16,GGUF_Q8_0,GGUF_Q4_0]
//                 [--prompt=128] [--decode=32] [--repeats=5] [--fusion=all]
//                 [--activations=f32|bf16]
//
// Hidden 896, 14 query and 2 key heads, feed-forward 4864, vocabulary 32000, logits of the last
// token. Every figure is the median of the repeats with the least and the most after it; the
// repeats of all numbers of threads are interleaved.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decoder.hpp"
#include "interp/session_access.hpp"
#include "mir/dialects.hpp"
#include "mir/fusion.hpp"

namespace {

using namespace mir;

struct Settings {
  bench::DecoderShape shape;
  std::vector<unsigned> threads = {1, 2};
  std::vector<DType> types = {DType::kFloat32, DType::kBFloat16, DType::kFloat16, DType::kGgufQ8_0,
                              DType::kGgufQ4_0};
  std::int64_t prompt = 128;
  std::int64_t decode = 32;
  std::size_t repeats = 5;
  Fusion fusion = Fusion::kAll;
  Activations activations = Activations::kFloat32;
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t comma = 0; comma != text.npos;) {
    comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma != text.npos) text.remove_prefix(comma + 1);
  }
  return parts;
}

bool read(std::string_view argument, Settings& settings) {
  const auto equals = argument.find('=');
  if (!argument.starts_with("--") || equals == argument.npos) return false;
  const std::string_view name = argument.substr(2, equals - 2);
  const std::string_view value = argument.substr(equals + 1);
  constexpr std::string_view kNames[] = {"layers", "threads", "types",  "prompt",
                                         "decode", "repeats", "fusion", "activations"};
  if (std::ranges::find(kNames, name) == std::end(kNames)) return false;
  if (name == "layers") settings.shape.layers = number(value);
  if (name == "prompt") settings.prompt = number(value);
  if (name == "decode") settings.decode = number(value);
  if (name == "repeats") settings.repeats = static_cast<std::size_t>(number(value));
  if (name == "activations" && value == "bf16") {
    settings.activations = Activations::kBFloat16;
  }
  if (name == "fusion") {
    settings.fusion = value == "off"     ? Fusion::kOff
                      : value == "exact" ? Fusion::kExact
                                         : Fusion::kAll;
  }
  if (name == "threads") {
    settings.threads.clear();
    for (const auto part : split(value))
      settings.threads.push_back(static_cast<unsigned>(number(part)));
  }
  if (name == "types") {
    settings.types.clear();
    for (const auto part : split(value)) {
      const auto type = dtype_from_name(part);
      if (!type) return false;
      settings.types.push_back(*type);
    }
  }
  return true;
}

std::vector<Tensor> inputs_of(std::int64_t tokens, std::int64_t first, std::int64_t vocab) {
  Tensor ids = *Tensor::allocate(DType::kInt64, {1, tokens});
  const auto values = ids.as_mutable<std::int64_t>();
  for (std::int64_t i = 0; i < tokens; ++i)
    values[static_cast<std::size_t>(i)] = (first + i) * 7919 % vocab;
  return {std::move(ids)};
}

class Bench {
 public:
  explicit Bench(const Settings& settings) : settings_(settings) {}

  bool run(DType type) {
    IRContext context;
    register_builtin_dialects(context);
    Diagnostics diagnostics;
    bench::DecoderShape shape = settings_.shape;
    shape.linears = type;
    Module* module = bench::decoder_module(context, shape, diagnostics);
    if (module == nullptr) return fail(diagnostics);
    PassRegistry passes;
    register_standard_passes(passes);
    if (!fuse(*module, settings_.fusion, passes, {}, diagnostics)) return fail(diagnostics);
    WeightSet weights;
    if (!weights.add("random:1")) return false;
    std::map<unsigned, Session> sessions;
    for (const unsigned threads : settings_.threads) {
      const double begin = seconds();
      auto session = Session::create(*module,
                                     {.entry = "",
                                      .weights = &weights,
                                      .kernels = KernelSet::kFast,
                                      .fuses = settings_.fusion != Fusion::kOff,
                                      .activations = settings_.activations,
                                      .threads = threads},
                                     diagnostics);
      if (!session) return fail(diagnostics);
      sessions.insert_or_assign(threads, *std::move(session));
      fmt::print("{}: weights made and packed by {} threads in {:.2f} s\n", name_of(type), threads,
                 seconds() - begin);
    }
    std::map<unsigned, std::vector<double>> prefill, decode;
    for (std::size_t repeat = 0; repeat <= settings_.repeats; ++repeat) {
      for (const unsigned threads : settings_.threads) {
        const auto [first, rest] = measure(sessions.at(threads), diagnostics);
        if (diagnostics.has_errors()) return fail(diagnostics);
        if (repeat == 0) continue;  // warms up
        prefill[threads].push_back(static_cast<double>(settings_.prompt) / first);
        decode[threads].push_back(static_cast<double>(settings_.decode) / rest);
      }
    }
    for (const unsigned threads : settings_.threads) {
      show(type, "prefill", threads, prefill[threads]);
      show(type, "decode", threads, decode[threads]);
    }
    fmt::print(
        "  values of the prompt's run: {} bytes planned, {} at the least; of the last run: {}, "
        "{}\n",
        prompt_memory_.first, prompt_memory_.second,
        SessionAccess::plan(sessions.begin()->second).planned_bytes(),
        SessionAccess::plan(sessions.begin()->second).lower_bound());
    return true;
  }

 private:
  std::pair<double, double> measure(Session& session, Diagnostics& diagnostics) {
    session.reset();
    const double begin = seconds();
    (void)session.run(inputs_of(settings_.prompt, 0, settings_.shape.vocab), diagnostics, {});
    const double middle = seconds();
    prompt_memory_ = {SessionAccess::plan(session).planned_bytes(),
                      SessionAccess::plan(session).lower_bound()};
    for (std::int64_t i = 0; i < settings_.decode && !diagnostics.has_errors(); ++i) {
      (void)session.run(inputs_of(1, settings_.prompt + i, settings_.shape.vocab), diagnostics, {});
    }
    return {middle - begin, seconds() - middle};
  }

  void show(DType type, std::string_view phase, unsigned threads, std::vector<double>& figures) {
    std::ranges::sort(figures);
    fmt::print("  {:9} {:8} {:3} threads  {:8.1f} / {:8.1f} / {:8.1f} tokens/s\n", name_of(type),
               phase, threads, figures.front(), figures[figures.size() / 2], figures.back());
  }

  static bool fail(const Diagnostics& diagnostics) {
    for (const Diagnostic& each : diagnostics.sorted()) fmt::print(stderr, "{}\n", each.message);
    return false;
  }

  const Settings& settings_;
  std::pair<std::uint64_t, std::uint64_t> prompt_memory_;
};

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    if (!read(argv[i], settings)) {
      fmt::print(stderr, "decoder_bench: what is '{}'?\n", argv[i]);
      return 2;
    }
  }
  Bench bench(settings);
  for (const DType type : settings.types) {
    if (!bench.run(type)) return 1;
  }
  return 0;
}
