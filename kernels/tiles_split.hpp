// One IDA* search of the n-puzzle, divided into units that many workers search, bound after bound.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tiles_board.hpp"
#include "tiles_idastar.hpp"

namespace unjam::tiles {

// What IDA* finds below the end of a way from the root, as many times as ways lead to that board. Plain IDA* comes there
// under bounds of at least `f`: the greatest depth + lower bound of the boards on the way. A way is the blank's directions
// on the mirrored Board, in letters.
struct Unit {
  std::string way;
  int f;
  std::uint64_t weight;
};

// The nodes above the units that IDA* expands under bounds of at least `f`, and their children.
struct Interior {
  int f;
  std::uint64_t expanded, generated;
};

struct Division {
  std::vector<Unit> units;
  std::vector<Interior> interior;
};

inline constexpr std::string_view kLetters = "ULRD";  // of Direction
inline constexpr std::size_t kLongestWay = 64;        // a 2x2 board has one way only, and no end of it

// The directions of a way; empty and `legal` false where the blank would leave the board or go back, or goes too far.
inline std::vector<Direction> directions(const Board& board, const std::string& way, bool& legal) {
  const AnyShape shape(board);
  std::vector<Direction> result;
  int blank = board.blank(), last = kNone;
  legal = way.size() <= kMaxDepth;
  if (!legal) return {};
  for (const char letter : way) {
    const auto at = kLetters.find(letter);
    const auto try_direction = [&]<int D>() {
      if (at != D || !can_go<D>(shape, blank) || last == opposite(D)) return false;
      blank = neighbour<D>(shape, blank);
      return true;
    };
    if (!(try_direction.template operator()<kUp>() || try_direction.template operator()<kLeft>() ||
          try_direction.template operator()<kRight>() || try_direction.template operator()<kDown>())) {
      legal = false;
      return {};
    }
    last = static_cast<int>(at);
    result.push_back(static_cast<Direction>(at));
  }
  return result;
}

// The letters of a blank that visits these cells.
inline std::string letters(const std::vector<int>& visited, int width) {
  std::string way;
  for (std::size_t i = 1; i < visited.size(); ++i) {
    const int by = visited[i] - visited[i - 1];
    way += kLetters[by == -width ? kUp : by == -1 ? kLeft : by == 1 ? kRight : kDown];
  }
  return way;
}

// Divides units into their children, and those again, breadth first. Equal boards that were reached by as many moves, the
// last of which was the same, have the same nodes below them: they become one unit that counts for all.
class Divider {
 public:
  using LowerBound = std::function<int(const Board&)>;

  Divider(const Board& root, LowerBound bound) : root_(root), shape_(root), bound_(std::move(bound)) {}

  // Whether the way is legal. The unit becomes about so many pieces; not fewer than one.
  bool add(const Unit& unit, double pieces) {
    bool legal;
    const std::vector<Direction> way = directions(root_, unit.way, legal);
    if (!legal) return false;
    Node node{root_, root_.blank(), way.empty() ? kNone : way.back(), unit, pieces};
    for (const Direction direction : way) push(node, direction);
    note(std::move(node));
    return true;
  }

  Division run() {
    Division result;
    std::map<int, Interior> interior;
    for (std::size_t depth = 0; depth < layers_.size(); ++depth) {
      const Layer layer = std::move(layers_[depth]);
      for (const auto& [key, node] : layer) {
        if (node.pieces <= 1 || depth == kLongestWay || node.board.solved()) {
          result.units.push_back(node.unit);
        } else {
          expand(node, interior);
        }
      }
    }
    for (const auto& [f, nodes] : interior) result.interior.push_back(nodes);
    return result;
  }

 private:
  struct Node {
    Board board;
    int blank, last;
    Unit unit;
    double pieces;
  };
  using Key = std::tuple<Cells, int, int>;  // with the last direction and f
  using Layer = std::map<Key, Node>;

  void push(Node& node, Direction direction) {
    const int by = direction == kUp      ? -root_.width
                   : direction == kLeft  ? -1
                   : direction == kRight ? 1
                                         : root_.width;
    std::swap(node.board.cells[node.blank], node.board.cells[node.blank + by]);
    node.blank += by;
  }

  void note(Node node) {
    const std::size_t depth = node.unit.way.size();
    if (layers_.size() <= depth) layers_.resize(depth + 1);
    const Key key{node.board.cells, node.last, node.unit.f};
    const auto [there, added] = layers_[depth].try_emplace(key, node);
    if (added) return;
    there->second.unit.weight += node.unit.weight;
    there->second.pieces = std::max(there->second.pieces, node.pieces);
  }

  void expand(const Node& node, std::map<int, Interior>& interior) {
    std::vector<Node> children;
    const auto go = [&]<int D>() {
      if (!can_go<D>(shape_, node.blank) || node.last == opposite(D)) return;
      Node child = node;
      push(child, static_cast<Direction>(D));
      child.last = D;
      child.unit.way += kLetters[D];
      child.unit.f = std::max(node.unit.f, static_cast<int>(child.unit.way.size()) + bound_(child.board));
      children.push_back(std::move(child));
    };
    go.template operator()<kUp>();
    go.template operator()<kLeft>();
    go.template operator()<kRight>();
    go.template operator()<kDown>();
    Interior& nodes = interior.try_emplace(node.unit.f, Interior{node.unit.f, 0, 0}).first->second;
    nodes.expanded += node.unit.weight;
    nodes.generated += node.unit.weight * children.size();
    for (Node& child : children) {
      child.pieces = node.pieces / static_cast<double>(children.size());
      note(std::move(child));
    }
  }

  Board root_;
  AnyShape shape_;
  LowerBound bound_;
  std::vector<Layer> layers_;  // by depth
};

// What one worker did of its units.
struct Slice : Result {     // "optimal" or "bounded"; or "exhausted": no unit has a solution under this bound
  std::size_t done = 0;     // units that are searched to their end
  std::string resume;       // the way of the node that comes next in the unit after those; empty: it was not begun
  std::vector<std::uint64_t> nodes;  // generated in each unit, the last one perhaps not done
};

// Counts nodes as often as the unit's weight says; `resume` as an earlier slice left it in the first unit.
inline void search_units(Steps& search, const Board& board, int bound, const std::vector<Unit>& units,
                         std::string resume, Meter& meter, Slice& slice) {
  slice.outcome = "exhausted";
  slice.lower = bound;
  for (const Unit& unit : units) {
    bool legal, found = false;
    const std::uint64_t expanded = meter.expanded, generated = meter.generated;
    if (unit.f <= bound) {
      const auto way = directions(board, resume.empty() ? unit.way : resume, legal);
      found = search.search_from(way, static_cast<int>(unit.way.size()), bound);
    }
    slice.nodes.push_back(meter.generated - generated);
    slice.expanded += (meter.expanded - expanded) * unit.weight;
    slice.generated += (meter.generated - generated) * unit.weight;
    if (const char* reason = found ? search.stopped() : nullptr) {
      slice.outcome = "bounded";
      slice.reason = reason;
      slice.resume = meter.generated == generated ? resume : letters(search.visited(), board.width);
      return;
    }
    if (found) {
      slice.outcome = "optimal";
      slice.length = slice.upper = bound;
      slice.moves = board.moves(search.visited(bound));
      return;
    }
    ++slice.done;
    resume.clear();
  }
}

}  // namespace unjam::tiles
