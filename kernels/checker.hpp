// Replays moves on the plain grid, by the rules and nothing else: shares no code with the searches. Each function returns
// "" when every move is legal and the last one reaches the goal, else the reason why not.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace unjam::checker {

using Grid = std::vector<int>;
using MoveList = std::vector<std::pair<int, int>>;

std::string check_tiles(int width, int height, Grid board, int blank_goal, const std::string& metric,
                        const MoveList& moves);
std::string check_klotski(int width, int height, Grid board, const std::vector<int>& classes,
                          const std::vector<int>& gates, const std::vector<int>& gate_classes,
                          const std::vector<std::pair<int, int>>& goal, const std::string& metric,
                          const MoveList& moves);
std::string check_rush(int width, int height, Grid board, int primary, int goal_cell, const std::string& metric,
                       const MoveList& moves);
std::string check_parkout(int width, int height, Grid board, const std::vector<int>& noses,
                          const std::vector<bool>& fixed, const std::vector<int>& opens, const std::vector<int>& closes,
                          const MoveList& moves);

}  // namespace unjam::checker
