// Short ways for tests to say "the upgrade makes ... of this dump".
#pragma once

#include <string>
#include <vector>

#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"

namespace mir::test {

using Lines = std::vector<std::string>;
using Source = LossEntry::Source;

inline const UpgradeOptions kGranted{.rms_epsilon = 1e-6, .layer_norm_epsilon = 1e-5};

struct Upgraded {
  explicit Upgraded(const std::string& text, const UpgradeOptions& options = kGranted)
      : reading(text), grants_all(&options == &kGranted) {
    CAPTURE(text);
    REQUIRE(reading.errors() == Lines{});
    good = upgrade(module(), options, report, diagnostics);
    CHECK(good == !diagnostics.has_errors());
    CHECK(good == (report.count(Source::kRefused) == 0));
    CHECK(module().is_portable() == good);
  }

  Module& module() { return *reading.modules.front(); }
  /// Without warnings of what kGranted says beyond need.
  Lines errors() const {
    Lines lines = lines_of(diagnostics, reading.context);
    std::erase_if(lines, [&](const std::string& line) {
      return grants_all && line.find(" MIR0701 warning ") != line.npos;
    });
    return lines;
  }
  /// `op fact=value` of each entry from one source.
  Lines entries(Source source) const {
    Lines list;
    for (const LossEntry& entry : report.entries) {
      if (entry.source == source) list.push_back(entry.op + " " + entry.fact + "=" + entry.used);
    }
    return list;
  }
  /// What verification and reading the print back find wrong.
  Lines problems() {
    Diagnostics found(0);
    verify(module(), found);
    Lines list = lines_of(found, reading.context);
    Reading again(print(module()));
    for (const std::string& error : again.errors()) list.push_back("print " + error);
    if (list.empty()) {
      const std::string difference = Isomorphism(module(), again.module()).difference();
      if (!difference.empty()) list.push_back(difference);
    }
    return list;
  }

  Reading reading;
  LossReport report;
  Diagnostics diagnostics{0};
  bool grants_all = false;
  bool good = false;
};

/// Whether the text has the part; a failed check shows both.
inline bool has(const std::string& text, const std::string& part) {
  CAPTURE(text);
  CAPTURE(part);
  return text.find(part) != text.npos;
}

inline std::string t(const std::string& dims, const std::string& dtype = "Float32",
                     const std::string& device = "CPU") {
  return "tensor<[" + dims + "], " + dtype + ", " + device + ">";
}

inline std::string dump(const Lines& ops) {
  std::string text = "@main () -> () {\n";
  for (const std::string& op : ops) text += op + "\n";
  return text + "}\n";
}

/// The portable text of the ops; or the first error.
inline std::string upgraded(const std::string& ops, const UpgradeOptions& options = {}) {
  Upgraded module("@main () -> () {\n" + ops + "}\n", options);
  if (!module.good) return module.errors().front();
  CHECK(module.problems() == Lines{});
  return print(module.module());
}

/// Attributes that the last linalg op gets in the portable module; `+` before those assumed. With
/// errors, these instead, without their places.
inline std::string recovered(const Lines& ops, const UpgradeOptions& options = kGranted) {
  Upgraded upgraded(dump(ops), options);
  std::string out;
  if (!upgraded.good) {
    for (const std::string& error : upgraded.errors()) {
      if (!out.empty()) out += "; ";
      out += error.substr(error.find("MIR") + 8);
    }
    return out;
  }
  CHECK(upgraded.problems() == Lines{});
  Op* last = nullptr;
  walk<LinalgOp>(upgraded.module(), [&](LinalgOp op) { last = op.op(); });
  for (const NamedAttr& attribute : last->attributes()) {
    const std::string key(upgraded.reading.context.text(attribute.key));
    for (const LossEntry& entry : upgraded.report.entries) {
      if (entry.fact == key && entry.source == Source::kAssumed) out += "+";
    }
    out += key + ":" + std::string(attribute.value->spelling()) + " ";
  }
  return out.empty() ? out : out.substr(0, out.size() - 1);
}

inline std::string op(const std::string& name, const std::string& in, const std::string& out,
                      const std::string& more = "") {
  return "linalg.CPU." + name + "(%0:" + t(in) + more + ") -> (%1:" + t(out) + ")";
}

inline std::string parameter(const std::string& symbol, const std::string& dims) {
  return "tensor.CPU.register () -> (%5:" + t(dims) + "[@" + symbol + "])[symbol:" + symbol + "]";
}

}  // namespace mir::test
