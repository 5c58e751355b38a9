// Rush by the thousand: boards as text, read, brought into canonical form and searched without Python in between.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <ctime>
#include <limits>

#include "bindings.hpp"
#include "blocks_input.hpp"
#include "checker.hpp"
#include "rush_text.hpp"

namespace nb = nanobind;

namespace unjam {

namespace {

using Form = std::tuple<int, int, std::string, std::string, int, std::string>;
using Answer = std::tuple<std::optional<Result>, double, double>;

std::optional<Form> rush_form(std::string_view board, std::string_view exit) {
  const auto rush = read_rush(board, exit);
  if (!rush) return std::nullopt;
  auto image = canonical_rush(*rush);
  if (!image) return std::nullopt;
  for (int row = image->height - 1; row > 0; --row) image->text.insert(row * image->width, 1, '/');
  return Form(rush->width, rush->height, rush->text, std::string(rush->exit), image->symmetry, std::move(image->text));
}

double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::optional<Result> search_and_check(const std::string& board, Metric metric, const std::string& metric_name,
                                       Meter& meter) {
  auto rush = read_rush(board, "right");
  if (!rush || rush->hopeless) return std::nullopt;
  auto result = within_memory(meter, [&] {
    return search_lines(Layout(rush->width, rush->height, rush->grid), rush->goal, metric, meter);
  });
  if (!result || result->outcome != "optimal") return result;
  std::string fault = checker::check_rush(rush->width, rush->height, std::move(rush->grid), rush->primary,
                                          rush->goal.cell, metric_name, result->moves);
  if (fault.empty()) return result;
  result->outcome = "failed";
  result->reason = std::move(fault);
  return result;
}

std::vector<Answer> rush_many(const std::vector<std::string>& boards, const std::string& metric_name,
                              const Limits& limits, double seconds, Control& control) {
  const Metric metric = rush_metric(metric_name);
  const nb::gil_scoped_release release;
  const Meter clock({seconds, 0, 0}, control);
  std::vector<Answer> answers;
  for (const std::string& board : boards) {
    if (control.cancelled.load(std::memory_order_relaxed) || (!answers.empty() && clock.seconds_left() <= 0)) break;
    Meter meter(limits, control);
    const double cpu = cpu_seconds();
    auto result = search_and_check(board, metric, metric_name, meter);
    if (result && result->reason == "cancelled") break;
    answers.emplace_back(std::move(result), meter.elapsed(), cpu_seconds() - cpu);
  }
  return answers;
}

}  // namespace

void bind_rush_bulk(nb::module_& module) {
  using namespace nb::literals;
  module.def("rush_form", &rush_form, "board"_a, "exit"_a);
  module.def("rush_many", &rush_many, "boards"_a, "metric"_a, "limits"_a, "seconds"_a, "control"_a);
}

}  // namespace unjam
