"""Makes a picture of the console: `picture.py URL FILE`, of a server without tokens."""

import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

import browser
import scene


def main():
    url, file = sys.argv[1:]
    api = scene.Api(url)
    wait = lambda is_so: WebDriverWait(driver, 300).until(lambda _: is_so())
    driver = browser.browser(1280, 860)
    try:
        wait(lambda: api.ask("GET", "/v1/ready")[0] == 200)
        scene.all_of_it(api, large=False)
        driver.get(url + "/policies/house")
        # A factor is tuned: what that would change stands beside it.
        field = driver.find_element(By.NAME, "entry/-/costs/0/factor")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys("0.6")
        told = lambda: driver.find_element(By.CSS_SELECTOR, "#answer [data-differing]").get_attribute("data-differing")
        wait(lambda: told() != "0")
        driver.execute_script("document.activeElement.blur(); scrollTo(0, 0)")
        driver.save_screenshot(file)
    finally:
        driver.quit()


if __name__ == "__main__":
    main()
