// Examples of ops with one thing changed: the element type, the rank or an extent of an operand, or
// an attribute.
#pragma once

#include <fmt/format.h>

#include <regex>
#include <string>
#include <vector>

#include "mir/dialects.hpp"

namespace mir::testing {

/// An example with one change.
struct Changed {
  std::string what;
  std::string line;
};

/// The values that an attribute of this type is tried with; none for the types that say little.
inline std::vector<std::string> values_of(AttrType type) {
  switch (type) {
    case AttrType::kInt:
      return {"-2", "-1", "0", "1", "2", "3"};
    case AttrType::kFloat:
      return {"-1.5", "3"};
    case AttrType::kBool:
      return {"true", "false"};
    case AttrType::kString:
      return {"\"odd\""};
    case AttrType::kDims:
    case AttrType::kInts:
      return {"[]", "[-2]", "[0]", "[1]", "[1, 3]", "[1, 2, 1]"};
    default:
      return {};
  }
}

/// The line with `key:value` among the attributes, in place of what is stated.
inline std::string with_attribute(const std::string& line, const std::string& key,
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

inline std::vector<Changed> with_attributes(const OpRow& row) {
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

inline std::vector<Changed> with_operands(const std::string& line) {
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
    for (const char* other : {"Float32", "Float16", "Int16", "Bool"}) {
      if (dtype != other) add(extents, other);
    }
    add(extents.empty() ? "2" : "2, " + extents, dtype);
    const auto comma = extents.find(", ");
    if (!extents.empty()) add(comma == extents.npos ? "" : extents.substr(comma + 2), dtype);
    static const std::regex kExtent(R"((^|, )(\d+))");
    for (std::sregex_iterator each(extents.begin(), extents.end(), kExtent); each != end; ++each) {
      const auto begin = static_cast<std::size_t>(each->position(2));
      const std::int64_t extent = std::stoll((*each)[2]);
      for (const std::string& other : {std::to_string(extent + 1), std::to_string(extent - 1),
                                       std::string(extent > 2    ? "1"
                                                   : extent == 2 ? "0"
                                                                 : "$M"),
                                       std::string("$N")}) {
        add(extents.substr(0, begin) + other +
                extents.substr(begin + static_cast<std::size_t>(each->length(2))),
            dtype);
      }
    }
    ++number;
  }
  for (const char* other : {"Float16", "Int16"}) {
    changed.push_back({fmt::format("all operands are {}", other),
                       std::regex_replace(operands, kType, fmt::format("tensor<[$1], {}", other)) +
                           line.substr(operands.size())});
  }
  return changed;
}

/// Every example with each of its changes, as `visit(row, change)`, first the example itself.
inline void for_each_changed_example(const auto& visit) {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      const bool has_types = row.example.find("(%0:") != row.example.npos;
      if (row.infer == nullptr || !has_types || dialect->name != "linalg") continue;
      const std::string example(row.example);
      visit(row, Changed{"", example});
      for (const Changed& each : with_operands(example)) visit(row, each);
      for (const Changed& each : with_attributes(row)) visit(row, each);
    }
  }
}

}  // namespace mir::testing
