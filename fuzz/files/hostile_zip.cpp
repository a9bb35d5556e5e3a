// NPZ archives and packs.
#include <fmt/format.h>
#include <xxhash.h>

#include <cstdint>
#include <span>
#include <vector>

#include "fields.hpp"
#include "hostile_parts.hpp"

namespace mir::fuzz {
namespace {

struct ZipPart {
  std::string name;
  std::string data;
};

/// The CRC-32 of ZIP.
std::uint32_t crc_of(std::string_view bytes) {
  std::uint32_t crc = ~std::uint32_t{0};
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

/// An extra field of no known kind, after which data are aligned.
std::string filling(std::size_t position, std::size_t alignment) {
  if (alignment == 1) return {};
  const std::size_t padding = (2 * alignment - 4 - position % alignment) % alignment;
  return little_endian(0xD935, 2) + little_endian(padding, 2) + std::string(padding, '\0');
}

FieldFile zip_file(std::span<const ZipPart> parts, std::size_t alignment) {
  FieldFile file;
  std::vector<std::size_t> offsets;
  const auto common = [&](const std::string& which, const ZipPart& part, std::size_t extra) {
    file.number(which + "flags", 0, 2, false);
    file.number(which + "method", 0, 2);
    file.number(which + "time", 0, 4, false);
    file.number(which + "CRC", crc_of(part.data), 4);
    file.number(which + "stored size", part.data.size(), 4);
    file.number(which + "size", part.data.size(), 4);
    file.number(which + "name length", part.name.size(), 2);
    file.number(which + "extra length", extra, 2);
  };
  for (std::size_t i = 0; i < parts.size(); ++i) {
    offsets.push_back(file.size());
    const auto extra = filling(file.size() + 30 + parts[i].name.size(), alignment);
    file.text("PK\3\4");
    file.number("local version", 20, 2, false);
    common(fmt::format("local {} ", i), parts[i], extra.size());
    file.text(parts[i].name + extra + parts[i].data);
  }
  const std::size_t directory = file.size();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string which = fmt::format("entry {} ", i);
    file.text("PK\1\2");
    file.number(which + "versions", 20 << 16 | 20, 4, false);
    common(which, parts[i], 0);
    file.number(which + "comment length", 0, 2);
    file.number(which + "disk", 0, 2);
    file.number(which + "attributes", 0, 6, false);
    file.number(which + "offset", offsets[i], 4);
    file.text(parts[i].name);
  }
  const std::size_t end = file.size();
  file.text("PK\5\6");
  file.number("disks", 0, 4);
  file.number("entries here", parts.size(), 2);
  file.number("entries", parts.size(), 2);
  file.number("directory size", end - directory, 4);
  file.number("directory offset", directory, 4);
  file.number("comment length", 0, 2);
  return file;
}

Files other_records(const FieldFile& file) {
  Files files;
  for (const auto* record : {"PK\3\4", "PK\1\2", "PK\5\6"}) {
    auto bytes = file.bytes();
    bytes.replace(bytes.find(record), 4, "PK\7\x8");
    files.push_back({"a record of another kind", std::move(bytes)});
  }
  return files;
}

FieldFile npz(std::string_view name = "aa.npy", bool repeat_name = false) {
  const std::string member = npy_file(std::string(kDictionary));
  const std::string first(name);
  const ZipPart parts[] = {{first, member}, {repeat_name ? first : "b.npy", member}};
  return zip_file(parts, 1);
}

// Packs

constexpr std::string_view kModule = "@main [mir_version:1] () -> () {\n}\n";

std::string hash_of(const std::string& text) {
  return fmt::format("{:016x}", XXH64(text.data(), text.size(), 0));
}

std::string weights() {
  return npy_file(std::string(kDictionary));
}

std::string manifest(std::string_view second = "w.npy") {
  return fmt::format(
      R"({{"schema":1,"module":"m.mir","arguments":{{"input":["x={1}"],"entry":["main"]}},)"
      R"("members":[{{"name":"m.mir","bytes":{2},"xxh64":"{3}"}},)"
      R"({{"name":"{1}","bytes":{4},"xxh64":"{5}"}}]}})",
      0, second, kModule.size(), hash_of(std::string(kModule)), weights().size(),
      hash_of(weights()));
}

FieldFile pack(const std::string& text, const std::string& second = "w.npy",
               std::size_t alignment = 64) {
  const ZipPart parts[] = {
      {"manifest.json", text}, {"m.mir", std::string(kModule)}, {second, weights()}};
  return zip_file(parts, alignment);
}

std::string with_manifest(const std::string& text) {
  return pack(text).bytes();
}

Files odd_manifests() {
  const std::string good = manifest();
  Files files;
  for (const auto& cut : shortened(good)) files.push_back({cut.what, with_manifest(cut.bytes)});
  const auto replace = [&](std::string_view from, std::initializer_list<std::string_view> values) {
    append(files, with_tokens(good, from, values, with_manifest));
  };
  replace("\"schema\":1",
          {"\"schema\":2", "\"schema\":0", "\"schema\":-1", "\"schema\":1.0", "\"schema\":\"1\"",
           "\"schema\":null", "\"schema\":[1]", "\"schema\":1,\"schema\":1", "\"x\":1",
           "\"schema\":18446744073709551616", "\"schema\":1,\"more\":1"});
  replace("\"module\":\"m.mir\"", {"\"module\":\"n.mir\"", "\"module\":\"\"", "\"module\":1",
                                   "\"module\":\"manifest.json\"", "\"module\":null",
                                   "\"module\":\"../m.mir\"", "\"module\":\"/m.mir\""});
  replace("{\"input\":[\"x=w.npy\"],\"entry\":[\"main\"]}",
          {"[]", "null", "{\"input\":\"x=w.npy\"}", "{\"input\":[1]}", "{\"input\":[null]}",
           "{\"input\":[[]]}", "{\"input\":[]}", "{\"output\":[\"/tmp/x\"]}", "{\"dump\":[\"x\"]}",
           "{\"report\":[\"x\"]}", "{\"against\":[\"x\"]}", "{\"\":[\"x\"]}",
           "{\"entry\":[\"a\",\"b\"]}", "{\"input\":[\"\xFF\"]}", "{\"input\":{}}"});
  for (const std::string& bytes :
       {fmt::format("\"bytes\":{}", kModule.size()), fmt::format("\"bytes\":{}", weights().size())})
    replace(bytes,
            {"\"bytes\":0", "\"bytes\":-1", "\"bytes\":1", "\"bytes\":64.0", "\"bytes\":1e2",
             "\"bytes\":null", "\"bytes\":\"9\"", "\"bytes\":9223372036854775807",
             "\"bytes\":18446744073709551615", "\"bytes\":18446744073709551616", "\"size\":9"});
  for (const std::string& hash : {hash_of(std::string(kModule)), hash_of(weights())})
    replace(hash, {"", "0", "0123456789abcdef", "0123456789abcdeF", "0123456789abcdefg", "-1",
                   "0x23456789abcdef", "00000000000000000"});
  for (const std::string_view name : {"\"name\":\"m.mir\"", "\"name\":\"w.npy\""})
    replace(name, {"\"name\":\"\"", "\"name\":\"../m\"", "\"name\":\"/m\"", "\"name\":\"a/m\"",
                   "\"name\":\"..\"", "\"name\":\"manifest.json\"", "\"name\":\"m\\u0000\"",
                   "\"name\":\"\xFF\"", "\"name\":null", "\"name\":\"C:m\"", "\"name\":\".m\"",
                   "\"name\":\"x\",\"name\":\"m.mir\"", "\"name\":\"x\""});
  files.push_back({"deep nesting", with_manifest(std::string(50'000, '['))});
  files.push_back({"a text after the manifest", with_manifest(good + "x")});
  files.push_back({"a NUL after the manifest", with_manifest(good + std::string(1, '\0'))});
  return files;
}

}  // namespace

std::string sound_npz() {
  return npz().bytes();
}

Files hostile_npz() {
  const FieldFile file = npz();
  Files files = file.with_other_numbers();
  append(files, file.with_other_length());
  for (const auto* name : {"../a.npy", "/a.npy", "d/../a.npy", "d\\a.npy", "..", ".npy", "a.npz",
                           "a", "a.npy/", "C:\\a.npy", "a\n.npy", "\xFF.npy", "\xC0\x80.npy"})
    files.push_back({std::string("a member named ") + name, npz(name).bytes()});
  files.push_back({"a NUL in a member's name", npz(std::string_view("a\0.npy", 6)).bytes()});
  files.push_back({"a name twice", npz("aa.npy", true).bytes()});
  append(files, other_records(file));
  auto changed = file.bytes();
  changed[changed.find('\1', 100)] ^= 2;
  files.push_back({"a changed byte of data", std::move(changed)});
  return files;
}

std::string sound_pack() {
  return with_manifest(manifest());
}

Files hostile_packs() {
  const FieldFile file = pack(manifest());
  Files files = file.with_other_numbers();
  append(files, file.with_other_length());
  append(files, other_records(file));
  append(files, odd_manifests());
  for (const std::string& name : std::vector<std::string>{
           "../w.npy", "/w.npy", "d/w.npy", "d\\w.npy", "..", ".", ".w.npy", "w/", "C:w.npy", "w\n",
           "\xFF.npy", "\xC0\x80", "", "m.mir", "manifest.json"})
    files.push_back({"a member named " + name, pack(manifest(name), name).bytes()});
  files.push_back({"a member that is not listed", pack(manifest(), "v.npy").bytes()});
  files.push_back({"data that are not aligned", pack(manifest(), "w.npy", 1).bytes()});
  const ZipPart lonely[] = {{"manifest.json", manifest()}};
  files.push_back({"no member but the manifest", zip_file(lonely, 64).bytes()});
  const ZipPart turned[] = {
      {"m.mir", std::string(kModule)}, {"manifest.json", manifest()}, {"w.npy", weights()}};
  files.push_back({"a manifest that is not first", zip_file(turned, 64).bytes()});
  files.push_back({"bytes before the first member", "x" + file.bytes()});
  for (const auto text : {std::string_view("@main"), std::string_view("NUMPY")}) {
    auto changed = file.bytes();
    changed[changed.find(text)] ^= 2;
    files.push_back({"a changed byte of data", std::move(changed)});
  }
  return files;
}

}  // namespace mir::fuzz
