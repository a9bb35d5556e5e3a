// What rules say of every example with one thing changed: an operand's element type, rank or
// extent, or an attribute. changed_examples.txt holds the answers; UPDATE_GOLDEN=1 writes it anew.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>

#include "../project_files.hpp"
#include "dialects/listing.hpp"
#include "infer.hpp"

namespace mir::testing {
namespace {

const std::filesystem::path kAnswers =
    mir::test::kRoot / "tests/unit/dialects/changed_examples.txt";

struct Changed {
  std::string what;
  std::string line;
};

/// The values that an attribute of this type is tried with; none for the types that say little.
std::vector<std::string> values_of(AttrType type) {
  switch (type) {
    case AttrType::kInt:
      return {"-2", "0", "3"};
    case AttrType::kFloat:
      return {"-1.5", "3"};
    case AttrType::kBool:
      return {"true", "false"};
    case AttrType::kString:
      return {"\"odd\""};
    case AttrType::kDims:
    case AttrType::kInts:
      return {"[]", "[-2]", "[1, 3]"};
    default:
      return {};
  }
}

/// The line with `key:value` among the attributes, in place of what is stated.
std::string with_attribute(const std::string& line, const std::string& key,
                           const std::string& value) {
  const std::string stated = key + ":" + value;
  const auto operands = line.find("(%") == line.npos ? line.find("()") : line.find("(%");
  const auto open = line.find('[');
  if (open > operands)
    return line.substr(0, operands) + " [" + stated + "] " + line.substr(operands);
  for (std::size_t at = open + 1, depth = 0, first = at; at < operands; ++at) {
    const char c = line[at];
    if (c == '"') at = line.find('"', at + 1);
    if (depth == 0 && (c == ',' || c == ']')) {
      const auto name = line.find_first_not_of(' ', first);
      if (line.compare(name, key.size() + 1, key + ":") == 0) {
        return line.substr(0, name) + stated + line.substr(at);
      }
      if (c == ']') return line.substr(0, at) + ", " + stated + line.substr(at);
      first = at + 1;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
  }
  return line;
}

std::vector<Changed> with_attributes(const OpRow& row) {
  std::vector<Changed> changed;
  for (const AttrRow& attribute : row.attributes) {
    for (const std::string& value : values_of(attribute.type)) {
      changed.push_back(
          {fmt::format("{}:{}", attribute.name, value),
           with_attribute(std::string(row.example), std::string(attribute.name), value)});
    }
  }
  return changed;
}

std::vector<Changed> with_operands(const std::string& line) {
  static const std::regex kType(R"(tensor<\[([^\]]*)\], (\w+))");
  std::vector<Changed> changed;
  const std::string operands = line.substr(0, line.find("->"));
  std::size_t number = 0;
  for (std::sregex_iterator at(operands.begin(), operands.end(), kType), end; at != end; ++at) {
    const auto add = [&](const std::string& extents, const std::string& dtype) {
      const auto begin = static_cast<std::size_t>(at->position());
      const auto size = static_cast<std::size_t>(at->length());
      changed.push_back({fmt::format("operand {} is {} [{}]", number, dtype, extents),
                         line.substr(0, begin) + "tensor<[" + extents + "], " + dtype +
                             line.substr(begin + size)});
    };
    const std::string extents = (*at)[1], dtype = (*at)[2];
    add(extents, dtype == "Float32" ? "Int16" : "Float32");
    add(extents.empty() ? "2" : "2, " + extents, dtype);
    const auto comma = extents.find(", ");
    if (!extents.empty()) add(comma == extents.npos ? "" : extents.substr(comma + 2), dtype);
    static const std::regex kExtent(R"((^|, )(\d+))");
    for (std::sregex_iterator each(extents.begin(), extents.end(), kExtent); each != end; ++each) {
      const auto begin = static_cast<std::size_t>(each->position(2));
      add(extents.substr(0, begin) + std::to_string(std::stoll((*each)[2]) + 1) +
              extents.substr(begin + static_cast<std::size_t>(each->length(2))),
          dtype);
    }
    ++number;
  }
  return changed;
}

std::string answer_of(const std::string& line) {
  const Inference answer = infer_line(line);
  if (answer.error.empty()) return shape_text(answer.inferred);
  return answer.error + (answer.constraint.empty() ? "" : " (" + answer.constraint + ")");
}

/// `op | change | answer` of every change of every example.
std::vector<std::string> answers() {
  std::vector<std::string> lines;
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      const bool has_types = row.example.find("(%0:") != row.example.npos;
      if (row.infer == nullptr || !has_types || dialect->name != "linalg") continue;
      std::vector<Changed> changed = with_operands(std::string(row.example));
      for (Changed& each : with_attributes(row)) changed.push_back(std::move(each));
      for (const Changed& each : changed) {
        CAPTURE(each.line);
        lines.push_back(fmt::format("{} | {} | {}", row.name, each.what, answer_of(each.line)));
      }
    }
  }
  return lines;
}

std::string op_of(const std::string& line) {
  return line.substr(0, line.find(" | "));
}

TEST_CASE("rules say of every example with one change what is stored") {
  const std::vector<std::string> found = answers();
  if (const char* update = std::getenv("UPDATE_GOLDEN"); update != nullptr && *update == '1') {
    std::ofstream file(kAnswers);
    for (const std::string& line : found) file << line << '\n';
  }
  std::istringstream stored(mir::test::read_whole(kAnswers));
  std::vector<std::string> wanted;
  std::set<std::string> ops;
  for (std::string line; std::getline(stored, line);) {
    ops.insert(op_of(line));
    wanted.push_back(line);
  }
  REQUIRE(ops.size() > 50);
  // Of an op that was added since, nothing is stored yet.
  std::size_t next = 0;
  for (const std::string& line : found) {
    if (!ops.contains(op_of(line))) continue;
    REQUIRE(next < wanted.size());
    REQUIRE(line == wanted[next++]);
  }
  CHECK(next == wanted.size());
}

}  // namespace
}  // namespace mir::testing
