import { createPublicKey, sign, verify } from "node:crypto";
import { BuildError } from "../bundle.ts";
import type { Digest, Source } from "./artefacts.ts";
import { keyName, type ReleaseKey } from "./minisign.ts";

const PAYLOAD_TYPE = "application/vnd.in-toto+json";

/** What a file was made from or is, as in-toto describes resources. */
interface Resource {
  readonly name?: string;
  readonly uri?: string;
  readonly digest: Readonly<Record<string, string>>;
}

/** An in-toto Statement v1 with a SLSA v1 provenance predicate. */
export interface Statement {
  readonly _type: "https://in-toto.io/Statement/v1";
  readonly subject: readonly Resource[];
  readonly predicateType: "https://slsa.dev/provenance/v1";
  readonly predicate: {
    readonly buildDefinition: {
      readonly buildType: string;
      readonly externalParameters: Readonly<Record<string, unknown>>;
      readonly internalParameters: Readonly<Record<string, unknown>>;
      readonly resolvedDependencies: readonly Resource[];
    };
    readonly runDetails: { readonly builder: { readonly id: string } };
  };
}

/** A DSSE envelope, https://github.com/secure-systems-lab/dsse. */
interface Envelope {
  readonly payload: string;
  readonly payloadType: string;
  readonly signatures: readonly { readonly keyid: string; readonly sig: string }[];
}

/**
 * How the artefacts came about. It has no times and no name of a machine: the same build gives the same statement.
 * @param tools versions of programs that leave traces in the artefacts
 */
export function statement(
  source: Source,
  targets: readonly string[],
  tools: Readonly<Record<string, string>>,
  materials: readonly Resource[],
  artefacts: readonly Digest[],
  builder: ReleaseKey,
): Statement {
  return {
    _type: "https://in-toto.io/Statement/v1",
    subject: artefacts.map(({ name, sha256 }) => ({ name, digest: { sha256 } })),
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:reckon:build:release:1",
        externalParameters: { version: source.version, targets },
        internalParameters: { sourceDateEpoch: source.epoch, tools },
        resolvedDependencies: [{ name: "source", digest: { gitCommit: source.commit } }, ...materials],
      },
      runDetails: { builder: { id: `urn:reckon:release-key:${keyName(builder)}` } },
    },
  };
}

/** What is signed: DSSE's pre-authentication encoding. */
const encoded = (type: string, payload: Buffer) =>
  Buffer.concat([Buffer.from(`DSSEv1 ${Buffer.byteLength(type)} ${type} ${payload.length} `), payload]);

/** @returns the text of the envelope around a signed statement. */
export function seal(release: ReleaseKey, content: Statement): string {
  const payload = Buffer.from(JSON.stringify(content));
  const envelope: Envelope = {
    payload: payload.toString("base64"),
    payloadType: PAYLOAD_TYPE,
    signatures: [
      { keyid: keyName(release), sig: sign(null, encoded(PAYLOAD_TYPE, payload), release.key).toString("base64") },
    ],
  };
  return `${JSON.stringify(envelope, null, 2)}\n`;
}

/** @returns the statement. @throws BuildError unless the envelope was signed with this key, with a type as ours */
export function unseal(release: ReleaseKey, text: string): Statement {
  const { payload, payloadType, signatures } = JSON.parse(text) as Envelope;
  const bytes = Buffer.from(payload, "base64");
  const publicKey = release.key.type === "private" ? createPublicKey(release.key) : release.key;
  const signed = signatures.some(({ sig }) =>
    verify(null, encoded(payloadType, bytes), publicKey, Buffer.from(sig, "base64")),
  );
  if (!signed || payloadType !== PAYLOAD_TYPE) throw new BuildError("the provenance is not signed with this key");
  return JSON.parse(bytes.toString());
}
