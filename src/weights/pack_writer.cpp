// Writes a pack in two passes over its files: first checksums, then data.
#include <fmt/format.h>

#include <utility>

#include "mir/codes/files.hpp"
#include "support/platform/atomic_file.hpp"
#include "weights/checks.hpp"
#include "weights/formats/zip_writer.hpp"
#include "weights/pack.hpp"
#include "weights/pack_copy.hpp"
#include "weights/pack_manifest.hpp"

namespace mir {
namespace {

/// One file with the results of the first pass over it.
struct Source {
  FileBytes file;
  ContentHashes hashes;
};

/// Each file is read twice: a member's header, which lies before its data, has their checksum.
class PackWriter {
 public:
  explicit PackWriter(const PackPlan& plan) : plan_(plan) {}

  Result<void> write(const std::string& path) {
    if (auto opened = open_files(); !opened) return opened;
    const PackManifest manifest = make_manifest();
    if (auto checked = check_pack_manifest(manifest); !checked) return checked;
    auto file = AtomicFile::create(path);
    if (!file) return std::move(file).error();
    const std::string text = to_json(manifest);
    if (auto parsed = parse_pack_manifest(text); !parsed) return std::move(parsed).error();
    const auto bytes = std::as_bytes(std::span(text));
    if (auto written = add(*file, kManifestName, bytes, hash_content(bytes), {}); !written)
      return written;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      const auto& [source, hashes] = sources_[i];
      auto written = add(*file, plan_.files[i].name, source.bytes, hashes, counter());
      if (!written)
        return Error{written.error().code,
                     fmt::format("'{}': {}", source.origin, written.error().message)};
    }
    if (auto written = file->write(archive_.finish(file->size())); !written) return written;
    return file->commit();
  }

 private:
  Result<void> open_files() {
    for (const auto& each : plan_.files) {
      auto file = each.text ? FileBytes{std::as_bytes(std::span(*each.text)), nullptr, each.path}
                            : map_file(each.path);
      if (!file) return std::move(file).error();
      total_ += 2 * file->bytes.size();
      sources_.push_back({*std::move(file), {}});
    }
    return {};
  }

  PackManifest make_manifest() {
    PackManifest manifest{.module = plan_.module, .arguments = plan_.arguments, .members = {}};
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      auto& [file, hashes] = sources_[i];
      hashes = hash_content(file.bytes, counter());
      manifest.members.push_back({plan_.files[i].name, file.bytes.size(), hashes.xxh64});
    }
    return manifest;
  }

  Result<void> add(AtomicFile& file, std::string_view name, std::span<const std::byte> bytes,
                   const ContentHashes& hashes, const PieceDone& done) {
    const auto header = archive_.begin_member(name, bytes.size(), hashes.crc, file.size());
    if (auto written = file.write(header); !written) return written;
    const auto copied = copy_content(bytes, file, done);
    if (!copied) return copied.error();
    if (*copied == hashes) return {};
    return Error{diag::kFileShortened, "the file changed while it was packed"};
  }

  PieceDone counter() {
    if (!plan_.progress) return {};
    return [this](std::uint64_t bytes) {
      done_ += bytes;
      plan_.progress(done_, total_);
    };
  }

  const PackPlan& plan_;
  std::vector<Source> sources_;
  ZipWriter archive_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

Result<void> write_pack(const std::string& path, const PackPlan& plan) {
  return PackWriter(plan).write(path);
}

}  // namespace mir
