// The searches that fit any space of states, by name.
#pragma once

#include <string>

#include "astar.hpp"
#include "bfs.hpp"
#include "idastar.hpp"
#include "layout.hpp"

namespace unjam {

enum class Algorithm { bfs, astar, idastar };

inline Algorithm algorithm_named(const std::string& name) {
  if (name == "bfs") return Algorithm::bfs;
  if (name == "astar") return Algorithm::astar;
  require(name == "idastar", "the algorithm is bfs, astar or idastar");
  return Algorithm::idastar;
}

template <class Space>
Result informed(Space& space, Algorithm algorithm, Meter& meter) {
  return algorithm == Algorithm::astar ? a_star(space, meter) : ida_star(space, meter);
}

// Where all moves can be taken back, undirected.hpp is better than bfs.hpp.
template <class Space>
Result search(Space& space, Algorithm algorithm, Meter& meter) {
  return algorithm == Algorithm::bfs ? breadth_first(space, meter) : informed(space, algorithm, meter);
}

}  // namespace unjam
