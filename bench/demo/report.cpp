// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/demo/report.hpp"

#include <algorithm>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

namespace headrace::lab {
namespace {

constexpr const char* kNotes =
    "Link: 40 ms round trip, 100 Mbit/s, on the client's side; small messages: 5 ms.\n"
    "SQL*Plus rows: the median of 24 exchanges, less the time its bytes take on the link, in round trips. "
    "The\n"
    "server's sender is moderated as in the field story: six segments beyond what is in flight after each "
    "ACK.\n"
    "A round is stalled when a read waits 30 ms or more. FTP: vsftpd and curl, 3 MB, log-in included, "
    "SHA-256\n"
    "compared; ideal: the file alone at the link's rate. In active mode the server opens the data "
    "connection:\n"
    "headrace leaves it to the kernel.\n";

const Measured* find(const std::vector<Measured>& rows, const std::string& id) {
  const auto same = [&](const Measured& row) { return row.id == id; };
  const auto found = std::find_if(rows.begin(), rows.end(), same);
  return found == rows.end() ? nullptr : &*found;
}

bool all_intact(const std::vector<Measured>& rows) {
  return std::all_of(rows.begin(), rows.end(), [](const Measured& row) { return row.intact; });
}

std::string text_of(const Measured* row) { return row == nullptr ? "-" : row->text; }
nlohmann::json value_of(const Measured* row) {
  return row == nullptr ? nlohmann::json() : nlohmann::json(row->value);
}

}  // namespace

bool Comparison::intact() const { return all_intact(direct) && all_intact(headrace); }

std::string as_table(const Comparison& comparison) {
  std::ostringstream table;
  const auto line = [&](const auto& title, const auto& direct, const auto& headrace, const auto& ideal) {
    table << std::left << std::setw(36) << title << std::right << std::setw(24) << direct << std::setw(24)
          << headrace << std::setw(9) << ideal << '\n';
  };
  line("", "direct", "headrace", "ideal");
  for (const RowTitle& row : row_titles()) {
    line(row.title, text_of(find(comparison.direct, row.id)), text_of(find(comparison.headrace, row.id)),
         row.ideal_text);
  }
  table << '\n' << kNotes;
  return table.str();
}

std::string as_json(const Comparison& comparison) {
  nlohmann::ordered_json report;
  report["link"] = {{"rtt_ms", 40}, {"messages_rtt_ms", 5}, {"bits_per_second", kWanRate}};
  for (const RowTitle& row : row_titles()) {
    const Measured* direct = find(comparison.direct, row.id);
    const Measured* headrace = find(comparison.headrace, row.id);
    const bool intact = (direct == nullptr || direct->intact) && (headrace == nullptr || headrace->intact);
    report["rows"].push_back({{"id", row.id},
                              {"title", row.title},
                              {"unit", row.unit},
                              {"direct", value_of(direct)},
                              {"headrace", value_of(headrace)},
                              {"ideal", row.ideal},
                              {"intact", intact}});
  }
  report["intact"] = comparison.intact();
  return report.dump(2) + "\n";
}

}  // namespace headrace::lab
