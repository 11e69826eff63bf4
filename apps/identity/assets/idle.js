// Signs a browser out in which nothing has happened for a while, after a warning. Every page of the service
// counts: what happens in one keeps the others signed in.
(() => {
  const dialog = document.getElementById('idle');
  const left = document.getElementById('idle-left');
  const limit = Number(dialog.dataset.seconds) * 1000;
  /** The last part of the time, and at most a minute, is the warning. */
  const warning = Math.min(60_000, limit / 2);
  const KEY = 'last-sign-of-life';
  const EVENTS = ['pointerdown', 'pointermove', 'keydown', 'scroll'];
  let own = 0;

  /** The time of day and not a timer: a laptop that slept has been idle. */
  const last = () => Math.max(own, Number(localStorage.getItem(KEY)));

  const alive = () => {
    const now = Date.now();
    if (now - own < 500) return;
    own = now;
    localStorage.setItem(KEY, String(now));
  };

  const check = () => {
    const remaining = last() + limit - Date.now();
    left.textContent = String(Math.max(0, Math.ceil(remaining / 1000)));
    if (remaining <= 0) {
      clearInterval(watch);
      dialog.querySelector('form').submit();
    } else if (remaining <= warning) {
      if (!dialog.open) dialog.showModal();
    } else if (dialog.open) dialog.close();
  };

  for (const name of EVENTS) {
    document.addEventListener(name, () => dialog.open || alive(), { passive: true });
  }
  document.getElementById('idle-stay').addEventListener('click', () => {
    alive();
    check();
  });
  alive();
  const watch = setInterval(check, Math.min(1000, limit / 10));
})();
