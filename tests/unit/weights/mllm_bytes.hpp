// `.mllm` files put together field by field, right or wrong.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "temporary.hpp"

namespace mir::test {

/// One descriptor as a test wants it stated.
struct Descriptor {
  std::string name = "x";
  std::uint32_t dtype = 129;  // UInt8
  std::uint64_t begin = 0;    // counted from the first byte after the table
  std::uint64_t size = 2;
  std::vector<std::int64_t> shape = {2};  // version 2 alone
  bool absolute = false;                  // `begin` counts from the start of the file
  std::uint64_t rank = ~0ull;             // stated; that of the shape when all ones
};

inline std::string mllm_v1(const std::vector<Descriptor>& descriptors, std::size_t data) {
  std::uint64_t table = 0;
  for (const auto& each : descriptors) table += 24 + each.name.size();
  std::string bytes = little(20012, 4) + little(table, 8);
  for (const auto& each : descriptors)
    bytes += little(each.name.size(), 4) + each.name + little(each.size, 8) +
             little(each.begin + (each.absolute ? 0 : 12 + table), 8) + little(each.dtype, 4);
  return bytes + std::string(data, '\1');
}

inline std::string mllm_v2_header(std::uint64_t version, std::uint64_t count, std::uint64_t table,
                                  std::string name = "") {
  name.resize(512, '\0');
  return little(0x519A, 4) + little(version, 4) + name + little(count, 4) + little(table, 8);
}

inline std::string mllm_v2(const std::vector<Descriptor>& descriptors, std::size_t data) {
  const auto data_begin = 532 + 352 * descriptors.size();
  std::string bytes = mllm_v2_header(2, descriptors.size(), 532);
  std::uint64_t number = 0;
  for (const auto& each : descriptors) {
    bytes += little(number++, 4) + little(each.dtype, 4) + little(each.size, 8) +
             little(each.begin + (each.absolute ? 0 : data_begin), 8) +
             little(each.rank == ~0ull ? each.shape.size() : each.rank, 8);
    std::string shape;
    for (const auto extent : each.shape) shape += little(static_cast<std::uint64_t>(extent), 4);
    shape.resize(64, '\0');
    std::string name = each.name;
    name.resize(256, '\0');
    bytes += shape + name;
  }
  return bytes + std::string(data, '\1');
}

}  // namespace mir::test
