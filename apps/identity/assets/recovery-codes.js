// Adds the buttons that copy and print the recovery codes. Without scripts the codes can be selected, and
// downloaded by a link.
(() => {
  const COPIED_MS = 4000;

  for (const tools of document.querySelectorAll('.code-tools')) {
    const codes = document.getElementById('codes');
    const { copy, copied, print } = tools.dataset;
    const status = tools.querySelector('[role="status"]');

    const button = (text, press) => {
      const made = document.createElement('button');
      made.type = 'button';
      made.className = 'plain small';
      made.textContent = text;
      made.addEventListener('click', press);
      tools.insertBefore(made, status);
      return made;
    };

    const select = () => getSelection().selectAllChildren(codes);
    const lines = () => [...codes.children].map(({ textContent }) => textContent).join('\n');

    const copying = button(copy, async () => {
      try {
        await navigator.clipboard.writeText(lines());
        copying.textContent = copied;
        status.textContent = copied;
        setTimeout(() => {
          copying.textContent = copy;
          status.textContent = '';
        }, COPIED_MS);
      } catch {
        // Not allowed here: what is selected can be copied by hand.
        select();
      }
    });
    button(print, () => window.print());
  }
})();
