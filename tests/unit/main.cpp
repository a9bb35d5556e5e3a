// Runs the cases in child processes: a case that crashes or ends its process fails, and the cases
// after it run in the next child. Debuggers follow the child.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <new>

namespace {

/// What the children tell the parent.
struct Progress {
  unsigned started = 0;  ///< cases, those of former children included
  unsigned failed = 0;
  unsigned skipped = 0;
  bool running = false;      ///< a case began and did not end
  bool stop = false;         ///< the command line asks to stop at failures
  bool complete = false;     ///< a child came to its end
  char last_case[300] = {};  ///< the name of the one that began last
};
Progress* progress = nullptr;

/// Keeps `progress` up to date.
struct Recorder : doctest::IReporter {
  explicit Recorder(const doctest::ContextOptions& options) {
    progress->stop = options.abort_after > 0;
  }
  void test_case_start(const doctest::TestCaseData& data) override {
    ++progress->started;
    progress->running = true;
    std::strncpy(progress->last_case, data.m_name, sizeof progress->last_case - 1);
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    progress->running = false;
    if (stats.failure_flags != 0) ++progress->failed;
  }
  void test_run_end(const doctest::TestRunStats& stats) override {
    progress->skipped = stats.numTestCases - stats.numTestCasesPassingFilters;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};
DOCTEST_REGISTER_LISTENER("recorder", 0, Recorder);

/// Runs the cases after those that former children began.
int run_cases(int argc, char** argv) {
  doctest::Context context(argc, argv);
  if (progress->started != 0) context.setOption("first", static_cast<int>(progress->started + 1));
  const int status = context.run();
  progress->complete = true;
  return status;
}

/// The exit status of one child.
int run_child(int argc, char** argv) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) std::exit(run_cases(argc, argv));
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}

/// Counts the case that ended its process, which doctest did unless the process had no time.
void report_crash() {
  if (progress->running) ++progress->failed;
  progress->running = false;
  std::printf("the test case '%s' ended its process; the next one starts a new process\n",
              progress->last_case);
}

}  // namespace

int main(int argc, char** argv) {
  void* shared =
      mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  progress = new (shared) Progress;
  const int status = run_child(argc, argv);
  if (progress->complete) return status;
  for (unsigned before = 0; !progress->complete && progress->started != before;) {
    before = progress->started;
    report_crash();
    if (progress->stop) break;
    run_child(argc, argv);
  }
  std::printf("[doctest] test cases: %u | %u passed | %u failed | %u skipped\n", progress->started,
              progress->started - progress->failed, progress->failed, progress->skipped);
  return 1;
}
