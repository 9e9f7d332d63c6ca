/** What an entry's text names: commits and files. */

const MAX_COMMITS = 50;
const MAX_FILES = 100;
const MAX_WORD_CHARS = 512;
/** UTF-16 units of an entry that are searched. An entry is a page or two; a search through a megabyte would hold up everybody else. */
const SEARCHED_CHARS = 64 * 1024;

const HEX = /\b[0-9a-fA-F]{7,40}\b/g;
/** Part of a longer word, a UUID, a colour or a file's name. */
const JOINED_BEFORE = /[\w#-]$|(?:^|[^.])\.$/;
const JOINED_BEHIND = /^[\w-]|^\.\w/;
/** Text before a commit's id. Only digits, or only letters, are taken for an id where such text stands before them. */
const SAID = /(?:commits?|sha|rev(?:ision)?)[\s:=#(`*"']{0,4}$|\/commits?\/$/i;

/** Commits that a text names near its beginning, lower case, each once. */
export function commitsIn(text: string): string[] {
  const found = new Set<string>();
  for (const { 0: hex, index } of text.matchAll(HEX)) {
    if (index >= SEARCHED_CHARS) break;
    const before = text.slice(Math.max(0, index - 24), index);
    if (JOINED_BEFORE.test(before) || JOINED_BEHIND.test(text.slice(index + hex.length, index + hex.length + 2)))
      continue;
    const mixed = /\d/.test(hex) && /[a-f]/i.test(hex);
    if (mixed || hex.length === 40 || SAID.test(before)) found.add(hex.toLowerCase());
    if (found.size >= MAX_COMMITS) break;
  }
  return [...found];
}

/** A line, a span of lines or a column behind a file's name. */
const PLACE = /(?::\d+(?:[-–:,]\d+)*|#L\d+(?:-L?\d+)?|\(\d+(?:,\s?\d+)?\))$/;
const WRAPPED = /^[\s"'`*_~(<[{]+|[\s"'`*~)>\]},;:.!?…]+$/g;
const IN_FOLDER = /^(?:[\w@.+~()[\]$-]+\/)+[\w@.+~()[\]$-]*\.[A-Za-z][A-Za-z0-9]{0,9}$/;
const NAMED_SO =
  /^(?:[\w@.+~()[\]$-]+\/)*(?:Makefile|Dockerfile|Containerfile|Jenkinsfile|Procfile|Gemfile|Rakefile|Justfile|CMakeLists\.txt|\.(?:env|gitignore|npmrc|dockerignore|editorconfig|eslintrc|prettierrc|gitattributes)(?:\.[a-z]+)?)$/;
/** Endings by which a word without a folder is a file's name; others are more often code (`console.log`) or prose. */
const BY_ENDING =
  /^[\w@.+~()[\]$-]*[\w)\]]\.(?:astro|bash|c|cc|cfg|cjs|clj|conf|cpp|cs|css|csv|cts|cxx|dart|ejs|erb|erl|ex|exs|fs|go|gradle|graphql|h|hbs|hpp|hs|html|ini|ipynb|java|jl|js|json|json5|jsonc|jsonl|jsx|kt|kts|less|lock|lua|m|md|mdx|mjs|ml|mm|mts|nix|php|pl|prisma|proto|ps1|py|pyi|r|rb|rs|sass|scala|scss|sh|sql|svelte|swift|tex|tf|toml|ts|tsx|txt|vue|xml|yaml|yml|zig|zsh)$/;
const RUNTIMES = /^(?:node|next|nuxt|vue|react|three|express|nest|d3|chart|alpine|ember|backbone|solid)\.js$/i;

/** Between words. */
const DELIMITER = /[\s`"'|<>,;]/;
/** What every path has. Most words of prose do not, so it is looked for in the text rather than in each word. */
const PATH_LIKE = /[./\\][^\s`"'|<>,;]|file/g;

/** Path-like words near the beginning of a text, each once, separated by `/`. */
export function filesIn(text: string): string[] {
  const found = new Set<string>();
  let past = 0;
  for (const { index } of text.matchAll(PATH_LIKE)) {
    if (index < past) continue;
    if (index >= SEARCHED_CHARS) break;
    let from = index;
    while (from > past && !DELIMITER.test(text[from - 1] as string)) from--;
    let to = index;
    while (to < text.length && !DELIMITER.test(text[to] as string)) to++;
    past = to;
    const path = to - from > MAX_WORD_CHARS ? undefined : readPath(text.slice(from, to));
    if (path !== undefined) found.add(path);
    if (found.size >= MAX_FILES) break;
  }
  return [...found];
}

function readPath(word: string): string | undefined {
  // A link's text and target are words of their own.
  const target = /\]\(([^)]*)\)?/.exec(word)?.[1] ?? word;
  const bare = unwrap(unwrap(target).replace(PLACE, ""));
  const inRepository = /^https?:\/\/[^/]+\/[^/]+\/[^/]+\/(?:-\/)?blob\/[^/]+\/(.+)$/.exec(bare)?.[1];
  if (inRepository === undefined && bare.includes("://")) return undefined;
  const path = (inRepository ?? bare).replaceAll("\\", "/").replace(/^(?:\.{1,2}\/)+/, "");
  const isPath = IN_FOLDER.test(path) || NAMED_SO.test(path) || (BY_ENDING.test(path) && !RUNTIMES.test(path));
  return isPath ? path : undefined;
}

/** Takes off quotes, brackets and the end of a sentence, brackets only where they are no part of the name: `[slug]`. */
function unwrap(word: string): string {
  const bare = word.replace(WRAPPED, "");
  return bare.includes("/") && /^[[(]/.test(word) && IN_FOLDER.test(word) ? word : bare;
}
