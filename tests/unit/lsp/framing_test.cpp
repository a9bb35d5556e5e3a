#include "lsp/framing.hpp"

#include <doctest/doctest.h>

using namespace mir::lsp;

TEST_SUITE("framing") {
  TEST_CASE("messages are read from pieces of any size") {
    const std::string stream = framed("{}") + framed("[1, \"\xc3\xa9\"]") + framed("");
    for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
      FrameReader reader;
      std::vector<std::string> bodies;
      for (std::size_t at = 0; at < stream.size(); at += piece) {
        reader.add(std::string_view(stream).substr(at, piece));
        while (const auto frame = reader.next()) {
          CHECK(frame->error.empty());
          bodies.push_back(frame->body);
        }
      }
      CHECK(bodies == std::vector<std::string>{"{}", "[1, \"\xc3\xa9\"]", ""});
    }
  }

  TEST_CASE("a long body is read whole before the messages after it") {
    const std::string longer(300'000, 'x'), next = "{}";
    for (const std::size_t piece : {std::size_t{65536}, std::size_t{1} << 20}) {
      const std::string stream = framed(next) + framed(longer) + framed(next) + framed(longer);
      FrameReader reader;
      std::vector<std::string> bodies;
      for (std::size_t at = 0; at < stream.size(); at += piece) {
        reader.add(std::string_view(stream).substr(at, piece));
        while (auto frame = reader.next()) bodies.push_back(std::move(frame->body));
      }
      CHECK(bodies == std::vector<std::string>{next, longer, next, longer});
    }
  }

  TEST_CASE("headers come in any case and order, with others") {
    FrameReader reader;
    reader.add(
        "Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-LENGTH:  2 \r\n\r\n{}");
    const auto frame = reader.next();
    REQUIRE(frame);
    CHECK(frame->body == "{}");
  }

  TEST_CASE("after headers that are wrong, reading goes on behind them") {
    for (const char* headers :
         {"Content-Length: x\r\n\r\n", "Content-Length: 2x\r\n\r\n", "Content-Length:\r\n\r\n",
          "Content-Length: -1\r\n\r\n", "Content-Length: 99999999999\r\n\r\n",
          "Content-Length: 99999999999999999999999\r\n\r\n", "Content-Type: x\r\n\r\n",
          "no colon\r\n\r\n", "\r\n\r\n"}) {
      CAPTURE(headers);
      FrameReader reader;
      reader.add(headers + framed("{}"));
      const auto wrong = reader.next();
      REQUIRE(wrong);
      CHECK(!wrong->error.empty());
      const auto good = reader.next();
      REQUIRE(good);
      CHECK(good->error.empty());
      CHECK(good->body == "{}");
    }
  }

  TEST_CASE("headers without an end are refused before they fill the memory") {
    FrameReader reader;
    reader.add(std::string(FrameReader::kMaxHeader + 1, 'x'));
    const auto frame = reader.next();
    REQUIRE(frame);
    CHECK(!frame->error.empty());
    reader.add(framed("{}"));
    CHECK(reader.next()->body == "{}");
  }
}
