import { html } from './html.ts';

describe('a template', () => {
  test('escapes what stands in it, in an element and in an attribute', () => {
    const name = `"><script>alert('1 & 2')</script>`;
    const safe = '&quot;&gt;&lt;script&gt;alert(&#39;1 &amp; 2&#39;)&lt;/script&gt;';
    expect(html`<a title="${name}">${name}</a>`.markup).toBe(`<a title="${safe}">${safe}</a>`);
  });

  test('takes templates as they are, one or many, and leaves out what is not there', () => {
    const items = ['<', 7].map((item) => html`<li>${item}</li>`);
    expect(html`<ul>${items}</ul>${false}${undefined}${['a', html`<br>`]}`.markup).toBe(
      '<ul><li>&lt;</li><li>7</li></ul>a<br>',
    );
  });
});
