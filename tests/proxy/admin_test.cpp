// SPDX-License-Identifier: GPL-3.0-or-later
#include "proxy/admin.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <fstream>
#include <thread>

#include "bench/lab/temp_dir.hpp"
#include "tests/proxy/waiting.hpp"
#include "tests/test.hpp"

namespace headrace {
namespace {

using namespace std::chrono_literals;

std::string answer_to(const std::string& verb, const std::string& argument) {
  if (verb == "fail") throw std::runtime_error{"no such verb"};
  return R"({"ok":true,"said":")" + verb + "/" + argument + "\"}";
}

// A daemon's end, in a thread of its own.
class Daemon final : public TurnHooks {
 public:
  explicit Daemon(const std::string& path) : log_{silent()}, server_{loop_, log_, path, answer_to} {
    loop_.set_hooks(this);
    thread_ = std::thread{[this] { loop_.run(); }};
  }
  ~Daemon() {
    stop_.wake();
    thread_.join();
  }

  Instant next_deadline() noexcept override { return Instant::max(); }
  void turn_began(Instant) noexcept override {}
  void turn_ended(Instant) noexcept override { server_.reap(); }

 private:
  static LogSettings silent() {
    LogSettings settings;
    settings.level = LogLevel::off;
    return settings;
  }

  Log log_;
  Loop loop_;
  Wakeup stop_{loop_, [this] { loop_.stop(); }};
  AdminServer server_;
  std::thread thread_;
};

Fd connect_raw(const std::string& path) {
  Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return Fd{};
  const timeval patience{5, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return socket;
}

void send_raw(const Fd& socket, const std::string& text) {
  static_cast<void>(::send(socket.get(), text.data(), text.size(), MSG_NOSIGNAL));
}

// Up to the end; empty when it is closed without an answer.
std::string read_raw(const Fd& socket) {
  std::string text;
  std::array<char, 1024> buffer{};
  for (;;) {
    const ssize_t count = ::recv(socket.get(), buffer.data(), buffer.size(), 0);
    if (count <= 0) return count < 0 && errno == EAGAIN ? "no end came" : text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string ask_raw(const std::string& path, const std::string& text) {
  const Fd socket = connect_raw(path);
  send_raw(socket, text);
  return read_raw(socket);
}

struct Place {
  lab::TempDir directory;
  std::string path = directory / "admin.sock";
};

}  // namespace

TEST_CASE("admin: a request is answered") {
  const Place place;
  const Daemon daemon{place.path};
  CHECK(admin_request(place.path, "bypass", "on") == "{\"ok\":true,\"said\":\"bypass/on\"}\n");
}

TEST_CASE("admin: the kernel says who the daemon is") {
  const Place place;
  const Daemon daemon{place.path};
  CHECK(admin_pid(place.path) == ::getpid());
}

TEST_CASE("admin: what a verb throws is what the asker gets") {
  const Place place;
  const Daemon daemon{place.path};
  CHECK_THROWS_WITH(admin_request(place.path, "fail", ""), "no such verb");
}

TEST_CASE("admin: without a daemon asking says where") {
  const Place place;
  CHECK_THROWS_WITH(admin_request(place.path, "status", ""), Catch::Contains("connect " + place.path));
  CHECK_FALSE(admin_answers(place.path));
}

TEST_CASE("admin: a request may come in pieces and without an argument") {
  const Place place;
  const Daemon daemon{place.path};
  const Fd socket = connect_raw(place.path);
  send_raw(socket, R"({"verb":)");
  send_raw(socket, "\"status\"}\n");
  CHECK(read_raw(socket) == "{\"ok\":true,\"said\":\"status/\"}\n");
}

TEST_CASE("admin: garbage is answered with an error") {
  const Place place;
  const Daemon daemon{place.path};
  for (const std::string garbage : {"\n", "garbage\n", "[]\n", "{\"verb\":1}\n", "{}\n", "\xff\xfe\n"})
    CHECK(ask_raw(place.path, garbage).find("\"ok\":false") != std::string::npos);
}

TEST_CASE("admin: a request over 4 KiB is refused, with or without its end") {
  const Place place;
  const Daemon daemon{place.path};
  const std::string verb(4200, 'x');
  CHECK(ask_raw(place.path, verb).empty());
  CHECK(ask_raw(place.path, R"({"verb":")" + verb + "\"}\n").empty());
  CHECK(admin_request(place.path, "status", "").size() > 2);
}

TEST_CASE("admin: who hangs up without asking is forgotten") {
  const Place place;
  const Daemon daemon{place.path};
  for (int i = 0; i < 100; ++i) REQUIRE(connect_raw(place.path));
  CHECK(eventually([&] { return ask_raw(place.path, "{\"verb\":\"status\"}\n").size() > 2; }));
}

TEST_CASE("admin: connections that say nothing lock nobody out") {
  const Place place;
  const Daemon daemon{place.path};
  std::vector<Fd> sockets;
  for (int i = 0; i < 40; ++i) {
    sockets.push_back(connect_raw(place.path));
    REQUIRE(ask_raw(place.path, "{\"verb\":\"status\"}\n").size() > 2);
  }
}

TEST_CASE("admin: a socket that nobody answers any more is replaced") {
  const Place place;
  {
    const Fd stale{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, place.path.data(), place.path.size());
    REQUIRE(::bind(stale.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  const Daemon daemon{place.path};
  CHECK(admin_answers(place.path));
}

TEST_CASE("admin: another daemon's socket is left alone") {
  const Place place;
  const Daemon first{place.path};
  CHECK_THROWS_WITH(Daemon{place.path}, Catch::Contains("another headrace answers there"));
  CHECK(admin_answers(place.path));
}

TEST_CASE("admin: a file that is no socket is left alone") {
  const Place place;
  std::ofstream{place.path} << "precious";
  CHECK_THROWS_WITH(Daemon{place.path}, Catch::Contains("bind"));
  CHECK(lab::read_file(place.path) == "precious");
}

TEST_CASE("admin: the socket is the owner's and the group's alone, and goes with the daemon") {
  const Place place;
  {
    const Daemon daemon{place.path};
    struct stat status {};
    REQUIRE(::stat(place.path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0660);
  }
  CHECK_FALSE(std::filesystem::exists(place.path));
}

}  // namespace headrace
