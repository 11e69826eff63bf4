// Warns before a session ends because nobody uses it. The server decides: it knows of other tabs and of the
// apps of the session. The script tells it of signs of life, asks it what time is left, and leaves the page
// when the session has ended.
(() => {
  const dialog = document.getElementById('idle');
  const left = document.getElementById('idle-left');
  const limit = Number(dialog.dataset.seconds) * 1000;
  /** The last part of the time, and at most a minute, is the warning. */
  const warning = Math.min(60_000, limit / 2);
  /** Signs of life are told no more often, and the server is asked no more often while it warns. */
  const [tellEvery, askEvery] = [Math.min(60_000, limit / 10), Math.min(5_000, limit / 20)];
  const EVENTS = ['pointerdown', 'pointermove', 'keydown', 'scroll'];
  /** The time of day and not a timer: a laptop that slept has been idle. */
  let end = Date.now() + limit;
  let told = Date.now();
  let asked = 0;
  let hasMoved = false;

  const show = (remaining) => {
    left.textContent = String(Math.max(0, Math.ceil(remaining / 1000)));
    if (remaining > warning) dialog.open && dialog.close();
    else if (!dialog.open) dialog.showModal();
  };

  const exchange = async (method) => {
    asked = Date.now();
    const answer = await fetch('/session', { method, cache: 'no-store' }).catch(() => undefined);
    if (!answer?.ok) return;
    const { signed_in: isSignedIn, seconds_left: seconds } = await answer.json();
    if (!isSignedIn) location.replace('/signed-out?reason=idle');
    end = Date.now() + (seconds === null ? limit : seconds * 1000);
    show(end - Date.now());
  };

  const alive = () => {
    [hasMoved, told] = [false, Date.now()];
    return exchange('POST');
  };

  const check = () => {
    const now = Date.now();
    if (hasMoved && now - told >= tellEvery) return void alive();
    const remaining = end - now;
    if (remaining > warning) return;
    if (now - asked >= askEvery) exchange('GET');
    else show(remaining);
  };

  for (const name of EVENTS) {
    const moved = () => {
      hasMoved ||= !dialog.open;
    };
    document.addEventListener(name, moved, { passive: true });
  }
  document.getElementById('idle-stay').addEventListener('click', alive);
  setInterval(check, Math.min(1000, limit / 20));
})();
