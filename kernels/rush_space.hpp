// Rush over the arrangements of its lines, for whole graphs: each state by a key of 64 bits (level_graph_search.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "rush_moves.hpp"

namespace unjam {

template <int Side>
class RushSpace {
 public:
  using Key = std::uint64_t;

  RushSpace(const Layout& layout, const CarLines& lines, RushGoal goal, Metric metric)
      : layout_(layout),
        lines_(lines),
        tables_(std::make_shared<RushTables<Side>>(lines, metric)),
        moves_(layout, lines, *tables_, goal) {}

  Key start() const { return tables_->start; }
  std::size_t fanout() const { return RushTables<Side>::kFanout; }
  bool is_goal(Key key) const { return moves_.is_goal(key); }

  // A mover is the line and its arrangement before.
  template <class Sink>
  void expand(Key key, Mover last, Sink&& sink) const {
    auto children = moves_.children_of(key);
    if (last != kNobody) {
      const int line = last / kArrangements;
      moves_.leave_out_known(children, line, last % kArrangements, RushTables<Side>::arrangement(key, line));
    }
    RushMoves<Side>::each(children, key, [&](int line, int from, int to) {
      sink(RushMoves<Side>::moved(key, line, from, to), static_cast<Mover>(line * kArrangements + from));
    });
  }
  template <class Sink>
  void expand_back(Key key, Mover last, Sink&& sink) const {
    expand(key, last, sink);
  }

  Moves moves(const std::vector<Key>& keys) const {
    Moves moves;
    for (std::size_t at = 1; at < keys.size(); ++at) moves.push_back(moves_.move(keys[at - 1], keys[at]));
    return moves;
  }

  std::optional<Key> key_of(const std::vector<int>& anchors) const {
    Key key = 0;
    for (int line = 0; line < RushTables<Side>::kLines; ++line) {
      const CarLine& cars = lines_.line[RushTables<Side>::line_index(line)];
      int found = 0;
      while (found < cars.count && !stand_so(cars, line, found, anchors)) ++found;
      if (found == cars.count) return std::nullopt;
      key |= static_cast<Key>(found) << line * RushTables<Side>::kBits;
    }
    return key;
  }
  std::vector<int> anchors_of(Key key) const {
    std::vector<int> anchors(layout_.pieces.size());
    for (int line = 0; line < RushTables<Side>::kLines; ++line) {
      const CarLine& cars = lines_.line[RushTables<Side>::line_index(line)];
      const int known = static_cast<int>(RushTables<Side>::arrangement(key, line));
      require(known < cars.count, "a line of cars stands as it cannot");  // the key was not made here
      const auto& arrangement = cars.arrangement[known];
      for (int car = 0; car < cars.cars; ++car) {
        anchors[cars.car[car].piece] = moves_.cell(line, arrangement.first[car]);
      }
    }
    return anchors;
  }

 private:
  static constexpr int kArrangements = 16;  // and more than any line has

  bool stand_so(const CarLine& cars, int line, int arrangement, const std::vector<int>& anchors) const {
    for (int car = 0; car < cars.cars; ++car) {
      if (moves_.cell(line, cars.arrangement[arrangement].first[car]) != anchors[cars.car[car].piece]) return false;
    }
    return true;
  }

  const Layout& layout_;
  const CarLines& lines_;
  std::shared_ptr<const RushTables<Side>> tables_;  // a copy of the space refers to the same ones
  RushMoves<Side> moves_;
};

}  // namespace unjam
