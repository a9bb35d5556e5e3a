// Kernels of a program: each launch as a portable module of its own.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mir/machine.hpp"
#include "mir/session.hpp"
#include "mir/upgrade.hpp"
#include "program/launch_places.hpp"
#include "program/program_code.hpp"

namespace mir {

/// Makes kernels when they are first launched. One that a launch names is made once; the others
/// are made for each instruction.
class MachineKernels {
 public:
  MachineKernels(const ProgramCode& program, const MachineOptions& options)
      : program_(program), options_(options), places_(launch_places(program)) {}

  /// False after reporting what is granted to ops and no launch that runs lost.
  bool uses_grants(Diagnostics& diagnostics);

  /// Results of the launch; none after reporting. `operands` are what the slots hold, undefined for
  /// values that need none.
  std::optional<std::vector<Tensor>> launch(const prog::Instruction& instruction,
                                            std::span<const Tensor> operands, bool is_last,
                                            Diagnostics& diagnostics);

  /// Whether the launch gives what it prints with these operands.
  bool gives_what_is_printed(const Op& instruction, std::span<const Tensor> operands) const;

  /// `whole` with the part that the launch `slice` states, all of it where that is null, replaced
  /// by `part`; none after reporting at `instruction`.
  std::optional<Tensor> store(const Op& instruction, const Op* slice, const Tensor& part,
                              const Tensor& whole, Diagnostics& diagnostics);

  /// What a table declares as a parameter; none after reporting at `instruction`.
  std::optional<Tensor> parameter(const Value& declared, const Op& instruction,
                                  Diagnostics& diagnostics);

  const LossReport& losses() const { return losses_; }

 private:
  struct Kernel {
    std::unique_ptr<Module> module;
    std::optional<Session> session;
    std::vector<std::pair<DType, Shape>> operands;  // what it was made for
  };
  Kernel* kernel_of(const prog::Instruction& instruction, std::span<const Tensor> operands,
                    Diagnostics& diagnostics);
  bool make(Kernel& kernel, const prog::Instruction& instruction, std::span<const Tensor> operands,
            Diagnostics& diagnostics);
  UpgradeOptions granted(const prog::Instruction& instruction, std::string_view place) const;
  bool is_lost(const prog::Launch& launch, std::string_view place, const Grant& grant) const;
  std::string_view place_of(const Op& launch) const;  // empty where the launch has a name
  SessionOptions session_options() const;

  const ProgramCode& program_;
  const MachineOptions& options_;
  std::unordered_map<const Op*, std::string> places_;  // of launches without a name
  LossReport losses_;
  std::unordered_map<const Op*, Kernel> kernels_;  // by prog::Kernel::op, else by launch
  const Session* first_ = nullptr;                 // the others share its parameters
};

}  // namespace mir
