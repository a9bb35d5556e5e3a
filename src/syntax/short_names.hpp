// Names of ops without dialect and device, and names that begin with that of their graph.
#pragma once

#include <string>
#include <string_view>

namespace mir {

/// The device of `.AddOp` where no graph around the op names one.
inline constexpr std::string_view kUsualDevice = "CPU";

/// True if an op's name is short: `.AddOp` means one of `linalg`, `.register` one of `tensor`.
constexpr bool is_short_op_name(std::string_view name) {
  return name.starts_with('.');
}
constexpr bool is_short_tensor_name(std::string_view name) {
  return name.size() > 1 && name[1] >= 'a' && name[1] <= 'z';
}

/// `linalg.CPU.AddOp` of `.AddOp`.
std::string full_op_name(std::string_view short_name, std::string_view device);
/// `.AddOp` of `linalg.CPU.AddOp` where the device is this one; otherwise empty.
std::string_view short_op_name(std::string_view name, std::string_view device);

/// True if the token of an op's name is relative: `<.q_proj>`.
bool is_relative_tag(std::string_view tag);
/// `.q_proj` of `<.q_proj>`.
std::string_view relative_name(std::string_view tag);
/// `.q_proj` of `model.q_proj` in graph `model`, where it can be written so; otherwise empty.
std::string_view name_in_graph(std::string_view name, std::string_view graph);

}  // namespace mir
