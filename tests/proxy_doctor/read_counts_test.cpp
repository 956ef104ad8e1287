// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/doctor/read_text.hpp"
#include "tests/test.hpp"

using namespace headrace::doctor;

TEST_CASE("doctor: the hard limit of descriptors is read from /proc") {
  CHECK(
      read_descriptor_limit("Limit                     Soft Limit           Hard Limit           Units\n"
                            "Max processes             1                    2                    processes\n"
                            "Max open files            1024                 20000                files\n") ==
      std::size_t{20000});
  CHECK(read_descriptor_limit(
            "Max open files            1024                 unlimited            files\n") == SIZE_MAX);
  CHECK_FALSE(read_descriptor_limit(""));
}

TEST_CASE("doctor: queueing disciplines are read per interface, without those at ingress") {
  const auto queues = read_queues(
      "qdisc noqueue 0: dev lo root refcnt 2\n"
      "qdisc mq 0: dev eth0 root\n"
      "qdisc fq 0: dev eth0 parent :2 limit 10000p\n"
      "qdisc fq 0: dev eth0 parent :1 limit 10000p\n"
      "qdisc clsact ffff: dev eth0 parent ffff:fff1\n");
  CHECK(queues.at("eth0") == std::vector<std::string>{"mq", "fq"});
  CHECK(queues.at("lo") == std::vector<std::string>{"noqueue"});
}

TEST_CASE("doctor: legs of the daemon that repeat themselves are read, and handshakes that wait") {
  const auto sockets = read_sockets(
      "ESTAB    0 20000 198.18.1.2:4000 198.18.2.9:1521 users:((\"headrace\",pid=17,fd=9)) cubic "
      "wscale:7,7 rto:1632 backoff:3 rtt:0.05/0.02 mss:1448 pmtu:1500 unacked:1\n"
      "ESTAB    0 0 198.18.2.9:1521 198.18.1.2:4000 users:((\"headrace\",pid=17,fd=8)) cubic rto:204 "
      "mss:1448\n"
      "ESTAB    0 9 198.18.1.1:22 198.18.1.2:4001 users:((\"sshd\",pid=171,fd=8)) cubic backoff:2 mss:1448\n"
      "SYN-RECV 0 0 198.18.2.9:1521 198.18.1.2:4002 cubic rto:1000 mss:536\n",
      17);
  CHECK(sockets.half_open == 1);
  CHECK(sockets.stuck == std::vector<StuckLeg>{{"198.18.2.9:1521", 20000, 3, 1448}});
}

TEST_CASE("doctor: the packet queue's line is found by its number") {
  const char* const table =
      "    7  10001     9 2   128     0     0        9  1\n"
      "18514  31874     3 2   128     1     4       12  1\n";
  CHECK(read_syn_queue(table, 18514) == PacketQueue{3, 5});
  CHECK_FALSE(read_syn_queue(table, 8));
  CHECK_FALSE(read_syn_queue("", 18514));
}

TEST_CASE("doctor: counters of our rules are read, of either tool") {
  CHECK(read_nft_counters("table inet headrace {\n"
                          "\tcounter syn_seen {\n\t\tpackets 12 bytes 720\n\t}\n"
                          "\tcounter syn_arrived {\n\t\tpackets 11 bytes 660\n\t}\n"
                          "\tcounter syn_diverted {\n\t\tpackets 10 bytes 600\n\t}\n"
                          "\tcounter syn_no_listener {\n\t\tpackets 1 bytes 60\n\t}\n}\n") ==
        SynCounts{12, 11, 10, 1});
  CHECK(read_nft_counters("") == SynCounts{});
  const std::string flags = "-p tcp -m tcp --tcp-flags FIN,SYN,RST,ACK SYN ";
  CHECK(read_iptables_counters(
            "*mangle\n:HEADRACE_DIVERT - [0:0]\n"
            "[9:540] -A HEADRACE_DIVERT -p tcp -m socket --transparent -j HEADRACE_OURS\n"
            "[7:420] -A HEADRACE_DIVERT -i wan0 " +
            flags + "-m addrtype ! --src-type LOCAL ! --dst-type LOCAL -j HEADRACE_POLICIES\n" +
            "[4:240] -A HEADRACE_DIVERT -i wan1 " + flags +
            "-m addrtype ! --src-type LOCAL ! --dst-type LOCAL -j HEADRACE_POLICIES\n"
            "[5:300] -A HEADRACE_CLASS_0 -p tcp -j CONNMARK --set-xmark 0x480000/0xff0000\n"
            "[5:300] -A HEADRACE_CLASS_0 -p tcp -j TPROXY --on-port 18500 --on-ip 127.0.0.1\n"
            "[3:180] -A HEADRACE_CLASS_1 -p tcp -j TPROXY --on-port 18501 --on-ip 127.0.0.1\n") ==
        SynCounts{{}, 11, 8, {}});
}
