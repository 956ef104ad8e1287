// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/report.hpp"

#include "bench/speed/plot_svg.hpp"
#include "bench/speed/progress.hpp"
#include "bench/speed/ratio_plot.hpp"
#include "bench/speed/report_html.hpp"
#include "tests/test.hpp"

namespace headrace::lab {
namespace {

using Catch::Matchers::Contains;
using namespace std::chrono_literals;

// haproxy wins the medians; in each turn headrace takes half of what haproxy takes.
ScenarioReport sample() {
  ScenarioReport report;
  report.name = "lan";
  report.turns = 5;
  report.contenders = {{"headrace", "ours", false}, {"haproxy", "a peer", true}, {"nginx", "a peer", true}};
  MetricReport time{{"p50", "p50", "us"}, {}};
  time.by_contender = {{"headrace", {1, 2, 30}}, {"haproxy", {2, 4, 60}}, {"nginx", {9, 9, 9}}};
  MetricReport memory{{"memory", "user memory", "bytes", Better::lower, Kind::count}, {}};
  memory.by_contender = {{"headrace", {700, 800, 900}}};
  report.rows = {{"ping_pong", "Ping-pong", {time, memory}}};
  return report;
}

Bar bar(const std::string& metric, const std::string& against, double limit) {
  return {"ping_pong", metric, "headrace", against, Bar::Side::at_most, limit};
}

Plot curve(std::vector<std::pair<double, double>> points) {
  Plot plot;
  plot.curves = {{"one", std::move(points)}};
  return plot;
}

}  // namespace

TEST_CASE("report: a ratio is paired by turn") {
  const ScenarioReport report = sample();
  CHECK(judge(report, bar("p50", "haproxy", 0.5)).value == 0.5);
  CHECK(judge(report, bar("p50", kBetterPeer, 0.9)).value == 0.5);
}

TEST_CASE("report: a bar is reached at its limit and missed beyond it") {
  const ScenarioReport report = sample();
  CHECK(verdict_says(report, judge(report, bar("memory", "", 900))) == "reached");
  CHECK(verdict_says(report, judge(report, bar("memory", "", 699))) == "NOT REACHED");
  Bar other = bar("memory", "", 901);
  other.side = Bar::Side::at_least;
  CHECK(verdict_says(report, judge(report, other)) == "NOT REACHED");
}

TEST_CASE("report: a verdict carries the lowest and the highest turn") {
  const ScenarioReport report = sample();
  const Verdict absolute = judge(report, bar("memory", "", 1000));
  CHECK(range_says(absolute) == "800 (700-900)");
  CHECK(absolute.turns == 3);
  CHECK(range_says(judge(report, bar("p50", "nginx", 1))) == "0.22 (0.11-3.33)");
}

TEST_CASE("report: one turn has no interval") {
  ScenarioReport report = sample();
  report.rows[0].metrics[1].by_contender["headrace"] = {800};
  CHECK(range_says(judge(report, bar("memory", "", 800))) == "800");
}

TEST_CASE("report: where turns disagree about a limit it is too close to tell") {
  const ScenarioReport report = sample();
  CHECK(verdict_says(report, judge(report, bar("memory", "", 800))) ==
        "reached, too close to tell from 3 turns");
  CHECK(verdict_says(report, judge(report, bar("memory", "", 799))) ==
        "not reached, too close to tell from 3 turns");
}

TEST_CASE("report: a limit that every turn keeps is not close, though one turn stands on it") {
  const ScenarioReport report = sample();
  CHECK_FALSE(judge(report, bar("memory", "", 900)).close);
  Bar least = bar("memory", "", 700);
  least.side = Bar::Side::at_least;
  CHECK_FALSE(judge(report, least).close);
}

TEST_CASE("report: a better peer is not judged against while a peer is missing") {
  ScenarioReport report = sample();
  report.rows[0].absent_peers = {"haproxy"};
  const Verdict verdict = judge(report, bar("p50", kBetterPeer, 0.9));
  CHECK(verdict_says(report, verdict) == "not judged: haproxy is missing");
  CHECK_FALSE(is_judged(report, verdict));
  CHECK(is_judged(report, judge(report, bar("p50", "nginx", 0.9))));
}

TEST_CASE("report: the bars of a scenario are counted by what is known of them") {
  ScenarioReport report = sample();
  report.bars = {bar("memory", "", 900), bar("memory", "", 800), bar("memory", "", 1), bar("p99", "", 1)};
  const Tally tally = tally_of(report);
  CHECK(tally.reached == 2);
  CHECK(tally.close == 1);
  CHECK(tally.judged == 3);
  CHECK(tally.all == 4);
}

TEST_CASE("report: the tightest bar is the furthest beyond its limit, else the nearest to it") {
  ScenarioReport report = sample();
  report.bars = {bar("memory", "", 1000), bar("memory", "", 810), bar("p99", "", 1)};
  REQUIRE(tightest_bar(report));
  CHECK(tightest_bar(report)->limit == 810);
  report.bars.push_back(bar("memory", "", 400));
  report.bars.push_back(bar("memory", "", 700));
  CHECK(tightest_bar(report)->limit == 400);
}

TEST_CASE("report: a limit of nothing is the tightest only when it is missed") {
  ScenarioReport report = sample();
  report.bars = {bar("memory", "", 0), bar("memory", "", 1)};
  CHECK(tightest_bar(report)->limit == 0);
  report.rows[0].metrics[1].by_contender["headrace"] = {0};
  CHECK(tightest_bar(report)->limit == 0);
  report.bars[1] = bar("p50", "haproxy", 0.6);
  CHECK(tightest_bar(report)->limit == 0.6);
}

TEST_CASE("report: a bar of direct is the tightest only when it is missed") {
  ScenarioReport report = sample();
  report.rows[0].metrics[1].by_contender["direct"] = {800};
  report.bars = {bar("memory", "", 800), bar("memory", "", 10000)};
  report.bars[0].contender = "direct";
  CHECK(tightest_bar(report)->limit == 10000);
  report.bars[0].limit = 799;
  CHECK(tightest_bar(report)->limit == 799);
}

TEST_CASE("report: without a bar that was measured none is the tightest") {
  ScenarioReport report = sample();
  report.bars = {bar("p99", "", 1)};
  CHECK(tightest_bar(report) == nullptr);
}

TEST_CASE("report: bars that could not be judged are counted by scenario") {
  ScenarioReport quick = sample(), full = sample();
  quick.judged = false;
  quick.name = "t1";
  quick.bars = {bar("p50", "haproxy", 1), bar("memory", "", 1)};
  full.bars = {bar("memory", "", 1), bar("p99", "", 1)};
  CHECK(unjudged_says({full, quick}) == "3 bars could not be judged: lan (1), t1 (2)");
  full.bars.pop_back();
  CHECK(unjudged_says({full}).empty());
}

TEST_CASE("text: it has the turns of each row, the interval of each bar, who is missing and the notes") {
  ScenarioReport report = sample();
  report.bars = {bar("memory", "", 1000)};
  report.missing = {{"squid", "another", true}};
  report.left_out = {{"direct", "no proxy", false}};
  report.notes = {"a finding"};
  const std::string text = as_text(report);
  CHECK_THAT(text, Contains("Ping-pong (3 turns)") && Contains("800 (700-900)") &&
                       Contains("squid (another) is missing") &&
                       Contains("direct (no proxy) was left out by --contender") &&
                       Contains("note: a finding"));
}

TEST_CASE("report: what was not measured and what had too few turns is not judged") {
  ScenarioReport report = sample();
  CHECK(verdict_says(report, judge(report, bar("p99", "", 1))) == "not measured");
  CHECK(verdict_says(report, judge(report, bar("memory", "haproxy", 1))) == "not measured");
  report.judged = false;
  CHECK(verdict_says(report, judge(report, bar("memory", "", 900))) == "not judged");
}

TEST_CASE("report: times are told as ratios, counts as they are") {
  const ScenarioReport report = sample();
  CHECK(told(report, *find(report, "ping_pong", "p50"), "nginx") == 2.25);
  CHECK(told(report, *find(report, "ping_pong", "memory"), "headrace") == 800);
  CHECK_FALSE(told(report, *find(report, "ping_pong", "memory"), "nginx"));
}

TEST_CASE("report: JSON has plots, notes and the machine") {
  ScenarioReport report = sample();
  report.plots = {curve({{1, 2}})};
  report.notes = {"a finding"};
  const std::string json = as_json({report}, {"2025-01-31 12:00", "Linux", "2 x", {{"haproxy", "2.6"}}});
  CHECK_THAT(json, Contains("\"notes\": [\n        \"a finding\"") && Contains("\"haproxy\": \"2.6\"") &&
                       Contains("\"curves\""));
}

TEST_CASE("report: JSON has the interval and the turns of a bar and of a row") {
  ScenarioReport report = sample();
  report.bars = {bar("memory", "", 800)};
  CHECK_THAT(as_json({report}, {}), Contains("\"low\": 700.0") && Contains("\"high\": 900.0") &&
                                        Contains("\"turns\": 3") && Contains("\"reached\": true") &&
                                        Contains("\"close\": true"));
}

TEST_CASE("report: JSON judges nothing that a missing peer may decide") {
  ScenarioReport report = sample();
  report.rows[0].absent_peers = {"haproxy"};
  report.bars = {bar("p50", kBetterPeer, 1)};
  CHECK_THAT(as_json({report}, {}), Contains("\"reached\": null") && Contains("\"close\": null") &&
                                        Contains("\"missing\": [\n            \"haproxy\""));
}

TEST_CASE("comparison: bars stand at their labels, and what was not measured is left out") {
  const auto plot = compare(sample(), {}, {{"ping_pong", "p99", "gone"}, {"ping_pong", "p50", "median"}},
                            {"headrace", "elsewhere"});
  REQUIRE(plot);
  CHECK(plot->x_labels == std::vector<std::string>{"median"});
  REQUIRE(plot->curves.size() == 1);
  CHECK(plot->curves[0].points == std::vector<std::pair<double, double>>{{0, 0.5}});
  CHECK_FALSE(compare(sample(), {}, {{"ping_pong", "p99", "gone"}}, {"headrace"}));
}

TEST_CASE("page: every text is escaped") {
  CHECK(escaped("<a href=\"x\">'&") == "&lt;a href=&quot;x&quot;&gt;&#39;&amp;");
  const std::string evil = "<script>";
  ScenarioReport report = sample();
  report.name = report.rows[0].title = report.rows[0].metrics[0].metric.title = report.contenders[0].title =
      evil;
  report.notes = report.conditions = {evil};
  report.missing = report.left_out = {{evil, evil}};
  report.title = evil;
  report.bars = {bar("p50", "haproxy", 1)};
  report.plots = {curve({{1, 2}})};
  report.plots[0].title = evil;
  const std::string page =
      as_html({report}, {evil, evil, evil, {{evil, evil}}}, [](const Plot&) { return "<svg/>"; });
  CHECK_THAT(page, !Contains(evil) && Contains("&lt;script&gt;"));
}

TEST_CASE("page: it asks for nothing from elsewhere") {
  ScenarioReport report = sample();
  report.plots = {curve({{1, 2}})};
  const std::string page = as_html({report}, {}, draw_svg);
  CHECK_THAT(page, !Contains("src=") && !Contains("<link") && !Contains("@import") && !Contains("url(") &&
                       !Contains("<script"));
}

TEST_CASE("page: each bar has its value, its limit and its verdict") {
  ScenarioReport report = sample();
  report.bars = {bar("p50", "haproxy", 0.9), bar("memory", "", 100)};
  const std::string page = as_html({report}, {}, [](const Plot&) { return std::nullopt; });
  CHECK_THAT(page, Contains("1 of 2 bars are reached.") && Contains("&lt;= 0.90 x haproxy") &&
                       Contains("NOT REACHED"));
}

TEST_CASE("page: it begins with one line a scenario, its tightest bar beside direct and the better peer") {
  ScenarioReport report = sample();
  report.title = "what it costs";
  report.contenders.push_back({"direct", "no proxy", false});
  report.rows[0].metrics[0].by_contender["direct"] = {1, 1, 15};
  report.missing = {{"squid", "another", true}};
  report.bars = {bar("memory", "", 8000), bar("p50", "haproxy", 0.6)};
  std::string page = as_html({report}, {}, [](const Plot&) { return std::nullopt; });
  const std::string first = page.substr(0, page.find("<section"));
  CHECK_THAT(first, Contains("what it costs") && Contains("2 of 2 reached") && Contains("&lt;= 0.60 x") &&
                        !Contains("8000") && Contains("0.25 (0.25-0.50)") &&
                        Contains("1.00 (1.00-1.00) haproxy") && Contains("squid (another) is missing"));
}

TEST_CASE("page: without a drawing it stands without plots and says so") {
  ScenarioReport report = sample();
  report.plots = {curve({{1, 2}})};
  const std::string without = as_html({report}, {}, [](const Plot&) { return std::nullopt; });
  CHECK_THAT(without, Contains("gnuplot-nox") && !Contains("<figure"));
  CHECK_THAT(as_html({report}, {}, [](const Plot&) { return "<svg/>"; }), !Contains("gnuplot-nox"));
}

TEST_CASE("plot: titles are data, never commands") {
  Plot plot = curve({{1, 2}});
  plot.title = plot.x_title = plot.curves[0].title = "it's\n`ls`";
  const std::string script = gnuplot_script(plot);
  CHECK_THAT(script, Contains("set xlabel 'it''s `ls`'\n"));
}

TEST_CASE("plot: points that cannot be drawn are left out") {
  Plot plot = curve({{1, 0}, {2, NAN}, {3, 5}});
  plot.log_y = true;
  CHECK_THAT(gnuplot_script(plot), Contains("$c0 << EOD\n3 5\nEOD\n"));
  plot.log_y = false;
  CHECK_THAT(gnuplot_script(plot), Contains("$c0 << EOD\n1 0\n3 5\nEOD\n"));
}

TEST_CASE("plot: bars of one label stand side by side around it") {
  Plot plot;
  plot.x_labels = {"a"};
  plot.curves = {{"one", {{0, 3}}}, {"two", {{0, 4}}}};
  CHECK_THAT(gnuplot_script(plot), Contains("-0.2 3\n") && Contains("\n0.2 4\n") && Contains("with boxes"));
}

TEST_CASE("plot: of a document the svg element alone is taken") {
  CHECK(svg_element("<?xml?><!DOCTYPE x><svg a='b'><g/></svg>\n") == "<svg a='b'><g/></svg>");
  CHECK(svg_element("no picture").empty());
}

TEST_CASE("progress: a line is cut to the terminal at a whole character") {
  CHECK(progress_line(65s, "row", 0) == "[ 1:05] row");
  CHECK(progress_line(0s, "abcdef", 10) == "[ 0:00] ab");
  CHECK(progress_line(0s, "\xc3\xa4\xc3\xb6", 9) == "[ 0:00] \xc3\xa4");
}

}  // namespace headrace::lab
