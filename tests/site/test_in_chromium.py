"""The site as somebody sees it, in a real Chromium; the screenshots are in build/screenshots."""

from __future__ import annotations

import functools
import http.server
import shutil
import threading

import pytest
from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.support.ui import WebDriverWait

from tests.pages.examples import ROOT

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
SHOTS = ROOT / "build" / "screenshots"
FLAGS = ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking")
FLAGS += ("disable-component-update", "disable-sync", "disable-dev-shm-usage")

pytestmark = pytest.mark.skipif(CHROMIUM is None or DRIVER is None, reason="there is no Chromium here")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_words):
        pass


@pytest.fixture(scope="module")
def address(site, tmp_path_factory):
    root = tmp_path_factory.mktemp("served")
    (root / "inplace-lint").symlink_to(site, target_is_directory=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=root))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/inplace-lint/"
    server.shutdown()


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in FLAGS:
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    driver.set_window_size(1280, 900)
    SHOTS.mkdir(parents=True, exist_ok=True)
    yield driver
    driver.quit()


def see(browser, name):
    browser.save_screenshot(str(SHOTS / f"{name}.png"))


def text_of(browser):
    return browser.find_element("css selector", "article").text


def test_the_home_page_has_the_picture_and_the_first_command(browser, address):
    browser.get(address)
    see(browser, "home")
    assert "pip install" in text_of(browser)
    pictures = browser.find_elements("css selector", "article img")
    assert pictures
    assert all(browser.execute_script("return arguments[0].naturalWidth", picture) > 0 for picture in pictures)


def test_the_first_steps_have_their_picture(browser, address):
    for name in ("start/", "zh/start/"):
        browser.get(address + name)
        see(browser, name.rstrip("/").replace("/", "-"))
        picture = browser.find_element("css selector", "article img[src*=gate]")
        assert browser.execute_script("return arguments[0].naturalWidth", picture) > 0


def test_a_rule_shows_its_code_in_colours(browser, address):
    browser.get(f"{address}rules/modified-after-save/")
    see(browser, "rule")
    assert "How to fix it" in text_of(browser)
    assert browser.find_elements("css selector", "article .highlight span.kn")


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("modified by an inplace operation", "modified-after-save"),
        ("view of a leaf Variable that requires grad", "leaf-view-write"),
    ],
)
def test_the_search_finds_the_errors_and_the_rule_by_words_of_a_message(browser, address, words, rule):
    browser.get(address)
    browser.execute_script("document.querySelector('[data-md-toggle=search]').click()")
    browser.find_element("css selector", ".md-search__input").send_keys(words)
    wait = WebDriverWait(browser, 20, ignored_exceptions=(StaleElementReferenceException,))
    wait.until(lambda seen: f"rules/{rule}" in found(seen))
    see(browser, "search")
    assert found(browser)[0] == "errors"


def found(browser):
    links = browser.find_elements("css selector", ".md-search-result__link")
    return [
        link.get_attribute("href").partition("/inplace-lint/")[2].partition("/?")[0].partition("/#")[0]
        for link in links
    ]


def test_the_switch_leads_to_the_chinese_pages(browser, address):
    browser.get(address)
    link = browser.find_element("css selector", ".md-select a[hreflang=zh]")
    browser.get(address + link.get_attribute("href").partition("/inplace-lint/")[2])
    see(browser, "chinese")
    assert "安装" in text_of(browser)


def test_nothing_is_wider_than_a_phone(browser, address):
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": True}
    )
    pages = (
        "",
        "start/",
        "zh/",
        "zh/start/",
        "rules/",
        "rules/modified-after-save/",
        "errors/",
        "comparison/",
        "found/",
    )
    for name in pages:
        browser.get(address + name)
        see(browser, f"phone-{name.rstrip('/').replace('/', '-') or 'home'}")
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 390, name
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
