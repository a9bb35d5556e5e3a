// Reads tensors of an NPZ archive on demand, within limits on counts and sizes.
#include "weights/formats/npz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/weights.hpp"
#include "support/platform/mapped_file.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/zip_directory.hpp"

namespace mir {
namespace {

constexpr std::string_view kSuffix = ".npy";

Error malformed_npz(std::string_view origin, std::string_view text) {
  return {diag::kNpzMalformed, fmt::format("'{}': {}", origin, text)};
}

Result<void> check_limits(const std::vector<ZipMember>& members, const NpzLimits& limits) {
  std::uint64_t total = 0;
  for (const auto& member : members) {
    if (member.size > limits.member_bytes || member.size > limits.total_bytes - total)
      return Error{diag::kLimitExceeded,
                   fmt::format("member '{}' of {} bytes exceeds the limit of {} bytes ({} for all)",
                               member.name, member.size, limits.member_bytes, limits.total_bytes)};
    total += member.size;
  }
  return {};
}

}  // namespace

struct NpzFile::Directory {
  std::string origin;
  std::shared_ptr<const void> owner;
  std::vector<ZipMember> members;

  const ZipMember* find(std::string_view name) const {
    const auto at = std::ranges::find(members, std::string(name).append(kSuffix), &ZipMember::name);
    return at == members.end() ? nullptr : &*at;
  }
};

Result<NpzFile> NpzFile::open(const std::string& path, const NpzLimits& limits,
                              const FileOpener& files) {
  auto file = open_file(files, path);
  if (!file) return std::move(file).error();
  return parse(file->bytes, std::move(file->owner), std::move(file->origin), limits);
}

Result<NpzFile> NpzFile::parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                               std::string origin, const NpzLimits& limits) {
  auto members = read_zip_directory(bytes);
  if (!members) return malformed_npz(origin, members.error().message);
  // Other programs write them.
  std::erase_if(*members, [](const ZipMember& member) { return member.is_folder(); });
  if (const auto checked = check_limits(*members, limits); !checked)
    return Error{checked.error().code, fmt::format("'{}': {}", origin, checked.error().message)};
  for (const auto& member : *members) {
    if (!member.name.ends_with(kSuffix) || member.name.size() == kSuffix.size())
      return malformed_npz(origin, fmt::format("member '{}' is not named *.npy", member.name));
  }
  NpzFile file;
  file.directory_ = std::make_shared<const Directory>(
      Directory{std::move(origin), std::move(owner), *std::move(members)});
  return file;
}

std::vector<std::string> NpzFile::names() const {
  std::vector<std::string> names;
  for (const auto& member : directory_->members)
    names.push_back(member.name.substr(0, member.name.size() - kSuffix.size()));
  return names;
}

bool NpzFile::contains(std::string_view name) const {
  return directory_->find(name) != nullptr;
}

Result<std::optional<Tensor>> NpzFile::find(std::string_view name) const {
  const auto* member = directory_->find(name);
  if (member == nullptr) return std::optional<Tensor>();
  const auto origin = fmt::format("{}:{}", directory_->origin, name);
  if (lies_in_shortened_file(member->data))
    return Error{diag::kFileShortened,
                 fmt::format("'{}': the file was shortened while it was read", origin)};
  auto content = read_zip_member(*member);
  if (!content)
    return Error{content.error().code, fmt::format("'{}': {}", origin, content.error().message)};
  auto tensor =
      parse_npy(content->bytes, content->owner ? content->owner : directory_->owner, origin);
  if (!tensor) return std::move(tensor).error();
  return std::optional(*std::move(tensor));
}

}  // namespace mir
