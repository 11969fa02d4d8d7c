"""Somebody signs in by the provider in a real browser: `openid.py URL`."""

import sys

import browser
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait


def main(url):
    # The provider's pages ask for a font that another machine has.
    browser.FLAGS.append("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    driver = browser.browser()
    wait = WebDriverWait(driver, 120)
    try:
        driver.get(f"{url}/events?kind=unit")
        driver.find_element(By.LINK_TEXT, "Sign in with OpenID Connect").click()
        wait.until(lambda it: it.find_elements(By.NAME, "login"))
        driver.find_element(By.NAME, "login").send_keys("ann")
        driver.find_element(By.NAME, "password").send_keys("any", Keys.ENTER)
        # May this server know who you are?
        wait.until(lambda it: it.find_elements(By.CSS_SELECTOR, "input[name=prompt][value=consent]"))
        driver.find_element(By.CSS_SELECTOR, "button[type=submit]").click()
        # Its own pages know the session, although another site began the way here.
        wait.until(lambda it: it.current_url == f"{url}/events?kind=unit" and it.find_elements(By.CSS_SELECTOR, ".me"))
        assert "openid:ann" in driver.find_element(By.CSS_SELECTOR, ".me").text
        cookie = driver.get_cookie("placewright-session")
        assert cookie["httpOnly"] and cookie["sameSite"] == "Strict", cookie
        print("signed in")
    finally:
        driver.quit()


if __name__ == "__main__":
    main(sys.argv[1])
