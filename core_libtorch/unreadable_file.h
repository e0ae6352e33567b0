// Why a file cannot be read, before a format reports something misleading.
#pragma once

#include <string>

namespace simple_torch::core {

/// Such as "No such file or directory" or "Is a directory"; empty if the path is a file that can be opened.
std::string why_unreadable(const std::string& path);

}  // namespace simple_torch::core
