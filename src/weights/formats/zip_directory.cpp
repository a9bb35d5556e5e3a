// Reads and checks the directory of a ZIP archive, with the 64-bit extensions.
#include "weights/formats/zip_directory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "mir/codes/weights.hpp"
#include "support/memory_size.hpp"
#include "weights/checks.hpp"

namespace mir {
namespace {

constexpr std::size_t kEndSize = 22;
constexpr std::size_t kLocatorSize = 20;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kEntrySize = 46;

/// Takes little-endian fields one after the other; after the first that leaves the bytes, all are
/// 0.
class FieldReader {
 public:
  FieldReader(std::span<const std::byte> bytes, std::uint64_t at) : bytes_(bytes) { skip(at); }

  template <class T>
  T take() {
    T value{};
    if (const auto field = take_bytes(sizeof value); !failed_)
      std::memcpy(&value, field.data(), sizeof value);
    return value;
  }

  std::span<const std::byte> take_bytes(std::uint64_t count) {
    const auto begin = at_;
    if (!skip(count)) return {};
    return bytes_.subspan(memory_size(begin), memory_size(count));
  }

  bool take_signature(std::string_view signature) {
    const auto found = take_bytes(signature.size());
    return !failed_ && std::memcmp(found.data(), signature.data(), signature.size()) == 0;
  }

  bool skip(std::uint64_t count) {
    if (failed_ || count > bytes_.size() - at_) {
      failed_ = true;
      return false;
    }
    at_ += count;
    return true;
  }

  bool failed() const { return failed_; }
  bool at_end() const { return at_ == bytes_.size(); }
  std::uint64_t position() const { return at_; }

 private:
  std::span<const std::byte> bytes_;
  std::uint64_t at_ = 0;
  bool failed_ = false;
};

struct Directory {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
};

/// note [end records]
/// The end record must be the last 22 bytes, without a comment that could hold a second one, and
/// the 64-bit end record and its locator must lie directly before it when there are any. The
/// directory ends where they begin. So no two readers can see two different directories.
std::optional<Directory> read_end_records(std::span<const std::byte> bytes) {
  if (bytes.size() < kEndSize) return std::nullopt;
  std::uint64_t end = bytes.size() - kEndSize;
  FieldReader record(bytes, end);
  bool valid = record.take_signature("PK\5\6") && record.take<std::uint32_t>() == 0;
  const auto count_here = record.take<std::uint16_t>();
  const auto count = record.take<std::uint16_t>();
  const auto size = record.take<std::uint32_t>();
  const auto begin = record.take<std::uint32_t>();
  valid = valid && count_here == count && record.take<std::uint16_t>() == 0;
  Directory directory{begin, size, count};

  const bool has_room = end >= kLocatorSize + kEnd64Size;
  FieldReader locator(bytes, has_room ? end - kLocatorSize : 0);
  if (has_room && locator.take_signature("PK\6\7")) {
    end -= kLocatorSize + kEnd64Size;
    valid = valid && locator.take<std::uint32_t>() == 0 && locator.take<std::uint64_t>() == end &&
            locator.take<std::uint32_t>() == 1;
    FieldReader wide(bytes, end);
    valid = valid && wide.take_signature("PK\6\6") &&
            wide.take<std::uint64_t>() == kEnd64Size - 12 && wide.skip(4) &&
            wide.take<std::uint64_t>() == 0;
    const auto wide_here = wide.take<std::uint64_t>();
    directory.count = wide.take<std::uint64_t>();
    directory.size = wide.take<std::uint64_t>();
    directory.begin = wide.take<std::uint64_t>();
    valid = valid && wide_here == directory.count &&
            (count == kSee64Short || count == directory.count) &&
            (size == kSee64 || size == directory.size) &&
            (begin == kSee64 || begin == directory.begin);
  }
  valid = valid && directory.begin <= end && directory.size == end - directory.begin &&
          directory.count <= directory.size / kEntrySize;
  return valid ? std::optional(directory) : std::nullopt;
}

/// Fields that a local header and a directory entry share.
struct Stated {
  std::uint16_t flags = 0;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::uint16_t name_size = 0;
  std::uint16_t extra_size = 0;

  explicit Stated(FieldReader& from) {
    from.skip(2);  // version needed
    flags = from.take<std::uint16_t>();
    method = from.take<std::uint16_t>();
    from.skip(4);  // time and date
    crc = from.take<std::uint32_t>();
    packed = from.take<std::uint32_t>();
    size = from.take<std::uint32_t>();
    name_size = from.take<std::uint16_t>();
    extra_size = from.take<std::uint16_t>();
  }

  /// Replaces each 32-bit field that holds the marker by its value in the 64-bit extra field. Bytes
  /// after the last field that are too few for another one are padding: programs that align data
  /// leave them.
  bool widen(std::span<const std::byte> extra, std::uint64_t& offset) {
    constexpr std::uint16_t kExtra64 = 1;
    constexpr std::size_t kFieldHeader = 4;
    FieldReader fields(extra, 0);
    while (extra.size() - fields.position() >= kFieldHeader && !fields.failed()) {
      const auto kind = fields.take<std::uint16_t>();
      const auto content = fields.take_bytes(fields.take<std::uint16_t>());
      if (kind != kExtra64 || fields.failed()) continue;
      FieldReader wide(content, 0);
      for (auto* field : {&size, &packed, &offset}) {
        if (*field == kSee64) *field = wide.take<std::uint64_t>();
      }
      return !wide.failed();
    }
    return !fields.failed() && size != kSee64 && packed != kSee64 && offset != kSee64;
  }
};

std::string zip_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Returns the begin of a member's data if its local header repeats the directory entry.
std::optional<std::uint64_t> data_begin(std::span<const std::byte> bytes, std::uint64_t offset,
                                        const Stated& entry, std::string_view name) {
  constexpr std::uint16_t kSizesFollow = 1 << 3;  // the local header lacks sizes and checksum
  FieldReader reader(bytes, offset);
  if (!reader.take_signature("PK\3\4")) return std::nullopt;
  Stated local(reader);
  const auto local_name = zip_text(reader.take_bytes(local.name_size));
  const auto extra = reader.take_bytes(local.extra_size);
  std::uint64_t no_offset = 0;
  const bool readable = !reader.failed() && local.widen(extra, no_offset);
  if (!readable || local_name != name || local.flags != entry.flags || local.method != entry.method)
    return std::nullopt;
  const bool same =
      local.crc == entry.crc && local.size == entry.size && local.packed == entry.packed;
  if (!same && (entry.flags & kSizesFollow) == 0) return std::nullopt;
  return reader.position();
}

Result<void> check_entry(const Stated& entry, std::string_view name) {
  constexpr std::uint64_t kRatioLimit = 1032;                        // 258 bytes from two bits
  constexpr unsigned kRefusedFlags = 1 | 1 << 5 | 1 << 6 | 1 << 13;  // encrypted, patched, masked
  if (const auto problem = name_problem(name)) return malformed_zip("its name " + *problem);
  const bool is_folder = name.ends_with('/');
  if (!is_member_name(is_folder ? name.substr(0, name.size() - 1) : name))
    return malformed_zip("its name is a path out of the archive");
  if (is_folder && entry.size != 0)
    return malformed_zip(fmt::format("it is a folder with {} bytes of data", entry.size));
  if ((entry.flags & kRefusedFlags) != 0) return malformed_zip("it is encrypted or patched");
  if (entry.method != 0 && entry.method != 8)
    return malformed_zip(
        fmt::format("compression method {}, expected 0 or 8 (stored or deflated)", entry.method));
  const bool possible =
      entry.method == 0 ? entry.size == entry.packed : entry.size / kRatioLimit <= entry.packed;
  if (!possible)
    return malformed_zip(fmt::format("{} bytes cannot be packed in {}", entry.size, entry.packed));
  return {};
}

/// Reads one directory entry. Data must end before the directory, which begins at `limit`.
Result<ZipMember> read_entry(FieldReader& reader, std::span<const std::byte> bytes,
                             std::uint64_t limit) {
  if (!reader.take_signature("PK\1\2") || !reader.skip(2))
    return malformed_zip("the directory of the ZIP archive is damaged");
  Stated entry(reader);
  const auto comment_size = reader.take<std::uint16_t>();
  const auto disk = reader.take<std::uint16_t>();
  reader.skip(6);  // attributes
  std::uint64_t offset = reader.take<std::uint32_t>();
  const auto name = zip_text(reader.take_bytes(entry.name_size));
  const auto extra = reader.take_bytes(entry.extra_size);
  reader.skip(comment_size);
  const auto refuse = [&](std::string_view text) {
    return malformed_zip(fmt::format("member '{}': {}", name, text));
  };
  if (reader.failed() || disk != 0 || !entry.widen(extra, offset))
    return refuse("its directory entry is damaged");
  if (const auto checked = check_entry(entry, name); !checked)
    return refuse(checked.error().message);
  const auto begin = data_begin(bytes, offset, entry, name);
  if (!begin) return refuse("its local header is not that of the directory");
  if (*begin > limit || entry.packed > limit - *begin)
    return refuse("its data reach beyond the directory");
  return ZipMember{.name = name,
                   .begin = offset,
                   .data = bytes.subspan(memory_size(*begin), memory_size(entry.packed)),
                   .size = entry.size,
                   .crc = entry.crc,
                   .deflated = entry.method != 0};
}

/// Refuses members that share bytes, their local headers included.
Result<void> check_overlap(std::span<const ZipMember> members, std::span<const std::byte> bytes) {
  std::vector<const ZipMember*> order;
  for (const auto& member : members) order.push_back(&member);
  std::ranges::sort(order, {}, &ZipMember::begin);
  std::uint64_t free = 0;
  for (const auto* member : order) {
    if (member->begin < free)
      return malformed_zip(fmt::format("member '{}' overlaps another", member->name));
    free = static_cast<std::uint64_t>(member->data.data() + member->data.size() - bytes.data());
  }
  return {};
}

}  // namespace

Error malformed_zip(std::string_view text) {
  return {diag::kNpzMalformed, std::string(text)};
}

bool is_member_name(std::string_view name) {
  if (name.find('\\') != std::string_view::npos) return false;
  for (;;) {
    const auto part = name.substr(0, name.find('/'));
    if (part.empty() || part == "." || part == "..") return false;
    if (part.size() == name.size()) return true;
    name.remove_prefix(part.size() + 1);
  }
}

Result<std::vector<ZipMember>> read_zip_directory(std::span<const std::byte> bytes) {
  const auto directory = read_end_records(bytes);
  if (!directory)
    return malformed_zip("the file does not end with the end records of one ZIP archive");
  FieldReader reader(bytes.first(memory_size(directory->begin + directory->size)),
                     directory->begin);
  std::vector<ZipMember> members;
  while (members.size() < directory->count) {
    auto entry = read_entry(reader, bytes, directory->begin);
    if (!entry) return std::move(entry).error();
    members.push_back(*std::move(entry));
  }
  if (!reader.at_end()) return malformed_zip("the directory of the ZIP archive is damaged");
  std::set<std::string_view> names;
  for (const auto& member : members) {
    if (!names.insert(member.name).second)
      return malformed_zip(fmt::format("two members are named '{}'", member.name));
  }
  if (auto checked = check_overlap(members, bytes); !checked) return std::move(checked).error();
  return members;
}

}  // namespace mir
