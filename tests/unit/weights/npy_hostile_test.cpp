#include <doctest/doctest.h>

#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "temporary.hpp"
#include "weights/formats/npy.hpp"

using namespace mir;
using namespace mir::test;

namespace npy_hostile_test {

namespace {

struct Hostile {
  std::string what;
  std::string bytes;
};

std::string raw(std::string_view header, std::string_view data) {
  return std::string("\x93NUMPY\1\0", 8) + little(header.size(), 2) + std::string(header) +
         std::string(data);
}

std::string dict(std::string_view text, std::string_view data = "") {
  return raw(std::string(text) + "\n", data);
}

std::string typed(std::string_view descr, std::size_t data) {
  return dict("{'descr': " + std::string(descr) + ", 'fortran_order': False, 'shape': (1,)}",
              std::string(data, '\0'));
}

std::string shaped(std::string_view shape, std::size_t data, std::string_view order = "False") {
  return dict("{'descr': '<f4', 'fortran_order': " + std::string(order) +
                  ", 'shape': " + std::string(shape) + "}",
              std::string(data, '\0'));
}

std::vector<Hostile> broken_preambles() {
  const std::string magic = "\x93NUMPY";
  return {
      {"no bytes", ""},
      {"one byte", "\x93"},
      {"only the magic", magic},
      {"a wrong magic", "\x93NUMPX" + std::string("\1\0\2\0{}", 6)},
      {"version 0", magic + std::string("\0\0\2\0{}", 6)},
      {"version 4", magic + std::string("\4\0\2\0\0\0{}", 8)},
      {"version 1.1", magic + std::string("\1\1\2\0{}", 6)},
      {"half a header length", magic + std::string("\2\0\2\0", 4)},
      {"a header over the file", magic + std::string("\1\0\x40\0{}", 6)},
      {"a header of 4 GiB", magic + std::string("\2\0\xFF\xFF\xFF\xFF{}", 8)},
      {"an empty header", magic + std::string("\1\0\0\0", 4)},
      {"a header of 70000 bytes",
       magic + std::string("\2\0\x70\x11\1\0", 6) + std::string(70000, ' ')},
  };
}

std::vector<Hostile> broken_dictionaries() {
  const std::string good = "'descr': '<f4', 'fortran_order': False, 'shape': ()";
  return {
      {"blanks", dict("   ")},
      {"a list", dict("[]")},
      {"an empty dictionary", dict("{}")},
      {"an unclosed dictionary", dict("{" + good)},
      {"no newline", raw("{" + good + "}", "abcd")},
      {"text after the dictionary", dict("{" + good + "}x", "abcd")},
      {"an expression", dict("{'descr': __import__('os'), 'fortran_order': False, 'shape': ()}")},
      {"an extra key", dict("{" + good + ", 'a': 1}", "abcd")},
      {"a key twice", dict("{" + good + ", 'shape': ()}", "abcd")},
      {"no shape", dict("{'descr': '<f4', 'fortran_order': False}", "abcd")},
      {"no descr", dict("{'fortran_order': False, 'shape': ()}", "abcd")},
      {"no order", dict("{'descr': '<f4', 'shape': ()}", "abcd")},
      {"a number for a key", dict("{1: 2}")},
      {"no colon", dict("{'descr' '<f4', 'fortran_order': False, 'shape': ()}", "abcd")},
      {"no comma", dict("{'descr': '<f4' 'fortran_order': False, 'shape': ()}", "abcd")},
      {"an unclosed string", dict("{'descr: <f4")},
      {"an escape", dict("{'descr': '\\x3cf4', 'fortran_order': False, 'shape': ()}", "abcd")},
      {"a NUL", dict(std::string("{'descr': '<f4\0', 'fortran_order': False, 'shape': ()}", 54))},
      {"a list for a shape", shaped("[1]", 4)},
      {"a number for a shape", shaped("1", 4)},
      {"a number in parentheses", shaped("(1)", 4)},
      {"an unclosed tuple", shaped("(1,", 4)},
      {"a tuple of a comma", shaped("(,)", 4)},
      {"text in a tuple", shaped("('1',)", 4)},
      {"1 for an order", shaped("(1,)", 4, "1")},
      {"true for an order", shaped("(1,)", 4, "true")},
  };
}

std::vector<Hostile> broken_extents() {
  std::string ones = "(";
  for (int i = 0; i < 33; ++i) ones += "1,";
  return {
      {"a negative extent", shaped("(-1,)", 4)},
      {"a negative zero", shaped("(-0,)", 0)},
      {"an extent of 2^63", shaped("(9223372036854775808,)", 4)},
      {"a fractional extent", shaped("(1.0,)", 4)},
      {"a hexadecimal extent", shaped("(0x1,)", 4)},
      {"a rank of 33", shaped(ones + ")", 4)},
      {"a product over 2^63", shaped("(4294967296, 4294967296)", 4)},
      {"a product over 2^63 in Fortran order", shaped("(4294967296, 4294967296)", 4, "True")},
      {"bytes that wrap to 0", shaped("(4611686018427387904,)", 0)},
      {"an extent of 2^63 - 1", shaped("(9223372036854775807,)", 4)},
      {"no data", shaped("(1,)", 0)},
      {"a byte too few", shaped("(2,)", 7)},
      {"a byte too many", shaped("(2,)", 9)},
      {"data after an empty tensor", shaped("(0,)", 1)},
  };
}

std::vector<Hostile> unknown_types() {
  return {
      {"pickled objects", typed("'|O'", 8)},
      {"a structure", typed("[('a', '<f4')]", 4)},
      {"raw bytes", typed("'|V2'", 2)},
      {"text", typed("'<U1'", 4)},
      {"a time", typed("'<M8[ns]'", 8)},
      {"f16 in bytes", typed("'<f16'", 16)},
      {"i3", typed("'<i3'", 3)},
      {"an unknown byte order", typed("'!f4'", 4)},
      {"no byte order", typed("'f4'", 4)},
      {"an empty type", typed("''", 4)},
      {"a byte order alone", typed("'<'", 4)},
  };
}

void check_refused(const std::vector<Hostile>& files, DiagCode code) {
  const TemporaryDirectory directory;
  for (const auto& file : files) {
    CAPTURE(file.what);
    const auto tensor = read_npy(directory.write("hostile.npy", file.bytes));
    REQUIRE_FALSE(tensor);
    CHECK(tensor.error().code == code);
    CHECK(tensor.error().message == test::Part{"hostile.npy': "});
  }
}

}  // namespace

TEST_CASE("NPY files with a broken preamble are refused") {
  check_refused(broken_preambles(), diag::kNpyMalformed);
}

TEST_CASE("NPY headers that are not the three known keys are refused") {
  check_refused(broken_dictionaries(), diag::kNpyMalformed);
}

TEST_CASE("NPY extents that do not fit the data are refused") {
  check_refused(broken_extents(), diag::kNpyMalformed);
}

TEST_CASE("NPY element types that are not plain numbers are refused") {
  check_refused(unknown_types(), diag::kTensorDtypeUnsupported);
}

TEST_CASE("an NPY type wider than a byte needs a byte order") {
  check_refused({{"|f4", typed("'|f4'", 4)}}, diag::kNpyMalformed);
}

TEST_CASE("every cut and every flipped bit of an NPY file is survived") {
  const auto good = shaped("(2, 3)", 24, "True");
  for (std::size_t i = 0; i < good.size(); ++i) {
    CAPTURE(i);
    const auto cut = std::make_shared<const std::string>(good.substr(0, i));
    CHECK_FALSE(parse_npy(std::as_bytes(std::span(*cut)), cut, "cut"));
    for (int bit = 0; bit < 8; ++bit) {
      const auto flipped = std::make_shared<std::string>(good);
      (*flipped)[i] = static_cast<char>((*flipped)[i] ^ 1 << bit);
      const auto tensor = parse_npy(std::as_bytes(std::span(*flipped)), flipped, "flip");
      if (tensor) CHECK(tensor->bytes().size() <= 24);
    }
  }
}

TEST_CASE("an NPY Bool other than 0 and 1 is refused in either order") {
  for (const std::string order : {"False", "True"}) {
    const TemporaryDirectory directory;
    const auto bytes =
        dict("{'descr': '|b1', 'fortran_order': " + order + ", 'shape': (1, 2)}", "\1\2");
    const auto tensor = read_npy(directory.write("bool.npy", bytes));
    REQUIRE_FALSE(tensor);
    CHECK(tensor.error().code == diag::kElementOutOfRange);
  }
}

}  // namespace npy_hostile_test
