// Sends a form once, however often its button is pressed before the answer arrives: the browser would only show the
// answer to the last request, which may be that the work has already been done.
(() => {
  /** Whoever has stopped the browser from waiting for the answer may try again. */
  const AGAIN_MS = 10_000;
  let sent = new WeakMap();

  document.addEventListener('submit', (event) => {
    const { target: form, timeStamp: now } = event;
    // A download leaves the page open, and can be repeated.
    if (event.defaultPrevented || form.method !== 'post' || 'download' in form.dataset) return;
    if (now - (sent.get(form) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) event.preventDefault();
    else sent.set(form, now);
  });
  // A page that comes back by "back".
  window.addEventListener('pageshow', () => {
    sent = new WeakMap();
  });
})();
