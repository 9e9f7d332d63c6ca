import { findSecrets, mightHoldSecret, redactJson } from "../../src/redact/redact.ts";
import { RULES } from "../../src/redact/rules.ts";
import type { Settings } from "./run.ts";
import { figure, type Report } from "./table.ts";

/** A text made to cost a scan as much as it can, for its size. */
export interface Hostile {
  readonly name: string;
  /** What is repeated. */
  readonly unit: string;
}

/** One spelling of an anchor, with the first character of each class. */
const spelled = (anchor: string): string => anchor.replaceAll(/\[(.)[^\]]*\]/g, "$1");

/** Anchors and pieces of what is judged by its surroundings. */
const PIECES: readonly string[] = [
  `-----BEGIN ${"PRIVATE"} KEY-----`,
  "-----BEGIN ",
  "-----",
  "---- BEGIN ",
  "PuTTY-User-Key-File-2: ssh-rsa\n",
  "LS0tLS1CRUdJTi",
  "pass=",
  "password=",
  "password: ",
  "password: 9",
  'password":"9',
  "authorization: 9",
  "sshpass -p 9",
  "mysql -p;mysql -p",
  "token=example9",
  "token=example9\u4e2d",
  "t1.-",
  "MDAw-_",
  "password:",
  'password":"',
  'password="',
  "password",
  "pwd=",
  "pwd=a/",
  "token=",
  "token:a-1-",
  "token:",
  'token"  ',
  "secret=x.",
  "api_key=",
  "key=",
  'key":',
  "x_key ",
  "token=${",
  "token=example",
  "token=/",
  "token=a1b2c3d",
  "<password>",
  " --password ",
  "authorization",
  "authorization: ",
  "authorization:",
  "Authorization: Key ",
  "bearer ",
  "Bearer aaaaaaaaaaaa",
  "Cookie: ",
  "cookie: a=b; ",
  "cookie: session=a1;",
  "://",
  "://a:",
  "://a:b",
  "://a:bcde",
  "://a:bcde@",
  "curl ",
  "curl -u ",
  "curl -u a:",
  "curl - ",
  "docker login -p ",
  "mysql -p",
  "sshpass -p ",
  "identified ",
  "identified by a1b2c3 ",
  "grant identified by a1b2c3 ",
  "password 'a1b2c3' ",
  '#define token "a1b2c3d4"',
  "pw:",
  "pw:a1b2c3 ",
  "machine a login b password ",
  "machine ",
  '"auth": "',
  '"auth": "YTpi',
  "kind: Secret\n",
  "kind: Secret\ndata:\n a: YTpi\n",
  " -eyJaaaaaaaaaa",
  "-eyJaaaaaaaaaa",
  ".eyJaaaaaaaaaa",
  "eyJaaaaaaaaaa.",
  "\\",
  '"',
  '\\"',
  '\\\\"',
  "[REDACTED:x]",
  "[REDACTED:x] token=a1b2c3d4 ",
  "aB3",
  "A",
  "0123456789abcdef",
  "1:A",
  "\u4e2d",
];

/** What stands between two of a kind: something else cuts a scan short at each. */
const BETWEEN: readonly string[] = ["", " ", "-", ".", "/", '"', "\\n", "\n", "=", "a", "9", ";", ","];

/** Every unit there is: anchors and pieces with each separator, and examples of the table's rows that fail at their end. */
export function hostileTexts(): Hostile[] {
  const anchors = RULES.flatMap(({ id, anchors }) => anchors.map((anchor) => ({ name: id, piece: spelled(anchor) })));
  const pieces = PIECES.map((piece) => ({ name: JSON.stringify(piece), piece }));
  const misses = RULES.flatMap(({ id, examples }) =>
    examples().flatMap((example) =>
      ["!", "", "Zq", "-"].map((end) => ({
        name: `${id}, all but its end, and ${JSON.stringify(end)}`,
        unit: `${example.slice(0, -1)}${end}`,
      })),
    ),
  );
  return [
    ...[...anchors, ...pieces].flatMap(({ name, piece }) =>
      BETWEEN.map((between) => ({ name: `${name} and ${JSON.stringify(between)}`, unit: piece + between })),
    ),
    ...misses,
  ];
}

export const repeated = ({ unit }: Hostile, length: number): string =>
  unit.repeat(Math.ceil(length / unit.length)).slice(0, length);

/** @returns nanoseconds a byte that the search of a text takes: of plain text, and of JSON with the text as its only string */
function nanosecondsPerByte(hostile: Hostile, length: number): { readonly text: number; readonly json: number } {
  const text = repeated(hostile, length);
  const json = JSON.stringify([text]);
  const timed = (work: () => unknown, bytes: number): number => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 4; round++) {
      const began = performance.now();
      work();
      best = Math.min(best, performance.now() - began);
    }
    return (best * 1e6) / bytes;
  };
  return {
    text: Math.max(
      // The search follows only where the text may hold a secret; some callers search at once.
      timed(() => mightHoldSecret(text) && findSecrets(text), text.length),
      timed(() => findSecrets(text), text.length),
    ),
    json: timed(() => redactJson(json), json.length),
  };
}

const AIM = 30;
/** How often texts that took longer are measured again. */
const ROUNDS = 6;

/** What the search for secrets costs on texts made to cost much. */
export async function measureRedaction({ quick }: Settings, report: Report): Promise<void> {
  const length = quick ? 1 << 16 : 1 << 18;
  const all = hostileTexts();
  nanosecondsPerByte({ name: "warm", unit: "password=hunter22 ghp_x AKIA eyJ " }, length);
  const found = all.map((hostile) => ({ hostile, ...nanosecondsPerByte(hostile, length) }));
  // The least of some is what a text costs: the rest is the compiler and other programs, which slow a machine down for seconds.
  for (let round = 0; round < ROUNDS; round++)
    for (const one of found) {
      if (Math.max(one.text, one.json) < AIM) continue;
      const { text, json } = nanosecondsPerByte(one.hostile, length);
      one.text = Math.min(one.text, text);
      one.json = Math.min(one.json, json);
    }
  for (const kind of ["text", "json"] as const) {
    const sorted = found.toSorted((a, b) => b[kind] - a[kind]);
    report.result({
      scenario: `redaction, worst of ${all.length} hostile ${kind === "text" ? "texts" : "documents"}`,
      unit: "ns/B",
      ours: [sorted[0]?.[kind] ?? 0],
      aim: { below: AIM },
    });
    const missed = sorted.filter((one) => one[kind] >= AIM).length;
    report.note("redaction", `${kind}: ${missed} of ${all.length} at ${AIM} ns/B and more`);
    for (const one of sorted.slice(0, 3))
      report.note("redaction", `${kind}: ${figure(one[kind])} ns/B, ${one.hostile.name}`);
  }
}
