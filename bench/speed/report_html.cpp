// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/speed/report_html.hpp"

#include <algorithm>
#include <sstream>

namespace headrace::lab {
namespace {

constexpr std::string_view kStyle = R"css(
:root { --ink: #1b1f24; --paper: #fff; --faint: #6a737d; --line: #d8dee4; --good: #1a7f37; --close: #8a5a00;
  --bad: #b42318; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #16191d; --faint: #9aa4af; --line: #363c44; --good: #56c271; --close: #e0b050;
    --bad: #ff8d80; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 62rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); } h3 { margin-bottom: .3rem; }
p.faint, caption, figcaption, .faint { color: var(--faint); }
table { border-collapse: collapse; margin: .5rem 0 1.5rem; font-variant-numeric: tabular-nums; font-size: .92rem; }
caption { text-align: left; padding-bottom: .2rem; }
th, td { text-align: left; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; }
tr.row th { padding-top: .8rem; }
.good { color: var(--good); } .close { color: var(--close); } .bad { color: var(--bad); font-weight: 600; }
.wide { overflow-x: auto; }
figure { margin: 1.2rem 0; break-inside: avoid; } figure svg { width: 100%; max-width: 48rem; height: auto; }
svg [fill=black] { fill: var(--ink); } svg [stroke=black] { stroke: var(--ink); } svg [color=black] { color: var(--ink); }
@media print {
  :root { --ink: #000; --paper: #fff; --faint: #444; --line: #bbb; --good: #060; --close: #640; --bad: #900; }
  body { margin: 0; max-width: none; font-size: 10pt; } section { break-before: page; } tr { break-inside: avoid; }
}
)css";

std::string cell(std::string_view text, std::string_view kind = {}) {
  return (kind.empty() ? std::string("<td>") : "<td class=\"" + std::string(kind) + "\">") + escaped(text) +
         "</td>";
}

std::string anchor(const ScenarioReport& report) { return "scenario-" + escaped(report.name); }

void list(std::ostream& out, const char* title, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  out << "<h3>" << title << "</h3>\n<ul>\n";
  for (const std::string& sentence : sentences) out << "<li>" << escaped(sentence) << "</li>\n";
  out << "</ul>\n";
}

void figure(std::ostream& out, const Plot& plot, const Drawing& draw) {
  const auto svg = draw(plot);
  if (svg)
    out << "<figure>\n" << *svg << "\n<figcaption>" << escaped(plot.title) << "</figcaption>\n</figure>\n";
}

const char* style_of(const ScenarioReport& report, const Verdict& verdict) {
  if (!is_judged(report, verdict)) return "faint";
  if (verdict.close) return "close";
  return verdict.reached ? "good" : "bad";
}

void bar_row(std::ostream& out, const ScenarioReport& report, const Bar& bar) {
  const Verdict verdict = judge(report, bar);
  out << "<tr>" << cell(subject_of(report, bar)) << cell(bar.contender) << cell(range_says(verdict), "n")
      << cell(bound_says(bar)) << cell(std::to_string(verdict.turns), "n")
      << cell(verdict_says(report, verdict), style_of(report, verdict)) << "</tr>\n";
}

std::string tally(const std::vector<ScenarioReport>& reports) {
  Tally sum;
  for (const ScenarioReport& report : reports) {
    const Tally one = tally_of(report);
    sum = {sum.reached + one.reached, sum.close + one.close, sum.judged + one.judged, sum.all + one.all};
  }
  std::string text = std::to_string(sum.reached) + " of " + std::to_string(sum.judged) + " bars are reached";
  if (sum.close > 0) text += "; " + std::to_string(sum.close) + " of them all are too close to tell";
  if (sum.judged < sum.all)
    text += "; " + std::to_string(sum.all - sum.judged) + " more could not be judged in this run";
  return text + ".";
}

// The bar's figure, had it been of that contender.
std::string beside(const ScenarioReport& report, Bar bar, const std::string& contender) {
  bar.contender = contender;
  return range_says(judge(report, bar));
}

std::string beside_peer(const ScenarioReport& report, const Bar& bar) {
  const MetricReport* metric = find(report, bar.row, bar.metric);
  const std::string peer = metric == nullptr ? "" : better_peer(report, *metric);
  return peer.empty() ? "-" : beside(report, bar, peer) + " " + peer;
}

std::string reached_says(const Tally& tally) {
  if (tally.judged == 0) return "none of " + std::to_string(tally.all) + " judged";
  std::string text = std::to_string(tally.reached) + " of " + std::to_string(tally.judged) + " reached";
  if (tally.judged < tally.all) text += ", " + std::to_string(tally.all - tally.judged) + " not judged";
  return text;
}

void answer_row(std::ostream& out, const ScenarioReport& report) {
  out << "<tr><td><a href=\"#" << anchor(report) << "\">" << escaped(report.name) << "</a>"
      << (report.title.empty() ? "" : ": ") << escaped(report.title) << "</td>";
  const Bar* bar = tightest_bar(report);
  if (bar == nullptr) {
    out << cell(report.bars.empty() ? "no bars" : reached_says(tally_of(report)), "faint")
        << "<td colspan=\"6\"></td></tr>\n";
    return;
  }
  const Verdict verdict = judge(report, *bar);
  out << cell(reached_says(tally_of(report))) << cell(subject_of(report, *bar) + ", " + bar->contender)
      << cell(range_says(verdict), "n") << cell(bound_says(*bar))
      << cell(verdict_says(report, verdict), style_of(report, verdict))
      << cell(beside(report, *bar, kDirect), "n") << cell(beside_peer(report, *bar), "n") << "</tr>\n";
}

void absence_list(std::ostream& out, const std::vector<ScenarioReport>& reports) {
  for (const ScenarioReport& report : reports) {
    for (const std::string& absence : absences(report))
      out << "<p class=\"bad\">" << escaped(report.name) << ": " << escaped(absence) << ".</p>\n";
  }
}

void answer(std::ostream& out, const std::vector<ScenarioReport>& reports, const Drawing& draw) {
  out << "<p><strong>" << tally(reports)
      << "</strong> Of each scenario the bar that is the furthest beyond its limit or, when none is, the "
         "nearest to it. A value against another contender is a ratio of the same turn, any other is the "
         "measured number itself: the median over the turns, in brackets the lowest and the highest.</p>\n";
  absence_list(out, reports);
  out << "<div class=\"wide\"><table>\n<tr><th>scenario</th><th>bars</th><th>nearest</th><th "
         "class=\"n\">value</th><th>bar</th><th></th><th class=\"n\">direct</th><th class=\"n\">better "
         "peer</th></tr>\n";
  for (const ScenarioReport& report : reports) answer_row(out, report);
  out << "</table></div>\n";
  for (const ScenarioReport& report : reports) {
    if (!report.plots.empty()) figure(out, report.plots.front(), draw);
  }
}

void contender_table(std::ostream& out, const ScenarioReport& report) {
  if (report.contenders.empty() && absences(report).empty()) return;
  out << "<h3>Contenders</h3>\n<table>\n";
  for (const ReportedContender& one : report.contenders)
    out << "<tr>" << cell(one.id) << cell(one.title) << cell(one.is_peer ? "peer" : "") << "</tr>\n";
  for (const ReportedContender& one : report.missing)
    out << "<tr>" << cell(one.id) << cell(one.title) << cell("missing: could not be had here", "bad")
        << "</tr>\n";
  for (const ReportedContender& one : report.left_out)
    out << "<tr>" << cell(one.id) << cell(one.title) << cell("left out by --contender", "faint") << "</tr>\n";
  out << "</table>\n";
}

void value_table(std::ostream& out, const ScenarioReport& report) {
  if (report.rows.empty()) return;
  out << "<h3>Values</h3>\n<div class=\"wide\"><table>\n<caption>ratio: against the better peer (1.00) of "
         "the same turn, "
      << "median over the turns; other units: the median itself</caption>\n<tr><th></th><th></th>";
  for (const ReportedContender& one : report.contenders)
    out << "<th class=\"n\">" << escaped(one.id) << "</th>";
  out << "</tr>\n";
  for (const RowReport& row : report.rows) {
    out << "<tr class=\"row\"><th colspan=\"" << report.contenders.size() + 2 << "\">" << escaped(row.title)
        << " <span class=\"faint\">(" << turns_say(turns_of(row)) << ")</span></th></tr>\n";
    for (const MetricReport& metric : row.metrics) {
      out << "<tr>" << cell(metric.metric.title) << cell(unit_told(metric.metric), "faint");
      for (const ReportedContender& one : report.contenders)
        out << cell(in_short(told(report, metric, one.id)), "n");
      out << "</tr>\n";
    }
  }
  out << "</table></div>\n";
}

void bar_table(std::ostream& out, const ScenarioReport& report) {
  if (report.bars.empty()) return;
  out << "<h3>Bars</h3>\n<div class=\"wide\"><table>\n<caption>the median over the turns, in brackets "
         "the lowest and the highest</caption>\n<tr><th>what</th><th>of</th><th "
         "class=\"n\">value</th><th>bar</th>"
         "<th class=\"n\">turns</th><th></th></tr>\n";
  for (const Bar& bar : report.bars) bar_row(out, report, bar);
  out << "</table></div>\n";
}

void scenario(std::ostream& out, const ScenarioReport& report, const Drawing& draw) {
  out << "<section id=\"" << anchor(report) << "\">\n<h2>" << escaped(report.name)
      << "</h2>\n<p class=\"faint\">at most " << turns_say(static_cast<std::size_t>(report.turns))
      << " a row; load of the machine " << in_short(report.load_before) << " before, "
      << in_short(report.load_after) << " after" << (report.judged ? "" : "; too few turns to judge bars")
      << "</p>\n";
  list(out, "Findings", report.notes);
  bar_table(out, report);
  for (const Plot& plot : report.plots) figure(out, plot, draw);
  value_table(out, report);
  list(out, "Conditions", report.conditions);
  contender_table(out, report);
  out << "</section>\n";
}

void machine_table(std::ostream& out, const Machine& machine) {
  out << "<section>\n<h2>Where and when</h2>\n<table>\n<tr>" << cell("date") << cell(machine.date + " UTC")
      << "</tr>\n<tr>" << cell("kernel") << cell(machine.kernel) << "</tr>\n<tr>" << cell("processors")
      << cell(machine.processors) << "</tr>\n";
  for (const auto& [program, version] : machine.versions)
    out << "<tr>" << cell(program) << cell(version) << "</tr>\n";
  out << "</table>\n</section>\n";
}

bool has_plots(const std::vector<ScenarioReport>& reports) {
  return std::any_of(reports.begin(), reports.end(),
                     [](const auto& report) { return !report.plots.empty(); });
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string as_html(const std::vector<ScenarioReport>& reports, const Machine& machine, const Drawing& draw) {
  std::size_t drawn = 0;
  const Drawing counted = [&](const Plot& plot) {
    auto svg = draw(plot);
    if (svg) ++drawn;
    return svg;
  };
  std::ostringstream body;
  answer(body, reports, counted);
  for (const ScenarioReport& report : reports) scenario(body, report, counted);
  machine_table(body, machine);
  std::ostringstream page;
  page << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
       << "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
       << "<meta name=\"color-scheme\" content=\"light dark\">\n<title>headrace, measured</title>\n<style>"
       << kStyle << "</style>\n</head>\n<body>\n<h1>headrace, measured</h1>\n<p class=\"faint\">"
       << escaped(machine.date) << " UTC, " << escaped(machine.kernel) << ", " << escaped(machine.processors)
       << "</p>\n";
  if (drawn == 0 && has_plots(reports))
    page << "<p class=\"bad\">No plots: gnuplot is missing or failed here (Debian: gnuplot-nox).</p>\n";
  page << body.str() << "</body>\n</html>\n";
  return page.str();
}

}  // namespace headrace::lab
