"""What a large page costs: 1,000 transforms of 10 libraries, from result files to one file, and how it scrolls.

.envs/dev/bin/python benchmarks/page.py [--transforms 1000] [--libraries 10] [--browser]
"""

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench_core.bundle import load_bundle
from bench_report.html import render
from bench_report.report import Options, build_report

from tests.bench_report.factory import commit_bundle, make_bundle, make_result

# Frame times while the table scrolls from top to bottom, and how long a sort and a filter keep the page busy.
WATCH = """async () => {
  const box = document.querySelector("#speed .scroll"), frames = [];
  let before = performance.now();
  const step = box.scrollHeight / 120;
  for (let i = 0; i < 120; i += 1) {
    box.scrollTop += step;
    await new Promise(requestAnimationFrame);
    const now = performance.now(); frames.push(now - before); before = now;
  }
  frames.sort((a, b) => a - b);
  const busy = (act) => {
    const began = performance.now();
    act();
    document.body.offsetHeight;
    return performance.now() - began;
  };
  const search = document.querySelector("#speed .search");
  return {
    frame: frames[60], worst: frames.at(-2),
    sort: busy(() => document.querySelectorAll("#speed .sort")[1].click()),
    filter: busy(() => { search.value = "99"; search.dispatchEvent(new Event("input")); }),
    strips: busy(() => document.getElementById("tab-noise").click()),
  };
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--transforms", type=int, default=1000)
    parser.add_argument("--libraries", type=int, default=10)
    parser.add_argument("--browser", action="store_true", help="also open it in the system's Chromium")
    args = parser.parse_args()
    names = [f"Transform{number:04d}" for number in range(args.transforms)]
    results = [
        make_result(f"library-{place}", dict.fromkeys(names, 1e-4 * (place + 1))) for place in range(args.libraries)
    ]
    with tempfile.TemporaryDirectory() as folder:
        run = commit_bundle(make_bundle(results), Path(folder) / "run")
        began, began_cpu = time.perf_counter(), time.process_time()
        page = render(build_report([load_bundle(run)], Options())).encode()
        took, took_cpu = time.perf_counter() - began, time.process_time() - began_cpu
        cost = f"{took:.1f} s, {took_cpu:.1f} s of it the processor's"
        print(f"{args.transforms * args.libraries} cells: built in {cost}; {len(page) / 1e6:.2f} MB")
        if args.browser:
            path = Path(folder) / "page.html"
            path.write_bytes(page)
            look(path)


def look(path: Path) -> None:
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page()
        began = time.perf_counter()
        page.goto(path.as_uri())
        loaded = time.perf_counter() - began
        seen = page.evaluate(WATCH)
        browser.close()
    print(f"opened in {loaded:.1f} s; " + ", ".join(f"{name} {value:.0f} ms" for name, value in seen.items()))


if __name__ == "__main__":
    main()
