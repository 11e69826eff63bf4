import { html } from './html.ts';

describe('a template', () => {
  test('escapes values in elements and attributes', () => {
    const name = `"><script>alert('1 & 2')</script>`;
    const safe = '&quot;&gt;&lt;script&gt;alert(&#39;1 &amp; 2&#39;)&lt;/script&gt;';
    expect(html`<a title="${name}">${name}</a>`.markup).toBe(`<a title="${safe}">${safe}</a>`);
  });

  test('removes what reorders the text around a value, and keeps text of every direction', () => {
    const name = '\u202eAnna\u2066 עדה\u200f\u061c';
    expect(html`<a title="${name}">${name}</a>`.markup).toBe('<a title="Anna עדה">Anna עדה</a>');
  });

  test('inserts templates unescaped, one or many, and omits absent values', () => {
    const items = ['<', 7].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${false}${undefined}${['a', html`<br>`]}`.markup).toBe(
      '<ul><li>&lt;</li><li>7</li></ul>a<br>',
    );
  });
});
