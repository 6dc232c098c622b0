#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The report's page in headless Chromium, at two widths: test_page.py PROGRAM [NAME...].

PROGRAM is build/pmutest86-report. Exit status 77, and why, where there is no Chromium or no
Selenium: Debian's packages chromium-driver and python3-selenium. PICTURES=FOLDER keeps pictures.
"""
import base64
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import logs

PROGRAM = ""
WIDTHS = ((1280, 900), (390, 800))
SLOWEST_LOAD, SLOWEST_FILTER = 15, 2    # seconds, on a busy machine; measured values are printed
SCRIPT = '<script>document.title="owned"</script>'
# WCAG 2: relative luminance, then the ratio of text to the first background that isn't transparent.
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const rgb = (color) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
const light = ([r, g, b]) => { const part = (c) => { c /= 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b); };
const behind = (element) => { for (; element; element = element.parentElement) {
    const color = rgb(getComputedStyle(element).backgroundColor);
    if (color[3] === 255) return color; }
  return [255, 255, 255, 255]; };
const seen = {};
for (const element of document.querySelectorAll(arguments[0])) {
  if (!element.textContent.trim() || !element.getClientRects().length) continue;
  const style = getComputedStyle(element);
  const both = [light(rgb(style.color)), light(behind(element))].sort((a, b) => b - a);
  const ratio = (both[0] + 0.05) / (both[1] + 0.05);
  const name = element.tagName + "." + element.className;
  seen[name] = Math.min(seen[name] ?? 99, ratio);
}
return seen;
"""


def points(first="PASS"):
    many = [("PASS", f"group.claim_{i}", f"CNT-{i:02d}") for i in range(5, 40)]
    return [(first, "count.loads", "CNT-03"), ("PASS", "pmi.masks", "PMI-04"),
            ("SKIP", "nb.escr", "NB-01"), ("INCONCLUSIVE", "ll.slow", "LL-01"), *many]


def inputs(folder):
    """Two runs of a machine, the second with a failure; one with hostile text; one not tested."""
    failing = points()
    failing[0] = logs.failing(1, "count.loads", "CNT-03", records=[logs.RECORD], also=["CNT-05"])
    texts = [logs.log(points()), logs.log(failing, microcode="0x2a"),
             logs.log([logs.failing(1, "a.b", "CNT-01", wanted=SCRIPT), *points()[1:]],
                      brand=SCRIPT + "\"'><img src=x onerror=\"document.title='owned'\">"),
             logs.log([("SKIP", "count.loads", "CNT-03")], brand="AMD Something")]
    for number, text in enumerate(texts):
        with open(os.path.join(folder, f"{number}.tap"), "w", encoding="utf-8") as file:
            file.write(text)
    return [os.path.join(folder, f"{number}.tap") for number in range(len(texts))]


def fifty(folder):
    """Fifty machines with a verdict on each requirement that the program knows."""
    import json
    import zipfile
    with zipfile.ZipFile(PROGRAM) as archive:
        names = [row["id"] for row in json.loads(archive.read("requirements.json"))]
    paths = []
    for machine in range(50):
        tests = [("SKIP" if (number + machine) % 7 == 0 else
                  "FAIL" if machine in (7, 31) and number % 97 == 5 else "PASS",
                  f"group.claim_{number}", name) for number, name in enumerate(names)]
        paths.append(os.path.join(folder, f"machine-{machine}.tap"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(logs.log(tests, brand=f"Intel(R) Xeon(R) CPU E5-26{machine:02d} v3"))
    return paths, len(names)


def browser():
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service
    options = Options()
    for word in ("--headless=new", "--disable-gpu", "--hide-scrollbars", "--no-sandbox",
                 "--disable-dev-shm-usage"):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.page = os.path.join(cls.folder, "page.html")
        subprocess.run([PROGRAM, "--html", cls.page, *inputs(cls.folder)], check=True)
        cls.driver = browser()
        cls.addClassCleanup(cls.driver.quit)

    def command(self, name, **words):
        return self.driver.execute_cdp_cmd(name, words)

    def js(self, text, *words):
        return self.driver.execute_script(text, *words)

    def open(self, width=WIDTHS[0], page=None, dark=False, media="", scripts=True):
        self.command("Emulation.setDeviceMetricsOverride", width=width[0], height=width[1],
                     deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia", media=media, features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.command("Emulation.setScriptExecutionDisabled", value=not scripts)
        self.driver.get("file://" + (page or self.page))

    def keep(self, name):
        folder = os.environ.get("PICTURES")
        if folder:
            self.driver.save_screenshot(os.path.join(folder, name + ".png"))

    def rows(self):
        """Ids of the rows that are shown, in their order."""
        return self.js("return [...document.querySelectorAll('#matrix tbody tr')]"
                       ".filter((row) => !row.hidden)"
                       ".map((row) => row.querySelector('button').textContent)")

    def choose(self, name, value):
        self.js("const field = document.forms.filters.elements[arguments[0]];"
                "if (field.type === 'checkbox') field.checked = arguments[1];"
                "else field.value = arguments[1];"
                "field.dispatchEvent(new Event('input', {bubbles: true}))", name, value)

    def test_nothing_sticks_out_and_nothing_is_loaded(self):
        for width in WIDTHS:
            for dark in (False, True):
                self.open(width, dark=dark)
                self.assertLessEqual(self.js("return document.documentElement.scrollWidth"),
                                     width[0])
                self.assertEqual(self.js("return performance.getEntriesByType('resource').length"),
                                 0)
                self.keep(f"page-{width[0]}-{'dark' if dark else 'light'}")
        self.assertEqual([line for line in self.driver.get_log("browser")
                          if "inline event handler" not in line["message"]], [])

    def test_what_matters_comes_first(self):
        self.open()
        self.assertEqual(self.js("return [...document.querySelectorAll('main > section')]"
                                 ".map((one) => one.id)"),
                         ["machines", "failures", "differences", "requirements", "runs"])
        self.assertEqual(self.js("return document.querySelector('h1').textContent"),
                         "3 machines: 2 failed, 1 not tested")
        first = self.js("return document.querySelector('.machines li').innerText")
        self.assertIn("FAILED", first)
        self.assertIn("2 requirements broken: CNT-03, CNT-05", first)
        for width in WIDTHS:            # without scrolling
            self.open(width)
            self.assertLess(self.js("return document.querySelector('.machines p')"
                                    ".getBoundingClientRect().bottom"), width[1] * 0.75)

    def test_a_failure_shows_all_of_it(self):
        self.open()
        card = self.js("return document.getElementById('fail-CNT-03').innerText")
        for text in (logs.SENTENCE, "SDM chapter 19", "wanted", "0x0 (0)", "got", "0x50 (80)",
                     "count.loads", "EventingIP", "OVF_PMC1 OVF_FIXED_CTR0 OVF_BUF"):
            self.assertIn(text, card)
        self.assertIn("0x28 → 0x2a", self.js("return document.querySelector('#differences')"
                                             ".innerText"))

    def test_hostile_text_is_text(self):
        self.open()
        self.assertNotEqual(self.driver.title, "owned")
        self.assertIn(SCRIPT, self.js("return document.querySelector('.machines').innerText"))
        self.assertEqual(self.js("return document.querySelectorAll('img, iframe').length"), 0)
        self.js("document.querySelector('td[data-run=\"2\"].FAIL').click()")
        self.assertIn(SCRIPT, self.js("return document.getElementById('tests').innerText"))
        self.assertNotEqual(self.driver.title, "owned")

    def test_filters_choose_rows(self):
        self.open()
        whole = self.rows()
        self.assertGreater(len(whole), 30)
        self.choose("verdict", "FAIL")
        self.assertEqual(sorted(self.rows()), ["CNT-01", "CNT-03", "CNT-05"])
        self.choose("verdict", "differs")
        self.assertIn("CNT-03", self.rows())
        self.choose("verdict", "")
        self.choose("group", "PMI")
        self.assertEqual(self.rows(), ["PMI-04"])
        self.choose("group", "")
        self.choose("cpu", "netburst")
        self.assertIn("NB-01", self.rows())
        self.assertNotIn("LL-01", self.rows())
        self.choose("cpu", "")
        self.choose("text", "retired loads by exactly")
        self.assertIn("CNT-03", self.rows())
        self.assertNotIn("PMI-04", self.rows())
        self.choose("text", "")
        self.choose("here", True)
        self.assertNotIn("NB-01", self.rows())
        self.assertIn("CNT-03", self.rows())
        self.js("document.forms.filters.querySelector('[type=reset]').click()")
        time.sleep(0.2)
        self.assertEqual(self.rows(), whole)
        self.assertIn(f"{len(whole)} of {len(whole)}",
                      self.js("return document.getElementById('shown').textContent"))

    def test_headings_sort(self):
        self.open()
        whole = self.rows()
        self.js("document.querySelector('[data-sort=severity]').click()")
        self.assertEqual(set(self.rows()[:3]), {"CNT-01", "CNT-03", "CNT-05"})
        self.js("document.querySelector('[data-column=\"3\"]').click()")
        self.assertEqual(self.js("return document.querySelectorAll('[aria-sort]').length"), 1)
        self.js("document.querySelector('[data-sort=number]').click()")
        self.assertEqual(self.rows(), whole)
        self.js("document.querySelector('[data-sort=number]').click()")
        self.assertEqual(self.rows(), whole[::-1])

    def test_the_keyboard_is_enough(self):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys
        for width in WIDTHS:
            self.open(width)

            def press(*keys):
                ActionChains(self.driver).send_keys(*keys).perform()

            reached = set()
            for _ in range(60):
                press(Keys.TAB)
                reached.add(self.js("const one = document.activeElement; return one.id || one.name"
                                    " || one.dataset.sort || one.className || one.tagName"))
                if self.js("return document.activeElement.matches('#matrix tbody button')"):
                    break
            self.assertGreaterEqual(reached, {"skip-link", "A", "SUMMARY", "text", "verdict",
                                              "group", "cpu", "where", "here", "table", "number"})
            outline = self.js("return getComputedStyle(document.activeElement).outlineStyle")
            self.assertEqual(outline, "solid")
            press(Keys.ENTER)
            self.assertTrue(self.js("return document.getElementById('tests').open"))
            press(Keys.ESCAPE)
            self.assertFalse(self.js("return document.getElementById('tests').open"))
            self.assertTrue(self.js("return document.activeElement.matches('tbody button')"))

    def test_colours_have_contrast(self):
        for dark in (False, True):
            self.open(dark=dark)
            seen = self.js(CONTRAST, ".badge, #matrix td, p, h1, h2, h3, dt, dd, small, a, th, "
                                     "label, summary, button, .soft")
            self.assertGreater(len(seen), 15)
            bad = {name: round(ratio, 2) for name, ratio in seen.items() if ratio < 4.5}
            self.assertEqual(bad, {}, "dark" if dark else "light")

    def test_headings_and_names_stay_in_view(self):
        for width in WIDTHS:
            self.open(width)
            self.js("const box = document.getElementById('table'); box.scrollTo(400, 600)")
            same = self.js(
                "const box = document.getElementById('table').getBoundingClientRect();"
                "const head = document.querySelector('thead .run').getBoundingClientRect();"
                "const first = document.querySelector('tbody .first').getBoundingClientRect();"
                "return [Math.abs(head.top - box.top), Math.abs(first.left - box.left)]")
            self.assertLess(max(same), 3)
            self.keep(f"table-{width[0]}")

    def test_print_has_everything_and_no_controls(self):
        self.open(media="print")
        self.assertEqual(self.js("return getComputedStyle(document.querySelector('nav')).display"),
                         "none")
        self.assertEqual(self.js("return getComputedStyle(filters).display"), "none")
        self.assertEqual(self.js("return getComputedStyle(document.getElementById('table'))"
                                 ".overflow"), "visible")
        paper = base64.b64decode(self.command("Page.printToPDF", printBackground=True)["data"])
        self.assertTrue(paper.startswith(b"%PDF"))

    def test_without_scripts_everything_is_there(self):
        self.open(scripts=False)
        self.command("Emulation.setScriptExecutionDisabled", value=False)
        self.assertGreater(len(self.rows()), 30)
        self.assertEqual(self.js("return getComputedStyle(filters).display"), "none")

    def test_fifty_machines_stay_usable(self):
        paths, count = fifty(self.folder)
        page = os.path.join(self.folder, "fifty.html")
        start = time.monotonic()
        subprocess.run([PROGRAM, "--html", page, *paths], check=True)
        made = time.monotonic() - start
        self.open(page=page)
        load = self.js("return performance.getEntriesByType('navigation')[0].loadEventEnd") / 1000
        self.assertEqual(len(self.rows()), count)
        spent = self.js(
            "const start = performance.now(); filters.elements.verdict.value = 'FAIL';"
            "filters.dispatchEvent(new Event('input')); document.body.offsetHeight;"
            "return performance.now() - start") / 1000
        self.assertGreater(len(self.rows()), 2)
        size = os.path.getsize(page) / 1e6
        print(f"# 50 machines, {count} requirements: {size:.1f} MB, made in {made:.1f} s, loaded "
              f"in {load:.2f} s, filtered in {spent:.3f} s")
        self.assertLess(load, SLOWEST_LOAD)
        self.assertLess(spent, SLOWEST_FILTER)
        self.assertLessEqual(self.js("return document.documentElement.scrollWidth"), WIDTHS[0][0])
        self.keep("fifty")


def why_not():
    """What is missing here, or ""."""
    if not shutil.which("chromedriver") or not shutil.which("chromium"):
        return "no Chromium: apt-get install chromium chromium-driver"
    with contextlib.suppress(ImportError):
        import selenium
        return "" if selenium else ""
    return "no Selenium: apt-get install python3-selenium"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: test_page.py PROGRAM [NAME...]")
    if why_not():
        print(why_not())
        sys.exit(77)
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    unittest.main()
