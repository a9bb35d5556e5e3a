// Opens packs: checks the archive's layout against its manifest, and reads or extracts members.
#include "weights/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/codes/weights.hpp"
#include "support/paths.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/mapped_file.hpp"
#include "weights/checks.hpp"
#include "weights/formats/zip_directory.hpp"
#include "weights/formats/zip_writer.hpp"
#include "weights/pack_copy.hpp"
#include "weights/pack_manifest.hpp"

namespace mir {
namespace {

constexpr std::string_view kZipStart = "PK\3\4";

Error malformed(std::string_view origin, std::string_view text) {
  return {diag::kPackMalformed, fmt::format("'{}': {}", origin, text)};
}

/// Sorts members in the order of the file, and refuses features that ZIP allows and packs do not.
Result<void> check_layout(std::vector<ZipMember>& members, const FileBytes& file) {
  std::ranges::sort(members, {}, &ZipMember::begin);
  std::uint64_t position = 0;
  for (const auto& member : members) {
    const auto refuse = [&](std::string_view text) {
      return malformed(file.origin, fmt::format("member '{}': {}", member.name, text));
    };
    if (member.deflated) return refuse("it is compressed; packs store members uncompressed");
    if (!is_plain_file_name(member.name)) return refuse("its name is no plain file name");
    if (member.begin != position) return refuse("bytes of no member lie before it");
    const auto begin = static_cast<std::uint64_t>(member.data.data() - file.bytes.data());
    if (begin % kZipAlignment != 0)
      return refuse(fmt::format("its data begin at byte {}, expected at a multiple of {}", begin,
                                kZipAlignment));
    position = begin + member.data.size();
  }
  if (members.empty() || members.front().name != kManifestName)
    return malformed(file.origin, fmt::format("its first member is not '{}'", kManifestName));
  return {};
}

/// The members besides the manifest, which must be exactly those that the manifest lists.
Result<std::vector<PackMember>> agree(std::span<const ZipMember> stored,
                                      const PackManifest& manifest, std::string_view origin) {
  std::vector<PackMember> members;
  if (stored.size() != manifest.members.size())
    return malformed(origin, fmt::format("{} members besides the manifest, which lists {}",
                                         stored.size(), manifest.members.size()));
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const auto& stated = manifest.members[i];
    if (stored[i].name != stated.name)
      return malformed(origin, fmt::format("member '{}' where the manifest lists '{}'",
                                           stored[i].name, stated.name));
    if (stored[i].data.size() != stated.bytes)
      return malformed(origin, fmt::format("member '{}' has {} bytes, the manifest says {}",
                                           stated.name, stored[i].data.size(), stated.bytes));
    members.push_back({stated.name, stored[i].data, stated.xxh64, stored[i].crc});
  }
  return members;
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

bool Pack::is_at(const std::string& path) {
  const auto file = map_file(path);
  return file && text_of(file->bytes).starts_with(kZipStart);
}

Result<Pack> Pack::open(const std::string& path) {
  auto file = map_file(path);
  if (!file) return std::move(file).error();
  return parse(*std::move(file));
}

Result<Pack> Pack::parse(FileBytes file) {
  auto stored = read_zip_directory(file.bytes);
  if (!stored) return malformed(file.origin, stored.error().message);
  if (auto checked = check_layout(*stored, file); !checked) return std::move(checked).error();
  const auto text = read_zip_member(stored->front());
  if (!text)
    return malformed(file.origin,
                     fmt::format("member '{}': {}", kManifestName, text.error().message));
  auto manifest = parse_pack_manifest(text_of(text->bytes));
  if (!manifest) return malformed(file.origin, manifest.error().message);
  auto members = agree(std::span(*stored).subspan(1), *manifest, file.origin);
  if (!members) return std::move(members).error();
  Pack pack;
  pack.file_ = std::move(file);
  pack.module_ = std::move(manifest->module);
  pack.arguments_ = std::move(manifest->arguments);
  pack.members_ = *std::move(members);
  return pack;
}

const PackMember* Pack::member(std::string_view name) const {
  const auto at = std::ranges::find(members_, name, &PackMember::name);
  return at == members_.end() ? nullptr : &*at;
}

Result<void> Pack::check(const PackMember& member) const {
  const auto found = hash_content(member.bytes);
  if (lies_in_shortened_file(member.bytes))
    return Error{diag::kFileShortened,
                 fmt::format("'{}': the file was shortened while it was read", file_.origin)};
  if (found == ContentHashes{member.xxh64, member.crc}) return {};
  return malformed(file_.origin,
                   fmt::format("member '{}' has the hash {:016x} and the checksum {:08x}, expected "
                               "{:016x} and {:08x}",
                               member.name, found.xxh64, found.crc, member.xxh64, member.crc));
}

Result<FileBytes> Pack::file(const std::string& name, MemberCheck how) const {
  const auto* found = member(name);
  if (found == nullptr)
    return malformed(file_.origin, fmt::format("it has no member {}", quoted_text(name)));
  if (how == MemberCheck::kHash) {
    if (auto checked = check(*found); !checked) return std::move(checked).error();
  }
  return FileBytes{found->bytes, file_.owner, fmt::format("{}:{}", file_.origin, name)};
}

FileOpener Pack::files(MemberCheck check) const {
  return [pack = *this, check](const std::string& name) { return pack.file(name, check); };
}

Result<void> Pack::extract(const PackMember& member, const std::string& folder) const {
  auto file = AtomicFile::create(path_in(folder, member.name), AtomicFile::Existing::kReplace);
  if (!file) return std::move(file).error();
  const auto copied = copy_content(member.bytes, *file);
  if (!copied) return copied.error();
  if (*copied != ContentHashes{member.xxh64, member.crc}) return check(member);
  return file->commit();
}

}  // namespace mir
