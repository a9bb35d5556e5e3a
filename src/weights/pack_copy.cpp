// Hashes and copies large contents in pieces, with progress reports.
#include "weights/pack_copy.hpp"

#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "mir/codes/files.hpp"
#include "support/platform/mapped_file.hpp"
#include "weights/formats/zip_directory.hpp"

namespace mir {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Computes both hashes of the added bytes.
class Hasher {
 public:
  Hasher() : state_(XXH64_createState(), &XXH64_freeState) { XXH64_reset(state_.get(), 0); }

  void add(std::span<const std::byte> bytes) {
    XXH64_update(state_.get(), bytes.data(), bytes.size());
    crc_ = crc32_of(bytes, crc_);
  }
  ContentHashes hashes() const { return {XXH64_digest(state_.get()), crc_}; }

 private:
  std::unique_ptr<XXH64_state_t, decltype(&XXH64_freeState)> state_;
  std::uint32_t crc_ = 0;
};

/// Calls `use` with one piece after the other, as long as it returns true.
template <class Use>
void for_each_piece(std::span<const std::byte> bytes, const PieceDone& done, Use use) {
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPiece));
    if (!use(piece)) return;
    if (done) done(piece.size());
    bytes = bytes.subspan(piece.size());
  }
}

}  // namespace

ContentHashes hash_content(std::span<const std::byte> bytes, const PieceDone& done) {
  Hasher hasher;
  for_each_piece(bytes, done, [&](auto piece) {
    hasher.add(piece);
    return true;
  });
  return hasher.hashes();
}

Result<ContentHashes> copy_content(std::span<const std::byte> bytes, AtomicFile& file,
                                   const PieceDone& done) {
  Hasher hasher;
  std::vector<std::byte> kept;
  Result<void> copied;
  for_each_piece(bytes, done, [&](auto piece) {
    kept.assign(piece.begin(), piece.end());
    hasher.add(kept);
    copied = file.write(kept);
    return copied.ok();
  });
  if (lies_in_shortened_file(bytes))
    return Error{diag::kFileShortened, "the file that is read was shortened meanwhile"};
  if (!copied) return std::move(copied).error();
  return hasher.hashes();
}

}  // namespace mir
