// Puts a button into each password field that shows what was typed and hides it again. Without scripts the
// fields are plain ones.
(() => {
  for (const input of document.querySelectorAll('.entry > input[type="password"]')) {
    const entry = input.parentElement;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'reveal';
    button.setAttribute('aria-controls', input.id);

    const show = (isShown) => {
      input.type = isShown ? 'text' : 'password';
      button.textContent = isShown ? entry.dataset.hide : entry.dataset.show;
      button.setAttribute('aria-label', `${button.textContent}: ${input.labels[0].textContent}`);
    };
    button.addEventListener('click', () => show(input.type === 'password'));
    // Browsers keep what was sent in a text field among their suggestions.
    input.form.addEventListener('submit', () => show(false));
    // A page that comes back by "back" may still show it.
    window.addEventListener('pageshow', () => show(false));
    show(false);
    input.after(button);
  }
})();
