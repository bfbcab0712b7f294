// Shows: events and colors. An event is a callable that the runtime runs once; a color says which events must not run together.
// Run:   build/release/examples/01_hello
// See:   six lines, always these. The two kitchens work in parallel, but each in its own order.
#include <tartan/tartan.h>

#include <cstdio>
#include <string>

int main() {
  std::string tea, soup;  // no lock: each is touched in one color only
  tartan::runtime rt;     // as many workers as CPUs; starts no thread before it is run

  rt.post([] { std::puts("no color was named: the default color, one event after the other"); });
  rt.post([] {
    std::puts("an event may post more events:");
    tartan::post([] { std::puts("they go to the back of their color"); });
  });
  rt.post([] { std::puts("so this one comes first, and"); });

  const tartan::color tea_kitchen{1}, soup_kitchen{2};
  for (const char* step : {"boil", "steep", "pour"}) rt.post(tea_kitchen, [&tea, step] { tea.append(" ").append(step); });
  for (const char* step : {"chop", "cook", "serve"}) rt.post(soup_kitchen, [&soup, step] { soup.append(" ").append(step); });

  rt.run_until_idle();  // this thread is worker 0; returns when nothing is left to do
  std::printf("tea: %s\nsoup:%s\n", tea.c_str(), soup.c_str());
}
