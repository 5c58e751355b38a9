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
Result search(Space& space, Algorithm algorithm, Meter& meter) {
  switch (algorithm) {
    case Algorithm::astar: return a_star(space, meter);
    case Algorithm::idastar: return ida_star(space, meter);
    default: return breadth_first(space, meter);
  }
}

}  // namespace unjam
