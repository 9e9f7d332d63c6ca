/**
 * What is judged by its surroundings: a value given to a password-like name, a password in a URL, the value of an
 * authorization header. No part of this looks at how random a value is.
 */

/** Longest name and longest value looked at, in code units. */
const NAME_CAP = 64;
const VALUE_CAP = 256;

/** Letters, digits and `_ . $ -`. */
const isNameChar = (c: number): boolean =>
  (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || (c >= 48 && c <= 57) || c === 95 || c === 46 || c === 36 || c === 45;

const NAME =
  /(?:passw(?:or)?d|passphrase|passcode|pwd|secret|credentials?|authorization|(?:api|access|secret|private|auth|authentication|encryption|signing|signature|account|master|service|license|licence|shared|admin|root|app|application|client|subscription|storage|ssh|webhook)[_.-]?key|token)(?:[_.-]?(?:base64|b64|base|value|val|plain|plaintext|raw|prod|production|dev|development|stag|staging|live|old|new|[0-9]{1,2}))?$/i;
const PASS = /(?:^|[^A-Za-z])(?:pass|PASS|pw)$|[a-z0-9]Pass$|(?:^|_)PW$/;
/** Names that end like a secret's and hold none. */
const INNOCENT =
  /(?:public|primary|foreign|page|next|prev|previous|continuation|cursor|sync|cancell?ation|cancel|abort|stop|eos|bos|pad|unk|mask|sep|cls|start|end|max|min|num|total|input|output|cached?|prompt|completion|reasoning|thinking|per|each|count|first|last|invalid|unexpected|design|lookahead|current|special|unknown|has|is|no|show|hide|forgot|reset|change|update|confirm|missing|require[sd]?|need|get|set|use|with|without|toggle|validate|check|verify|hash|encrypt)[ _.-]?(?:pass|passw(?:or)?d|pwd|secret|token|key|credentials?|(?:api|access)[_.-]?key)s?$/i;

/** Whether a name's own words say its value is a secret: `DB_PASSWORD`, `apiKey`, `client-secret`, `x-auth-token`. */
export function isSecretName(name: string): boolean {
  const short = name.length > NAME_CAP ? name.slice(-NAME_CAP) : name;
  return (NAME.test(short) || PASS.test(short)) && !INNOCENT.test(short);
}

const isPasswordName = (name: string): boolean => /pass|pwd|pw$/i.test(name);

const WORDS =
  /^(?:true|false|null|none|nil|undefined|nan|void|never|unknown|any|str|string|text|number|int|integer|bool|boolean|bytes|object|array|list|map|dict|optional|required|require|default|empty|unset|missing|invalid|valid|password|passwd|passphrase|secret|token|bearer|basic|digest|apikey|key|value|name|user|username|email|admin|root|guest|test|testing|tester|demo|foo|bar|baz|foobar|abc|abc123|abcd1234|123456|12345678|123456789|1234567890|hidden|masked|redacted|removed|secure|private|public|enabled|disabled|yes|no|on|off|todo|tbd|fixme|hello|world|inherit|prompt|input|output|postgres|mysql|mariadb|redis|mongo|rabbitmq|localhost|minioadmin|pass|pwd|pw|pat|p4ssw0rd|passw0rd|password1?2?3?4?|self|this|changeit|write|read|readonly)$/i;
const STAND_IN =
  /example|placeholder|change[_-]?(?:me|this|it)|replace[_-]?(?:me|this|with)|your[_-]|^your|-your|<|>|\{\{|\$\{|\$\(|x{4,}|\*{2,}|\.{3}|…|•|redact|dummy|sample|insert[_-]|fill[_-]?(?:in|me)|not[_-]?(?:a[_-]?)?(?:real|secret)|^(?:my|some|the|a|an|fake|test|mock|stub|super|new|old|any|no|bad|wrong|invalid)[_-]?(?:super[_-]?)?(?:secret|password|passwd|pass|token|api|key|auth|client)(?:[_-]?(?:secret|password|token|key|value|here|name|id|string))?$|process\.env|import\.meta|os\.environ|getenv|env\(|^env[.:]|secrets?\.|vars\.|var\.|config\.|settings\.|\[REDACTED/i;
/** First characters of references, paths, formats and code rather than of a value. */
const REFERENCE =
  /^(?:[$%@*#&|?!=~^:\\/.()[\]{}+-]|op:|vault:|ref:|arn:|kms:|sops:|enc[:[]|file:|https?:|wss?:|[a-z][a-z0-9+.-]{1,12}:\/\/|projects\/|sha(?:256|384|512)[:-]|data:|[A-Za-z]:\\)/;
const IDENTIFIER = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->|\?\.)[A-Za-z_$][\w$]*)*$/;

/** Whether every part between signs is a plain word or a small number: `my-tls-secret-2`, `users.read`, `snake_case`. */
function isWordy(value: string): boolean {
  return value
    .split(/[-_./:]/)
    .every(
      (part) =>
        /^(?:[A-Z]?[a-z]{1,20}|[A-Z]{1,20}|[0-9]{0,4}|v[0-9]{1,3})$/.test(part) ||
        /^(?:[A-Z]?[a-z]+)(?:[A-Z][a-z]+)*[0-9]{0,2}$/.test(part),
    );
}

export type Setting = "bare" | "quoted" | "env" | "member";

/**
 * Whether a value given to a secret's name is a secret rather than a placeholder, a type, a reference or an expression.
 * `setting` says how it stood: `bare` unquoted, `quoted`, `env` as in `NAME=value` with no spaces, `member` the string
 * value of a JSON member, where the syntax leaves no doubt about where the value ends.
 */
export function isSecretValue(name: string, value: string, setting: Setting): boolean {
  const password = isPasswordName(name);
  if (value.length < (password ? 6 : 8)) return false;
  if (WORDS.test(value) || STAND_IN.test(value) || REFERENCE.test(value)) return false;
  if (isOneCharacter(value)) return false;
  if (setting === "member" && password) return !/\s\S{1,20}\s/.test(value) || value.length <= 40;
  if (/\s/.test(value)) return false;
  if (/^0x[0-9a-f]{1,16}$/i.test(value)) return false;
  const hasDigit = /[0-9]/.test(value);
  if (password && (setting === "quoted" || setting === "env"))
    return hasDigit || !isWordy(value) || (setting === "env" && !IDENTIFIER.test(value));
  if (!hasDigit || !/[A-Za-z]/.test(value)) return false;
  // "tokens[0]", "n.token-1": an element or a sum, not a value.
  if (/^[A-Za-z_$][\w$.]*\[|^[A-Za-z_$][\w$]*(?:\.[\w$]+)+[-+*/]/.test(value)) return false;
  if (setting === "bare" && !password && IDENTIFIER.test(value) && value.length < 16) return false;
  return !isWordy(value);
}

function isOneCharacter(value: string): boolean {
  for (let i = 1; i < value.length; i++) if (value[i] !== value[0]) return false;
  return true;
}

/** Where the name around `at` starts and ends; never more than the cap to either side. */
function nameAround(text: string, at: number): [number, number] {
  let start = at;
  while (start > 0 && at - start < NAME_CAP && isNameChar(text.charCodeAt(start - 1))) start--;
  let end = at;
  while (end < text.length && end - at < NAME_CAP && isNameChar(text.charCodeAt(end))) end++;
  // "\n" and its like are an escape and then a name's first letter.
  if (start > 0 && text[start - 1] === "\\" && /[nrtbf]/.test(text[start] ?? "")) start++;
  while (end > start && /[.$-]/.test(text[end - 1] as string)) end--;
  return [start, end];
}

const SEPARATOR =
  /(?:\\{0,7}["'`])?\]?(?:[ \t]{0,8}[?!]?:[ \t]{0,4}[A-Za-z]{1,16}[ \t]{1,4}=|[ \t]{0,16}(?::=|=>|={1,3}|:)|["']? {1,2}value[ ]?=)[ \t]{0,16}/y;
const QUOTED = new RegExp(
  `\\\\{0,7}["'\`]((?:[^"'\`\\\\\\s]|\\\\[^"'\`\\\\\\snrt]){1,${VALUE_CAP}})(?=["'\`\\\\])`,
  "y",
);
const BARE = new RegExp(`[^\\s\\p{Cc}"'\`,;<>(){}\\\\|&]{1,${VALUE_CAP}}`, "uy");

export type Span = readonly [start: number, end: number];

/** The value given to the password-like name that stands around `at`, if there is one. */
export function assignedValue(text: string, at: number): Span | undefined {
  const [nameStart, nameEnd] = nameAround(text, at);
  if (nameEnd <= at || nameEnd - nameStart < 2) return undefined;
  // The rule's name in a marker ("[REDACTED:some-token]: …") names nothing.
  if (text.startsWith("[REDACTED:", nameStart - 10)) return undefined;
  const name = text.slice(nameStart, nameEnd).replace(/^[-.$]{1,4}/, "");
  if (!isSecretName(name)) return undefined;
  const isFlag = text[nameStart] === "-" && text[nameStart + 1] === "-";
  const isTag = text[nameStart - 1] === "<" && text[nameEnd] === ">";
  SEPARATOR.lastIndex = nameEnd;
  let valueAt = nameEnd;
  if (SEPARATOR.test(text)) valueAt = SEPARATOR.lastIndex;
  else if ((isFlag && text[nameEnd] === " ") || isTag) valueAt = nameEnd + 1;
  else return undefined;
  QUOTED.lastIndex = valueAt;
  const quoted = QUOTED.exec(text);
  if (quoted !== null) {
    const value = quoted[1] as string;
    return isSecretValue(name, value, "quoted") ? [QUOTED.lastIndex - value.length, QUOTED.lastIndex] : undefined;
  }
  BARE.lastIndex = valueAt;
  if (!BARE.test(text)) return undefined;
  const end = BARE.lastIndex;
  const next = text[end] ?? "";
  // A call, an index, or a prefixed literal (f"…", b'…') whose own quotes the value does not hold.
  if (/[({[]/.test(next) || (/["'`]/.test(next) && end - valueAt <= 2)) return undefined;
  const value = text.slice(valueAt, end).replace(/[.:\])]{1,4}$/, "");
  const isEnv = isTag || (text[nameEnd] === "=" && valueAt === nameEnd + 1) || isFlag;
  return isSecretValue(name, value, isEnv ? "env" : "bare") ? [valueAt, valueAt + value.length] : undefined;
}

/** Whether something that could be a value follows the name around `at`; errs towards yes, also on raw JSON. */
export function mayBeAssigned(text: string, at: number): boolean {
  const [nameStart, nameEnd] = nameAround(text, at);
  const name = text.slice(nameStart, nameEnd);
  if (!NAME.test(name) && !/(?:pass|pw)$/i.test(name)) return false;
  if (text[nameStart] === "-") return true;
  for (let i = nameEnd; i < text.length; i++) {
    const char = text[i] as string;
    if (
      char === "\\" ||
      char === '"' ||
      char === "'" ||
      char === "`" ||
      char === "]" ||
      char === "?" ||
      char === "!" ||
      /\s/.test(char)
    )
      continue;
    if (text[i - 1] === "\\" && /[nrtbf]/.test(char)) continue;
    return char === ":" || char === "=" || char === ">" || char === "," || char === "}" || char === "v";
  }
  return false;
}

const URL_PASSWORD = /:\/\/[^\s:/?#@"'`<>\\]{0,80}:([^\s/@"'`<>\\]{3,256})@/y;

/** The password in a URL whose `://` stands at `at`. */
export function urlPassword(text: string, at: number): Span | undefined {
  URL_PASSWORD.lastIndex = at;
  const match = URL_PASSWORD.exec(text);
  if (match === null) return undefined;
  const password = match[1] as string;
  const end = URL_PASSWORD.lastIndex - 1;
  const user = text.slice(at + 3, end - password.length - 1);
  // A development default named after itself (postgres:postgres) is no secret.
  if (password === user || WORDS.test(password) || STAND_IN.test(password) || isOneCharacter(password))
    return undefined;
  if (/^[$%{[:*]/.test(password) || /^(?:my)?pass(?:word)?$/i.test(password)) return undefined;
  return [end - password.length, end];
}

export function mayHoldUrlPassword(text: string, at: number): boolean {
  URL_PASSWORD.lastIndex = at;
  return URL_PASSWORD.test(text);
}

const SCHEME = /(?:bearer|basic|token|apikey|digest|negotiate) {1,3}([\w.~+/=-]{12,2048})/iy;
const HEADER =
  /authorization\\{0,7}["']?\]? {0,4}[:=,] {0,4}\\{0,7}["']? {0,2}(?:(?:bearer|basic|token|apikey) {1,3})?([\w.~+/=-]{12,2048})/iy;

/** The value after `Authorization:` or after a scheme's name (`Bearer …`), whichever stands at `at`. */
export function headerValue(text: string, at: number): Span | undefined {
  for (const pattern of [HEADER, SCHEME]) {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) continue;
    const value = match[1] as string;
    const end = pattern.lastIndex;
    if (STAND_IN.test(value) || isWordy(value) || isOneCharacter(value)) return undefined;
    const isBasic = /basic {1,3}$/i.test(text.slice(at, end - value.length));
    if (!isBasic && !/[0-9]/.test(value)) return undefined;
    return [end - value.length, end];
  }
  return undefined;
}

const MAY_BE_HEADER = /bearer {1,3}[\w.~+/=-]{12}|authorization\\{0,64}["'\]]{0,3}\\{0,64}["']? {0,4}[:=,]/iy;

export function mayBeHeader(text: string, at: number): boolean {
  MAY_BE_HEADER.lastIndex = at;
  return MAY_BE_HEADER.test(text);
}

const CURL_USER = /-{1,2}u(?:ser)?[ =]["']?[^\s:"'`$\\]{1,64}:([^\s"'`\\]{6,128})/y;

/** The password in curl's `-u user:password`, where `curl` stands at `at`; looks along one line. */
export function curlPassword(text: string, at: number): Span | undefined {
  const line = text.slice(at, at + 256).split("\n", 1)[0] as string;
  for (let i = line.indexOf(" -"); i !== -1; i = line.indexOf(" -", i + 2)) {
    CURL_USER.lastIndex = at + i + 1;
    const match = CURL_USER.exec(text);
    if (match === null) continue;
    // What was redacted before brings nothing nearer, so that a text redacted twice stays the same.
    if (line.slice(0, i).includes("[")) return undefined;
    const value = match[1] as string;
    return isSecretValue("password", value, "quoted")
      ? [CURL_USER.lastIndex - value.length, CURL_USER.lastIndex]
      : undefined;
  }
  return undefined;
}

/** Whether a `-u` or `--user` stands near enough after `curl`; errs towards yes, also on raw JSON. */
export function mayBeCurlUser(text: string, at: number): boolean {
  return / --?u(?:ser)?[ =]/.test(text.slice(at, at + 520));
}
