// SPDX-License-Identifier: GPL-3.0-or-later
#include <nlohmann/json.hpp>

#include "bench/speed/report.hpp"

namespace headrace::lab {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(std::optional<double> value) { return value ? Json(*value) : Json(); }

Json contenders(const std::vector<ReportedContender>& list) {
  Json out = Json::array();
  for (const ReportedContender& one : list)
    out.push_back({{"id", one.id}, {"title", one.title}, {"peer", one.is_peer}});
  return out;
}

Json metric_json(const ScenarioReport& report, const MetricReport& metric) {
  const std::string peer = better_peer(report, metric);
  Json out{{"id", metric.metric.id},
           {"title", metric.metric.title},
           {"unit", metric.metric.unit},
           {"better", metric.metric.better == Better::higher ? "higher" : "lower"},
           {"better_peer", peer.empty() ? Json() : Json(peer)}};
  for (const auto& [contender, samples] : metric.by_contender) {
    out["contenders"][contender] = {{"median", or_null(median(samples))},
                                    {"ratio", or_null(paired_ratio(metric, contender, peer))},
                                    {"samples", samples}};
  }
  return out;
}

Json bar_json(const ScenarioReport& report, const Bar& bar) {
  const Verdict verdict = judge(report, bar);
  const bool can_tell = is_judged(report, verdict);
  const bool has_value = verdict.value.has_value();
  return {{"row", bar.row},
          {"metric", bar.metric},
          {"contender", bar.contender},
          {"against", bar.against.empty() ? Json() : Json(bar.against)},
          {"bound", bar.side == Bar::Side::at_least ? "at least" : "at most"},
          {"limit", bar.limit},
          {"value", or_null(verdict.value)},
          {"low", has_value ? Json(verdict.low) : Json()},
          {"high", has_value ? Json(verdict.high) : Json()},
          {"turns", verdict.turns},
          {"reached", can_tell ? Json(verdict.reached) : Json()},
          {"close", can_tell ? Json(verdict.close) : Json()},
          {"missing", verdict.absent_peers}};
}

Json plot_json(const Plot& plot) {
  Json curves = Json::array();
  for (const Curve& curve : plot.curves) curves.push_back({{"title", curve.title}, {"points", curve.points}});
  return {
      {"id", plot.id},       {"title", plot.title}, {"x_title", plot.x_title},   {"y_title", plot.y_title},
      {"log_x", plot.log_x}, {"log_y", plot.log_y}, {"x_labels", plot.x_labels}, {"curves", curves}};
}

Json machine_json(const Machine& machine) {
  Json versions = Json::object();
  for (const auto& [program, version] : machine.versions) versions[program] = version;
  return {{"date", machine.date},
          {"kernel", machine.kernel},
          {"processors", machine.processors},
          {"versions", std::move(versions)}};
}

Json scenario_json(const ScenarioReport& report) {
  Json out{{"name", report.name},
           {"title", report.title},
           {"turns", report.turns},
           {"conditions", report.conditions},
           {"load", {report.load_before, report.load_after}},
           {"contenders", contenders(report.contenders)},
           {"missing", contenders(report.missing)},
           {"left_out", contenders(report.left_out)},
           {"rows", Json::array()},
           {"bars", Json::array()},
           {"plots", Json::array()},
           {"notes", report.notes}};
  for (const RowReport& row : report.rows) {
    Json metrics = Json::array();
    for (const MetricReport& metric : row.metrics) metrics.push_back(metric_json(report, metric));
    out["rows"].push_back({{"id", row.id},
                           {"title", row.title},
                           {"turns", turns_of(row)},
                           {"missing", row.absent_peers},
                           {"metrics", std::move(metrics)}});
  }
  for (const Bar& bar : report.bars) out["bars"].push_back(bar_json(report, bar));
  for (const Plot& plot : report.plots) out["plots"].push_back(plot_json(plot));
  return out;
}

}  // namespace

std::string as_json(const std::vector<ScenarioReport>& reports, const Machine& machine) {
  Json out{{"version", 1}, {"machine", machine_json(machine)}, {"scenarios", Json::array()}};
  for (const ScenarioReport& report : reports) out["scenarios"].push_back(scenario_json(report));
  return out.dump(2) + "\n";
}

}  // namespace headrace::lab
