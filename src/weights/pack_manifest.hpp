// The manifest of a pack: docs/packs.md has its form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "weights/pack.hpp"

namespace mir {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::size_t kMaxPackMembers = 4096;

struct PackManifest {
  struct Member {
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t xxh64 = 0;
  };
  std::string module;
  PackArguments arguments;
  std::vector<Member> members;
};

/// Refuses with kPackMalformed what the form does not have, and another schema. The error's message
/// lacks the file's name.
Result<PackManifest> parse_pack_manifest(std::string_view json);
/// Equal manifests give equal texts.
std::string to_json(const PackManifest& manifest);
/// Refuses manifests that parse_pack_manifest() would refuse.
Result<void> check_pack_manifest(const PackManifest& manifest);

}  // namespace mir
