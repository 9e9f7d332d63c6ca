/** Every anchor with what is done where it is seen. */
import { assignedValue, mayBeAssigned } from "./assigned.ts";
import {
  COMMANDS,
  commandPassword,
  mayBeCommand,
  mayBeIdentified,
  mayBeSecurePassword,
  netrcPassword,
  securePassword,
  sqlPassword,
} from "./commands.ts";
import { CHARACTER, CROWD_RULE } from "./crowd.ts";
import {
  encodedKey,
  encodedLogin,
  manifestValues,
  mayBeLogin,
  mayBeManifest,
  mayBeTinkKey,
  tinkKey,
} from "./encoded.ts";
import { cookieValues, headerValue, mayBeCookies, mayBeHeader } from "./headers.ts";
import type { Target } from "./prefilter.ts";
import { armourAt, armourHeader } from "./private-key.ts";
import { MARKER, MARKER_START, type Probe, type Reading, type Span } from "./reading.ts";
import type { Strength } from "./rule.ts";
import { RULES } from "./rules.ts";
import { TableProbe } from "./table-probe.ts";
import { mayHoldUrlPassword, urlPassword } from "./url.ts";

/** The rule a JSON member's value is counted under; see `json.ts`. */
export const ASSIGNED_RULE = "assigned-secret";
/** The rule of a key in armour, and of one behind base64. */
const KEY_RULE = "private-key";
const KEY_HEADER_RULE = "private-key-header";
/** What these claim begins with words that no redaction leaves. */
export const KEY_RULES: readonly string[] = [KEY_RULE, KEY_HEADER_RULE];

const armour: Probe = {
  gate: undefined,
  isForm: true,
  reach: undefined,
  room: 0,
  find(reading, at) {
    reading.work++;
    const found = armourAt(reading, at);
    if (found === undefined) return;
    const { start, end, hasMaterial } = found;
    const strength: Strength = hasMaterial ? "certain" : "likely";
    const rule = hasMaterial ? KEY_RULE : KEY_HEADER_RULE;
    reading.candidates.push({ rule, strength, start, end });
  },
  may: (text, at) => armourHeader(text, at) !== undefined,
};

/** The marker of an earlier redaction. After it places are counted anew; see `Crowd`. */
const marker: Probe = {
  gate: undefined,
  isForm: true,
  reach: undefined,
  room: 0,
  find(reading, at) {
    MARKER.lastIndex = at;
    if (MARKER.test(reading.text)) reading.markerTo = MARKER.lastIndex;
  },
  may: () => false,
};

/** The `Probe.room` of a probe that looks far ahead: how much it reads depends on markers there, which must not matter. */
const FAR_ROOM = 24 * CHARACTER;

type Find = (reading: Reading, at: number, key: object) => Span | readonly Span[] | undefined;

/**
 * @param may left out where any anchor is reason enough to look
 */
function judged(
  rule: string,
  find: Find,
  may: (text: string, at: number) => boolean = () => true,
  strength: Strength = "likely",
  reach?: Probe["reach"],
): Probe {
  const probe: Probe = {
    gate: undefined,
    isForm: false,
    reach,
    room: reach === "far" ? FAR_ROOM : undefined,
    find(reading, at) {
      reading.work++;
      const found = find(reading, at, probe);
      if (found === undefined || found.length === 0) return;
      if (typeof found[0] === "number")
        reading.candidates.push({ rule, strength, start: found[0], end: found[1] as number });
      else for (const [start, end] of found as readonly Span[]) reading.candidates.push({ rule, strength, start, end });
    },
    may,
  };
  return probe;
}

/**
 * All rules: where two of one strength claim exactly the same stretch, the earlier names it. Armour comes before any row of the table, and
 * rules that judge by surroundings come after all rows.
 */
const ORDER: readonly string[] = [
  KEY_RULE,
  KEY_HEADER_RULE,
  ...RULES.map(({ id }) => id),
  "authorization-header",
  "session-cookie",
  "url-password",
  "curl-password",
  "command-password",
  "netrc-password",
  "sql-password",
  "registry-login",
  "tink-key",
  "kubernetes-secret",
  ASSIGNED_RULE,
  CROWD_RULE,
];

const RANKS: ReadonlyMap<string, number> = new Map(ORDER.map((rule, rank) => [rule, rank]));

/** A rule's place among all; the lower, the more specific. */
export const rankOf = (rule: string): number => RANKS.get(rule) ?? ORDER.length;

const header = judged("authorization-header", headerValue, mayBeHeader);
const assigned = judged(ASSIGNED_RULE, assignedValue, mayBeAssigned, "likely", "near");

const exact = (anchors: readonly string[], payload: Probe, by = 0): Target<Probe>[] =>
  anchors.map((anchor) => ({ anchor, fold: false, payload, by }));
const folded = (anchors: readonly string[], payload: Probe, by = 0): Target<Probe>[] =>
  anchors.map((anchor) => ({ anchor, fold: true, payload, by }));

/** What the first pass looks for, and what is done where it is found. */
export const targets = (): Target<Probe>[] => [...forms(), ...surroundings()];

const forms = (): Target<Probe>[] => [
  ...RULES.flatMap((rule, rank) => {
    const { anchors, at, glued, pattern } = rule;
    const isApart = !glued && at[0] === at[1];
    return anchors.map((anchor) => {
      const payload = new TableProbe(rule, rank, anchor);
      const kinds = () => payload.kinds();
      return { anchor, fold: pattern.ignoreCase, payload, by: at[0], isApart, kinds };
    });
  }),
  ...exact([MARKER_START.slice(1)], marker, 1),
  ...exact(["---BEGIN"], armour, 2),
  ...exact(["---- BEGIN", "PuTTY-User-Key-File"], armour),
  ...exact(["LS0tLS1CRUdJTi"], judged(KEY_RULE, encodedKey, undefined, "certain")),
];

const surroundings = (): Target<Probe>[] => [
  ...folded(["bearer ", "authorization"], header),
  ...folded(
    [" -b ", "-cookie ", "cookie: ", 'cookie"', "cookie:\\", "cookie:%", "cookie'", "cookie="],
    judged("session-cookie", cookieValues, mayBeCookies),
  ),
  ...exact(["://"], judged("url-password", urlPassword, mayHoldUrlPassword, "likely", "near")),
  ...COMMANDS.flatMap((command) =>
    exact(
      command.anchors,
      judged(
        command.rule,
        (reading, at, key) => commandPassword(command, reading, at, key),
        mayBeCommand,
        "likely",
        "far",
      ),
    ),
  ),
  ...exact(
    ["machine "],
    judged("netrc-password", netrcPassword, (text, at) => /login/.test(text.slice(at, at + 600)), "likely", "far"),
  ),
  ...folded(["convertto-securestring"], judged("command-password", securePassword, mayBeSecurePassword)),
  ...exact(["google.crypto.tink."], judged("tink-key", tinkKey, mayBeTinkKey)),
  ...folded(["identified "], judged("sql-password", sqlPassword, mayBeIdentified, "likely", "near")),
  ...exact(['"auth"', '"auth\\', "_auth"], judged("registry-login", encodedLogin, mayBeLogin)),
  ...exact(
    ["kind: Secret", 'kind: "Secret', "kind: 'Secret"],
    judged("kubernetes-secret", manifestValues, mayBeManifest),
  ),
  ...folded(["sonar.login", "sonar_login"], assigned),
  ...folded(
    ["password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "authorization"],
    assigned,
  ),
  ...folded([...Array.from("_-.istenhgryxdbmlkcuqoa", (sign) => `${sign}key`), "tionkey", "hookkey"], assigned, -1),
  ...folded(
    [
      "pass=",
      "pass:",
      'pass"',
      "pass'",
      "pass`",
      "pass ",
      "pass\\",
      "pass]",
      "pass\t",
      "pass>",
      "pass?",
      "pw=",
      "pw:",
      'pw"',
      "pw'",
      "pw ",
    ],
    assigned,
  ),
];
