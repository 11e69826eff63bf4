// Starts the API reference. It would save data in the browser permanently, access tokens included; here the
// data is limited to this tab and disappears with it.
Object.defineProperty(window, 'localStorage', { value: window.sessionStorage });

const place = document.getElementById('reference');

/** Adds accessible names to elements that Scalar leaves without one, for screen readers. */
const nameParts = () => {
  for (const button of document.querySelectorAll('.scalar-code-copy:not([aria-label])')) {
    button.setAttribute('aria-label', 'Copy');
  }
  // Voice control matches the visible text, so the name has to begin with it.
  for (const button of document.querySelectorAll('.show-more[aria-label^="Show all"]')) {
    const name = button.getAttribute('aria-label');
    button.setAttribute('aria-label', `${button.textContent.trim()}: ${name}`);
  }
  // Screen readers identify regions by their names, but Scalar gives the same name to several.
  const seen = new Map();
  for (const region of document.querySelectorAll('[role="region"][aria-label]')) {
    const name = region.dataset.name ?? region.getAttribute('aria-label');
    region.dataset.name = name;
    const number = (seen.get(name) ?? 0) + 1;
    seen.set(name, number);
    const label = number === 1 ? name : `${name} ${number}`;
    if (region.getAttribute('aria-label') === label && !region.hasAttribute('aria-labelledby'))
      continue;
    region.removeAttribute('aria-labelledby');
    region.setAttribute('aria-label', label);
  }
};

// Scalar shows its parts in a few large steps, so this runs only a few times.
new MutationObserver(nameParts).observe(document.body, { childList: true, subtree: true });

const { createApiReference } = await import(place.dataset.reader);
createApiReference(place, {
  url: '/docs/api.json',
  persistAuth: true,
  authentication: { preferredSecurityScheme: 'bearer' },
  // Nothing is sent to other hosts: no fonts, no usage data, no assistant, no hosted client.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
});
