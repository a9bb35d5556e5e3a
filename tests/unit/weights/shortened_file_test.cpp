// Files that lose their end while they are mapped.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "support/file_io.hpp"
#include "support/platform/mapped_file.hpp"
#include "temporary.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/npz.hpp"
#include "weights/formats/safetensors.hpp"
#include "weights/tensor_file.hpp"

using namespace mir;
using namespace mir::test;

namespace {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MIR_TEST_HAS_ADDRESS_SANITIZER
#endif
#endif
#ifdef MIR_TEST_HAS_ADDRESS_SANITIZER
constexpr bool kHasAddressSanitizer = true;
#else
constexpr bool kHasAddressSanitizer = false;
#endif

constexpr std::int64_t kElements = 100'000;

/// The exit status of a child process that does `work`, or -1 - the signal that ended it.
int status_of_child(const std::function<int()>& work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1 - WTERMSIG(status);
}

NamedTensor ones() {
  auto tensor = Tensor::allocate(DType::kFloat32, {kElements});
  std::ranges::fill(tensor->as_mutable<float>(), 1.0f);
  return {"w", *std::move(tensor)};
}

float sum_of(const Tensor& tensor) {
  float sum = 0;
  for (const float value : tensor.as<float>()) sum += value;
  return sum;
}

bool shorten(const std::string& path, std::int64_t bytes) {
  return ::truncate(path.c_str(), bytes) == 0;
}

}  // namespace

TEST_CASE("reading a shortened mapping gives zeros and the loss is known") {
  const TemporaryDirectory directory;
  const auto path = directory.file("w.safetensors");
  REQUIRE(write_safetensors(path, std::vector{ones()}));
  const auto status = status_of_child([&] {
    const auto file = TensorFile::open(path);
    if (!file) return 1;
    const auto tensor = file->find("w");
    if (!tensor || lies_in_shortened_file((*tensor)->bytes())) return 2;
    if (!shorten(path, 4 * kElements / 2)) return 3;
    const float sum = sum_of(**tensor);
    if (sum <= 0 || sum >= kElements) return 4;
    if (!lies_in_shortened_file((*tensor)->bytes())) return 5;
    const auto again = file->find("w");
    return !again && again.error().code == diag::kFileShortened ? 0 : 6;
  });
  CHECK(status == 0);
}

TEST_CASE("a file that lost less than a page is known to be shorter") {
  const TemporaryDirectory directory;
  const auto path = directory.write("f", std::string(5000, 'x'));
  const auto mapped = MappedFile::open(path);
  REQUIRE(mapped);
  CHECK_FALSE(lies_in_shortened_file((*mapped)->bytes()));
  REQUIRE(shorten(path, 4999));
  CHECK(lies_in_shortened_file((*mapped)->bytes().first(10)));
}

TEST_CASE("a file that is replaced is not shortened") {
  const TemporaryDirectory directory;
  const auto path = directory.write("f", std::string(5000, 'x'));
  const auto mapped = MappedFile::open(path);
  REQUIRE(mapped);
  REQUIRE(write_file_atomically(path, "y"));
  CHECK_FALSE(lies_in_shortened_file((*mapped)->bytes()));
  CHECK((*mapped)->bytes()[4999] == std::byte{'x'});
}

TEST_CASE("archives and arrays that are shortened are errors") {
  const TemporaryDirectory directory;
  const auto archive = directory.file("w.npz");
  REQUIRE(write_npz(archive, std::vector{ones()}));
  const auto status = status_of_child([&] {
    const auto file = TensorFile::open(archive);
    if (!file || !shorten(archive, 10'000)) return 1;
    const auto tensor = file->find("w");
    return !tensor && tensor.error().code == diag::kFileShortened ? 0 : 2;
  });
  CHECK(status == 0);
}

TEST_CASE("faults elsewhere still end the program") {
  const TemporaryDirectory directory;
  const auto guarded = directory.write("g", "some text");
  const auto status = status_of_child([&] {
    const auto mapped = MappedFile::open(guarded);
    ::alarm(10);
    ::raise(SIGBUS);
    return mapped ? 1 : 2;
  });
  // The address sanitizer catches the signal itself and leaves with 1.
  CHECK((status == -1 - SIGBUS || (kHasAddressSanitizer && status == 1)));
}

TEST_CASE("a mapping's place in the table is free again when it ends") {
  const TemporaryDirectory directory;
  const auto path = directory.write("f", "some text");
  for (int i = 0; i < 3000; ++i) REQUIRE(MappedFile::open(path));
  std::vector<std::shared_ptr<const MappedFile>> kept;
  DiagCode code{};
  while (code == DiagCode{}) {
    auto mapped = MappedFile::open(path);
    if (mapped)
      kept.push_back(*std::move(mapped));
    else
      code = mapped.error().code;
  }
  // Either the table or the system's limit of open files ends it.
  CHECK((code == diag::kLimitExceeded || code == diag::kFileNotReadable));
  kept.clear();
  CHECK(MappedFile::open(path));
}
