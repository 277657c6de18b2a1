"""What a page in the browser said and asked for, and what can be measured on it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Dialog, Page, Request


class Heard:
    """Collects what no page of ours may do: words on the console, uncaught errors, dialogs, requests.

    Pages are asked for by the test itself; whatever else is requested counts, whether it is answered or not.
    """

    def __init__(self, page: Page) -> None:
        self.faults: list[str] = []
        page.on("console", lambda message: self.faults.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.faults.append(f"error: {error}"))
        page.on("dialog", self._dialog)
        page.on("request", self._request)
        page.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))

    def _dialog(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: Request) -> None:
        if not request.is_navigation_request():
            self.faults.append(f"request: {request.url}")


def headings(page: Page) -> list[int]:
    """Levels of all headings, in order."""
    found: list[int] = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
    return found


def sticking_out(page: Page) -> list[str]:
    """Elements that reach beyond the window's sides without something that scrolls them."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter(one => {
            const box = one.getBoundingClientRect();
            return !one.closest('.wide, svg') && (box.left < -0.5 || box.right > innerWidth + 0.5);
        }).map(one => one.tagName + ': ' + one.textContent.slice(0, 60))"""
    )
    return found


def out_of_reach(page: Page) -> list[str]:
    """Last cells of tables that no scrolling of the table's own box brings into it."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('tr > :last-child')].filter(one => {
            const frame = one.closest('table').parentElement;
            const scrolls = ['auto', 'scroll'].includes(getComputedStyle(frame).overflowX);
            if (scrolls) frame.scrollLeft = frame.scrollWidth;
            return one.getBoundingClientRect().right > frame.getBoundingClientRect().right + 1;
        }).map(one => one.textContent.slice(0, 60))"""
    )
    return found


def drawings(page: Page) -> list[dict[str, Any]]:
    """Each plot: its size in pixels, what it is called, its words, and which of them are cut or lie on one another.

    ``drawn``: shapes within it other than letters that take some room.
    """
    found: list[dict[str, Any]] = page.evaluate(
        """() => [...document.querySelectorAll('svg')].map(svg => {
            const frame = svg.getBoundingClientRect();
            const words = [...svg.querySelectorAll('text')].map(one => [one.textContent, one.getBoundingClientRect()]);
            const cut = words.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1
                || box.top < frame.top - 1 || box.bottom > frame.bottom + 1);
            const over = [];
            words.forEach(([one, a], at) => words.slice(at + 1).forEach(([other, b]) => {
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 1 && high > 2) over.push(one + ' / ' + other);
            }));
            const shapes = [...svg.querySelectorAll('path, use')].map(one => one.getBoundingClientRect());
            return {
                width: frame.width, height: frame.height, called: svg.getAttribute('aria-label'),
                role: svg.getAttribute('role'), words: words.map(([one]) => one),
                letters: Math.min(...words.map(([, box]) => Math.min(box.width, box.height))),
                cut: cut.map(([one]) => one), over, drawn: shapes.filter(box => box.width + box.height > 2).length,
            };
        })"""
    )
    return found


def pale(page: Page) -> list[str]:
    """Texts whose contrast with what is behind them is below 4.5 (WCAG 2.2, success criterion 1.4.3)."""
    found: list[str] = page.evaluate(
        """() => {
            const parts = color => color.match(/[\\d.]+/g).map(Number);
            const light = color => {
                const [r, g, b] = parts(color).map(one => one / 255)
                    .map(one => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b;
            };
            const behind = one => {
                for (; one; one = one.parentElement) {
                    const color = getComputedStyle(one).backgroundColor;
                    if ((parts(color)[3] ?? 1) > 0) return color;
                }
                return getComputedStyle(document.documentElement).colorScheme.includes('dark') ? 'rgb(18, 18, 18)'
                    : 'rgb(255, 255, 255)';
            };
            const written = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            const pale = [];
            while (written.nextNode()) {
                const one = written.currentNode.parentElement, words = written.currentNode.textContent.trim();
                if (!words || one.closest('style')) continue;
                const style = getComputedStyle(one);
                const pair = [light(one.closest('svg') ? style.fill : style.color), light(behind(one))];
                const contrast = (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
                if (contrast < 4.5) pale.push(contrast.toFixed(2) + ' ' + words.slice(0, 40));
            }
            return pale;
        }"""
    )
    return found
