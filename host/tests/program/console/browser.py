"""The console in a real browser: `browser.py URL ADMIN-TOKEN VIEWER-TOKEN COMPONENT [AXE]`.

Each check is a function whose name says what is so. The first that fails ends the script.
"""

import json
import pathlib
import sys
import tempfile

from selenium import webdriver
from selenium.common.exceptions import (
    NoSuchElementException,
    SessionNotCreatedException,
    StaleElementReferenceException,
    TimeoutException,
)
from selenium.webdriver import ActionChains
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

import scene

FLAGS = """--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --hide-scrollbars""".split()

PAGES = [
    "/", "/clusters/north", "/clusters/north?group=attribute.rack&host=n1-03", "/clusters/north?view=table&sort=-cpu",
    "/clusters/north/hosts/n1-03", "/clusters/north/vms", "/clusters/north/vms/auth-1", "/clusters/north/groups",
    "/clusters/north/decisions", "/clusters/north/decisions/120", "/clusters/north/decisions/162?values=raw",
    "/clusters/north?colour=cost&policy=best-fit&cpu=8&memory=64+GiB&group=alone:attribute.rack", "/clusters/north?colour=memory.total&group=none",
    "/clusters/north/questions?ask=factor&now=yes&entry=memory&factors=0.5,4",
    "/clusters/north/hosts/n1-03/maintenance", "/clusters/north/vms/auth-1?why-not=n1-03", "/clusters/north/vms/auth-1/migrate",
    "/clusters/north/reservations", "/clusters/north/groups/auth-apart", "/clusters/north/groups?make=yes", "/clusters/north/groups?filter=nothing",
    "/clusters/north/questions?ask=room&now=yes&cpu=2&gpu.count=1&pages=4&page-size=1+GiB", "/quotas", "/quotas?make=yes", "/tokens",
    "/clusters/north/plans", "/clusters/north/plans/1", "/clusters/north/settings", "/clusters/north/questions?ask=room&now=yes&cpu=8&memory=64+GiB",
    "/policies", "/policies/house", "/policies/house?view=document", "/policies/house?view=history",
    "/policies/aeolus-least-used?cluster=burst", "/units", "/units/memory", "/search?text=n1", "/search?text=nothing-like-it", "/events", "/audit", "/audit?kind=call&by=admin-all",
]


def browser(width=1440, height=900):
    """A browser with nothing in it."""
    options = webdriver.ChromeOptions()
    for flag in FLAGS:
        options.add_argument(flag)
    profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    options.add_argument(f"--user-data-dir={profile.name}")
    options.add_argument(f"--window-size={width},{height}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    for attempt in range(3):
        try:
            driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
            break
        except SessionNotCreatedException:
            # Where many servers start beside it, a browser may not be there in time.
            if attempt == 2:
                raise
    driver.set_window_size(width, height)
    driver.set_script_timeout(300)
    # The driver answers when the browser does; it is not given up before the script is.
    driver.command_executor.client_config.timeout = 600
    # It is taken away with the browser.
    driver.profile = profile
    return driver


class Desk:
    """A browser in which somebody has signed in."""

    def __init__(self, url, token, width=1440):
        self.url, self.driver = url, browser(width)
        self.driver.get(url)
        field = self.driver.find_element(By.NAME, "token")
        field.send_keys(token, Keys.ENTER)
        self.wait(lambda: self.heading() and "Sign in" not in self.heading())
        # Nobody was known before: that is as it should be.
        self.complaints()

    def go(self, path):
        self.driver.get(self.url + path)

    def heading(self):
        found = self.driver.find_elements(By.TAG_NAME, "h1")
        return found[0].text if found else ""

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def wait(self, is_so):
        # What is asked about may be of a page that is just being left.
        leaving = [StaleElementReferenceException, NoSuchElementException]
        # On a machine that is busy with other things a browser may take minutes.
        return WebDriverWait(self.driver, 300, ignored_exceptions=leaving).until(lambda _: is_so())

    def scheme(self, word):
        """Choose a colour scheme by the form that every page has."""
        self.one(f".side button[name='scheme'][value='{word}']").click()
        self.wait(lambda: self.one("html").get_attribute("data-scheme") == word)

    def complains_of_nothing(self):
        """That the browser has nothing to complain of; else what it is."""
        complaints = self.complaints()
        assert not complaints, complaints

    def complaints(self, allowed=()):
        """What the browser complained of since this was last asked."""
        told = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
        return [it for it in told if not any(part in it for part in allowed)]

    def foreign(self):
        """Requests that went elsewhere."""
        asked = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                asked.append(message["params"]["request"]["url"])
        return [url for url in asked if not url.startswith((self.url, "data:", "about:", "chrome:"))]


def tries_a_draft(desk, differing):
    """Wait until a draft comes to so many other decisions. A server that is busy is asked again, as the page offers."""
    found = lambda selector: desk.driver.find_elements(By.CSS_SELECTOR, selector)

    def comes_to_it():
        if not found("#answer[aria-busy]"):
            for again in found("#answer .stale-answer button"):
                again.click()
        return str(differing) in [it.get_attribute("data-differing") for it in found("#answer [data-differing]")]

    try:
        desk.wait(comes_to_it)
    except TimeoutException:
        raise AssertionError(f"not {differing}: {desk.one('#answer').text}") from None


# What is wrong with tables: one that has to be scrolled on a desk, and a second line that stands in the first.
OF_TABLES = """
    const tables = [...document.querySelectorAll("#main .scroll")].filter((it) => it.scrollWidth > it.clientWidth + 1);
    const lines = [...document.querySelectorAll("#main tbody :is(td, th) .sub")]
        .filter((it) => getComputedStyle(it).display === "inline" && !it.closest(".events"));
    return [
        ...tables.map((it) => `a table of ${it.scrollWidth} pixels in ${it.clientWidth}: ${it.textContent.slice(0, 60)}`),
        ...lines.slice(0, 3).map((it) => `"${it.textContent.slice(0, 60)}" has no line of its own`),
    ];
"""


def every_page_is_shown_in_both_schemes_without_a_complaint(desk, axe):
    wrong = []
    for scheme in ("light", "dark"):
        desk.go("/")
        desk.scheme(scheme)
        for path in PAGES:
            desk.go(path)
            assert desk.heading(), path
            told = desk.complaints()
            wide = desk.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
            told += [f"{wide} pixels too wide"] if wide > 1 else []
            told += desk.driver.execute_script(OF_TABLES)
            told += serious(desk, axe) if axe else []
            wrong += [f"{path}, {scheme}: {it}" for it in told]
    assert not wrong, "\n".join(wrong)
    assert not desk.foreign()


def serious(desk, axe):
    """What an accessibility checker finds serious."""
    desk.driver.execute_script(axe)
    found = desk.driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((all) => done(all.violations), (error) => done([{id: String(error), nodes: []}]))"
    )
    grave = [it for it in found if it.get("impact") in ("serious", "critical", None)]
    return [(it["id"], [node["html"][:160] + " " + str(node.get("failureSummary"))[:200] for node in it["nodes"][:2]]) for it in grave]


def the_api_is_described_and_tried_on_a_page(desk, token):
    desk.go("/docs")
    # The page does not use the console's session: a token is entered on the page itself.
    desk.wait(lambda: desk.one("#operations-tag-clusters").is_displayed())
    desk.one("button.authorize").click()
    desk.one(".auth-container input").send_keys(token)
    desk.one(".auth-container button[type=submit]").click()
    desk.one(".auth-container button.btn-done").click()
    desk.one("#operations-tag-clusters").click()
    desk.wait(lambda: desk.one("#operations-clusters-list_clusters").is_displayed())
    desk.one("#operations-clusters-list_clusters .opblock-summary-control").click()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "button.try-out__btn"))
    desk.one("button.try-out__btn").click()
    desk.one("button.execute").click()
    desk.wait(lambda: '"north"' in desk.one("#operations-clusters-list_clusters .live-responses-table").text)
    assert not desk.complaints(), "the page of the API"
    assert not desk.foreign()
    desk.go("/")


def pages_fit_a_phone_and_twice_the_size(desk):
    for width, zoom in ((390, 1), (1280, 2)):
        desk.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width // zoom, "height": 800, "deviceScaleFactor": zoom, "mobile": False})
        for path in PAGES:
            desk.go(path)
            wide = desk.driver.execute_script("return document.documentElement.scrollWidth - innerWidth")
            assert wide <= 1, f"{path} at {width}/{zoom}: {wide} pixels too wide"
    desk.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def a_plan_is_approved_by_keys_alone(desk, api):
    desk.go("/clusters/north/plans/1")
    # From the beginning of the page: j goes to the first move that waits, Space ticks it.
    ActionChains(desk.driver).send_keys("j").perform()
    desk.wait(lambda: desk.driver.switch_to.active_element.tag_name in ("input", "a"))
    while desk.driver.switch_to.active_element.get_attribute("name") != "move":
        ActionChains(desk.driver).send_keys("j").perform()
    step = int(desk.driver.switch_to.active_element.get_attribute("value"))
    ActionChains(desk.driver).send_keys(Keys.SPACE).perform()
    desk.wait(lambda: "begin 1 move" in desk.one("[data-counts]").text)
    ActionChains(desk.driver).key_down(Keys.SHIFT).send_keys(Keys.ENTER).key_up(Keys.SHIFT).perform()
    state = lambda: api.must("GET", "/v1/clusters/north/plans/1")["moves"][step - 1]["state"]
    desk.wait(lambda: state() == "begun")


def the_map_is_walked_by_keys(desk):
    desk.go("/clusters/north?group=attribute.rack")
    desk.driver.execute_script("document.querySelector('pw-heat-map').focus()")
    ActionChains(desk.driver).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, Keys.ARROW_DOWN).perform()
    desk.wait(lambda: "host=" in desk.driver.current_url)
    chosen = desk.driver.current_url.split("host=")[1]
    desk.wait(lambda: desk.one("#host-panel h2").text == chosen)
    ActionChains(desk.driver).send_keys(Keys.ENTER).perform()
    desk.wait(lambda: desk.heading() == chosen)


def the_map_is_coloured_by_the_cost_of_a_vm(desk, api):
    desk.go("/clusters/north")
    Select(desk.one("select[name='colour']")).select_by_value("cost")
    desk.wait(lambda: desk.one("input[name='memory']").is_displayed())
    # A list that came with the answer shows what counts.
    assert desk.one("select[name='policy']").get_property("value") == ""
    Select(desk.one("select[name='policy']")).select_by_value("worst-fit")
    desk.wait(lambda: "policy=worst-fit" in desk.driver.current_url)
    chosen = "section[aria-label='Map of hosts'] .in"

    def each_cell_says_what_the_api_says():
        # A reservation that runs out between the two changes what a host costs.
        told = api.must("POST", "/v1/clusters/north/host-costs?policy=worst-fit", {"id": "map", "cpu": "2", "memory": "8 GiB"})
        costs = {host["host"]: host["costs"] for host in told["hosts"]}
        cells = desk.driver.execute_script("return document.querySelector('pw-heat-map').map.hosts")
        costed = [(costs.get(name), text.replace("−", "-").replace(",", "")) for name, _, _, text in cells if costs.get(name)]
        # Great ones have no digits behind the point.
        is_alike = lambda cost, shown: shown.lstrip("-")[:1].isdigit() and abs(float(shown) - cost[0]) < 1
        are_alike = all(is_alike(cost, shown) for cost, shown in costed)
        return costed and are_alike and {cell[0] for cell in cells} == set(costs) and told["chosen"] in desk.one(chosen).text

    desk.wait(each_cell_says_what_the_api_says)
    assert "lower is better" in desk.one(".legend").text
    desk.complains_of_nothing()


def keys_are_told_by_a_key_and_can_be_switched_off(desk):
    desk.go("/clusters/north")
    ActionChains(desk.driver).send_keys("?").perform()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog.keys[open]"))
    assert "choose a host" in desk.one("dialog.keys").text
    desk.one("dialog.keys input[type='checkbox']").click()
    ActionChains(desk.driver).send_keys(Keys.ESCAPE).perform()
    desk.wait(lambda: not desk.driver.find_elements(By.CSS_SELECTOR, "dialog"))
    ActionChains(desk.driver).send_keys("?").perform()
    assert not desk.driver.find_elements(By.CSS_SELECTOR, "dialog")
    # By the button they are told still, and switched on again.
    desk.one(".side [data-keys]").click()
    desk.one("dialog.keys input[type='checkbox']").click()
    desk.one("dialog.keys button").click()
    ActionChains(desk.driver).send_keys("g", "y").perform()
    desk.wait(lambda: desk.driver.current_url.endswith("/policies"))


def values_of_a_decision_are_chosen_by_keys(desk):
    desk.go("/clusters/north/decisions/120")
    for key, word in (("r", "raw"), ("s", "scaled"), ("w", "weighted")):
        ActionChains(desk.driver).send_keys(key).perform()
        desk.wait(lambda word=word: f"values={word}" in desk.driver.current_url)
        chosen = ".seg[aria-label='Values'] a[aria-current]"
        desk.wait(lambda word=word: desk.one(chosen).text == word)
    ActionChains(desk.driver).send_keys("?").perform()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog.keys[open]"))
    assert "weighted" in desk.one("dialog.keys").text
    desk.one("dialog.keys button").click()


def other_colours_take_neither_the_focus_nor_what_was_written(desk):
    desk.scheme("light")
    desk.go("/policies/house")
    field = desk.one("input[name='entry/-/costs/0/factor']")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("7")
    desk.scheme("dark")
    assert field.get_attribute("value") == "7"
    pressed = desk.driver.switch_to.active_element
    assert (pressed.get_attribute("value"), pressed.get_attribute("aria-pressed")) == ("dark", "true")
    assert len(desk.driver.find_elements(By.CSS_SELECTOR, ".side [name='scheme'][aria-pressed='true']")) == 1
    desk.one(".was").click()
    tries_a_draft(desk, 0)
    desk.go("/policies/house")
    assert desk.one("html").get_attribute("data-scheme") == "dark"
    desk.scheme("light")
    desk.complains_of_nothing()


def a_draft_that_got_no_answer_is_told_and_asked_again(desk):
    desk.go("/policies/house")
    desk.driver.execute_script(
        "window.asks = window.fetch; window.fetch = async () => new Response('', {status: 503})")
    field = desk.one("input[name='entry/-/costs/0/factor']")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("3")
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "#answer .stale-answer"))
    assert "status 503" in desk.one("#answer .stale-answer").text
    # Nothing is being waited for any more.
    assert desk.one("#answer").get_attribute("aria-busy") is None
    desk.driver.execute_script("window.fetch = window.asks")
    desk.one("#answer .stale-answer button").click()
    desk.wait(lambda: not desk.driver.find_elements(By.CSS_SELECTOR, "#answer .stale-answer, #answer[aria-busy]"))
    desk.one(".was").click()
    tries_a_draft(desk, 0)
    desk.complains_of_nothing()


def what_holds_for_the_whole_policy_is_changed_and_told_in_words(desk):
    desk.go("/policies/house")
    folded = lambda name: desk.driver.find_element(By.XPATH, f"//section[@aria-labelledby='whole']//summary[starts-with(., '{name}')]")
    folded("Ties").click()
    Select(desk.one("select[name='policy/tie-rule']")).select_by_value("draw")
    desk.wait(lambda: "ties: fewest-vms, id → draw, id" in desk.one("#answer").text)
    folded("Settings for all units").click()
    desk.one("input[name='policy/new-setting']").send_keys("overcommit")
    desk.one("input[name='policy/new-setting-value']").send_keys("1.5")
    desk.one("button[data-redraw]").click()
    desk.wait(lambda: desk.driver.find_elements(By.ID, "policy/settings/overcommit"))
    desk.wait(lambda: "setting overcommit of all units: not set → 1.5" in desk.one("#answer").text)
    # What was open stays open.
    assert desk.driver.find_element(By.ID, "policy/settings/overcommit").is_displayed()
    folded("Balance").click()
    desk.one("input[name='policy/balance/unit']").send_keys("even-distribution", Keys.TAB)
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "input[name^='policy/balance/settings/']"))
    desk.wait(lambda: "balance: added" in desk.one("#answer").text)
    desk.complains_of_nothing()


def two_edit_one_policy_and_nobody_loses_anything(desk, api):
    api.must("POST", "/v1/policies/house/clone", {"name": "shared"})
    desk.go("/policies/shared")
    field = desk.one("input[name='entry/-/costs/1/factor']")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("5")
    first = api.must("GET", "/v1/policies/shared")
    theirs = first["text"].replace("factor = 2", "factor = 3").encode()
    api.must("PUT", "/v1/policies/shared", theirs, kind="application/toml", headers={"If-Match": f'"{first["revision"]}"'})
    desk.one("button[value='save']").click()
    desk.wait(lambda: "meanwhile" in desk.one("[role='alert']").text)
    told = desk.one("[role='alert']").text
    assert "cost even-distribution, factor: 2 → 3" in told and "cost memory, factor: 1 → 5" in told, told
    desk.one("button[value='merge']").click()
    desk.wait(lambda: "Nothing is saved yet" in desk.one("#main").text)
    told = desk.complaints(allowed=("412",))
    assert not told, told
    desk.one("button[value='save']").click()
    desk.wait(lambda: "view=history" in desk.driver.current_url)
    text = api.must("GET", "/v1/policies/shared")["text"]
    assert "factor = 3" in text and "factor = 5" in text, text


def the_cells_of_a_large_map_are_read_again_by_themselves(desk, api):
    hosts = [{"id": f"h{number:04}", "cpu.cores": 10, "memory.total": "64 GiB"} for number in range(1100)]
    api.must("POST", "/v1/clusters?policy=best-fit", {"name": "wide", "hosts": hosts})
    desk.go("/clusters/wide")
    placed = 0

    def is_read_by_itself():
        # After a while the whole page is read, so that it is what happens next that counts.
        nonlocal placed
        api.must("POST", "/v1/clusters/wide/place", {"id": f"v{placed}", "cpu": 8, "memory": "1 GiB"})
        placed += 1
        return desk.driver.execute_script(
            "return performance.getEntriesByType('resource').some((it) => it.name.includes('/clusters/wide/map?'))")

    def in_sight(row):
        desk.driver.execute_script("document.getElementById(arguments[0]).scrollIntoView()", row)
        return desk.one(f"#{row} .meas svg")

    desk.wait(is_read_by_itself)
    full = """const map = document.querySelector('pw-heat-map');
        const [canvas, { cell, hosts }] = [map.querySelector('canvas'), map.map];
        if (!canvas) return [0, 0];
        // Of a copy: a browser complains of a canvas that is read again and again.
        const copy = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height });
        const context = copy.getContext('2d', { willReadFrequently: true });
        context.drawImage(canvas, 0, 0);
        const { data } = context.getImageData(0, 0, copy.width, copy.height);
        const scale = canvas.width / map.querySelector('svg').viewBox.baseVal.width;
        const at = (x, y) => 4 * (canvas.width * Math.round((y + cell / 2) * scale) + Math.round((x + cell / 2) * scale));
        const colour = getComputedStyle(map.querySelector('path.c5')).fill.match(/[0-9]+/g).join();
        const drawn = hosts.filter(([, x, y]) => data.slice(at(x, y), at(x, y) + 3).join() === colour);
        return [drawn.length, hosts.filter(([, , , text]) => text === '80 %').length]"""
    desk.wait(lambda: desk.driver.execute_script(full) == [placed, placed])
    # The page around it follows.
    desk.wait(lambda: f"{placed * 8} of 11" in desk.one(".stats").text)
    # And so do figures of its table, of rows in sight and of others when they come into sight.
    rows = desk.driver.find_elements(By.CSS_SELECTOR, "tr[id^='row-']")
    ends = [row.get_attribute("id") for row in (rows[0], rows[-1])]
    for share in (25, 50):
        measured = [{"id": row.removeprefix("row-"), "cpu.usage": share / 100} for row in ends]
        api.must("POST", "/v1/clusters/wide/inventory/changes", {"statistics": measured})
        for row in ends:
            desk.wait(lambda: in_sight(row).get_attribute("aria-label").endswith(f" {share} % used"))
    # A page of it would ask for what is not there any more.
    desk.go("/")
    api.must("DELETE", "/v1/clusters/wide")


def a_filter_answers_while_one_types_and_is_in_the_url(desk):
    desk.go("/clusters/north?view=table")
    desk.one("input[name='filter']").send_keys("zone:z2 state:up")
    desk.wait(lambda: "filter=zone" in desk.driver.current_url)
    zones = lambda: {cell.text for cell in desk.driver.find_elements(By.CSS_SELECTOR, "tbody td:nth-child(3)")}
    desk.wait(lambda: zones() == {"z2"})
    assert desk.driver.switch_to.active_element.get_attribute("name") == "filter"


def a_policy_is_tuned_and_counts_as_the_api_counts(desk, api):
    desk.go("/policies/house")
    field = desk.one("input[name='entry/-/costs/0/factor']")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("-4")
    text = api.must("GET", "/v1/policies/house")["text"].replace("factor = 2", "factor = -4")
    counted = api.must("POST", "/v1/clusters/north/draft", text.encode(), kind="application/toml")["differing"]
    assert counted > 0
    tries_a_draft(desk, counted)
    assert desk.one(".was").text == "was 2"
    # Enter tries the draft, and saves nothing.
    revision = api.must("GET", "/v1/policies/house")["revision"]
    desk.driver.execute_script("document.getElementById('answer').replaceChildren()")
    field.send_keys(Keys.ENTER)
    tries_a_draft(desk, counted)
    assert api.must("GET", "/v1/policies/house")["revision"] == revision
    # Taken back, nothing would be otherwise.
    desk.one(".was").click()
    tries_a_draft(desk, 0)
    # What cannot be used is told in the unit's own words, and nothing is lost.
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("much")
    desk.wait(lambda: "cannot be used yet" in desk.one("#answer").text)
    assert field.get_attribute("value") == "much"
    desk.one(".was").click()
    tries_a_draft(desk, 0)


def the_slider_of_a_factor_goes_as_far_as_its_field(desk):
    desk.go("/policies/house")
    field = desk.one("input[name='entry/-/costs/0/factor']")
    slider = desk.one("input[data-for='entry/-/costs/0/factor']")
    for written, keys, expected in (
        ("250", [Keys.ARROW_DOWN], "249.9"),
        ("-4", [Keys.ARROW_UP], "-3.9"),
        ("2.55", [Keys.SHIFT, Keys.ARROW_RIGHT], "3.55"),
        ("2.55", [Keys.SHIFT, Keys.ARROW_LEFT], "1.55"),
        ("2,5", [Keys.ARROW_UP], "2,5"),
    ):
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(written)
        assert field.get_attribute("value") == written
        slider.send_keys(*keys)
        assert field.get_attribute("value") == expected, (written, field.get_attribute("value"))
    # Nor does a key of the field replace what is no number.
    field.send_keys(Keys.ARROW_UP)
    assert field.get_attribute("value") == "2,5"
    desk.one(".was").click()
    tries_a_draft(desk, 0)
    desk.complains_of_nothing()


def a_factor_that_is_refused_stays_as_it_was_written(desk, api):
    desk.go("/policies/house")
    field = desk.one("input[name='entry/-/costs/0/factor']")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("2,5")
    revision = api.must("GET", "/v1/policies/house")["revision"]
    desk.one("button[value='save']").click()
    wrong = "wrong-entry/-/costs/0/factor"
    desk.wait(lambda: desk.driver.find_elements(By.ID, wrong) and not field_is_there(field))
    field = desk.one("input[name='entry/-/costs/0/factor']")
    assert field.get_attribute("value") == "2,5"
    assert "must be a number, such as 2.5" in desk.driver.find_element(By.ID, wrong).text
    assert desk.one(".was").text == "was 2"
    assert api.must("GET", "/v1/policies/house")["revision"] == revision
    desk.one(".was").click()
    tries_a_draft(desk, 0)
    told = desk.complaints(allowed=("422",))
    assert not told, told


def field_is_there(field):
    try:
        return field.is_enabled()
    except StaleElementReferenceException:
        return False


def names_of_any_length_stay_within_their_panels(desk, api):
    name = "long-" + "x" * 190
    api.must("POST", "/v1/clusters?policy=general", {
        "name": "lengthy",
        "hosts": [{"id": id, "cpu.cores": 4, "memory.total": "8 GiB"} for id in (name, "h2")],
        "vms": [{"id": vm, "host": name, "cpu": 1, "memory": "1 GiB"} for vm in (name, "v2")],
        "groups": [{"id": name, "vms": [name, "v2"], "rule": "negative", "hard": True}]})
    api.must("POST", "/v1/clusters/lengthy/place", {"id": f"{name}2", "cpu": 1, "memory": "1 GiB"})
    api.ask("POST", "/v1/clusters/lengthy/place", {"id": f"{name}3", "cpu": 100, "memory": "1 TiB"})
    # What scrolls by itself may be wider than what is seen of it.
    beyond = """
        const wide = [...document.querySelectorAll("#main *")].filter((it) => {
            const { width, right } = it.getBoundingClientRect();
            return width && right > innerWidth + 1 && !it.closest(".scroll, pre, svg, .vh");
        });
        return wide.map((it) => `${it.tagName} ${it.textContent.slice(0, 60)}`).slice(0, 5);"""
    at = "/clusters/lengthy"
    for width in (1280, 390):
        desk.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False})
        for path in (
            f"{at}/groups", f"{at}/groups/{name}", f"{at}/decisions/1", f"{at}/decisions/2", f"{at}/decisions/2?host={name}",
            f"{at}/questions?ask=maintenance&now=yes&host={name}", f"{at}/hosts/{name}/maintenance", f"{at}/vms/{name}",
        ):
            desk.go(path)
            wide = desk.driver.execute_script(beyond)
            assert not wide, (width, path, wide)
    desk.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    api.must("DELETE", "/v1/clusters/lengthy")


def what_has_the_focus_is_in_sight(desk):
    covered = """
        const sticks = ".sticky, .top, .cols.tuning > :last-child", wrong = [];
        const all = [...document.querySelectorAll("#main :is(a, button, input, select, summary, textarea)")];
        for (const it of [...all, ...all.reverse()]) {
            it.focus();
            if (document.activeElement !== it || it.closest(sticks)) continue;
            const { left, top, width, height } = it.getBoundingClientRect();
            const over = document.elementFromPoint(left + width / 2, top + height / 2)?.closest(sticks);
            if (over) wrong.push(`${it.outerHTML.slice(0, 120)} under ${over.className}`);
        }
        return wrong;"""
    for width, height in ((390, 844), (640, 400), (1000, 700)):
        desk.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        for path in ("/clusters/north/plans/1", "/policies/house"):
            desk.go(path)
            wrong = desk.driver.execute_script(covered)
            assert not wrong, (width, path, wrong[:5])
    desk.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def what_is_wrong_is_told_at_its_field(desk):
    desk.go("/policies/house")
    field = desk.one("input[name='entry/-/costs/0/factor']")
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("much")
    desk.wait(lambda: field.get_attribute("aria-invalid") == "true")
    told = desk.driver.find_element(By.ID, field.get_attribute("aria-describedby").split()[0])
    assert told.is_displayed() and told.text, told.text
    assert desk.driver.switch_to.active_element == field, "who writes is not disturbed"
    desk.one(".was").click()
    desk.wait(lambda: field.get_attribute("aria-invalid") is None)
    assert not desk.driver.find_elements(By.CSS_SELECTOR, "p.wrong")


def entries_are_moved_by_keys_and_by_dragging(desk):
    desk.go("/policies/house")
    names = lambda: [it.text for it in desk.driver.find_elements(By.CSS_SELECTOR, "section[aria-label='Filters'] .entry b")]
    before = names()
    assert len(before) >= 3, before
    desk.driver.execute_script("document.querySelector(\"section[aria-label='Filters'] .entry a\").focus()")
    ActionChains(desk.driver).key_down(Keys.ALT).send_keys(Keys.ARROW_DOWN).key_up(Keys.ALT).perform()
    moved = [before[1], before[0], *before[2:]]
    desk.wait(lambda: names() == moved)
    # The entry keeps the focus, so that it can be moved on; what the draft would change is told.
    desk.wait(lambda: "number 2 of filters" in desk.one("#toast").text)
    assert before[0] in desk.driver.switch_to.active_element.get_attribute("aria-label")
    ActionChains(desk.driver).key_down(Keys.ALT).send_keys(Keys.ARROW_UP).key_up(Keys.ALT).perform()
    desk.wait(lambda: names() == before)
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "#answer [data-differing]"))
    grips = desk.driver.find_elements(By.CSS_SELECTOR, "section[aria-label='Filters'] .grip")
    rows = desk.driver.find_elements(By.CSS_SELECTOR, "section[aria-label='Filters'] .entry")
    ActionChains(desk.driver).drag_and_drop(grips[2], rows[0]).perform()
    desk.wait(lambda: names() == [before[2], *before[:2], *before[3:]])
    desk.complains_of_nothing()
    # Nothing was saved.
    desk.go("/policies/house")
    assert names() == before


def units_are_added_and_removed(desk):
    desk.go("/policies/house")
    names = lambda: [it.text for it in desk.driver.find_elements(By.CSS_SELECTOR, "section[aria-label='Filters'] .entry b")]
    before = names()
    desk.one("input[name='add-unit']").send_keys("network", Keys.ENTER)
    desk.wait(lambda: names() == [*before, "network"])
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "#answer [data-differing]"))
    desk.one("button[aria-label='Remove network']").click()
    desk.wait(lambda: names() == before)
    desk.complains_of_nothing()
    # One that there is not is refused at its field, and joins nothing.
    desk.one("#add-unit").send_keys("nonsense", Keys.ENTER)
    desk.wait(lambda: "There is no unit" in desk.driver.find_element(By.ID, "wrong-add-unit").text)
    assert names() == before
    field = desk.driver.switch_to.active_element
    assert field.get_attribute("id") == "add-unit" and field.get_attribute("value") == "nonsense"
    told = desk.complaints(allowed=("422",))
    assert not told, told


def weights_are_tuned_while_the_shares_are_told(desk, api):
    policy = b'filters = []\n[[selections]]\nunit = "least-used"\n'
    api.must("PUT", "/v1/policies/by-weight", policy, kind="application/toml", headers={"If-None-Match": "*"})
    desk.go("/policies/by-weight?cluster=burst")
    share = lambda account: desk.driver.find_element(By.XPATH, f"//*[contains(@class, 'pie-row')]//tbody/tr[contains(., '{account}')]/*[3]").text
    cell = lambda number, column: desk.one(f"[name^='entry/-/selections/0/rows/{number}/'][name*='/{column}/']")
    rows = lambda: [row for row in desk.driver.find_elements(By.CSS_SELECTOR, ".rows tbody tr") if row.is_displayed()]
    desk.wait(lambda: share("ec2-us") != "0 %")
    desk.one("details.settings summary").click()
    cell(0, "account").send_keys("ec2-us")
    cell(0, "weight").send_keys("0")
    desk.wait(lambda: share("ec2-us") == "0 %")
    desk.driver.find_element(By.XPATH, "//button[text()='Add a row']").click()
    desk.wait(lambda: len(rows()) == 2)
    desk.wait(lambda: "/rows/1/" in (desk.driver.switch_to.active_element.get_attribute("name") or ""))
    desk.driver.switch_to.active_element.send_keys("vsphere")
    cell(1, "weight").send_keys("-1")
    desk.wait(lambda: "must be a number from 0 up" in desk.one("#answer").text)
    cell(1, "weight").send_keys(Keys.CONTROL, "a")
    cell(1, "weight").send_keys("3")
    desk.wait(lambda: "must be a number from 0 up" not in desk.one("#answer").text)
    desk.one("[aria-label='Remove row 1 of weights']").click()
    desk.wait(lambda: share("ec2-us") != "0 %")
    desk.complains_of_nothing()
    desk.one("button[value='save']").click()
    desk.wait(lambda: "vsphere" in api.must("GET", "/v1/policies/by-weight")["text"])
    text = api.must("GET", "/v1/policies/by-weight")["text"]
    assert 'weights = [{ account = "vsphere", weight = 3 }]' in text, text
    api.must("DELETE", "/v1/policies/by-weight", headers={"If-Match": "*"})


def chances_are_told_for_a_request(desk):
    desk.go("/policies/aeolus-least-used?cluster=burst")
    assert desk.one("svg.pie path.k1")
    shares = [cell.text for cell in desk.driver.find_elements(By.CSS_SELECTOR, ".pie-row tbody td:nth-child(3)")]
    assert 99 <= sum(float(share.strip(" %")) for share in shares) <= 101, shares


def what_happens_is_shown_as_it_happens(desk, api):
    desk.go("/clusters/north/vms?host=n5-05")
    desk.wait(lambda: desk.driver.execute_script("return performance.getEntriesByName(location.origin + '/events/stream').length >= 0"))
    desk.go("/events?kind=vm")
    desk.wait(lambda: "Live" in desk.one(".live-state").text)
    api.must("POST", "/v1/clusters/north/place", {"id": "seen-at-once", "cpu": 1, "memory": "1 GiB"})
    desk.wait(lambda: "seen-at-once" in desk.one("tbody").text)


def hostile_names_are_text(desk, api):
    name = "<img src=x onerror=\"document.title='broken'\"><script>document.title='broken'</script>"
    api.must("POST", "/v1/clusters/north/place", {"id": name, "cpu": 1, "memory": "1 GiB"})
    for path in ("/events", "/clusters/north/decisions", "/clusters/north/vms?pending=true"):
        desk.go(path)
        desk.wait(lambda: "onerror" in desk.one("#main").text)
        assert desk.driver.title != "broken" and not desk.driver.find_elements(By.CSS_SELECTOR, "#main img")
    desk.complains_of_nothing()


def a_form_is_sent_after_a_session_that_ended_meanwhile(desk, api):
    desk.go("/clusters/north/groups?make=yes")
    field = desk.one("input[name='id']")
    field.send_keys("written-down")
    cookies = desk.driver.get_cookies()
    desk.driver.delete_all_cookies()
    button = desk.driver.find_element(By.XPATH, "//button[contains(., 'Make the group')]")
    button.click()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert "session has ended" in desk.one("dialog").text
    assert field.get_attribute("value") == "written-down"
    # Signed in elsewhere, one goes on here.
    for cookie in cookies:
        desk.driver.add_cookie(cookie)
    desk.driver.find_element(By.XPATH, "//dialog//button[text()='Go on']").click()
    desk.wait(lambda: not desk.driver.find_elements(By.CSS_SELECTOR, "dialog"))
    button.click()
    desk.wait(lambda: "/groups/written-down" in desk.driver.current_url)
    api.must("DELETE", "/v1/clusters/north/groups/written-down")
    told = desk.complaints(allowed=("401",))
    assert not told, told


def an_ended_session_loses_nothing(desk):
    desk.go("/policies/house")
    field = desk.one("input[name='entry/-/costs/0/factor']")
    desk.driver.delete_all_cookies()
    field.send_keys(Keys.CONTROL, "a")
    field.send_keys("7")
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert "session has ended" in desk.one("dialog").text
    assert field.get_attribute("value") == "7"
    # Nor does saving.
    desk.driver.find_element(By.XPATH, "//dialog//button[text()='Go on']").click()
    desk.wait(lambda: not desk.driver.find_elements(By.CSS_SELECTOR, "dialog"))
    desk.one("button[value='save']").click()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert field.get_attribute("value") == "7"
    told = desk.complaints(allowed=("401",))
    assert not told, told


def a_unit_is_dropped_checked_and_put_in_force(desk, api, component):
    desk.go("/units")
    before = [unit["name"] for unit in api.must("GET", "/v1/units?limit=1000")["items"]]
    assert "dropped-1" not in before
    # A field of the test's own holds the file, as a desktop would.
    desk.driver.execute_script("""
        const desktop = document.createElement('input');
        desktop.type = 'file';
        desktop.id = 'desktop';
        document.body.append(desktop);
    """)
    desk.one("#desktop").send_keys(str(component))
    let_go = """
        const carried = new DataTransfer();
        for (const file of document.getElementById('desktop').files) carried.items.add(file);
        const over = document.querySelector('h1');
        for (const kind of ['dragover', 'drop']) {
            const event = new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true });
            over.dispatchEvent(event);
            if (!event.defaultPrevented) throw new Error(kind + ' is left to the browser');
        }
    """
    # Steps of a small unit are over before anybody sees them: here they last for two looks.
    desk.driver.execute_script("""
        window.shown = [];
        const place = document.getElementById('under-way');
        new MutationObserver(() => window.shown.push(place.textContent)).observe(place, { childList: true });
        const [real, page] = [window.fetch, '<div id="under-way"><section>probes: under way</section></div>'];
        let looks = 0;
        window.fetch = (url, how) => {
            const isLook = String(url).includes('view=stagings') && looks++ < 2;
            return isLook ? Promise.resolve(new Response(page)) : real(url, how);
        };
    """)
    desk.driver.execute_script(let_go)
    desk.wait(lambda: "passed every step" in desk.one("#became").text)
    desk.wait(lambda: "probes: under way" in desk.driver.execute_script("return window.shown"))
    desk.wait(lambda: desk.one("#under-way").get_attribute("textContent") == "")
    assert "probes" in desk.one("#became").text, desk.one("#became").text
    assert [unit["name"] for unit in api.must("GET", "/v1/units?limit=1000")["items"]] == before
    desk.one(".drop button[value='put']").click()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    replayed = [it.text for it in desk.driver.find_elements(By.CSS_SELECTOR, "#became [data-replayed]")]
    for part in ("decide by it from then on", *replayed):
        assert part in desk.one("dialog").text, desk.one("dialog").text
    assert [unit["name"] for unit in api.must("GET", "/v1/units?limit=1000")["items"]] == before
    desk.one("dialog .risk").click()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "section[aria-label='Units'] a[href='/units/dropped-1']"))
    assert api.must("GET", "/v1/units/dropped-1")["source"]["kind"] == "upload"
    desk.wait(lambda: "passed every step" in desk.one("#became").text)
    # What is no unit is refused with a sentence, and nothing changes.
    with tempfile.NamedTemporaryFile(suffix=".wasm") as broken:
        broken.write(b"no component")
        broken.flush()
        desk.one("#desktop").send_keys(broken.name)
        desk.driver.execute_script(let_go)
        desk.wait(lambda: "Refused at the step" in desk.one("#became").text)
    told = desk.complaints(allowed=("422",))
    assert not told, told


def a_host_goes_into_maintenance_and_back(desk, api):
    state = lambda: api.must("GET", "/v1/clusters/north/hosts/n2-01")["state"]
    desk.go("/clusters/north/hosts/n2-01")
    desk.driver.find_element(By.PARTIAL_LINK_TEXT, "Put into maintenance").click()
    desk.wait(lambda: "Put n2-01 into maintenance?" in desk.heading())
    assert state() == "up", "a question changes nothing"
    desk.one("button[name='state'][value='maintenance']").click()
    desk.wait(lambda: desk.heading() == "n2-01")
    assert state() == "maintenance"
    is_told_with_the_focus(desk, "Host n2-01 is in maintenance: it takes no more VMs.")
    desk.driver.find_element(By.XPATH, "//button[text()='Take back into service']").click()
    desk.wait(lambda: state() == "up")
    is_told_with_the_focus(desk, "Host n2-01 takes VMs again.")
    desk.complains_of_nothing()


def is_told_with_the_focus(desk, sentence):
    """What was done is told where the focus is, in a place whose changes are read out."""
    focused = "return document.activeElement.id"
    desk.wait(lambda: desk.driver.execute_script(focused) == "told" and desk.one("#told").text == sentence)
    assert desk.one("#told").get_attribute("role") == "status"


def each_deed_on_a_unit_is_told_with_the_focus_on_it(desk, api):
    version = api.must("GET", "/v1/units/memory")["version"]
    desk.go("/units/memory")
    desk.one("button[value='pin']").click()
    pinned = f"Unit memory is pinned to version {version}."
    is_told_with_the_focus(desk, pinned)
    # The page is read again after events, and goes on telling it.
    api.must("POST", "/v1/units/memory/unpin")
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "button[value='pin']"))
    api.must("POST", "/v1/units/memory/pin")
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "button[value='unpin']"))
    is_told_with_the_focus(desk, pinned)
    desk.one("button[value='unpin']").click()
    is_told_with_the_focus(desk, f"Unit memory is no longer pinned: version {version} is in force.")
    # Read again, it is told no more.
    desk.driver.refresh()
    desk.wait(lambda: desk.one("#told").text == "" and desk.one("button[value='pin']"))
    desk.complains_of_nothing()


def a_refused_copy_has_the_focus_on_why(desk, api):
    for view in ("", "?view=history"):
        desk.go(f"/policies/house{view}")
        desk.one("input[name='name']").send_keys("general")
        desk.one("button[value='clone']").click()
        alert = "return document.activeElement.getAttribute('role') === 'alert' ? document.activeElement.textContent : ''"
        desk.wait(lambda: "There is a policy general already" in desk.driver.execute_script(alert))
        assert desk.one("input[name='name']").get_attribute("value") == "general"
        assert desk.one("#main").text.count("There is a policy general already") == 1
    told = desk.complaints(allowed=("409",))
    assert not told, told


def a_place_is_given_back_after_a_question(desk, api):
    vm = "given-back"
    api.must("POST", "/v1/clusters/north/place", {"id": vm, "cpu": 1, "memory": "1 GiB"})
    desk.go(f"/clusters/north/vms/{vm}")
    give_back = lambda: desk.one("button[value='cancel']").click()
    is_held = lambda: vm in {it["vm"] for it in api.must("GET", "/v1/clusters/north/reservations?limit=1000")["items"]}
    give_back()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert vm in desk.one("dialog").text
    # "Leave it" has the focus.
    ActionChains(desk.driver).send_keys(Keys.ENTER).perform()
    desk.wait(lambda: not desk.driver.find_elements(By.CSS_SELECTOR, "dialog"))
    assert is_held()
    give_back()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog[open] .risk"))
    desk.one("dialog .risk").click()
    desk.wait(lambda: desk.driver.current_url.endswith("/reservations"))
    assert not is_held()
    # The page of the VM may have been read again before it was left: the VM is gone by then.
    told = desk.complaints(allowed=("404",))
    assert not told, told


def a_button_stays_that_of_its_vm_as_the_list_changes(desk, api):
    place = lambda vm: api.must("POST", "/v1/clusters/north/place", {"id": vm, "cpu": 1, "memory": "1 GiB"})
    held = lambda: {it["vm"] for it in api.must("GET", "/v1/clusters/north/reservations?limit=1000")["items"]}
    place("!pressed")
    desk.go("/clusters/north/reservations")
    row = "//tr[.//a[text()='{}']]"
    of = lambda vm, deed: desk.driver.find_element(By.XPATH, row.format(vm) + f"//button[@value='{deed}']")
    button = of("!pressed", "renew")
    desk.driver.execute_script("arguments[0].focus()", button)
    place("!before")
    desk.wait(lambda: desk.driver.find_elements(By.XPATH, row.format("!before")))
    assert desk.driver.switch_to.active_element == of("!pressed", "renew") == button
    # A question is about what it was asked about, whatever comes meanwhile.
    of("!pressed", "cancel").click()
    desk.wait(lambda: desk.driver.find_elements(By.CSS_SELECTOR, "dialog[open]"))
    assert "!pressed" in desk.one("dialog").text
    place("!a-first")
    desk.one("dialog .risk").click()
    desk.wait(lambda: "!pressed" not in held())
    assert {"!before", "!a-first"} <= held()
    desk.complains_of_nothing()


def a_viewer_is_shown_who_may(desk, api):
    before = api.must("GET", "/v1/clusters/north/plans/1")
    desk.go("/clusters/north/plans/1")
    barred = desk.one("[aria-disabled='true']")
    assert "operator" in barred.get_attribute("title")
    barred.click()
    desk.wait(lambda: "operator" in desk.one("#toast").text)
    # Past the page, too.
    answer = desk.driver.execute_async_script("""
        const done = arguments[0];
        const form = new URLSearchParams({deed: 'cancel'});
        fetch('/clusters/north/plans/1', {method: 'POST', body: form}).then((it) => done(it.status));
    """)
    assert answer == 403, answer
    assert api.must("GET", "/v1/clusters/north/plans/1")["cancelled"] == before["cancelled"]


def main():
    url, admin, viewer, component, *rest = sys.argv[1:]
    axe = pathlib.Path(rest[0]) if rest else None
    text = axe.read_text() if axe and axe.is_file() else None
    if not text:
        print("ACCESSIBILITY IS NOT CHECKED: axe-core is missing; install it with tests/run --install", file=sys.stderr)
    api = scene.Api(url, admin)
    scene.all_of_it(api, large=False)
    desks = []
    try:
        desk = Desk(url, admin)
        desks.append(desk)
        every_page_is_shown_in_both_schemes_without_a_complaint(desk, text)
        pages_fit_a_phone_and_twice_the_size(desk)
        what_has_the_focus_is_in_sight(desk)
        names_of_any_length_stay_within_their_panels(desk, api)
        the_api_is_described_and_tried_on_a_page(desk, admin)
        the_map_is_walked_by_keys(desk)
        the_map_is_coloured_by_the_cost_of_a_vm(desk, api)
        keys_are_told_by_a_key_and_can_be_switched_off(desk)
        values_of_a_decision_are_chosen_by_keys(desk)
        other_colours_take_neither_the_focus_nor_what_was_written(desk)
        the_cells_of_a_large_map_are_read_again_by_themselves(desk, api)
        a_filter_answers_while_one_types_and_is_in_the_url(desk)
        a_policy_is_tuned_and_counts_as_the_api_counts(desk, api)
        a_draft_that_got_no_answer_is_told_and_asked_again(desk)
        the_slider_of_a_factor_goes_as_far_as_its_field(desk)
        a_factor_that_is_refused_stays_as_it_was_written(desk, api)
        what_is_wrong_is_told_at_its_field(desk)
        entries_are_moved_by_keys_and_by_dragging(desk)
        units_are_added_and_removed(desk)
        what_holds_for_the_whole_policy_is_changed_and_told_in_words(desk)
        two_edit_one_policy_and_nobody_loses_anything(desk, api)
        chances_are_told_for_a_request(desk)
        weights_are_tuned_while_the_shares_are_told(desk, api)
        what_happens_is_shown_as_it_happens(desk, api)
        a_host_goes_into_maintenance_and_back(desk, api)
        each_deed_on_a_unit_is_told_with_the_focus_on_it(desk, api)
        a_refused_copy_has_the_focus_on_why(desk, api)
        a_place_is_given_back_after_a_question(desk, api)
        a_button_stays_that_of_its_vm_as_the_list_changes(desk, api)
        hostile_names_are_text(desk, api)
        a_unit_is_dropped_checked_and_put_in_force(desk, api, component)
        a_plan_is_approved_by_keys_alone(desk, api)
        assert not desk.foreign()
        looks_on = Desk(url, viewer)
        desks.append(looks_on)
        a_viewer_is_shown_who_may(looks_on, api)
        a_form_is_sent_after_a_session_that_ended_meanwhile(desk, api)
        an_ended_session_loses_nothing(desk)
    finally:
        for desk in desks:
            desk.driver.quit()


if __name__ == "__main__":
    main()
