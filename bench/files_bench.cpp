// Speed of files of weights: opening one, and going through all of it.
//
//   files_bench FILE... [--benchmark_...]
//
// FILE is any file of tensors. `copy` reads it with read(2) and is what the page cache gives;
// bench/README.md says how to make a large file.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "weights/tensor_file.hpp"

namespace {

using namespace mir;

void open_only(benchmark::State& state, const std::string& path) {
  for (auto _ : state) {
    const auto file = TensorFile::open(path);
    if (!file) return state.SkipWithError(file.error().message.c_str());
    benchmark::DoNotOptimize(file->names().size());
  }
}

void copy(benchmark::State& state, const std::string& path) {
  std::vector<char> buffer(std::size_t{1} << 20);
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    for (ssize_t count = 0; (count = ::read(file, buffer.data(), buffer.size())) > 0;)
      bytes += count;
    ::close(file);
  }
  state.SetBytesProcessed(bytes);
}

/// Opens the file and passes all bytes of each tensor to `use`.
template <class Use>
void go_through(benchmark::State& state, const std::string& path, Use use) {
  std::int64_t bytes = 0;
  for (auto _ : state) {
    const auto file = TensorFile::open(path);
    if (!file) return state.SkipWithError(file.error().message.c_str());
    for (const auto& name : file->names()) {
      const auto tensor = file->find(name);
      if (!tensor) return state.SkipWithError(tensor.error().message.c_str());
      benchmark::DoNotOptimize(use((*tensor)->bytes()));
      bytes += static_cast<std::int64_t>((*tensor)->bytes().size());
    }
  }
  state.SetBytesProcessed(bytes);
}

std::uint64_t sum_of_words(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  for (std::size_t at = 0; at + sizeof sum <= bytes.size(); at += sizeof sum) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    sum += word;
  }
  return sum;
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string path = argv[i];
    const auto add = [&](const char* what, auto run) {
      benchmark::RegisterBenchmark((path + "/" + what).c_str(), run, path)
          ->Unit(benchmark::kMillisecond);
    };
    add("open", open_only);
    add("copy", copy);
    add("sum", [](benchmark::State& state, const std::string& file) {
      go_through(state, file, sum_of_words);
    });
    add("xxh64", [](benchmark::State& state, const std::string& file) {
      go_through(state, file, [](auto bytes) { return XXH64(bytes.data(), bytes.size(), 0); });
    });
  }
  benchmark::RunSpecifiedBenchmarks();
}
