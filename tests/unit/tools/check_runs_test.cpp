// Commands within their limits, stored output, whole files.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "command.hpp"
#include "mir/codes/checks.hpp"
#include "tools/check/run_files.hpp"

using namespace mir;
using namespace mir::tools;
namespace fs = std::filesystem;

namespace check_runs_test {

namespace {

/// A folder for one test.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "check-test.XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = fs::canonical(name);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream file(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  bool has(const std::string& name) const { return fs::exists(path_ / name); }

 private:
  fs::path path_;
};

CommandSetting setting_in(const Folder& folder) {
  return {.folder = folder / "", .environment = {"PATH=/usr/bin:/bin", "A=b c"}};
}

CommandResult run(const std::string& line, const CommandSetting& setting) {
  auto result = run_command(line, setting);
  REQUIRE(result);
  return *std::move(result);
}

/// The codes of what is wrong with each case of a file; `-` for one that was updated.
std::vector<std::string> verdicts(const std::string& path, bool update = false) {
  CheckSettings settings;
  settings.update = update;
  std::vector<std::string> list;
  for (const CaseResult& each : run_case_file(path, settings).cases) {
    std::string codes = each.verdict == CaseVerdict::kUpdated ? "-" : "";
    for (const Diagnostic& problem : each.problems.sorted()) codes += spelling(problem.code);
    CHECK((each.verdict == CaseVerdict::kFailed) == each.problems.has_errors());
    list.push_back(codes);
  }
  return list;
}

using Codes = std::vector<std::string>;

}  // namespace

TEST_SUITE("commands") {
  TEST_CASE("a command has its folder, its variables and no input") {
    const Folder folder;
    const auto result = run("pwd; echo \"$A\" >&2; cat; exit 3", setting_in(folder));
    CHECK(result.end == CommandEnd::kExited);
    CHECK(result.status == 3);
    CHECK(result.out == (folder / "x").substr(0, (folder / "").size() - 1) + "\n");
    CHECK(result.err == "b c\n");
    CHECK(run("false | true", setting_in(folder)).status == 1);
    CommandSetting posix = setting_in(folder);
    posix.shell = CommandShell::kPosix;
    CHECK(run("false | true", posix).status == 0);
    CHECK(run("true | false", posix).status == 1);
    CHECK(run("kill -9 $$", setting_in(folder)).status == 128 + 9);
    CHECK(run("kill -9 $$", posix).status == 128 + 9);
    CHECK(run("printf 'a\\0b'", setting_in(folder)).out == std::string("a\0b", 3));
  }

  TEST_CASE("what a command leaves running ends with it, and keeps nobody waiting") {
    const Folder folder;
    const auto result = run("sleep 100000 & echo $!", setting_in(folder));
    CHECK(result.end == CommandEnd::kExited);
    CHECK(result.status == 0);
    const std::string process = result.out.substr(0, result.out.size() - 1);
    // It may stay as a zombie of a parent that does not look.
    const auto runs = [&] {
      std::ifstream status("/proc/" + process + "/stat");
      std::string number, name, state = "Z";
      status >> number >> name >> state;
      return state != "Z" && state != "X";
    };
    for (int i = 0; i < 1000 && runs(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK_FALSE(runs());
  }

  TEST_CASE("time and output have limits") {
    const Folder folder;
    CommandSetting setting = setting_in(folder);
    setting.time_limit = std::chrono::seconds(1);
    CHECK(run("trap '' TERM INT; echo a; sleep 50", setting).end == CommandEnd::kTimeLimit);
    setting.output_limit = 1000;
    setting.time_limit = std::chrono::seconds(50);
    CHECK(run("yes", setting).end == CommandEnd::kOutputLimit);
    CHECK(run("yes >&2 & wait", setting).end == CommandEnd::kOutputLimit);
  }

  TEST_CASE("an interrupt ends a command at once") {
    const Folder folder;
    CommandSetting setting = setting_in(folder);
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], "x", 1) == 1);
    setting.interrupt = ends[0];
    CHECK(run("sleep 50", setting).end == CommandEnd::kInterrupted);
    ::close(ends[0]);
    ::close(ends[1]);
  }

  TEST_CASE("a folder that is not there is an error") {
    CHECK_FALSE(run_command("true", {.folder = "/no/such/folder", .environment = {}}));
  }
}

TEST_SUITE("case files") {
  TEST_CASE("output and status that are expected pass, others fail") {
    const Folder folder;
    folder.write("a.test", "// RUN: echo x; echo y >&2; exit 3\n// EXIT: 3\n");
    CHECK(verdicts(folder / "a.test") == Codes{"MIR0912MIR0912"});
    folder.write("a.out", "x\n");
    folder.write("a.err", "y\n");
    CHECK(verdicts(folder / "a.test") == Codes{""});
    folder.write("a.err", "z\n");
    CHECK(verdicts(folder / "a.test") == Codes{"MIR0912"});
    folder.write("a.test", "// RUN: echo x; echo z >&2\n// EXIT: 3\n");
    CHECK(verdicts(folder / "a.test") == Codes{"MIR0913"});
    folder.write("a.test", "// RUN: echo x; echo z >&2\n// CHECK: x\n");
    CHECK(verdicts(folder / "a.test") == Codes{"MIR0912"});  // of a.out, which is left over
    CHECK(verdicts(folder / "none.test") == Codes{"MIR0001"});
  }

  TEST_CASE("placeholders name the case, its folder and the scratch folder, both ways") {
    const Folder folder;
    folder.write("sub/a.test", "// RUN: cat %s; ls; echo %S %%S %T; pwd; ls %S\n");
    folder.write(
        "sub/a.out",
        "// RUN: cat %s; ls; echo %S %%S %T; pwd; ls %S\na.test\n%S %S %T\n%T\na.out\na.test\n");
    CHECK(verdicts(folder / "sub/a.test") == Codes{""});
  }

  TEST_CASE("a difference is shown with the place where it begins") {
    const Folder folder;
    folder.write("a.test", "// RUN: printf '1\\n2\\n4\\n'\n");
    folder.write("a.out", "1\n2\n3\n");
    const FileResult result = run_case_file(folder / "a.test", {});
    REQUIRE(result.cases.size() == 1);
    const auto problems = result.cases[0].problems.sorted();
    REQUIRE(problems.size() == 1);
    const SourceFile* file = result.sources->file_of(problems[0].at.begin);
    REQUIRE(file != nullptr);
    CHECK(file->name() == folder / "a.out");
    CHECK(file->line_column(problems[0].at.begin).line == 3);
    CHECK(result.cases[0].difference == test::Part{"\n-3\n+4\n"});
  }

  TEST_CASE("an update rewrites what differs, and nothing else passes or fails by it") {
    const Folder folder;
    folder.write("a.test", "// RUN: echo new\n");
    folder.write("a.err", "gone\n");
    CHECK(verdicts(folder / "a.test", true) == Codes{"-"});
    CHECK(folder.read("a.out") == "new\n");
    CHECK_FALSE(folder.has("a.err"));
    CHECK(verdicts(folder / "a.test", true) == Codes{""});
    folder.write("a.test", "// RUN: echo newer; false\n");
    CHECK(verdicts(folder / "a.test", true) == Codes{"MIR0913MIR0912"});  // why is in the output
    CHECK(folder.read("a.out") == "new\n");
    folder.write("b.test", "// RUN: echo new\n// CHECK: old\n");
    CHECK(verdicts(folder / "b.test", true) == Codes{"MIR0910"});
    CHECK_FALSE(folder.has("b.out"));
  }

  TEST_CASE("the parts of a file are cases, with their parts of the stored output") {
    const Folder folder;
    folder.write("a.mir",
                 "// RUN: cat %s\n// -----\none\n// -----\n// CHECK: two\ntwo\n// -----\nthree");
    CHECK(verdicts(folder / "a.mir") == Codes{"MIR0912", "", "MIR0912"});
    CHECK(verdicts(folder / "a.mir", true) == Codes{"-", "", "-"});
    CHECK(folder.read("a.out") == "one\n// -----\n// -----\nthree\n");
    CHECK(verdicts(folder / "a.mir") == Codes{"", "", ""});
    folder.write("a.out", "one\n// -----\n// -----\nthree\n// -----\nfour\n");
    CHECK(verdicts(folder / "a.mir") == Codes{"", "", "MIR0912"});
  }

  TEST_CASE("what an inherited command does wrong is shown with the part that it was run for") {
    const Folder folder;
    folder.write("a.test", "// RUN: cat %s\n// -----\n// CHECK: two\ntwo\n// -----\n// EXIT: 1\n");
    const FileResult result = run_case_file(folder / "a.test", {});
    REQUIRE(result.cases.size() == 2);
    const auto line_of = [&](Span at) {
      return result.sources->file_of(at.begin)->line_column(at.begin).line;
    };
    const auto problems = result.cases[1].problems.sorted();
    REQUIRE(problems.size() == 2);
    CHECK(problems[0].code == diag::kExitStatus);
    CHECK(line_of(problems[0].at) == 1);
    REQUIRE(problems[0].notes.size() == 1);
    CHECK(line_of(problems[0].notes[0].at) == 6);
    CHECK(problems[1].code == diag::kOutputDiffers);
    CHECK(line_of(problems[1].at) == 6);
  }

  TEST_CASE("what is no regular file is not waited for") {
    const Folder folder;
    REQUIRE(::mkfifo((folder / "a.test").c_str(), 0600) == 0);
    CHECK(verdicts(folder / "a.test") == Codes{"MIR0001"});
    folder.write("b.test", "// RUN: true\n");
    REQUIRE(::mkfifo((folder / "b.out").c_str(), 0600) == 0);
    CHECK(verdicts(folder / "b.test") == Codes{"MIR0001"});
    const auto found = find_case_files(folder / "");
    REQUIRE(found);
    CHECK(*found == std::vector{folder / "b.test"});
  }

  TEST_CASE("cases are found below a folder, in order, but for material") {
    const Folder folder;
    for (const char* name : {"b.mir", "a/z.test", "data/c.mir", "a/data/d.mir", "a.out", "x.txt"}) {
      folder.write(name, "");
    }
    const auto found = find_case_files(folder / "");
    REQUIRE(found);
    CHECK(*found == std::vector{folder / "a/z.test", folder / "b.mir"});
    CHECK(find_case_files(folder / "x.txt")->size() == 1);
    CHECK(find_case_files(folder / "data")->size() == 1);
    CHECK_FALSE(find_case_files(folder / "none"));
  }

  TEST_CASE("files run side by side and are shown in order") {
    const Folder folder;
    std::vector<std::string> paths;
    for (int i = 0; i < 20; ++i) {
      folder.write(std::to_string(i), i % 3 == 0 ? "// RUN: sleep 0.05\n" : "// RUN: true\n");
      paths.push_back(folder / std::to_string(i));
    }
    std::vector<std::string> taken;
    CHECK(run_case_files(paths, {}, 7, [&](const FileResult& file) {
      CHECK(file.cases.front().verdict == CaseVerdict::kPassed);
      taken.push_back(file.path);
    }));
    CHECK(taken == paths);
  }

  TEST_CASE("an interrupt stops the files that wait") {
    const Folder folder;
    folder.write("a", "// RUN: sleep 50\n");
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    REQUIRE(::write(ends[1], "x", 1) == 1);
    CheckSettings settings;
    settings.interrupt = ends[0];
    const std::vector<std::string> paths(5, folder / "a");
    std::size_t taken = 0;
    CHECK_FALSE(run_case_files(paths, settings, 2, [&](const FileResult&) { ++taken; }));
    CHECK(taken == 0);
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

}  // namespace check_runs_test
