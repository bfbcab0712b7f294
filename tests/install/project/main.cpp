#include <tartan/tartan.h>

#include <cstdio>

int main() {
  tartan::runtime rt;
  rt.post(tartan::color{7}, [] { std::puts("an event of color 7"); });
  rt.run_until_idle();
}
