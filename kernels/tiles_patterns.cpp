// Pattern databases for Python: bytes that it allocates, keeps and maps are filled, checked and looked up here.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "control.hpp"
#include "tiles_pattern_search.hpp"
#include "tiles_pattern_sum.hpp"
#include "tiles_patterns.hpp"

namespace nb = nanobind;

namespace unjam::tiles {

using Bytes = nb::ndarray<std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstBytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

static void require(bool holds, const char* otherwise) {
  if (!holds) throw std::invalid_argument(std::string("patterns: ") + otherwise);
}

static void check_size(int width, int height, int tiles) {
  require(width >= 2 && width <= kMaxSide && height >= 2 && height <= kMaxSide && width * height <= kMaxPatternCells,
          "a board has 2 to 6 rows and columns and up to 25 cells");
  require(tiles >= 1 && tiles <= kMaxPatternTiles && tiles < width * height, "a pattern has 1 to 8 tiles");
}

static void check_pattern(int width, int height, int blank_goal, const std::vector<int>& tiles) {
  check_size(width, height, static_cast<int>(tiles.size()));
  require(blank_goal >= 0 && 2 * (blank_goal / width) < height && 2 * (blank_goal % width) <= width - 1,
          "blank_goal is not in the upper left quarter");
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    require(tiles[i] >= 0 && tiles[i] < width * height && (i == 0 || tiles[i - 1] < tiles[i]),
            "tiles are not cells in ascending order");
  }
}

static std::uint64_t pattern_entries(int width, int height, int tiles, bool compressed) {
  check_size(width, height, tiles);
  nb::gil_scoped_release released;
  return PatternSpace(width, height, tiles, compressed).entries();
}

static std::string build_pattern(int width, int height, int blank_goal, const std::vector<int>& tiles,
                                 bool compressed, const Bytes& entries, const Limits& limits, Control& control) {
  check_pattern(width, height, blank_goal, tiles);
  nb::gil_scoped_release released;
  try {
    const PatternSpace space(width, height, static_cast<int>(tiles.size()), compressed);
    require(entries.size() == space.entries(), "the table has another size");
    Mask goal = 0;
    for (const int tile : tiles) goal |= Mask{1} << tile;
    Meter meter(limits, control);
    meter.expanded = control.expanded;
    const char* reason = PatternSearch(space, entries.data(), meter).run(goal, blank_goal);
    return reason ? reason : "";
  } catch (const std::bad_alloc&) {
    return "bytes";
  }
}

static std::uint64_t checksum_of(const ConstBytes& bytes) {
  nb::gil_scoped_release released;
  return checksum(bytes.data(), bytes.size());
}

// Keeps the bytes alive.
class KeptTable : public PatternTable {
 public:
  KeptTable(int width, int height, int blank_goal, const std::vector<std::vector<int>>& patterns, bool compressed,
            ConstBytes entries)
      : PatternTable(width, height, blank_goal, checked(width, height, blank_goal, patterns), compressed,
                     entries.data(), entries.size()),
        entries_(std::move(entries)) {}

 private:
  static const std::vector<std::vector<int>>& checked(int width, int height, int blank_goal,
                                                      const std::vector<std::vector<int>>& patterns) {
    for (const std::vector<int>& tiles : patterns) check_pattern(width, height, blank_goal, tiles);
    return patterns;
  }

  ConstBytes entries_;
};

}  // namespace unjam::tiles

namespace unjam {

void bind_tiles_patterns(nb::module_& module) {
  module.def("pattern_entries", &tiles::pattern_entries, nb::arg("width"), nb::arg("height"), nb::arg("tiles"),
             nb::arg("compressed"));
  module.def("build_pattern", &tiles::build_pattern, nb::arg("width"), nb::arg("height"), nb::arg("blank_goal"),
             nb::arg("tiles"), nb::arg("compressed"), nb::arg("entries"), nb::arg("limits"), nb::arg("control"));
  module.def("checksum", &tiles::checksum_of, nb::arg("bytes"));
  nb::class_<tiles::PatternTable>(module, "PatternTableBase");
  nb::class_<tiles::KeptTable, tiles::PatternTable>(module, "PatternTable")
      .def(nb::init<int, int, int, const std::vector<std::vector<int>>&, bool, tiles::ConstBytes>(), nb::arg("width"),
           nb::arg("height"), nb::arg("blank_goal"), nb::arg("patterns"), nb::arg("compressed"), nb::arg("entries"));
}

}  // namespace unjam
