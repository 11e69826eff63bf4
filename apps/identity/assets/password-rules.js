// Ticks off the rules for a new password while it is typed, and tells screen readers what is missing once the
// typing stops. The server checks the same rules, and more.
(() => {
  const QUIET_MS = 1000;

  for (const list of document.querySelectorAll('.rules')) {
    const { field, least, most, met, unmet, allMet } = list.dataset;
    const input = document.getElementById(field);
    const again = document.getElementById(`${field}_confirmation`);
    const hint = document.getElementById(`${field}-hint`);
    const status = list.querySelector('[role="status"]');
    const items = [...list.querySelectorAll('[data-rule]')];

    // As the server reads it (NFC).
    const normalised = ({ value }) => value.normalize('NFC');
    const checks = {
      too_short: (password) => [...password].length >= Number(least),
      too_long: (password) => new TextEncoder().encode(password).length <= Number(most),
      uppercase: (password) => /\p{Lu}/u.test(password),
      lowercase: (password) => /\p{Ll}/u.test(password),
      digit: (password) => /\p{Nd}/u.test(password),
      special: (password) => /[^\p{L}\p{M}\p{N}]/u.test(password),
      match: (password) => password !== '' && password === normalised(again),
    };

    const show = () => {
      const password = normalised(input);
      for (const item of items) {
        const { rule } = item.dataset;
        const isMet = checks[rule](password);
        item.classList.toggle('met', isMet);
        item.firstElementChild.textContent = `${isMet ? met : unmet} `;
        // Worth a line only for somebody who gets there.
        if (rule === 'too_long') item.hidden = isMet;
      }
    };

    const tell = () => {
      const missing = items.filter((item) => !item.classList.contains('met'));
      const names = missing.map((item) => item.lastElementChild.textContent);
      status.textContent = names.length === 0 ? allMet : `${unmet} ${names.join(', ')}`;
    };

    let timer;
    const typed = () => {
      show();
      clearTimeout(timer);
      timer = setTimeout(tell, QUIET_MS);
    };
    input.addEventListener('input', typed);
    again.addEventListener('input', typed);
    // A page that comes back by "back" may still hold what was typed.
    window.addEventListener('pageshow', show);
    show();
    list.hidden = false;
    if (hint) hint.hidden = true;
  }
})();
