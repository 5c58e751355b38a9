// What leads a beam search: a heuristic, seen as a rank of boards and as a bound on the moves left.
#pragma once

#include <algorithm>
#include <utility>

#include "tiles_board.hpp"

namespace unjam::tiles {

// A heuristic of steps. Its `picture` is what it keeps of a board besides the value.
template <class Steps>
class StepGuide : public Steps {
 public:
  using Value = typename Steps::Value;

  explicit StepGuide(Steps steps) : Steps(std::move(steps)) {}

  int at_least(const Value& value) const { return Steps::steps(value); }

  // Of the two sums of a pattern table the greater is the bound, but the lesser tells boards apart, too: on 24-puzzles
  // solutions are a step shorter than by the bound alone.
  int rank(const Value& value) const {
    if constexpr (requires { value.size(); }) {
      int rank = Steps::steps(value);
      for (const int sum : value) rank += sum;
      return rank;
    } else {
      return Steps::steps(value);
    }
  }
};

// Slides have bounds that tell little. The steps left, although no bound, lead better; `weight` says how much the bound
// on slides counts beside them.
template <class Steps, class Slides>
class SlideGuide {
 public:
  struct Value {
    typename Steps::Value steps;
    typename Slides::Value slides;
  };
  using Picture = typename Steps::Picture;

  SlideGuide(Steps steps, Slides slides, int weight)
      : steps_(std::move(steps)), slides_(std::move(slides)), weight_(weight) {}

  Value start(const Board& board) { return {steps_.start(board), slides_.start(board)}; }
  template <int D, class C>
  Value after(const Value& value, const C& cells, int tile, int from, int to) const {
    return {steps_.template after<D>(value.steps, cells, tile, from, to),
            slides_.template after<D>(value.slides, cells, tile, from, to)};
  }
  template <int D>
  void enter(int tile, int from, int to) {
    steps_.template enter<D>(tile, from, to);
  }
  Picture& picture() { return steps_.picture(); }

  int at_least(const Value& value) const {
    return slides_.vertical_slides(value.slides) + slides_.horizontal_slides(value.slides);
  }
  int rank(const Value& value) const { return steps_.steps(value.steps) + weight_ * at_least(value); }

 private:
  Steps steps_;
  Slides slides_;
  int weight_;
};

}  // namespace unjam::tiles
