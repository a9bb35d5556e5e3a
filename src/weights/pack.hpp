// A module with its weights, inputs and expected outputs in one file; docs/packs.md has its form.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "weights/file_bytes.hpp"

namespace mir {

/// An option of mllm-interp that a pack can carry.
struct PackOption {
  std::string_view name;
  bool repeatable = true;
  bool computes = true;  ///< selects the computation; false if it selects the comparison
};
inline constexpr PackOption kPackOptions[] = {
    {"dialect", true, false},
    {"weights"},
    {"input"},
    {"then"},
    {"feed"},
    {"bind"},
    {"module", false},
    {"entry", false},
    {"bind-op"},
    {"symbolic-dim"},
    {"assume"},
    {"sidecar"},
    {"expect", true, false},
    {"tolerance", true, false},
};

/// Values of options by name, as a command line has them. Files are named by their members.
using PackArguments = std::map<std::string, std::vector<std::string>, std::less<>>;

struct PackMember {
  std::string name;  ///< a plain file name
  std::span<const std::byte> bytes;
  std::uint64_t xxh64 = 0;  ///< that the manifest states
  std::uint32_t crc = 0;    ///< that the archive states
};

/// Extent of the check of a member before it is handed out: none, or a hash of all its bytes.
enum class MemberCheck : std::uint8_t { kNone, kHash };

/// A pack whose directory and manifest were checked and agree: stored members that lie one after
/// the other from the start of the file on, each at a multiple of 64 bytes, with plain unique
/// names; each is in the manifest with its size, and nothing else is. Violations are refused with
/// kPackMalformed. Only check() reads the bytes of members. Copies share the mapping.
class Pack {
 public:
  /// True if the file at this path begins like a pack.
  static bool is_at(const std::string& path);
  static Result<Pack> open(const std::string& path);
  static Result<Pack> parse(FileBytes file);

  /// The member that holds the module's text.
  const std::string& module() const { return module_; }
  const PackArguments& arguments() const { return arguments_; }
  /// Without the manifest, in the order of the file.
  const std::vector<PackMember>& members() const { return members_; }
  /// Returns null if there is none of that name.
  const PackMember* member(std::string_view name) const;

  /// Refuses a member whose hash is not that of the manifest, or checksum not that of the archive.
  Result<void> check(const PackMember& member) const;
  /// A member's bytes, which stay where they are.
  Result<FileBytes> file(const std::string& name, MemberCheck check) const;
  /// The members as the only files there are.
  FileOpener files(MemberCheck check) const;
  /// Writes a member into an existing folder under its own name, atomically and checked. An
  /// existing file of that name is replaced; a link is not followed.
  Result<void> extract(const PackMember& member, const std::string& folder) const;

 private:
  Pack() = default;

  FileBytes file_;
  std::string module_;
  PackArguments arguments_;
  std::vector<PackMember> members_;
};

/// Contents of a pack to be written.
struct PackPlan {
  struct File {
    std::string name;  ///< of the member
    std::string path;
    std::optional<std::string> text{};  ///< contents of the member, instead of those at the path
  };
  std::string module;  ///< a member
  PackArguments arguments;
  std::vector<File> files;
  /// Called while files are read and copied.
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;
};

/// Writes a pack atomically. Equal plans and files give equal bytes. Refuses contents that could
/// not be read again, and files that change meanwhile.
Result<void> write_pack(const std::string& path, const PackPlan& plan);

}  // namespace mir
