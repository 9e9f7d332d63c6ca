import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../../src/kit/markdown-html.ts";

/** Elements and attributes that rendering may write; all else is a hole. */
const TAGS = /^(?:h[2-6]|p|a|span|em|strong|s|code|pre|ul|ol|li|blockquote|hr|br|table|thead|tbody|tr|th|td)$/;
const ATTRIBUTES: Readonly<Record<string, RegExp>> = {
  href: /^(?:https?:\/\/|mailto:)/i,
  rel: /^noopener noreferrer nofollow$/,
  id: /^md-/,
  class: /^(?:language-[a-z0-9+#-]+|align-(?:left|right|center))$/,
  start: /^\d+$/,
};

function holes(html: string): string[] {
  const found: string[] = [];
  let rest = html;
  for (const [tag, name = "", attributes = ""] of html.matchAll(/<\/?([^\s>/]+)((?:\s+[\w-]+="[^"<>]*")*)\s*\/?>/g)) {
    rest = rest.replace(tag, "");
    if (!TAGS.test(name)) found.push(tag);
    for (const [, key = "", value = ""] of attributes.matchAll(/([\w-]+)="([^"]*)"/g))
      if (!ATTRIBUTES[key]?.test(value)) found.push(tag);
  }
  return /[<>]/.test(rest) ? [...found, rest] : found;
}

const CORPUS = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "a <b onmouseover=alert(1)>b</b>",
  "<!-- --><svg/onload=alert(1)>",
  "<div>\n\n# in html\n\n</div>",
  "[a](javascript:alert(1))",
  "[a](JaVaScRiPt:alert(1))",
  "[a](java\tscript:alert(1))",
  "[a](&#106;avascript:alert(1))",
  "[a](javascript&colon;alert(1))",
  "[a](java&Tab;script:alert(1))",
  "[a](&#x6A&#x61&#x76&#x61script:alert(1))",
  "[a](\u0001javascript:alert(1))",
  "[a](<javascript:alert(1)>)",
  "[a](data:text/html;base64,PHNjcmlwdD4=)",
  "[a](vbscript:msgbox(1))",
  "[a](file:///etc/passwd)",
  "[a]: javascript:alert(1)\n\n[a]",
  "<javascript:alert(1)>",
  "<data:text/html,<script>alert(1)</script>>",
  "![a](javascript:alert(1))",
  "![a](data:image/svg+xml;base64,PHN2Zz4=)",
  '![a" onerror="alert(1)](https://x/a.png)',
  "[![a](https://x/a.png)](https://y)",
  "[[a](https://b)](https://c)",
  "[a [b](javascript:1) c](https://d)",
  '[a](https://b" onmouseover="alert(1))',
  "[a](https://b 'x\" onmouseover=\"alert(1)')",
  "[a](//evil.example/x)",
  "[a](#top)",
  '```html"onmouseover=alert(1)\n<script>\n```',
  '# a" onclick="alert(1)',
  "|a|\n|:-:|\n|<script>|",
  "\0<\0script>",
];

describe("renderMarkdown", () => {
  it.each(CORPUS)("lets no markup of the text through: %j", (text) => {
    expect(holes(renderMarkdown(text))).toEqual([]);
  });

  it("lets no markup through, whatever pieces are combined", () => {
    const piece = fc.constantFrom(
      ...CORPUS,
      "[",
      "]",
      "(",
      ")",
      "<",
      ">",
      '"',
      "'",
      "`",
      "\\",
      "\n",
      "# ",
      "> ",
      "- ",
      "|",
      "&",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => holes(renderMarkdown(pieces.join(""))).length === 0),
      { numRuns: 2_000 },
    );
  });

  it("finds a hole when there is one", () => {
    expect(holes('<p onclick="x">')).not.toEqual([]);
    expect(holes('<a href="javascript:1">')).not.toEqual([]);
    expect(holes("<script>")).not.toEqual([]);
    expect(holes("<img src=x>")).not.toEqual([]);
  });

  it("links only to web and mail addresses, and tells browsers not to pass on the referrer", () => {
    expect(renderMarkdown("[a](https://b.example/?x=1&y=2)")).toBe(
      '<p><a href="https://b.example/?x=1&amp;y=2" rel="noopener noreferrer nofollow">a</a></p>\n',
    );
    expect(renderMarkdown("<mailto:a@b.example>")).toContain('href="mailto:a@b.example"');
    expect(renderMarkdown("[a](docs/x.md) [b](javascript:1)")).toBe("<p><span>a</span> [b](javascript:1)</p>\n");
  });

  it("turns a picture into a link, and into its description inside a link", () => {
    expect(renderMarkdown("![a *b*](http://x/p.png)")).toBe(
      '<p><a href="http://x/p.png" rel="noopener noreferrer nofollow">a b</a></p>\n',
    );
    expect(renderMarkdown("[![a](http://x/p.png)](http://y)")).toBe(
      '<p><a href="http://y" rel="noopener noreferrer nofollow">a</a></p>\n',
    );
    expect(renderMarkdown("![](p.png)")).toBe("<p>image</p>\n");
  });

  it("moves headings one level down, each with an id of its own that cannot be one of the page's", () => {
    expect(renderMarkdown("# Über *uns*\n###### main\n# Über uns\n# 中文\n# !")).toBe(
      [
        '<h2 id="md-über-uns">Über <em>uns</em></h2>',
        '<h6 id="md-main">main</h6>',
        '<h2 id="md-über-uns-2">Über uns</h2>',
        '<h2 id="md-中文">中文</h2>',
        '<h2 id="md-section">!</h2>',
        "",
      ].join("\n"),
    );
    const ids = [...renderMarkdown("# a\n# a-2\n# a\n# a 2\n# a").matchAll(/id="([^"]*)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(5);
  });

  it("aligns table cells by class, as pages allow no style attributes", () => {
    expect(renderMarkdown("|a|b|\n|-:|-|\n|1|2|")).toContain('<th class="align-right">a</th>\n<th>b</th>');
  });

  it("shows front matter as it is written, not as a heading", () => {
    expect(renderMarkdown("---\ntitle: a\n---\n\ntext\n")).toBe(
      '<pre><code class="language-yaml">---\ntitle: a\n---\n</code></pre>\n<p>text</p>\n',
    );
  });

  it("shows text as written, escaped, when it is too large or nothing but markup", () => {
    expect(renderMarkdown(`<b>${"word ".repeat(60_000)}`)).toMatch(/^<pre>&lt;b&gt;word/);
    for (const dense of ["[", "*a _b ", "- ", "# a\n", "a\n-\n", "1. "])
      expect(renderMarkdown(dense.repeat(40_000)), dense).toMatch(/^<pre>/);
    expect(renderMarkdown("A line of prose - with *one* mark.\n\n".repeat(5_000))).toMatch(/^<p>/);
  });
});
