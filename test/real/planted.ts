/** Secrets put into real material to see that they are found there. Made at run time: none stands in the repository, none opens anything. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface Planted {
  readonly rule: string;
  readonly strength: "certain" | "likely";
  /** What is put in, on a line of its own or amid others. */
  readonly text: string;
  /** The part of it that must not be kept. */
  readonly secret: string;
}

function letters(seed: string, length: number): string {
  const digest = createHash("sha512").update(seed).digest("base64");
  return digest.replace(/[^0-9A-Za-z]/g, "").slice(0, length);
}

/** One secret of each kind an agent is likely to come across, different for each seed. */
export function plants(seed: string): Planted[] {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString().trimEnd();
  const github = `ghp_${letters(`${seed} github`, 36)}`;
  const aws = `AKIA${letters(`${seed} aws`, 60)
    .toUpperCase()
    .replace(/[^A-Z2-7]/g, "")
    .slice(0, 16)}`;
  const password = letters(`${seed} password`, 20);
  const inUrl = letters(`${seed} url`, 18);
  return [
    { rule: "github-token", strength: "certain", text: github, secret: github },
    { rule: "aws-access-key-id", strength: "certain", text: aws, secret: aws },
    { rule: "private-key", strength: "certain", text: pem, secret: pem },
    { rule: "assigned-secret", strength: "likely", text: `DB_PASSWORD=${password}`, secret: password },
    { rule: "url-password", strength: "likely", text: `postgres://svc:${inUrl}@db.internal/main`, secret: inUrl },
  ];
}

/** What is stored where a planted text stood. */
export function redacted({ text, secret, rule }: Planted): string {
  return text.replace(secret, `[REDACTED:${rule}]`);
}

/** Whether any file of a data directory holds a text. */
export function diskHolds(directory: string, text: string): boolean {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .some((entry) => readFileSync(join(entry.parentPath, entry.name)).includes(text));
}
