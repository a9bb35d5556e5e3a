// What both platforms promise. Builds with -Dplatform=portable run the same cases.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "support/file_io.hpp"
#include "support/paths.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/command.hpp"
#include "support/platform/file_system.hpp"
#include "support/platform/interrupts.hpp"
#include "support/platform/memory.hpp"
#include "support/platform/plugin.hpp"
#include "support/platform/scratch_folder.hpp"
#include "support/platform/streams.hpp"
#include "support/platform/threads.hpp"

namespace mir::test::platform {

namespace {

ScratchFolder scratch() {
  auto folder = ScratchFolder::create("mir-platform");
  REQUIRE(folder);
  return *std::move(folder);
}

}  // namespace

TEST_CASE("paths are taken apart and put together as std::filesystem does it") {
  for (const std::string path :
       {"a", "a/b", "/a", "/", "a/", "a//b", "/a/b.c", "", "../x", "//a"}) {
    CAPTURE(path);
    const std::filesystem::path expected(path);
    CHECK(file_name_of(path) == expected.filename().string());
    CHECK(folder_of(path) == expected.parent_path().string());
    for (const std::string folder : {"", "f", "f/", "/", "/f/g"}) {
      CAPTURE(folder);
      CHECK(path_in(folder, path) == (std::filesystem::path(folder) / path).string());
    }
  }
}

TEST_CASE("a scratch folder is empty, new each time and gone with its object") {
  std::string path;
  {
    const ScratchFolder one = scratch(), other = scratch();
    path = one.path();
    CHECK(path != other.path());
    CHECK(file_exists(path));
    CHECK(files_below(path, {".mir", 10, 10}).empty());
    REQUIRE(write_file_atomically(path_in(path, "f"), "x"));
  }
  CHECK_FALSE(file_exists(path));
}

TEST_CASE("files below a folder are those of the extension, small, visible and sorted") {
  const ScratchFolder folder = scratch();
  const auto in = [&](std::string_view name) { return path_in(folder.path(), name); };
  CHECK_FALSE(make_folders(in("deep/er")));
  CHECK_FALSE(make_folders(in("deep/er")));
  CHECK_FALSE(make_folders(in(".hidden")));
  CHECK_FALSE(make_folders(in("folder.mir")));
  for (const char* name : {"b.mir", "deep/er/a.mir", "c.txt", ".d.mir", ".hidden/e.mir"})
    REQUIRE(write_file_atomically(in(name), "1234"));
  REQUIRE(write_file_atomically(in("large.mir"), "12345"));
  const std::vector<std::string> expected = {in("b.mir"), in("deep/er/a.mir")};
  CHECK(files_below(folder.path(), {".mir", 4, 10}) == expected);
  CHECK(files_below(folder.path(), {".mir", 4, 1}).size() == 1);
  CHECK(files_below(in("none"), {".mir", 4, 10}).empty());
}

TEST_CASE("files are removed, links are known and paths are made absolute") {
  const ScratchFolder folder = scratch();
  const std::string file = path_in(folder.path(), "f"), link = path_in(folder.path(), "l");
  REQUIRE(write_file_atomically(file, "x"));
  std::filesystem::create_symlink("f", link);
  CHECK(is_link(link));
  CHECK_FALSE(is_link(file));
  CHECK_FALSE(remove_file(file));
  CHECK_FALSE(remove_file(file));
  CHECK_FALSE(file_exists(link));
  CHECK(absolute_path(folder.path() + "/a/../b") == folder.path() + "/b");
}

TEST_CASE("an atomic file that replaces a link leaves the link's target alone") {
  const ScratchFolder folder = scratch();
  const std::string file = path_in(folder.path(), "f"), link = path_in(folder.path(), "l");
  REQUIRE(write_file_atomically(file, "old"));
  std::filesystem::create_symlink("f", link);
  auto replaced = AtomicFile::create(link, AtomicFile::Existing::kReplace);
  REQUIRE(replaced);
  REQUIRE(replaced->write("new"));
  CHECK(replaced->size() == 3);
  REQUIRE(replaced->commit());
  CHECK_FALSE(is_link(link));
  CHECK(*read_file(link, 10) == "new");
  CHECK(*read_file(file, 10) == "old");
}

TEST_CASE("an atomic file that is dropped leaves nothing") {
  const ScratchFolder folder = scratch();
  {
    auto file = AtomicFile::create(path_in(folder.path(), "f"));
    REQUIRE(file);
    const AtomicFile moved = *std::move(file);
  }
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("a mapping can refuse links") {
  const ScratchFolder folder = scratch();
  const std::string link = path_in(folder.path(), "l");
  REQUIRE(write_file_atomically(path_in(folder.path(), "f"), "x"));
  std::filesystem::create_symlink("f", link);
  CHECK(MappedFile::open(link));
  CHECK_FALSE(MappedFile::open(link, MappedFile::Links::kRefuse));
}

TEST_CASE("pages are zero, aligned and writable") {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{100'000}, 3 * kHugePage}) {
    const auto pages = allocate_pages(bytes);
    REQUIRE(pages.size() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(pages.data()) % 64 == 0);
    CHECK(std::ranges::all_of(pages, [](std::byte each) { return each == std::byte{}; }));
    prefer_huge_pages(pages.data(), pages.size());
    std::ranges::fill(pages, std::byte{1});
    release_pages(pages);
  }
  CHECK(allocate_pages(std::size_t{1} << (sizeof(std::size_t) * 8 - 2)).empty());
  return_free_memory();
}

TEST_CASE("work is done by a thread or by the caller") {
  CHECK(processor_count() >= 1);
  int done = 0;
  {
    auto thread = Thread::start([&] { ++done; });
    if (!thread) ++done;
    const auto moved = std::move(thread);
  }
  CHECK(done == 1);
}

TEST_CASE("a command ends with its status, or is refused") {
  const CommandSetting setting{.folder = ".", .environment = own_environment()};
  const auto ended = run_command("printf out; exit 3", setting);
  if (ended) {
    CHECK(ended->status == 3);
    CHECK(ended->out == "out");
  } else {
    CHECK_FALSE(ended.error().message.empty());
  }
}

TEST_CASE("a library that does not exist is not loaded, with a reason") {
  const auto loaded = load_function("none/at-all.so", "entry");
  REQUIRE_FALSE(loaded);
  CHECK_FALSE(loaded.error().message.empty());
}

TEST_CASE("streams that are not open are neither read, written nor terminals") {
  constexpr int kClosed = 9999;
  std::vector<char> bytes(10);
  CHECK_FALSE(read_bytes(kClosed, bytes));
  CHECK_FALSE(write_bytes(kClosed, "text"));
  CHECK_FALSE(is_terminal(kClosed));
  CHECK_FALSE(has_ended(-1));
}

TEST_CASE("no interrupt is pending at first") {
  const InterruptWatch watch;
  CHECK_FALSE(is_interrupted(watch.descriptor()));
}

}  // namespace mir::test::platform
