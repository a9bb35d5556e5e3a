// docs/howto/add-a-pass.md: its code is that of the files that it names.
#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace howto_test {

namespace {

const std::string kRoot = MIR_SOURCE_ROOT "/";

std::string text_of(const std::string& path) {
  std::ifstream in(kRoot + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("the code that a page shows is code of the file that it names") {
  const std::string page = text_of("docs/howto/add-a-pass.md");
  int blocks = 0;
  for (std::size_t at = page.find("\n```"); at != page.npos; at = page.find("\n```", at)) {
    const std::size_t head_end = page.find('\n', at + 1);
    const std::size_t end = page.find("\n```", head_end);
    REQUIRE(end != page.npos);
    const std::string head = page.substr(at + 4, head_end - at - 4);
    const std::string path = head.substr(head.find(' ') + 1);
    const std::string code = page.substr(head_end + 1, end - head_end);
    CAPTURE(path);
    CAPTURE(code);
    CHECK(text_of(path).find(code) != std::string::npos);
    ++blocks;
    at = end + 4;
  }
  CHECK(blocks == 4);
}

}  // namespace howto_test
