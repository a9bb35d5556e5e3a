// Names of the kinds of things that arguments refer to.
#include "reference.hpp"

#include <algorithm>
#include <iterator>

namespace mir::tools {

namespace {

struct KindName {
  ReferenceKind kind;
  std::string_view name;
};

constexpr KindName kKindNames[] = {{ReferenceKind::kReadFile, "read file"},
                                   {ReferenceKind::kWrittenFile, "written file"},
                                   {ReferenceKind::kWrittenFolder, "written folder"},
                                   {ReferenceKind::kModule, "module"},
                                   {ReferenceKind::kGraph, "graph"},
                                   {ReferenceKind::kSymbol, "symbol"},
                                   {ReferenceKind::kInput, "input"},
                                   {ReferenceKind::kOutput, "output"},
                                   {ReferenceKind::kResult, "result"},
                                   {ReferenceKind::kOp, "op"},
                                   {ReferenceKind::kTensor, "tensor"},
                                   {ReferenceKind::kPass, "pass"},
                                   {ReferenceKind::kValue, "value"},
                                   {ReferenceKind::kFact, "fact"}};

}  // namespace

std::string_view name_of(ReferenceKind kind) {
  return std::ranges::find(kKindNames, kind, &KindName::kind)->name;
}

}  // namespace mir::tools
